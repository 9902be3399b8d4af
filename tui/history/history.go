// Package history is what a screen remembers of a run: its events, reduced to the curves, changes
// and lines that panes draw. Reading a journal back (ReadJournal) gives the same history.
package history

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/printable"
	"pgrlab/tui/format"
	"pgrlab/tui/topic"
)

// History is what the screen remembers of a run: the lab's events, reduced to what the panes draw.
type History struct {
	Evaluations []Evaluation
	Dormant     []dormancy
	Refits      []refit
	Changes     []*Change
	Notes       []note
	Grounds     []event.Grounded // answers to Ground
	Generated   *event.Generated // the newest D_syn; nil before the first
	OpenLoop    *event.OpenLoop  // the newest prediction of a model of the world; nil before the first
	F           *event.RefitF    // of the newest generation; nil: none, or its generator was fitted without conditions
	Generations int              // number of D_syn described
	Syntheses   []Synthesis      // all D_syn, the oldest first
	scoredBy    string           // the F of the newest scores; "": none yet
	ScoredFrom  int              // the step of the first scores by that F
	Scores      *event.Scores    // the newest
	Lines       []EventLine
	added       int // lines that were ever added
	curves      map[curveKey]*Curve
	Clock       Clock
	Begin       time.Time               // time of the first event
	values      map[int]*overestimation // by member
	highest     int                     // largest member number
	cohort      bool                    // there are several members
	cancelled   int                     // changes of the configuration's schedule that a person cancelled
	Saved       string                  // the newest checkpoint, relative to the run folder; "": none yet
	Next        int                     // index of the first event not taken yet
	topic.Versions
}

// New is the history of a run before its first event: startSteps env steps have no updates, the
// others utd critic updates each.
func New(startSteps, utd int) History {
	return History{Versions: topic.Versions{}, Clock: Clock{From: startSteps, UTD: float64(utd)}}
}

// curveKey is a quantity of a member.
type curveKey struct {
	name   CurveName
	member int
}

// note is a remark that a person recorded at a step.
type note struct {
	Step int
	wall float64
	Text string
}

// Evaluation is the return of one policy over its episodes.
type Evaluation struct {
	Step, Episodes  int
	wall, Mean, Std float64
	Returns         []float64 // one for each seed
}

// dormancy is the policy's dormant ratio by both definitions; for several seeds, the mean.
type dormancy struct {
	step       int
	Sokar, Tau float64
}

// refit is one renewal of the generator and its samples; steps is 0 if only the samples were made
// again.
type refit struct {
	Step, Steps, generated int
	Loss, Seconds          float64
	Ensemble               *event.Ensemble // nil: no ensemble was fitted
	Rollouts               *event.Rollouts // nil: the rows are no rollouts
}

// ChangeState is how far a change of a knob has come.
type ChangeState int

// The states of a change, in order.
const (
	Asked ChangeState = iota
	Applied
	InForce
	Refused
	Cancelled // before it was made
)

// Change is one transaction: asked for, applied, in force.
type Change struct {
	Ref      string // as sent; the lab's answer repeats it
	Number   int    // the number that the lab gave it, shown on the charts; 0 until applied
	Knob     string
	From, To knob.Value // as the lab confirms them
	Class    knob.Class
	Now      bool
	Undoes   int // number of the change that it takes back; 0: none
	Redoes   int // number of the change that it repeats, at this screen's request; 0: none
	At       int // the step that it was requested for; 0: at once

	Scheduled bool   // part of the run from its start
	Updates   uint64 // critic updates made when it came into force
	Refits    int    // refits made when it was applied
	State     ChangeState
	Wall      time.Time

	// Overtaken is the number of the next change of the same knob, if that was made before this one
	// was in force; 0: none was. It is 0 again if this one comes into force nevertheless, because a
	// refit under way had read it.
	Overtaken int

	Share float64 // of D_syn that was made with it when it came into force; 0: all, or it is not about D_syn
	Never bool    // another change of the knob came before all of D_syn was made with it

	Position knob.Position // at which it was applied

	AskedStep, AppliedStep, ForceStep int
	WholeStep                         int    // from which all of D_syn was made with it; 0: not yet, or see Share
	Why                               string // reason for a refusal, or for a change that has no effect yet; who cancelled it
}

// EventLine is a line of the events pane; the line of a knob grows as its stamps arrive.
type EventLine struct {
	Wall    time.Time
	Step    int
	Kind    string
	Text    string
	Briefs  []string // shorter versions of the text, the longest first
	Change  *Change  // if not nil, the text is made from this change
	Warning bool
	Number  int // of the lines that were ever added, from 1 on; some are left out later
}

// Saves says whether the line reports a checkpoint, and nothing else about it.
func (l EventLine) Saves() bool { return l.Kind == "ckpt" && !l.Warning }

