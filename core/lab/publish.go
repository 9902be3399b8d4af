package lab

import (
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/meter"
	"pgrlab/core/run"
)

// publishEvery is the least time between two snapshots that nothing asked for: more would cost
// training time, and nobody looks more often.
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
	case x.gate.pause != nil:
		return event.PausedState
	case x.Step == 0:
		return event.Starting
	}
	return event.Running
}

func (x *experiment) snapshot(now time.Time) *event.Snapshot {
	m := x.first()
	steps, updates := x.meter.Rates()
	s := &event.Snapshot{
		Time: now, Task: x.config.Task, Method: x.config.Method, Seed: x.config.Seed, Members: len(x.members),
		Step: x.Step, Steps: x.config.Steps, State: x.state(), Parked: x.gate.parked, HandedOver: x.gate.handedOver, Position: x.position,
		Phase: x.position.Phase, PhaseDone: x.position.I, PhaseTotal: x.total, PhaseETA: x.meter.PhaseTakes(x.position, x.total), ETA: x.eta(), StepTime: x.meter.StepTakes() / time.Duration(x.config.Environment.InLockstep()),
		StepsPerSec: steps, UpdatesPerSec: updates,
		CostRefit: refitTakes(&x.meter, &x.Settings, m), CostGenerate: x.meter.GenerationTakes(&x.Settings),
		Knobs: x.Settings.Values(), Scheduled: changesOf(x.steering.schedule),
		Real: m.Real.Len(), Updates: m.Updates, Episode: int(m.Copies[0].Episode), EpisodeStep: m.Copies[0].Step, EpisodeReturn: m.Copies[0].Return,
		Refits: int(x.synthesis.Refits), FitLoss: m.Fit.Last,
		MixReal: m.Mix.Real, MixSynthetic: m.Mix.Synthetic, Losses: m.Losses.Last(),
		Map: x.asides.mapped, Moment: x.asides.moment, Dreamt: x.asides.dreamt,
	}
	if s.Phase == knob.AfterStep { // between two env steps: shown as collecting
		s.Phase, s.PhaseDone, s.PhaseTotal = knob.Collect, 0, 0
	}
	s.Pose = m.Pose()
	if x.journal.folder != nil {
		s.Dir = x.journal.folder.Dir()
	}
	if m.Synthetic != nil {
		s.Synthetic = m.Synthetic.Len()
	}
	if next := nextRefit(x.config, &x.Settings, x.Step); next > 0 && next < x.config.Steps {
		s.NextRefit = next - x.Step
	}
	for _, w := range x.changes.Waiting() {
		s.Waiting = append(s.Waiting, w.KnobChanged)
	}
	if x.gate.pause != nil {
		s.Err, s.Passing = x.gate.pause.Reason, x.gate.passes()
		if x.gate.disk != nil && s.Err == "" {
			s.Err = x.gate.disk.err.Error()
		}
	}
	return s
}

// eta returns the time until the run ends; 0 if the cost of a training step is not known yet.
func (x *experiment) eta() time.Duration {
	costs := x.costs()
	if costs.Step == 0 || x.config.Pace().Every > 1 && !x.meter.Seen(knob.Learn) {
		return 0
	}
	if x.synthesis.Generations > 0 {
		costs.First = 0
	}
	return x.config.LastsFrom(&x.Settings, x.Step, costs) + x.meter.PhaseTakes(x.position, x.total)
}

// costs returns what the parts of the run take, including batches still to come: if real rows
// are most of the work, batches become quicker with the first D_syn.
func (x *experiment) costs() config.Costs {
	s := &x.Settings
	samples := max(s.Samples, x.config.Knobs.Samples) // a trial makes fewer
	b := meter.Batches{Real: x.config.Weighs(x.config.Mix(s, 0)), Mixed: x.config.Weighs(x.config.Mix(s, samples))}
	return x.meter.Costs(s, b, x.task.EpisodeSteps)
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
	for _, d := range x.meter.State().Parts {
		s.spent += d
	}
	return s
}

// perf returns how fast the run was since the last line perf, or since the run was resumed, and what
// it takes. It comes after an evaluation, and often after a refit as well, so that the rates of the
// last seconds, which screens show, would tell nothing.
func (x *experiment) perf() event.Perf {
	now := x.standing()
	p := x.meter.Perf(&x.Settings)
	if took := (now.spent - x.reported.spent).Seconds(); took > 0 {
		p.StepsPerSec = run.Float(float64(now.step-x.reported.step) / took)
		p.UpdatesPerSec = run.Float(float64(now.updates-x.reported.updates) / took)
	}
	now.spent = 0 // Perf has begun to count anew
	x.reported = now
	if d, has := x.parts.device.(interface{ Taken() uint64 }); has { // a GPU
		p.DeviceBytes = d.Taken()
	}
	return p
}
