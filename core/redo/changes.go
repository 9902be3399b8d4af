// Package redo tracks what must be redone after a change of a knob: which work of a refit the
// change asks for, and what it still waits for until a training batch contains data made with it.
// The package has of a run only what it is given.
package redo

import (
	"errors"
	"fmt"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// Nothing is the class of work if nothing is to be redone. The work of an env step is named by the
// class of the knobs that ask for it; a refit consists of scores, a fit and a generation.
const Nothing = knob.ClassBatch

// Changes holds the changes of a run's knobs, the part of a refit that the env step has to do, how
// far that is, and what is to be done again in the next env step. The phases of a refit report what
// begins and ends, changes are added as they are made, and the driver asks what is to be done. The
// zero value is a run without changes.
type Changes struct {
	all     []event.KnobChanged // change n is all[n-1]
	waiting []Waiting           // changes that are not in force
	todo    knob.Class          // what the present env step still has to do
	redo    knob.Class          // what "now" asked for: done in the next env step
	before  knob.Class          // redo before the present env step
	begun   Stage               // what of todo has begun, and with which knobs
	next    int                 // the env step of the next chunk of a generation that has some in force; 0: there is none
}

// All returns all changes: number n is at index n-1.
func (c *Changes) All() []event.KnobChanged { return c.all }

// Waiting returns the changes that are not in force, and those that wait for the rest of D_syn.
func (c *Changes) Waiting() []Waiting { return c.waiting }

// Next is the env step with the next chunk of a generation that comes into force chunk by chunk; 0: there
// is none.
func (c *Changes) Next() int { return c.next }

// GoesOn says whether the env step goes on with a generation of which some chunks are in force.
func (c *Changes) GoesOn() bool {
	return c.next > 0 && c.todo == knob.ClassGeneration && c.begun == Generating
}

// Todo is what the present env step still has to do: Nothing, a generation or a refit.
func (c *Changes) Todo() knob.Class { return c.todo }

// Asked reports whether "now" has asked for work in the next env step.
func (c *Changes) Asked() bool { return c.redo != Nothing }

// Seen returns the changes that D_syn was made with, for a run whose rows no batch will have: there they are in
// force once it is made.
func (c *Changes) Seen() []Waiting {
	return c.release(func(w Waiting) bool { return w.Stage == Generated })
}

// Abandon drops what the env step still has to do.
func (c *Changes) Abandon() { c.todo = Nothing }

// Abandoned reports whether the env step has nothing left to do.
func (c *Changes) Abandoned() bool { return c.todo == Nothing }

// State is the part of Changes that a checkpoint stores.
type State struct {
	All        []event.KnobChanged
	Waiting    []Waiting
	Todo, Redo knob.Class
	Begun      Stage
	Next       int
}

// State returns what Restore takes.
func (c *Changes) State() State { return State{c.all, c.waiting, c.todo, c.redo, c.begun, c.next} }

// Restore makes c what it was when State was called.
func (c *Changes) Restore(s State) {
	*c = Changes{all: s.All, waiting: s.Waiting, todo: s.Todo, redo: s.Redo, begun: s.Begun, next: s.Next}
}

// Stage is what a change still waits for until training batches contain data made
// with it.
type Stage int

const (
	Score      Stage = iota // real transitions to be scored
	Scoring                 // the fit to these scores to begin
	Fit                     // a fit to begin
	Fitting                 // that fit to end
	Fitted                  // a generation to begin
	Generating              // that generation to end
	Generated               // a batch with its transitions
	Mix                     // a batch mixed as r says
	Update                  // an update
	Step                    // an env step
	Partly                  // the rest of the D_syn of which batches have the first rows: it is in force
)

// Waiting is a change that is set but not in force, or not in all of D_syn, as checkpoints store it. Home is the stage at
// which changes of its knob begin to wait; Stage is the one that this change has reached.
type Waiting struct {
	event.KnobChanged
	Home, Stage Stage
}

// FirstStage is what a change of a knob waits for first.
func FirstStage(k knob.Knob) Stage {
	switch {
	case k.Name == "relevance":
		return Score
	case k.Class == knob.ClassRefit:
		return Fit
	case k.Class == knob.ClassGeneration:
		return Fitted
	case k.Name == "ratio" || k.Name == "hold":
		return Mix
	case k.Name == "refit_every":
		return Step
	}
	return Update
}

// Redone says whether something is made again at once if a change of the knob is to be in force now.
func Redone(k knob.Knob) bool { return FirstStage(k) <= Fitted }

// ErrAlready is wrapped by the error of a change that does nothing.
var ErrAlready = errors.New("already")

// Idle returns ErrAlready if a change does nothing: the knob has that value, and nothing that depends on
// it is to be done again.
func Idle(k knob.Knob, s *knob.Settings, v knob.Value, now bool) error {
	if k.Get(s) == v && !(now && Redone(k)) {
		return fmt.Errorf("%s is %s %w", k.Name, k.Format(v), ErrAlready)
	}
	return nil
}

// BeginStep begins an env step. The step has to do a refit if one is due, else what "now" asked
// for, else the next chunk of a generation. done are the changes that waited for an env step.
func (c *Changes) BeginStep(step int, refit bool) (done []Waiting) {
	c.before = c.redo
	c.todo, c.redo, c.begun = c.redo, Nothing, Score
	switch {
	case refit:
		c.todo = knob.ClassRefit
	case c.todo == Nothing && c.next > 0 && step >= c.next:
		c.todo, c.begun = knob.ClassGeneration, Generating // which has read its knobs
	}
	return c.release(func(w Waiting) bool { return w.Stage == Step })
}

// TakeBackStep takes back the beginning of the env step, which could not be made.
func (c *Changes) TakeBackStep() { c.todo, c.redo = Nothing, c.before }

// Begins advances the changes whose knobs a stage of the refit reads as it begins.
func (c *Changes) Begins(at Stage) { c.begins(at, func(string) bool { return true }) }

// BeginsWithoutF is Begins for a generator that gets no conditions, because F is not known yet: changes
// of F, and of the knobs that say how it is asked for, go on waiting.
func (c *Changes) BeginsWithoutF(at Stage) {
	c.begins(at, func(name string) bool {
		k, err := knob.Find(name)
		return err != nil || k.Use&knob.UsePrompts == 0
	})
}

// begins is Begins for the changes of those knobs that are read.
func (c *Changes) begins(at Stage, read func(name string) bool) {
	c.begun = at
	next := map[Stage]map[Stage]Stage{
		Scoring:    {Score: Scoring},
		Fitting:    {Scoring: Fitting, Fit: Fitting},
		Generating: {Fitted: Generating},
	}[at]
	for i := range c.waiting {
		if to, moves := next[c.waiting[i].Stage]; moves && read(c.waiting[i].Knob) {
			c.waiting[i].Stage = to
		}
	}
}

// EndFit records that the generator is fitted: a generation is left to do.
func (c *Changes) EndFit() {
	c.todo = knob.ClassGeneration
	c.move(Fitting, Fitted)
}

// EndGeneration records that D_syn is new: nothing is left to do. It was made with the last change
// of each knob. Earlier ones stop waiting: only abandoned work had read them, or a D_syn of which no
// batch had a row, or not all of D_syn was made with them. whole are the changes that were in force and
// waited for the rest of D_syn.
func (c *Changes) EndGeneration() (whole []Waiting) {
	c.made()
	c.next = 0
	return c.release(func(w Waiting) bool { return w.Stage == Partly })
}

// EndChunk records that rows of the generation under way are new in D_syn; the next ones are made in env
// step next.
func (c *Changes) EndChunk(next int) {
	c.made()
	c.next = next
}

// made records that D_syn has rows of the generation under way.
func (c *Changes) made() {
	c.todo = Nothing
	last := map[string]int{}
	for _, w := range c.waiting {
		if w.Stage == Generating {
			last[w.Knob] = w.ID
		}
	}
	c.release(func(w Waiting) bool {
		return (w.Stage == Generating || w.Stage == Generated || w.Stage == Partly) && w.ID < last[w.Knob]
	})
	c.move(Generating, Generated)
}

// GiveUp records that the rest of a generation of which some chunks are in force is not made.
func (c *Changes) GiveUp() { c.next = 0 }

func (c *Changes) move(from, to Stage) {
	for i := range c.waiting {
		if c.waiting[i].Stage == from {
			c.waiting[i].Stage = to
		}
	}
}

// SendBack makes the changes that abandoned work had read wait again.
func (c *Changes) SendBack() {
	c.begun = Score
	for i := range c.waiting {
		switch w := &c.waiting[i]; w.Stage {
		case Scoring, Fitting:
			w.Stage = w.Home
		case Generating:
			w.Stage = Fitted
		}
	}
}

// Sampled returns the changes that a training batch of that mix contains for the first time; full
// is the mix that r asks for if D_syn is large enough, and began is where the update on the batch
// began. A change that was made after that place waits for the next update, one of what env steps meet
// for an update of a later env step. One whose generation has made a part of D_syn waits for the rest.
func (c *Changes) Sampled(mix, full replay.Mix, began knob.Position) (released []Waiting) {
	released = c.release(func(w Waiting) bool {
		switch w.Stage {
		case Update:
			return !began.Before(w.Position) && (began.Step > w.Position.Step || !isMet(w.Knob))
		case Generated:
			return mix.Synthetic > 0
		case Mix:
			return mix == full
		}
		return false
	})
	for _, w := range released {
		if w.Stage == Generated && c.next > 0 {
			w.Stage = Partly
			c.waiting = append(c.waiting, w)
		}
	}
	return released
}

// isMet says whether env steps meet a knob's value: learners of rollouts are given rows with it. In
// others an env step's updates are after it anyway.
func isMet(name string) bool { return name == "tv" || name == "bonus" }

// release removes the changes that are ready and returns them.
func (c *Changes) release(ready func(Waiting) bool) (released []Waiting) {
	kept := c.waiting[:0]
	for _, w := range c.waiting {
		if ready(w) {
			released = append(released, w)
		} else {
			kept = append(kept, w)
		}
	}
	c.waiting = kept
	return released
}

// Add adds a change that was made. An earlier change of the same knob that nothing has read yet
// stops waiting: it will never be in force.
func (c *Changes) Add(k event.KnobChanged, home Stage) {
	c.all = append(c.all, k)
	kept := c.waiting[:0]
	for _, w := range c.waiting {
		if w.Knob != k.Knob || w.Stage != w.Home {
			kept = append(kept, w)
		}
	}
	c.waiting = append(kept, Waiting{KnobChanged: k, Home: home, Stage: home})
}

// Outlook is what the effect of a change depends on.
type Outlook struct {
	Settings  *knob.Settings
	LastStep  bool // the present env step is the run's last one
	StepsLeft bool // an env step follows the next one
	Training  bool // there are enough transitions to train on
	FirstStep int  // the first env step with enough of them
	Updates   int  // the first env step with updates, if the run has not reached it; else 0
	NextRefit int  // the env step of the refit under way, or else of the next one
	Refits    bool // the next refit is before the run's last env step
	Fitted    bool // a generator is fitted
	Synthetic bool // D_syn is not empty
	Explores  bool // an agent learns from D_syn alone, whatever r is
}

// readBy returns the work that reads a knob whose changes wait at home first, and where it reads it;
// Nothing: no work of a refit does.
func readBy(home Stage) (work knob.Class, at Stage) {
	switch home {
	case Score:
		return knob.ClassRefit, Scoring
	case Fit:
		return knob.ClassRefit, Fitting
	case Fitted:
		return knob.ClassGeneration, Generating
	}
	return Nothing, home
}

// willRead says whether the work of the present env step is still to read a change that waits at home, or
// to make the transitions that it needs.
func (c *Changes) willRead(home Stage) bool {
	work, at := readBy(home)
	return c.todo != Nothing && (work == Nothing || c.begun < at && c.todo >= work)
}

// Now arranges what "now" asks for, or returns a hint why it cannot. Work of the present env step
// that has read the old value is abandoned and done again in the next env step. Work that has not
// yet begun will read the new value anyway.
func (c *Changes) Now(home Stage, o Outlook) (hint string) {
	want, reads := readBy(home)
	if want == Nothing {
		return "" // the next update has it
	}
	if c.willRead(home) || c.redo >= want {
		return ""
	}
	if reads == Generating && !o.Fitted {
		return fmt.Sprintf("no generator is fitted before step %s", knob.FormatCount(o.NextRefit))
	}
	if want == knob.ClassRefit && !o.Training {
		return fmt.Sprintf("too few transitions to refit before step %s", knob.FormatCount(o.FirstStep))
	}
	c.todo = Nothing
	c.redo = want
	return ""
}

// HintOfEnd says in one line why a change that was just set has no effect in the rest of the run,
// or "". The hint belongs to event.KnobObs, because the same change has an effect in a longer run.
func (c *Changes) HintOfEnd(k knob.Knob, home Stage, o Outlook) string {
	work, _ := readBy(home)
	redone := c.willRead(home) && !o.LastStep || c.redo != Nothing && c.redo >= work && o.StepsLeft
	if home >= Update || redone || o.Refits || home >= Generating && o.Synthetic {
		return ""
	}
	return fmt.Sprintf("%s has no effect: there is no refit before the run's last step", k.Title())
}

// Hint says in one line why a change that was just set has no effect yet, or not the one that was
// asked for, or "".
func (o Outlook) Hint(k knob.Knob, home Stage) string {
	name := k.Title()
	switch {
	case home == Update && o.Updates > 0:
		return fmt.Sprintf("%s has no effect before the first update at step %s", name, knob.FormatCount(o.Updates))
	case home >= Update:
		return ""
	case home == Mix && !o.Synthetic:
		return fmt.Sprintf("%s has no effect before the first generation at step %s", name, knob.FormatCount(o.NextRefit))
	case home == Mix:
		return ""
	case k.Use&knob.UsePrompts != 0 && k.Name != "relevance" && o.Settings.Relevance == relevance.None:
		return fmt.Sprintf("%s has no effect while relevance is none", name)
	case o.Settings.Ratio == 0 && !o.Explores:
		return fmt.Sprintf("%s has no effect while r is 0", name)
	case (k.Name == "guidance" || k.Name == "sampler_steps") && o.Settings.Relevance != relevance.None:
		return o.Settings.Unguided()
	}
	return ""
}
