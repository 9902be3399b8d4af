package lab

import (
	"pgrlab/core/meter"
	"pgrlab/core/replica"
)

// at is what the members look at of the run.
func (x *experiment) at() replica.Now { return replica.Now{Step: x.Step, Settings: &x.Settings} }

// collect makes one env step of every member, in all its copies of the environment: act,
// step, store. Where an environment fails the error is replica.ErrEnvironment; members that
// have made their step by then do not make it twice.
func (x *experiment) collect() error {
	begin := x.now()
	for _, m := range x.members {
		if err := m.EnvStep(x.at()); err != nil {
			return err
		}
	}
	x.meter.On(meter.Act, begin)
	return nil
}

// trainAgents makes the updates of the env step on every member (line 4), all at once
// where the agent's device can. A member makes all of its own before the next one begins:
// what its updates work with stays in the caches.
func (x *experiment) trainAgents() error {
	n := 1
	if x.first().Fused() {
		n = x.Settings.UTD
	}
	for _, m := range x.members {
		if !m.Enough() {
			continue
		}
		for i := 0; i < x.Settings.UTD; i += n {
			if err := x.trainAgent(m, n, i+n == x.Settings.UTD); err != nil {
				return err
			}
		}
	}
	return nil
}

// trainAgent makes n updates of a member (lines 7 and 3): each a batch mixed by r, one
// critic update, and the others where the agent's schedule has them. Models that are
// trained beside the agent take their steps between its updates, or behind them where
// these are one launch, which see nothing of them. last says that the updates end the
// env step.
func (x *experiment) trainAgent(m *replica.Replica, n int, last bool) error {
	begin := x.now()
	made, err := m.Update(x.at(), n, last)
	if err != nil {
		return err
	}
	begin = x.meter.On(meter.Agent, begin)
	for i := range n {
		if i < len(made) {
			if err := m.Learned(&made[i]); err != nil {
				return err
			}
		}
		if err := m.TrainModels(x.at(), last && i == n-1); err != nil {
			return err
		}
	}
	x.meter.On(meter.Models, begin)
	return nil
}
