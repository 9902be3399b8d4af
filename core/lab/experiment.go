package lab

import (
	"context"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/replica"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// experiment is the state of the training goroutine; nothing else touches it. It connects
// the roles of a run, drives the phases of Algorithm 1, and is what a checkpoint keeps.
type experiment struct {
	lab     *Lab
	config  *config.Config
	task    task.Task
	parts   parts
	members []*replica.Replica
	cohort  cohort // of the members
	updates updates
	now     func() time.Time // the clock of all roles but the meter

	place
	Settings  knob.Settings // current values; steering changes them
	synthesis synthesis     // written by refit
	changes   redo.Changes

	journal     journal
	meter       cost.Meter
	expected    cost.Units // before the meter has measured them
	gate        gate
	steering    steering
	checkpoints checkpointer
	views       views
	asides      asides
	refit       refit
	analyses    analyses
	control     control

	resumed   *run.Header   // the checkpoint from which the run goes on; nil: the run starts from its beginning
	elapsed   time.Duration // what the run took before this process
	say       func(string)  // receives what takes time, while it does; nil: nothing is reported
	published time.Time     // when the last snapshot was made
	reported  standing      // at the last line perf, or when the run was resumed
	version   string
	device    string // its name
}

// common is what all roles of a run have.
type common struct {
	config  *config.Config
	place   *place
	journal *journal
	gate    *gate
	meter   *cost.Meter
	now     func() time.Time // the clock of all roles but the meter
}

// wire connects the roles of the run: each has only what it is given here.
func (x *experiment) wire(log func(event.Event), folder record) {
	c := common{config: x.config, place: &x.place, journal: &x.journal, gate: &x.gate, meter: &x.meter, now: func() time.Time { return x.now() }}
	x.journal = journal{
		place: &x.place, members: x.config.Members, now: c.now, log: log, folder: folder, start: c.now(),
		refused: x.gate.waitForDisk,
		written: x.checkpoints.written,
	}
	x.gate.common, x.gate.device, x.gate.blamed = c, x.parts.device, map[string]bool{}
	x.views = views{common: c, settings: &x.Settings, synthesis: &x.synthesis}
	x.checkpoints = checkpointer{common: c, copyTo: x.copyTo, ahead: x.ahead, part: aheadBytes, room: run.Free}
	x.steering = steering{
		common: c, settings: &x.Settings, changes: &x.changes,
		beforeChange: x.checkpoints.beforeChange, choose: x.choose, outlook: x.outlook, hasPhase: x.checkPosition,
	}
	x.control = control{
		common: c, steering: &x.steering, checkpoints: &x.checkpoints, asides: &x.asides,
		publish: x.publish, mailbox: x.lab.mailbox,
	}
}

// wireMembers connects the roles that work with the members, once there are all of them.
func (x *experiment) wireMembers() {
	c := x.control.common
	x.asides = asides{common: c, steering: &x.steering, views: &x.views, members: x.members, past: func() []event.Event { return x.lab.Events(0) }}
	x.refit = refit{
		common: c, settings: &x.Settings, changes: &x.changes,
		made: &x.synthesis, views: &x.views, asides: &x.asides, members: x.members, each: x.cohort.each,
		lean: x.checkpoints.lean, diverged: x.diverged,
		slice: max(1, x.config.Generator.Slice),
	}
	x.analyses = analyses{common: c, views: &x.views, asides: &x.asides, members: x.members}
}

// emit writes a line of the journal.
func (x *experiment) emit(kind string, member int, body any) { x.journal.emit(kind, member, body) }

// synthesis says what D_syn was made from, as checkpoints keep it.
type synthesis struct {
	Refits      uint64              // fits begun, abandoned ones included
	Generations uint64              // generations begun
	Generating  generative.GenKnobs // of the last generation begun
	Calls       int                 // of the generator, made in it
	OfCalls     int                 // units of its phase: calls, and pieces in which it is described
	Fitted      bool                // a fit is complete
	FittedTo    uint64              // rows that D_real had ever had at that fit; 0: unknown
	Asked       inspect.Prompts     // what D_syn was prompted with
	Analysing   knob.Settings       // of the analysis under way
	FittedWith  string              // name of the F that was bound for that fit; "": unknown
	OtherSeed   uint64              // generations begun under another seed, before the run branched off
}

// prompts are those of the last generation begun.
func (s *synthesis) prompts() inspect.Prompts {
	return inspect.Prompts{Knobs: s.Generating, Occasion: s.Generations - 1, Known: true, Relevance: s.FittedWith, OtherSeed: s.Generations <= s.OtherSeed}
}

// begin starts the env step that ends at step. A refit is due when (t+1) mod refit_every is 0, where
// t counts from 0 and step from 1; what was asked for with "now" is done in the same place, so that
// every position is reached once and in order.
func (x *experiment) begin(step int) {
	x.meter.Weigh(x.config.Weighs(x.first().Mix))
	x.meter.Begin(x.first().Enough())
	x.Step = step
	x.position = knob.Position{Step: step, Phase: knob.Collect}
	x.refit.fitted = false
	x.inForce(x.changes.BeginStep(step, x.refitDue(step)))
}

// refitDue says whether the env step that ends at step refits the generator even if no change asks for it.
func (x *experiment) refitDue(step int) bool {
	if x.config.Dreams() {
		return !x.synthesis.Fitted
	}
	return x.config.Refits(step, x.Settings.RefitEvery)
}

// inForce writes a line for changes that are in force now.
func (x *experiment) inForce(changes []redo.Waiting) {
	for _, w := range changes {
		e := event.InForce{ID: w.ID, Knob: w.Knob, Obs: event.InForceObs{Updates: x.first().Updates}}
		if w.Stage == redo.Generated {
			e.Share = x.first().Synthesis.Share()
		}
		x.emit(event.TypeInForce, event.NoMember, e)
	}
}

// takeBackStep takes back the beginning of an env step that could not be made.
func (x *experiment) takeBackStep() {
	x.Step -= x.config.Environment.InLockstep()
	x.position = knob.After(x.Step)
	x.changes.TakeBackStep()
	x.publish(time.Time{})
}

// reenter gives up again what had been given up when the run was saved. It also gives up an
// evaluation that was due only at the run's former end. The rest of the env step then follows.
func (x *experiment) reenter(ctx context.Context) error {
	p := x.entry
	if !x.entered() {
		return nil
	}
	if p.Phase == knob.Evaluate && !x.evaluationDue() {
		x.entry = knob.Position{}
		for _, m := range x.members {
			m.Trial.Abandon()
		}
		return nil
	}
	if !x.changes.Abandoned() || p.Phase == knob.Evaluate || p.Phase == knob.Analyse {
		return nil
	}
	if err := x.control.applyPending(ctx, p); err != nil {
		return err
	}
	x.entry = knob.Position{}
	if p.Phase == knob.Score {
		x.changes.SendBack()
	} else {
		x.refit.cancel()
	}
	return nil
}

// evaluationDue says whether the present env step ends with an evaluation: by the
// cadence, or because it is the last one, or the first one and has trained on recorded data.
func (x *experiment) evaluationDue() bool {
	every := x.config.Evaluation.Every
	pretrained := x.config.Data.Pretrain > 0 && x.Step == x.config.Environment.InLockstep()
	return every > 0 && (x.config.Reaches(x.Step, every) || x.lastStep() || pretrained) && !x.entersAt(knob.Analyse)
}

// nextRefit returns the step of the next refit after step, if the run gets beyond it; 0 if
// the method has none.
func nextRefit(c *config.Config, s *knob.Settings, step int) int {
	if c.Dreams() {
		return 0
	}
	return c.NextRefit(step, s.RefitEvery)
}

// outlook returns what the effect of a change depends on now.
func (x *experiment) outlook() redo.Outlook {
	m, copies := x.first(), x.config.Environment.InLockstep()
	next, updates := nextRefit(x.config, &x.Settings, x.Step), copies*x.config.Pace().First()
	if x.Step >= updates {
		updates = 0
	}
	first := next // the refit that makes the first D_syn, if there is none yet
	if x.place.refitting() {
		first = x.Step
	}
	return redo.Outlook{
		Settings: &x.Settings, LastStep: x.lastStep(), StepsLeft: x.Step+copies < x.config.Steps,
		Training: m.Enough(), FirstStep: x.config.RoundUp(x.config.StartSteps + 1), Updates: updates,
		NextRefit: first, Refits: next < x.config.Steps, Fitted: x.synthesis.Fitted, Synthetic: m.Synthetic != nil && m.Synthetic.Len() > 0,
		Explores: x.config.Explores(),
	}
}

// first is the member that stands for all where they cannot differ: counts of
// lockstep work, and the flat fields of a snapshot.
func (x *experiment) first() *replica.Replica { return x.members[0] }

// checkPosition returns an error if the run has no such place.
func (x *experiment) checkPosition(p knob.Position) error { return x.first().CheckPosition(p) }
