package lab

import (
	"fmt"
	"math"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// stage is what a change still waits for until training batches contain data made
// with it.
type stage int

const (
	stageScore      stage = iota // real transitions to be scored
	stageScoring                 // the fit to these scores to begin
	stageFit                     // a fit to begin
	stageFitting                 // that fit to end
	stageFitted                  // a generation to begin
	stageGenerating              // that generation to end
	stageGenerated               // a batch with its transitions
	stageMix                     // a batch mixed as r says
	stageUpdate                  // an update
	stageStep                    // an env step
)

// waiting is a change that is set but not in force. Home is where its knob begins
// to wait; Stage is how far it is.
type waiting struct {
	event.KnobChanged
	Home, Stage stage
}

// firstStage is what a change of a knob waits for first.
func firstStage(k knob.Knob) stage {
	switch {
	case k.Name == "relevance":
		return stageScore
	case k.Class == knob.ClassRefit:
		return stageFit
	case k.Class == knob.ClassGeneration:
		return stageFitted
	case k.Name == "ratio" || k.Name == "hold":
		return stageMix
	case k.Name == "refit_every":
		return stageStep
	}
	return stageUpdate
}

// startStage moves on the changes whose knobs a stage of the refit reads as it begins.
func (x *experiment) startStage(at stage) {
	x.refitProgress = at
	next := map[stage]map[stage]stage{
		stageScoring:    {stageScore: stageScoring},
		stageFitting:    {stageScoring: stageFitting, stageFit: stageFitting},
		stageGenerating: {stageFitted: stageGenerating},
	}[at]
	for i := range x.Waiting {
		if to, moves := next[x.Waiting[i].Stage]; moves {
			x.Waiting[i].Stage = to
		}
	}
}

// abandonStages sends changes back when the work that they were bound to is abandoned.
func (x *experiment) abandonStages() {
	x.refitProgress = stageScore
	for i := range x.Waiting {
		switch w := &x.Waiting[i]; w.Stage {
		case stageScoring, stageFitting:
			w.Stage = w.Home
		case stageGenerating:
			w.Stage = stageFitted
		}
	}
}

// reached moves on the changes that waited for the end of a stage.
func (x *experiment) reached(s stage) {
	switch s {
	case stageFitted:
		x.move(stageFitting, stageFitted)
	case stageGenerated:
		x.move(stageGenerating, stageGenerated)
	case stageStep:
		x.release(func(w waiting) bool { return w.Stage == stageStep })
	}
}

func (x *experiment) move(from, to stage) {
	for i := range x.Waiting {
		if x.Waiting[i].Stage == from {
			x.Waiting[i].Stage = to
		}
	}
}

// inForce looks at the batch that was just drawn: which changes does it contain
// for the first time?
func (x *experiment) inForce(mix replay.Mix) {
	if len(x.Waiting) == 0 {
		return
	}
	x.release(func(w waiting) bool {
		switch w.Stage {
		case stageUpdate:
			return true
		case stageGenerated:
			return mix.Synthetic > 0
		case stageMix:
			return mix == x.config.Mix(&x.Settings, math.MaxInt)
		}
		return false
	})
}

// release writes a line for the changes that are in force now.
func (x *experiment) release(ready func(waiting) bool) {
	kept := x.Waiting[:0]
	for _, w := range x.Waiting {
		if ready(w) {
			x.emit(event.TypeInForce, event.NoMember, event.InForce{ID: w.ID, Knob: w.Knob, Obs: &event.InForceObs{Updates: x.first().Updates}})
		} else {
			kept = append(kept, w)
		}
	}
	x.Waiting = kept
}

// await adds a change to those that are not in force. An earlier one of the same
// knob that nothing has read yet will never be.
func (x *experiment) await(c event.KnobChanged, home stage) {
	kept := x.Waiting[:0]
	for _, w := range x.Waiting {
		if w.Knob != c.Knob || w.Stage != w.Home {
			kept = append(kept, w)
		}
	}
	x.Waiting = append(kept, waiting{KnobChanged: c, Home: home, Stage: home})
}

// scheduleRedo arranges what "now" asks for and says, where it cannot, why. Work of the
// present env step that has read the old value is abandoned; it is done again in
// the next env step. Work that has not yet begun will read the new value anyway.
func (x *experiment) scheduleRedo(home stage) (hint string) {
	want, reads := knob.ClassRefit, stageFitting
	switch home {
	case stageScore:
		reads = stageScoring
	case stageFit:
	case stageFitted:
		want, reads = knob.ClassGeneration, stageGenerating
	default:
		return "" // the next update has it
	}
	if x.todo != nothing && x.refitProgress < reads && x.todo >= want {
		return ""
	}
	if x.Redo >= want {
		return ""
	}
	if want == knob.ClassGeneration && !x.Fitted {
		return fmt.Sprintf("no generator is fitted before step %s", knob.FormatCount(x.nextRefit()))
	}
	if want == knob.ClassRefit && !x.training(x.first()) {
		return fmt.Sprintf("too few transitions to refit before step %s", knob.FormatCount(x.config.StartSteps+1))
	}
	x.todo = nothing
	x.Redo = want
	return ""
}

// hintOfEnd says in one line why a change that was just set has no effect in the rest
// of the run, or "". It is observed: the same change has one in a longer run.
func (x *experiment) hintOfEnd(k knob.Knob, home stage) string {
	redone := x.todo != nothing && !x.lastStep() || x.Redo != nothing && x.Step+1 < x.config.Steps
	if home >= stageUpdate || redone || x.nextRefit() < x.config.Steps || home >= stageGenerating && x.hasSynthetic() {
		return ""
	}
	return fmt.Sprintf("%s has no effect: there is no refit before the run's last step", k.Title())
}

// hint says in one line why a change that was just set has no effect yet, or "".
func (x *experiment) hint(k knob.Knob, home stage) string {
	s := &x.Settings
	name := k.Title()
	next := x.nextRefit()
	switch {
	case home == stageUpdate && !x.training(x.first()):
		return fmt.Sprintf("%s has no effect before the first update at step %s", name, knob.FormatCount(x.config.StartSteps+1))
	case home >= stageUpdate:
		return ""
	case home == stageMix && !x.hasSynthetic():
		return fmt.Sprintf("%s has no effect before the first generation at step %s", name, knob.FormatCount(next))
	case home == stageMix:
		return ""
	case k.Use&knob.UsePrompts != 0 && k.Name != "relevance" && s.Relevance == relevance.None:
		return fmt.Sprintf("%s has no effect while relevance is none", name)
	case s.Ratio == 0:
		return fmt.Sprintf("%s has no effect while r is 0", name)
	}
	return ""
}

func (x *experiment) hasSynthetic() bool {
	s := x.first().synthetic
	return s != nil && s.Len() > 0
}
