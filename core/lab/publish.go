package lab

import (
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/run"
)

// publishEvery is the least time between two snapshots that nothing asked for:
// more would cost training time, and nobody looks more often.
const publishEvery = 50 * time.Millisecond

// publish makes a snapshot if the last one is old; a zero now makes one anyway.
func (x *experiment) publish(now time.Time) {
	if now.IsZero() {
		now = x.now()
	} else if now.Sub(x.published) < publishEvery {
		return
	}
	x.published = now
	if x.pause == nil {
		x.meter.look(now, x.Step, x.first().Updates)
	}
	x.lab.snapshot.Store(x.snapshot(now))
}

// state is what a person would say the run is doing.
func (x *experiment) state() State {
	switch {
	case x.pause != nil:
		return PausedState
	case x.Step == 0:
		return Starting
	}
	return Running
}

func (x *experiment) snapshot(now time.Time) *Snapshot {
	m := x.first()
	s := &Snapshot{
		Time: now, Task: x.config.Task, Method: x.config.Method, Seed: x.config.Seed, Members: len(x.members),
		Step: x.Step, Steps: x.config.Steps, State: x.state(), Position: x.position,
		Phase: x.position.Phase, PhaseDone: x.position.I, PhaseTotal: x.total, PhaseETA: x.phaseETA(), ETA: x.eta(),
		StepsPerSec: x.meter.steps, UpdatesPerSec: x.meter.updates,
		CostRefit: x.costRefit(), CostGenerate: x.costGenerate(),
		Knobs: x.Settings.Values(), Scheduled: append([]Scheduled(nil), x.schedule...),
		Real: m.real.Len(), Updates: m.Updates, Episode: int(m.Episode), EpisodeStep: m.EpisodeStep, EpisodeReturn: m.EpisodeReturn,
		Refits: int(x.Refits), FitLoss: m.fit.last, FReal: m.freal, FSyn: m.fsyn,
		MixReal: m.lastMix.Real, MixSynthetic: m.lastMix.Synthetic, Losses: m.losses.last(),
	}
	if s.Phase == AfterStep { // between two env steps: for people, collecting goes on
		s.Phase, s.PhaseDone, s.PhaseTotal = Collect, 0, 0
	}
	if x.journal.folder != nil {
		s.Dir = x.journal.folder.Dir()
	}
	if m.synthetic != nil {
		s.Synthetic = m.synthetic.Len()
	}
	if next := x.nextRefit(); next > 0 {
		s.NextRefit = next - x.Step
	}
	for _, w := range x.Waiting {
		s.Waiting = append(s.Waiting, w.KnobChanged)
	}
	if x.pause != nil {
		s.Err = x.pause.Reason
	}
	return s
}

// sums are the losses since the last line.
type sums struct {
	critic, actor, qMean, model mean
	alpha                       float64
	latest                      agent.Losses
	latestModel                 float64
	updates                     uint64
}

type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) { m.sum += v; m.n++ }

// value is the mean, or nil where there was nothing to average: what was not
// computed is missing, never zero.
func (m *mean) value() *run.Float {
	if m.n == 0 {
		return nil
	}
	v := run.Float(m.sum / float64(m.n))
	return &v
}

func (s *sums) add(l agent.Losses, acted bool) {
	s.critic.add(l.Critic)
	s.qMean.add(l.QMean)
	if acted {
		s.actor.add(l.Actor)
		s.latest.Actor = l.Actor
	}
	actor := s.latest.Actor
	s.latest = l
	s.latest.Actor = actor
	s.alpha = l.AlphaValue
	s.updates++
}

func (s *sums) addModel(loss float64) {
	s.model.add(loss)
	s.latestModel = loss
}

// take returns the means and starts anew; some says whether there were any.
func (s *sums) take() (l Losses, some bool) {
	some = s.critic.n+s.model.n > 0
	l = Losses{Critic: s.critic.value(), Actor: s.actor.value(), QMean: s.qMean.value(), Curiosity: s.model.value()}
	if s.critic.n > 0 {
		alpha := run.Float(s.alpha)
		l.Alpha = &alpha
	}
	s.critic, s.actor, s.qMean, s.model = mean{}, mean{}, mean{}, mean{}
	return l, some
}

// last is the latest update's, or nil before the first one.
func (s *sums) last() *UpdateLosses {
	if s.updates == 0 {
		return nil
	}
	return &UpdateLosses{
		Critic: s.latest.Critic, Actor: s.latest.Actor, Alpha: s.alpha, QMean: s.latest.QMean, Curiosity: s.latestModel,
	}
}
