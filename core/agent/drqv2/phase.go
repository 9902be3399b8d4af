package drqv2

import (
	"errors"
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// progress is how far the update under way is; without rows there is none.
type progress struct {
	mix    replay.Mix // of its batch
	done   int        // slices made here, or not to be made again; after Load perhaps fewer than the run had made
	loss   float64
	qMean  float64
	dreamt bool  // its synthetic rows are drawn
	rates  rates // of all of its units
}

// rates are the settings of an update that may change before the next one.
type rates struct{ LRCritic, LRActor, Tau float64 }

// Phases returns one phase: an update, when one is due.
func (x *Agent) Phases() []agent.Phase {
	return []agent.Phase{{Name: "learn", Due: x.due, Start: x.start, Slice: x.slice}}
}

// due says whether the env step has an update. A row of a batch spans several env steps; after a
// short random start, or if its episodes were lost, there may be none yet.
func (x *Agent) due(w *agent.Work) bool {
	c := &x.config
	if !w.Enough || w.Step%c.UpdateEvery != 0 {
		return false
	}
	return w.Source.Frames.Drawable(c.NStep, c.Pixels.Stack)
}

// start begins an update; its units are the parts of the batch and the policy's step.
func (x *Agent) start(w *agent.Work) (total int, err error) {
	u, err := x.updater(w.Source.Mix)
	if err != nil {
		return 0, err
	}
	x.now = progress{mix: u.mix, rates: ratesOf(w)}
	clear(x.crops[:])
	return u.parts + 1, nil
}

// slice makes one unit. A unit that meets a non-finite number is without effect and ends the
// update. The units that are left then do nothing, because members go in lockstep: the updates
// of the others have them.
func (x *Agent) slice(w *agent.Work, done int) (n int, made []agent.UpdateResult, err error) {
	if x.now.mix.Size() == 0 {
		return 1, nil, nil
	}
	if x.now.done == 0 {
		if err := x.store.Follow(w.Source.Frames); err != nil {
			return 0, nil, fmt.Errorf("agent: %w", err)
		}
	}
	u, err := x.updater(x.now.mix)
	if err != nil {
		return 0, nil, err
	}
	x.set(x.now.rates, w.Step)
	for x.now.done < min(done, u.parts) { // repeat what a loaded run has lost: no parameter has moved yet
		if err := x.unit(u, w); err != nil {
			return 0, nil, err
		}
	}
	err = x.unit(u, w)
	switch {
	case err != nil && !stopped(err):
		return 0, nil, err
	case err == nil && x.now.done <= u.parts:
		return 1, nil, nil
	}
	x.result[0] = agent.UpdateResult{Stepped: err == nil, Err: err, Mix: x.now.mix, Before: done, Losses: agent.NoLosses()}
	if err == nil {
		l := &x.result[0].Losses
		l.Critic, l.QMean, l.Actor, l.Noise = x.now.loss, x.now.qMean, u.actor.Loss(), x.config.Sigma(uint64(w.Step))
	}
	x.updates++
	x.now = progress{}
	return 1, x.result[:], nil
}

// stopped says whether a program met a number that is not finite.
func stopped(err error) bool {
	where := (*plan.NotFinite)(nil)
	return errors.As(err, &where)
}

func ratesOf(w *agent.Work) rates { return rates{w.Rates.LRCritic, w.Rates.LRActor, w.Rates.Tau} }

// set gives the programs the rates of an update, and the noise of an env step.
func (x *Agent) set(r rates, step int) {
	x.rateCritic.Data[0], x.rateActor.Data[0], x.tau.Data[0] = float32(r.LRCritic), float32(r.LRActor), float32(r.Tau)
	sigma := float32(x.config.Sigma(uint64(step)))
	for i := range x.sigma.Data {
		x.sigma.Data[i] = sigma
	}
}

// unit makes the unit that follows the done ones.
func (x *Agent) unit(u *updater, w *agent.Work) error {
	if err := x.dream(u, w); err != nil {
		return err
	}
	part := x.now.done
	if part == u.parts {
		if err := u.actor.Run(x.updates); err != nil {
			return fmt.Errorf("agent: %w", err)
		}
		x.now.done++
		return nil
	}
	c := u.critics[u.role(part)]
	if err := x.fill(u, c, w, part); err != nil {
		return err
	}
	if err := c.program.Run(x.updates); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	if u.parts > 1 {
		copy(u.features.Data[part*u.batch.rows*x.nets.flat:], c.features)
		if part == u.parts-1 {
			if err := plan.Push(x.dev, u.features); err != nil {
				return fmt.Errorf("agent: %w", err)
			}
		}
	}
	x.now.loss += c.program.Loss()
	sum := 0.0
	for _, some := range c.q {
		for _, q := range some {
			sum += float64(q)
		}
	}
	x.now.qMean += sum / float64(u.mix.Size()*x.config.Critics)
	x.now.done++
	return nil
}

// dream draws the synthetic rows of an update, once.
func (x *Agent) dream(u *updater, w *agent.Work) error {
	if u.dreams == nil || x.now.dreamt {
		return nil
	}
	x.now.dreamt = true
	return u.dreams.fill(&x.config, &w.Source, x.updates)
}

// fill draws the real rows of a part.
func (x *Agent) fill(u *updater, c *critic, w *agent.Work, part int) error {
	if u.batch == nil {
		return nil
	}
	first := part * u.batch.rows
	c.noise.First = uint64(first * x.config.Act)
	return u.real(u.role(part)).fill(w.Source.Frames, x.updates, first)
}
