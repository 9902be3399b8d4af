package session

import (
	"fmt"

	"pgrlab/core/event"
)

// Badge says whether people changed knobs while the run went on.
func Badge(events []event.Event) string {
	n := 0
	for _, e := range events {
		if k, ok := e.Body.(event.KnobChanged); ok && k.Obs.By != "schedule" {
			n++
		}
	}
	if n == 0 {
		return "CLEAN: no knob was touched while it ran"
	}
	return fmt.Sprintf("TOUCHED ×%d: knobs were changed while it ran", n)
}

// Returns are the highest and the latest mean return of the evaluations.
func Returns(events []event.Event) (best, last float64, ok bool) {
	for _, e := range events {
		if v, is := e.Body.(event.Evaluated); is {
			last = float64(v.ReturnMean)
			if !ok || last > best {
				best = last
			}
			ok = true
		}
	}
	return best, last, ok
}
