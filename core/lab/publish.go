package lab

import (
	"time"

	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/replica"
	"pgrlab/core/run"
)

// publishEvery is the least time between two snapshots that nothing asked for: more would cost
// training time, and no one looks more often.
const publishEvery = 50 * time.Millisecond

// publish makes a snapshot if the last one is old; a zero now makes one anyway.
func (x *experiment) publish(now time.Time) {
	if now.IsZero() {
		now = x.now()
	} else if now.Sub(x.published) < publishEvery {
		return
	}
	x.published = now
	if x.gate.pause == nil {
		x.meter.Look(now, x.Step, x.first().Updates)
	}
	x.lab.snapshot.Store(x.snapshot(now))
}

// state returns what the run is doing, as shown to the user.
func (x *experiment) state() event.State {
	switch {
	case x.gate.rests():
		return event.Ready
	case x.gate.pause != nil:
		return event.PausedState
	case x.Step == 0:
		return event.Starting
	}
	return event.Running
}

func (x *experiment) snapshot(now time.Time) *event.Snapshot {
	m, u := x.first(), x.units()
	steps, updates := x.meter.Rates()
	eta, least := x.eta(u)
	warming, done, total := x.part()
	s := &event.Snapshot{
		Time: now, Task: x.config.Task, Method: x.config.Method, Seed: x.config.Seed, Members: len(x.members), Dreams: x.config.Dreams(),
		Step: x.Step, Steps: x.config.Steps, State: x.state(), Parked: x.gate.parked, HandedOver: x.gate.handedOver, Position: x.position,
		Phase: x.position.Phase, Warming: warming, PhaseDone: done, PhaseTotal: total, PhaseETA: x.meter.PhaseTakes(x.position, x.total, x.owed()), ETA: eta, ETALeast: least,
		StepTime:    time.Duration(x.meter.Step() / float64(x.config.Environment.InLockstep()) * float64(time.Second)),
		StepsPerSec: steps, UpdatesPerSec: updates,
		CostRefit: refitTakes(u, &x.Settings, m), CostGenerate: u.Generation(&x.Settings),
		Knobs: x.Settings.Values(), Scheduled: changesOf(x.steering.schedule),
		Real: m.Real.Len(), Updates: m.Updates, Episode: m.World.Counters[0].Number(len(m.World.Counters)), EpisodeStep: m.World.Counters[0].Step, EpisodeReturn: m.World.Counters[0].Return,
		Refits: int(x.synthesis.Refits), FitLoss: m.Synthesis.Fit.Last,
		MixReal: m.Mix.Real, MixSynthetic: m.Mix.Synthetic, Losses: m.Losses.Last(),
		Map: x.asides.mapped, Moment: x.asides.moment, Dreamt: x.asides.dreamt,
	}
	s.Ground = x.asides.grounding()
	if s.Phase == knob.AfterStep { // between two env steps: shown as collecting
		s.Phase, s.PhaseDone, s.PhaseTotal = knob.Collect, 0, 0
	}
	s.Pose = m.World.Pose()
	if x.journal.folder != nil {
		s.Dir = x.journal.folder.Dir()
	}
	if m.Synthetic != nil {
		s.Synthetic = m.Synthetic.Len()
	}
	s.Share, s.WholeIn = m.Synthesis.Share(), x.wholeIn(u)
	if next := nextRefit(x.config, &x.Settings, x.Step); next > 0 && next < x.config.Steps {
		s.NextRefit = next - x.Step
	}
	for _, w := range x.changes.Waiting() {
		if w.Stage == redo.Partly {
			continue
		}
		s.Waiting = append(s.Waiting, w.KnobChanged)
	}
	if x.gate.pause != nil && !x.gate.rests() {
		s.Err, s.Passing = x.gate.pause.Reason, x.gate.passes()
		if x.gate.disk != nil && s.Err == "" {
			s.Err = x.gate.disk.err.Error()
		}
	}
	return s
}

// wholeIn is the time until D_syn is whole, with what takes u: its chunks, and the env steps between them;
// 0: it is, or that is unknown.
func (x *experiment) wholeIn(u cost.Units) time.Duration {
	fresh := x.first().Synthesis.Fresh
	if x.changes.Next() == 0 || fresh == nil || u.Sample == 0 || u.Step == 0 {
		return 0
	}
	left := fresh.Cap() - fresh.Len()
	chunk := max(1, x.config.Generator.Chunk)
	steps := (x.changes.Next()-x.Step)/x.config.Environment.InLockstep() + (left+chunk-1)/chunk*x.config.Roll() - x.config.Roll()
	return time.Duration((u.Sample*float64(left) + u.Step*float64(max(0, steps))) * float64(time.Second))
}

