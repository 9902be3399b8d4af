package lab

import (
	"context"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// nothing is the class of work where nothing is to be redone. Work of an env step is
// said by the class of the knobs that ask for it: a refit is scores, a fit and a
// generation.
const nothing = knob.ClassBatch

// experiment is the state of the training goroutine; nobody else touches it.
type experiment struct {
	lab     *Lab
	config  *config.Config
	task    task.Task
	parts   parts
	members []*member
	now     func() time.Time
	loopState

	position      knob.Position
	inSlice       bool          // work is being done: the state is no whole one
	entry         knob.Position // where a loaded run goes on, if inside of an env step; else zero
	total         int           // units of the phase
	todo          knob.Class    // what the present env step still has to do
	refitProgress stage         // what of it has begun, and with which knobs
	scored        bool          // the fit of the present env step has scores
	fitted        bool          // a fit was completed in the present env step
	schedule      []knob.Scheduled
	slice         int // generator steps of a slice

	aside    *aside        // nil: nothing is under way beside training
	mapped   *event.Mapped // the answer to the last Map; nil: none
	moment   *event.Moment // and to the last Watch
	previews uint64        // begun

	marking  bool          // the run is to be saved here, before what only its end has
	marked   bool          // it was
	markedAt knob.Position // and there; zero: by an earlier process
	unsaved  error         // why it could not be; nil: it could

	pause       *event.Paused // why training waits; nil: it does not
	parked      bool          // the device is given back
	stopping    bool
	gone        *DeviceGone     // the device cannot be used any more
	handedOver  bool            // another process goes on: nothing is written behind the checkpoint
	ending      bool            // the last lines are written: nothing waits any more
	blamed      map[string]bool // faults that training has waited for already
	disk        *diskWait       // what the disk does not take; nil: it takes everything
	checkpoints *checkpointer   // nil: nothing is saved
	resumed     *run.Header     // the checkpoint that the run goes on from; nil: from its beginning
	elapsed     time.Duration   // of the run before this process
	remarks     []string        // about what was loaded
	tell        func(string)    // hears what takes its time while it is; nil: nobody does
	journal     journal
	meter       meter
	published   time.Time
	version     string
	device      string // its name
}

// loopState are the counters of the loop: what a checkpoint keeps of it, beside
// the states of the members and of their parts.
type loopState struct {
	Step        int // env steps made, the present one included
	Settings    knob.Settings
	Refits      uint64              // fits begun, abandoned ones included
	Generations uint64              // generations begun
	Generating  generative.GenKnobs // of the last of them
	Fitted      bool                // a fit is complete
	Asked       inspect.Prompts     // of D_syn
	Analysing   knob.Settings       // of the analysis under way
	Redo        knob.Class          // what "now" asked for: done in the next env step
	Changes     []event.KnobChanged
	Waiting     []waiting
}

// begin starts env step step. A refit is due when (t+1) mod refit_every is 0,
// where t counts from 0 and step from 1; what "now" asked for is done in the same
// place, so that every position is reached once and in order.
func (x *experiment) begin(step int) {
	x.meter.begin(x.training(x.first()))
	x.Step = step
	x.position = knob.Position{Step: step, Phase: knob.Collect}
	x.todo, x.refitProgress, x.fitted = nothing, stageScore, false
	if !x.config.Generates() {
		return
	}
	x.todo = x.Redo
	x.Redo = nothing
	if step%x.Settings.RefitEvery == 0 {
		x.todo = knob.ClassRefit
	}
	x.reached(stageStep)
}

// takeBackStep takes back the beginning of an env step that could not be made; redo is
// what "now" had asked for.
func (x *experiment) takeBackStep(redo knob.Class) {
	x.Step--
	x.position = knob.After(x.Step)
	x.todo, x.Redo = nothing, redo
	x.publish(time.Time{})
}

// abandoned says whether a command took away what the env step had to do.
func (x *experiment) abandoned() bool { return x.todo == nothing }

// entered says whether the run goes on inside of an env step, where it was saved.
func (x *experiment) entered() bool { return x.entry.Step > 0 }

// entersAt says whether it goes on in that phase.
func (x *experiment) entersAt(p knob.Phase) bool { return x.entered() && x.entry.Phase == p }

// reenter gives up what had been given up already when the run was saved, and the
// evaluation at what was its end, so that what remains of the env step follows.
func (x *experiment) reenter(ctx context.Context) error {
	p := x.entry
	if !x.entered() {
		return nil
	}
	if p.Phase == knob.Evaluate && !x.evaluationDue() {
		x.entry = knob.Position{}
		for _, m := range x.members {
			m.evaluation = nil
		}
		return nil
	}
	if !x.abandoned() || p.Phase == knob.Evaluate || p.Phase == knob.Analyse {
		return nil
	}
	if err := x.applyPending(ctx, p); err != nil {
		return err
	}
	x.entry = knob.Position{}
	if p.Phase == knob.Score {
		x.abandonStages()
	} else {
		x.cancel()
	}
	return nil
}

// enter is where a phase begins: at 0, or where the run was saved.
func (x *experiment) enter(p knob.Phase) int {
	if !x.entersAt(p) {
		return 0
	}
	i := x.entry.I
	x.entry = knob.Position{}
	return i
}

// training says whether there are enough transitions to train on.
func (x *experiment) training(m *member) bool {
	met := m.real.Len()
	if x.parts.fills {
		met = m.Stepped * len(m.envs)
	}
	return met > x.config.StartSteps
}

// evaluationDue says whether the present env step ends with an evaluation: by the
// cadence, or because it is the last one.
func (x *experiment) evaluationDue() bool {
	every := x.config.Evaluation.Every
	return every > 0 && (x.Step%every == 0 || x.lastStep()) && !x.entersAt(knob.Analyse)
}

// nextRefit is the env step of the next refit, if the run gets beyond it; 0 where there
// is none.
func (x *experiment) nextRefit() int {
	if !x.config.Generates() {
		return 0
	}
	every := x.Settings.RefitEvery
	return (x.Step/every + 1) * every
}

// first is the member that stands for all where they cannot differ: counts of
// lockstep work, and the flat fields of a snapshot.
func (x *experiment) first() *member { return x.members[0] }
