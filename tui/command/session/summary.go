package session

import (
	"fmt"
	"strings"

	"pgrlab/core/event"
	"pgrlab/tui/command/replay"
	"pgrlab/tui/history"
)

// Badge says whether people changed knobs during the run.
func Badge(events []event.Event) string {
	n := replay.ByHand(events)
	if n == 0 {
		return "CLEAN: no knob was touched while it ran"
	}
	return fmt.Sprintf("TOUCHED ×%d: knobs were changed while it ran", n)
}

// Reached says what the evaluations of a run have reached, to follow its name: ", return 312.4,
// best 340.0", or "" before the first. For several seeds it uses their mean.
func Reached(events []event.Event) string {
	h := history.New(0, 0)
	for _, e := range events {
		if _, is := e.Body.(event.Evaluated); is {
			h.Take(e)
		}
	}
	if len(h.Evaluations) == 0 {
		return ""
	}
	last, best := h.Evaluations[len(h.Evaluations)-1], h.Evaluations[0]
	for _, e := range h.Evaluations {
		if e.Mean > best.Mean {
			best = e
		}
	}
	if !last.Cohort() {
		return fmt.Sprintf(", return %.1f, best %.1f", last.Mean, best.Mean)
	}
	var each []string
	for _, r := range last.Returns {
		each = append(each, fmt.Sprintf("%.1f", r))
	}
	return fmt.Sprintf(", mean return %.1f of seeds' %s, best mean %.1f", last.Mean, strings.Join(each, " "), best.Mean)
}

// Seeds names the seeds of a run.
func Seeds(first uint64, members int) string {
	if members > 1 {
		return fmt.Sprintf("seeds %d to %d", first, first+uint64(members)-1)
	}
	return fmt.Sprintf("seed %d", first)
}
