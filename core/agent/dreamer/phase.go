package dreamer

import (
	"errors"
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/plan"
)

// progress is how far the update under way is.
type progress struct {
	active bool
	done   int // units made here; after Load fewer than the run had made
	rates  rates
	fresh  []uint64 // memory.fresh after this update
	span   span     // of returns after this update
	losses losses
}

// rates are the settings of an update that may change before the next one.
type rates struct{ LR, Tau, Entropy float64 }

// losses are means over the update's rows; expected is V at the replayed latents.
type losses struct {
	model                                      agent.World
	policy, value, replayed, entropy, expected float64
}

// observed is how many env steps of all sequences a unit observes, or takes gradients through.
const observed = 8

// stage is a part of an update: so many units, each made by run.
type stage struct {
	units int
	run   func(x *Agent, unit int) error
}

// stages are those of an update, in order.
func (c Config) stages() []stage {
	parts, sights, steps := c.rows()/c.partRows(), c.rows()/c.sightRows(), (c.Length+observed-1)/observed
	return []stage{
		{1, (*Agent).begin},
		{sights, (*Agent).encode},
		{steps, (*Agent).observe},
		{parts, (*Agent).model},
		{sights, (*Agent).decode},
		{parts * (c.Imagine + 1), (*Agent).imagine},
		{1, (*Agent).judge},
		{parts * c.Imagine, (*Agent).behave},
		{parts, (*Agent).replayed},
		{steps, (*Agent).back},
		{sights, (*Agent).senses},
		{1, (*Agent).step},
	}
}

// units is how many units an update has.
func (x *Agent) units() (n int) {
	for _, s := range x.stages {
		n += s.units
	}
	return n
}

// Phases returns one phase: the updates of an env step.
func (x *Agent) Phases() []agent.Phase {
	return []agent.Phase{{Name: "learn", Due: x.due, Start: x.start, Slice: x.slice}}
}

// due says whether the env step has updates.
func (x *Agent) due(w *agent.Work) bool {
	pace := x.config.pace()
	return w.Step%pace.Every == 0 && x.memory.Len(x.config.Length+1) >= x.config.begin()
}

func (x *Agent) start(w *agent.Work) (total int, err error) {
	if err := x.prepare(drawn); err != nil {
		return 0, err
	}
	x.take(w)
	return x.config.pace().Updates * x.units(), nil
}

// take begins an update with the settings of now.
func (x *Agent) take(w *agent.Work) {
	x.now = progress{active: true, rates: rates{w.Rates.LRActor, w.Rates.Tau, w.Rates.Entropy}, fresh: x.now.fresh}
}

// slice makes one unit. A unit that meets a number that is not finite ends the update without effect; the units
// that are left of it then do nothing, because members go in lockstep.
func (x *Agent) slice(w *agent.Work, done int) (n int, made []agent.UpdateResult, err error) {
	units := x.units()
	if done%units == 0 && done > 0 {
		x.take(w)
	}
	if !x.now.active {
		return 1, nil, nil
	}
	if err := x.prepare(drawn); err != nil {
		return 0, nil, err
	}
	for x.now.done < done%units && err == nil { // repeat what a loaded run has lost: no parameter has moved yet
		err = x.unit()
	}
	if err == nil {
		err = x.unit()
	}
	switch {
	case err != nil && !stopped(err):
		return 0, nil, fmt.Errorf("agent: %w", err)
	case err == nil && x.now.done < units:
		return 1, nil, nil
	}
	x.updates++
	l := agent.NoLosses()
	if err == nil {
		copy(x.memory.fresh, x.now.fresh)
		x.returns = x.now.span
		is := &x.now.losses
		l.Critic, l.Actor, l.Entropy, l.QMean = is.value, is.policy, is.entropy, is.expected
		x.world = is.model
		l.World = &x.world
	}
	x.now.active = false
	x.result[0] = agent.UpdateResult{Stepped: err == nil, Err: err, Before: done, Losses: l}
	return 1, x.result[:], nil
}

// stopped says whether a program met a number that is not finite.
func stopped(err error) bool {
	where := (*plan.NotFinite)(nil)
	return errors.As(err, &where)
}

// unit makes the unit that follows the done ones.
func (x *Agent) unit() error {
	at := x.now.done
	for _, s := range x.stages {
		if at < s.units {
			x.now.done++
			return s.run(x, at)
		}
		at -= s.units
	}
	return nil
}
