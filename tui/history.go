package tui

import (
	"time"

	"pgrlab/core/lab"
	"pgrlab/tui/chart"
)

// history is what the screen remembers of a run: the lab's events, reduced to what
// the panes draw.
type history struct {
	evaluations []evaluation
	dormant     []dormancy
	scores      []scoring
	losses      []lossRecord
	refits      []refit
	changes     []*change
	lines       []eventLine
	next        int // index of the first event not taken yet
	version     [paneCount]int
}

// evaluation is the return of one policy over its episodes.
type evaluation struct {
	step, member, episodes int
	mean, std              float64
}

// dormancy is the policy's dormant ratio by both definitions.
type dormancy struct {
	step, member    int
	sokar, drm, tau float64
}

// scoring is the distribution of F over the real transitions of one occasion.
type scoring struct {
	step         int
	median, high float64 // high: the 90th percentile
}

// lossRecord is the losses at one evaluation; NaN where nothing was computed.
type lossRecord struct {
	step                                   int
	critic, actor, alpha, qMean, curiosity float64
}

// refit is one renewal of the generator and its samples; steps is 0 where only the
// samples were made anew.
type refit struct {
	step, steps, generated int
	loss                   float64
}

// changeState is how far a change of a knob has come.
type changeState int

// The states of a change, in their order.
const (
	asked changeState = iota
	applied
	inForce
	refused
)

// change is one transaction: asked, applied, in force.
type change struct {
	ref      string // as sent; the lab's answer repeats it
	number   int    // the lab's, on the charts; 0 until applied
	knob     string
	from, to lab.Value // as the lab confirms them
	class    lab.Class
	now      bool
	undoes   int // number of the change it takes back; 0: none
	state    changeState
	wall     time.Time

	askedStep, appliedStep, forceStep int
	why                               string // of a refusal, or why nothing changes yet
}

// eventLine is one line of the events pane; a knob's line grows as its stamps come.
type eventLine struct {
	wall   time.Time
	step   int
	kind   string
	text   string
	change *change // non-nil: the text is made from it
	worry  bool
}

// touch marks panes to be drawn anew.
func (h *history) touch(panes ...paneID) {
	for _, p := range panes {
		h.version[p]++
	}
}

// add puts a line at the end of the events.
func (h *history) add(l eventLine) {
	h.lines = append(h.lines, l)
	h.touch(paneEvents)
}

// lastUndoable is the newest change that took place and was not taken back.
func (h *history) lastUndoable() *change {
	undone := map[int]bool{}
	for i := len(h.changes) - 1; i >= 0; i-- {
		c := h.changes[i]
		switch {
		case c.state == refused:
		case c.undoes > 0:
			undone[c.undoes] = true
		case c.number > 0 && !undone[c.number]:
			return c
		}
	}
	return nil
}

// members is the number of members that were evaluated.
func (h *history) members() int {
	most := 0
	for _, e := range h.evaluations {
		most = max(most, e.member)
	}
	return most + 1
}

// returns is the evaluation curve of one member.
func (h *history) returns(member int) []chart.Point {
	var out []chart.Point
	for _, e := range h.evaluations {
		if e.member == member {
			out = append(out, chart.Point{X: float64(e.step), Y: e.mean})
		}
	}
	return out
}

// markers are the vertical lines at the steps where changes came into force, and
// the ticks where they were applied.
func (h *history) markers(describe func(*change) string) (out []chart.Marker, ticks []float64) {
	for _, c := range h.changes {
		if c.number == 0 {
			continue
		}
		ticks = append(ticks, float64(c.appliedStep))
		if c.state == inForce {
			out = append(out, chart.Marker{X: float64(c.forceStep), Number: c.number, Text: describe(c)})
		}
	}
	return out, ticks
}