// Add appends a line to the events.
func (h *History) Add(l EventLine) {
	l.Text = printable.Line(l.Text)
	if l.Saves() { // each fork, look and hand-over saves: the newest place to go on from is enough
		h.Lines = slices.DeleteFunc(h.Lines, EventLine.Saves)
	}
	h.added++
	l.Number = h.added
	h.Lines = append(h.Lines, l)
	h.Touch(topic.Lines)
}

// positionText writes a position as String does, with the thousands of its step separated as in all
// other lines.
func positionText(p knob.Position) string {
	step := strconv.Itoa(p.Step)
	return format.Count(p.Step) + strings.TrimPrefix(p.String(), step)
}

// LastStanding is the newest change that was neither refused nor cancelled.
func (h *History) LastStanding() *Change {
	for _, c := range slices.Backward(h.Changes) {
		if c.State != Refused && c.State != Cancelled {
			return c
		}
	}
	return nil
}

// inOrder puts a change that was made after those made before it: a planned one was listed when it was
// asked for.
func (h *History) inOrder(c *Change) {
	i := slices.Index(h.Changes, c)
	for k := len(h.Changes) - 1; k > i; k-- {
		if h.Changes[k].Number > 0 {
			h.Changes = slices.Insert(slices.Delete(h.Changes, i, i+1), k, c)
			return
		}
	}
}

// LastUndoable is the newest change that took effect and was not taken back, made from any screen.
func (h *History) LastUndoable() *Change {
	undone := map[int]bool{}
	for i := len(h.Changes) - 1; i >= 0; i-- {
		c := h.Changes[i]
		switch {
		case c.Number == 0: // not made
		case c.Undoes > 0:
			undone[c.Undoes] = true
		case !undone[c.Number]:
			return c
		}
	}
	return nil
}

// LastRedoable is the newest undo, unless something was changed after it.
func (h *History) LastRedoable() *Change {
	again := map[int]bool{}
	for i := len(h.Changes) - 1; i >= 0; i-- {
		c := h.Changes[i]
		switch {
		case c.Number == 0: // not made
		case c.Redoes > 0:
			again[c.Redoes] = true
		case c.Undoes == 0:
			return nil
		case !again[c.Undoes]:
			return c
		}
	}
	return nil
}

// Members is the number of members that were evaluated.
func (h *History) Members() int { return h.highest + 1 }

// Curve is the curve of a member's quantity; nil if it was never measured.
func (h *History) Curve(name CurveName, member int) *Curve { return h.curves[curveKey{name, member}] }

// measure adds a measurement to a curve; it ignores a value that was not measured.
func (h *History) measure(name CurveName, member, step int, wall, y float64) {
	if math.IsNaN(y) {
		return
	}
	h.record(name, member, Sample{step, wall, y})
	if h.cohort {
		h.together(name, step, wall)
	}
	h.Touch(topic.Curves)
}

// Record adds a measurement of the whole run to the curve that Main returns, without redrawing the
// charts: they show the value when something else happens.
func (h *History) Record(name CurveName, s Sample) { h.record(name, h.main(), s) }

func (h *History) record(name CurveName, member int, s Sample) {
	key := curveKey{name, member}
	c := h.curves[key]
	if c == nil {
		if h.curves == nil {
			h.curves = map[curveKey]*Curve{}
		}
		c = &Curve{}
		h.curves[key] = c
	}
	c.Add(s)
}

// scored says which F made the scores that follow. Scores of another F have another unit, so the
// curves of F get a gap before them, those of all members at once: they go in lockstep.
func (h *History) scored(relevance string, step int, wall float64) {
	if relevance == h.scoredBy {
		return
	}
	if h.scoredBy != "" {
		for _, name := range []CurveName{CurveF10, CurveF50, CurveF90} {
			for member := most; member < h.Members(); member++ {
				if c := h.Curve(name, member); c != nil {
					c.Add(Sample{step, wall, math.NaN()})
				}
			}
		}
	}
	h.scoredBy, h.ScoredFrom = relevance, step
}

// Touched is the number of changes that people made; changes of the schedule, which are part of the
// run from the start, do not count unless a person cancelled them.
func (h *History) Touched() int {
	n := h.cancelled
	for _, c := range h.Changes {
		if c.Number > 0 && !c.Scheduled {
			n++
		}
	}
	return n
}

// LastApplied is the newest change that took effect.
func (h *History) LastApplied() *Change {
	for i := len(h.Changes) - 1; i >= 0; i-- {
		if c := h.Changes[i]; c.State == Applied || c.State == InForce {
			return c
		}
	}
	return nil
}

// relevances is what a generation's line says of F, with a name that a terminal can show; nil: nothing that
// can be drawn.
func relevances(f *event.RefitF) *event.RefitF {
	if f == nil || f.Real == nil {
		return nil
	}
	shown := *f
	shown.Of = printable.Line(f.Of)
	return &shown
}
