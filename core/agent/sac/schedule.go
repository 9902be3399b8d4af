package sac

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/plan"
)

// stage is one part of an update: a program, or work of the host if the device has no
// program for it.
type stage interface{ Run(occasion uint64) error }

// schedule is the stages of one update, or of several that follow each other.
type schedule struct {
	stages    []stage
	update    []int  // the update that each stage belongs to
	samples   []bool // whether a stage's occasion is that of a batch
	occasions []uint64
	places    []places       // of each update
	fused     *plan.Sequence // all stages as one launch; nil if they run one after the other
}

// places are the indices of an update's stages that have results.
type places struct{ actor, alpha, critic int } // actor and alpha are −1 if the policy is not stepped

// newSchedule returns the stages in the order that an update has on every device; policy says
// for each update whether the policy is stepped. The policy learns from the critics before
// their step, and targets are computed with the policy before its step.
func (s *Agent) newSchedule(u *updater, policy ...bool) *schedule {
	l := &schedule{}
	for i, stepped := range policy {
		add := func(x stage) int {
			l.stages, l.update = append(l.stages, x), append(l.update, i)
			l.samples = append(l.samples, x == u.sampler)
			return len(l.stages) - 1
		}
		at := places{actor: -1, alpha: -1}
		if u.sampler != nil {
			add(u.sampler)
		}
		if s.choose != nil {
			add(s.choose)
		}
		if stepped {
			add(u.target)
			at.actor = add(u.actor)
			at.alpha = add(u.alpha)
			at.critic = add(u.critic)
		} else {
			at.critic = add(u.learn) // target and critic in one program
		}
		l.places = append(l.places, at)
	}
	l.occasions = make([]uint64, len(l.stages))
	return l
}

// run runs all stages. It returns a *plan.Stopped if one met a number that is not finite;
// the stages before that one are done.
func (l *schedule) run() error {
	if l.fused != nil {
		return l.fused.Run(l.occasions)
	}
	for i, x := range l.stages {
		if err := x.Run(l.occasions[i]); err != nil {
			var where *plan.NotFinite
			if errors.As(err, &where) {
				return &plan.Stopped{Program: i, Err: where}
			}
			return err
		}
	}
	return nil
}

// loss returns the loss of the program at stage i.
func (l *schedule) loss(i int) float64 {
	if l.fused != nil {
		return l.fused.Loss(i)
	}
	return l.stages[i].(*plan.Program).Loss()
}

func (l *schedule) close() error {
	if l == nil || l.fused == nil {
		return nil
	}
	if err := l.fused.Close(); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	return nil
}

// policyDue says whether the policy is stepped in the since-th update of an env step: it is
// in every PolicyDelay-th and in the last.
func (s *Agent) policyDue(since int, last bool) bool {
	return last || since%s.config.PolicyDelay == 0
}

// execute runs a schedule of updates, whose batches are those of the occasions from first on,
// writes their results to made, and counts them; last says that they end the env step. It
// returns how many updates were made: one that met a number that is not finite is among
// them, those after it are not.
func (s *Agent) execute(u *updater, l *schedule, first uint64, rates agent.Rates, last bool, made []agent.UpdateResult) (n int, err error) {
	s.set(rates)
	for i, update := range l.update {
		l.occasions[i] = s.updates + uint64(update)
		if l.samples[i] {
			l.occasions[i] = first + uint64(update)
		}
	}
	err = l.run()
	n = len(l.places)
	stopped, halted := err.(*plan.Stopped)
	if halted {
		n = l.update[stopped.Program]
	} else if err != nil {
		return 0, fmt.Errorf("agent: %w", err)
	}
	for i := range n {
		made[i] = s.result(u, l, i)
	}
	if halted {
		made[n] = agent.UpdateResult{Err: fmt.Errorf("agent: %w", stopped.Err)}
		if at := l.places[n]; at.alpha >= 0 && stopped.Program > at.alpha {
			made[n].Stepped = true
			s.alphaLoss(l, at.alpha)
		}
		n++
	}
	s.updates += uint64(n)
	s.since += n
	if last && n == len(l.places) {
		s.since = 0
	}
	return n, nil
}

// result returns the result of update i of a schedule.
func (s *Agent) result(u *updater, l *schedule, i int) (m agent.UpdateResult) {
	at := l.places[i]
	m.Losses = agent.NoLosses()
	if m.Stepped = at.actor >= 0; m.Stepped {
		m.Losses.Actor, m.Losses.Alpha = l.loss(at.actor), s.alphaLoss(l, at.alpha)
	}
	u.q = u.values(l, at.critic)
	m.Losses.Critic, m.Losses.QMean, m.Losses.AlphaValue = l.loss(at.critic), mean(u.q), s.Alpha()
	return m
}

// alphaLoss returns the loss of α's step at stage i. If a program made the step, alphaLoss
// also takes over its α.
func (s *Agent) alphaLoss(l *schedule, i int) float64 {
	switch x := l.stages[i].(type) {
	case *hostAlpha:
		return x.loss
	case *plan.Program:
		if l.fused != nil {
			return s.temp.read(l.fused.Result(i))
		}
		return s.temp.read(x.Result())
	}
	return math.NaN()
}

// set gives the programs the rates, which may change between updates.
func (s *Agent) set(rates agent.Rates) {
	s.rateActor.Data[0], s.rateCritic.Data[0] = float32(rates.LRActor), float32(rates.LRCritic)
	s.tau.Data[0] = float32(rates.Tau)
	s.temp.rate = rates.LRActor
}

// subsetChooser chooses K, the critics of an update's target, on the host.
type subsetChooser struct{ s *Agent }

// Run writes the subset of one update.
func (c subsetChooser) Run(occasion uint64) error {
	s := c.s
	s.subsets.At(occasion).Choose(s.subset, s.config.Critics)
	for i, critic := range s.subset {
		s.chosen.Data[i] = float32(critic)
	}
	return nil
}

// hostAlpha steps α on the log π of a batch, on the host.
type hostAlpha struct {
	t    *temperature
	logp []float32 // of the actor
	loss float64   // before the last step
}

// Run makes one step.
func (x *hostAlpha) Run(uint64) error {
	x.loss = x.t.step(x.logp)
	return nil
}

func mean(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	return sum / float64(len(x))
}
