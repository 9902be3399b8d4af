package lab

import (
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/knob"
	"pgrlab/core/meter"
	"pgrlab/core/replay"
)

// collect makes one env step of every member, in all its copies of the environment: act,
// step, store. While the buffer holds at most StartSteps transitions the actions are
// random: of one copy StartSteps+1 of them. Where an environment fails the error is
// errAgain; members and copies that have made their step by then do not make it twice.
func (x *experiment) collect() error {
	begin := x.now()
	for _, m := range x.members {
		if m.Stepped == x.Step {
			continue
		}
		if err := x.stepEnvs(m); err != nil {
			return err
		}
		m.Stepped = x.Step
		if err := m.observe(x.Step); err != nil {
			return err
		}
		if !x.parts.fills {
			m.store()
		}
		copy(m.Obs, m.next)
		copy(m.PolicyState, m.nextState)
		for i, end := range m.ends {
			if end != agent.Continues {
				x.endEpisode(m, i)
			}
		}
	}
	x.meter.On(meter.Act, begin)
	return nil
}

// store adds the transitions of the env step to D_real.
func (m *member) store() {
	for i, end := range m.ends {
		m.real.Add(replay.Transition{Obs: m.row(m.Obs, i), Act: m.row(m.action, i), Reward: m.rewards[i], Next: m.row(m.next, i), Done: end == agent.Terminated})
		if m.priorities != nil {
			m.priorities.Added(m.real.Newest(0))
		}
		m.BonusReturn.Pending++
	}
}

// act chooses the next actions in all copies.
func (x *experiment) act(m *member) error {
	if x.acts(m) {
		copy(m.nextState, m.PolicyState) // which stays, should the env step fail
		for i := range m.Copies {
			m.episodes[i] = m.Copies[i].Episode
		}
		m.acting = agent.Acting{
			Copies: len(m.envs), Obs: m.Obs, Actions: m.action, State: m.nextState, Episodes: m.episodes, Step: uint64(x.Step),
		}
		if err := m.agent.Act(&m.acting); err != nil {
			return err
		}
		m.keepActions()
		return nil
	}
	m.streams.explore.FillUniform(m.action, uint64(x.Step), 0)
	for i, u := range m.action {
		m.action[i] = 2*u - 1
	}
	return nil
}

// trainAgents makes the updates of the env step on every member (line 4), all at once
// where the agent's device can.
func (x *experiment) trainAgents() error {
	n := 1
	if x.fused() {
		n = x.Settings.UTD
	}
	for i := 0; i < x.Settings.UTD; i += n {
		for _, m := range x.members {
			if !x.training(m) {
				continue
			}
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
func (x *experiment) trainAgent(m *member, n int, last bool) error {
	begin := x.now()
	made, err := x.update(m, n, last)
	if err != nil {
		return err
	}
	begin = x.meter.On(meter.Agent, begin)
	for i := range n {
		if i < len(made) {
			if err := x.learned(m, &made[i]); err != nil {
				return err
			}
		}
		if err := x.trainModels(m, last && i == n-1); err != nil {
			return err
		}
	}
	x.meter.On(meter.Models, begin)
	return nil
}

// update makes the updates alone.
func (x *experiment) update(m *member, n int, last bool) ([]agent.UpdateResult, error) {
	learner, can := m.agent.(agent.OffPolicy)
	if !can {
		return nil, nil
	}
	mix := x.mix(m)
	if x.looksAtBatches() {
		return x.updateOn(m, learner, mix, last)
	}
	x.mixed(m, mix)
	return learner.UpdateN(n, x.source(m, mix), rates(&x.Settings), last)
}

// updateOn makes one update on a batch that has priorities or a bonus.
func (x *experiment) updateOn(m *member, learner agent.OffPolicy, mix replay.Mix, last bool) ([]agent.UpdateResult, error) {
	batch, err := learner.Batch(mix.Size())
	if err != nil {
		return nil, err
	}
	if err := x.sampleBatch(m, batch, mix); err != nil {
		return nil, err
	}
	if err := x.addBonus(m, batch, mix.Real); err != nil {
		return nil, x.diverged(m, "add the bonus", err)
	}
	x.mixed(m, mix)
	made := &m.updated[0]
	if made.Losses, made.Stepped, made.Err = learner.Update(mix.Size(), rates(&x.Settings), last); made.Err != nil {
		return m.updated[:], nil
	}
	if err := x.prioritise(m, batch); err != nil {
		m.Updates++
		return nil, x.diverged(m, "set priorities", err)
	}
	return m.updated[:], nil
}

// mixed notes the mix of a batch that is trained on.
func (x *experiment) mixed(m *member, mix replay.Mix) {
	if m.index == 0 {
		x.inForce(x.changes.Sampled(mix, x.config.Mix(&x.Settings, math.MaxInt)))
	}
	m.lastMix = mix
}

// rates are the agent's live settings.
func rates(s *knob.Settings) agent.Rates {
	return agent.Rates{LRActor: s.LRActor, LRCritic: s.LRCritic, Tau: s.Tau}
}

// mix splits the member's next batch by r.
func (x *experiment) mix(m *member) replay.Mix {
	available := 0
	if m.synthetic != nil {
		available = m.synthetic.Len()
	}
	return x.config.Mix(&x.Settings, available)
}
