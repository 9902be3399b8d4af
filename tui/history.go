package tui

import (
	"math"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/lab"
	"pgrlab/core/printable"
)

// history is what the screen remembers of a run: the lab's events, reduced to what
// the panes draw.
type history struct {
	evaluations []evaluation
	dormant     []dormancy
	refits      []refit
	changes     []*change
	notes       []note
	generated   *event.Generated // the newest D_syn; nil before it
	generations int              // D_syn that were described
	scoredBy    string           // the F of the newest scores; "": none yet
	scoredFrom  int              // the step of the first scores by it
	lines       []eventLine
	curves      map[curveKey]*curve
	clock       clock
	begin       time.Time // of the first event
	highest     int       // member
	saved       string    // the newest checkpoint, below the run folder; "": none yet
	next        int       // index of the first event not taken yet
	versions
}

// newHistory is that of a run before its first event.
func newHistory(c lab.Config) history {
	return history{versions: versions{}, clock: clock{from: c.StartSteps, utd: float64(c.Knobs.UTD)}}
}

// curveKey is a quantity of a member.
type curveKey struct {
	name   curveName
	member int
}

// note is a remark that somebody wrote down at a step.
type note struct {
	step int
	wall float64
	text string
}

// evaluation is the return of one policy over its episodes.
type evaluation struct {
	step, member, episodes int
	wall, mean, std        float64
}

// dormancy is the policy's dormant ratio by both definitions.
type dormancy struct {
	step, member    int
	sokar, drm, tau float64
}

// refit is one renewal of the generator and its samples; steps is 0 where only the
// samples were made anew.
type refit struct {
	step, steps, generated int
	loss, seconds          float64
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
	from, to knob.Value // as the lab confirms them
	class    knob.Class
	now      bool
	undoes   int // number of the change it takes back; 0: none
	redoes   int // number of the change it makes again, as this screen asked; 0: none
	at       int // the step it was asked for; 0: at once

	scheduled bool   // part of the run from its start
	updates   uint64 // critic updates made when it came into force
	state     changeState
	wall      time.Time

	askedStep, appliedStep, forceStep int
	why                               string // of a refusal, or why nothing changes yet
}

// eventLine is one line of the events pane; a knob's line grows as its stamps come.
type eventLine struct {
	wall   time.Time
	step   int
	kind   string
	text   string
	briefs []string // the text in fewer words, the longest first
	change *change  // non-nil: the text is made from it
	worry  bool
}

// add puts a line at the end of the events.
func (h *history) add(l eventLine) {
	l.text = printable.Line(l.text)
	h.lines = append(h.lines, l)
	h.touch(topicLines)
}

// lastUndoable is the newest change that took place and was not taken back, made
// by anybody; lastRedoable the newest undo after which nothing else was changed.
func (h *history) lastUndoable() *change {
	undone := map[int]bool{}
	for i := len(h.changes) - 1; i >= 0; i-- {
		c := h.changes[i]
		switch {
		case c.state == refused || c.number == 0:
		case c.undoes > 0:
			undone[c.undoes] = true
		case !undone[c.number]:
			return c
		}
	}
	return nil
}

func (h *history) lastRedoable() *change {
	again := map[int]bool{}
	for i := len(h.changes) - 1; i >= 0; i-- {
		c := h.changes[i]
		switch {
		case c.state == refused || c.number == 0:
		case c.redoes > 0:
			again[c.redoes] = true
		case c.undoes == 0:
			return nil
		case !again[c.number]:
			return c
		}
	}
	return nil
}

// members is the number of members that were evaluated.
func (h *history) members() int { return h.highest + 1 }

// curve is a quantity of a member; nil when it was never measured.
func (h *history) curve(name curveName, member int) *curve { return h.curves[curveKey{name, member}] }

// measure adds a measurement to a curve; one that was not made is left out.
func (h *history) measure(name curveName, member, step int, wall, y float64) {
	if math.IsNaN(y) {
		return
	}
	h.record(name, member, sample{step, wall, y})
	h.touch(topicCurves)
}

// record is measure without drawing the charts anew: they show it when something
// else happens.
func (h *history) record(name curveName, member int, s sample) {
	key := curveKey{name, member}
	c := h.curves[key]
	if c == nil {
		if h.curves == nil {
			h.curves = map[curveKey]*curve{}
		}
		c = &curve{}
		h.curves[key] = c
	}
	c.add(s)
}

// scored says which F made the scores that follow. Those of another F have another
// unit: the curves of F have a gap before them.
func (h *history) scored(relevance string, member, step int, wall float64) {
	if relevance == h.scoredBy {
		return
	}
	if h.scoredBy != "" {
		for _, name := range []curveName{curveF10, curveF50, curveF90} {
			if c := h.curve(name, member); c != nil {
				c.add(sample{step, wall, math.NaN()})
			}
		}
	}
	h.scoredBy, h.scoredFrom = relevance, step
}

// touched is the number of changes that people made; those of the schedule were
// there from the start.
func (h *history) touched() int {
	n := 0
	for _, c := range h.changes {
		if c.number > 0 && !c.scheduled {
			n++
		}
	}
	return n
}

// lastApplied is the newest change that took place.
func (h *history) lastApplied() *change {
	for i := len(h.changes) - 1; i >= 0; i-- {
		if c := h.changes[i]; c.state == applied || c.state == inForce {
			return c
		}
	}
	return nil
}