// owed is how many of the units of phase Score its models owe before they score; 0 in other phases.
func (x *experiment) owed() int {
	if x.position.Phase != knob.Score {
		return 0
	}
	_, rows := realRows(x.members)
	return max(0, x.total-rows)
}

// part returns the progress of the present phase. What the models of F learn first in phase Score is a part of
// its own, since a unit of it takes a hundred times as long.
func (x *experiment) part() (warming bool, done, total int) {
	done, total = x.position.I, x.total
	owed := x.owed()
	if done < owed {
		return true, done, owed
	}
	return false, done - owed, total - owed
}

// eta returns the time until the run ends, with what takes u; 0 if that of a training step is not
// known yet. least says that work is still to come of which none has been done yet.
func (x *experiment) eta(u cost.Units) (left time.Duration, least bool) {
	if u.Step == 0 || x.config.Pace().Every > 1 && !x.meter.Seen(knob.Learn) {
		return 0, false
	}
	if x.synthesis.Generations > 0 {
		u.First = 0
	}
	next := nextRefit(x.config, &x.Settings, x.Step)
	least = next > 0 && next < x.config.Steps && u.Sample == 0
	for _, in := range cost.Rounds(x.config) {
		ahead := x.config.EnvSteps(x.config.Steps) > in.FirstRound(x.config.Environment.InLockstep())
		switch {
		case !ahead || x.meter.Seen(knob.Reach):
		case x.expected.Step > u.Step:
			u.First, u.Step = u.Step, x.expected.Step
		default:
			least = true
		}
	}
	return u.Rest(x.config, &x.Settings, x.Step) + x.meter.PhaseTakes(x.position, x.total, x.owed()) + x.stepRest(u), least
}

// stepRest is the time of the phases of the present env step that are still to come.
func (x *experiment) stepRest(u cost.Units) (left time.Duration) {
	s, at := &x.Settings, x.position.Phase
	switch todo := x.changes.Todo(); {
	case at == knob.Fit:
		left = u.Generation(s)
	case at == knob.Score:
		left = u.Refit(s, 0, 0)
	case !at.Before(knob.Score):
	case todo == knob.ClassRefit:
		left = refitTakes(u, s, x.first())
	case todo == knob.ClassGeneration:
		left = u.Generation(s)
	}
	if at.Before(knob.Evaluate) && x.evaluationDue() {
		left += time.Duration(u.Evaluation * float64(time.Second))
	}
	return left
}

// units returns what the parts of the run take, including batches still to come: if real rows
// are most of the work, batches become quicker with the first D_syn.
func (x *experiment) units() cost.Units {
	s := &x.Settings
	samples := max(s.Samples, x.config.Knobs.Samples) // a trial makes fewer
	b := cost.Batches{Real: x.config.Weighs(x.config.Mix(s, 0)), Mixed: x.config.Weighs(x.config.Mix(s, samples))}
	return x.meter.Units(s, b, x.task.EpisodeSteps).Or(x.expected)
}

// refitTakes is the time of a refit of a member now; 0 if that is not known yet.
func refitTakes(u cost.Units, s *knob.Settings, r *replica.Replica) time.Duration {
	rows := r.Real.Len()
	if r.Parts.Fills { // the refit will have more rows than there are now
		rows = r.Config.CollectedBy(r.Stepped)
	}
	return u.Refit(s, rows, r.Functions.Owed(s.Relevance, r.Real.Len()))
}

// changesOf returns the changes of a schedule that will be made. It leaves out notes: nothing waits for
// them.
func changesOf(all []knob.Scheduled) (changes []knob.Scheduled) {
	for _, s := range all {
		if s.Note == "" && !s.IsCancelled() {
			changes = append(changes, s)
		}
	}
	return changes
}

// standing is how far a run has come, and in how much time since the last line perf.
type standing struct {
	step    int
	updates uint64
	spent   time.Duration
}

// standing returns how far the run has come.
func (x *experiment) standing() standing {
	s := standing{step: x.Step, updates: x.first().Updates}
	for _, d := range x.meter.Times {
		s.spent += d
	}
	return s
}

// perf returns how fast the run was since the last line perf, or since the run was resumed, and what
// it takes. It comes after an evaluation, and often after a refit as well, so that the rates of the
// last seconds, which screens show, would show nothing.
func (x *experiment) perf() event.Perf {
	now := x.standing()
	p := x.meter.Perf(&x.Settings)
	p.Device = x.device
	if took := (now.spent - x.reported.spent).Seconds(); took > 0 {
		p.StepsPerSec = run.Float(float64(now.step-x.reported.step) / took)
		p.UpdatesPerSec = run.Float(float64(now.updates-x.reported.updates) / took)
	}
	now.spent = 0 // Perf has begun to count again
	x.reported = now
	if d, has := x.parts.device.(interface{ Taken() uint64 }); has { // a GPU
		p.DeviceBytes = d.Taken()
	}
	return p
}
