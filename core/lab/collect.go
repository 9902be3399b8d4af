package lab

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// collect makes one env step of every member: act, step, store. While the buffer
// holds at most StartSteps transitions the action is random, which makes
// StartSteps+1 of them. Where an environment fails the error is errAgain; members
// that have made their step by then do not make it twice.
func (x *experiment) collect() error {
	begin := x.now()
	for _, m := range x.members {
		if m.Stepped == x.Step {
			continue
		}
		reward, terminated, truncated, err := x.stepEnv(m)
		if err != nil {
			return err
		}
		m.Stepped = x.Step
		m.EpisodeStep++
		m.EpisodeReturn += reward
		end := agent.Continues
		switch { // a time limit is no true end, even where both come together
		case terminated && !truncated && m.EpisodeStep != x.task.EpisodeSteps:
			end = agent.Terminated
		case terminated || truncated:
			end = agent.Truncated
		}
		if err := m.observe(x.Step, reward, end); err != nil {
			return err
		}
		if !x.parts.fills {
			m.real.Add(replay.Transition{Obs: m.Obs, Act: m.action, Reward: float32(reward), Next: m.next, Done: end == agent.Terminated})
			m.BonusReturn.Pending++
		}
		if m.priorities != nil {
			m.priorities.Added(m.real.Newest(0))
		}
		copy(m.Obs, m.next)
		copy(m.PolicyState, m.nextState)
		if end != agent.Continues {
			x.endEpisode(m)
		}
	}
	x.meter.on(partAct, begin)
	return nil
}

// stepEnv acts and steps; after an episode that was lost once more, in the next
// one, so that every env step of every member gives a transition.
func (x *experiment) stepEnv(m *member) (reward float64, terminated, truncated bool, err error) {
	for tries := 0; ; tries++ {
		if err = m.failed; err == nil {
			if err = x.act(m); err != nil {
				return 0, false, false, err
			}
			if reward, terminated, truncated, err = m.env.Step(m.action, m.next); err == nil {
				return reward, terminated, truncated, nil
			}
		}
		if tries > 0 || !x.tolerateLostEpisode(m, err) {
			return 0, false, false, x.failedEnv(m, err)
		}
		x.endEpisode(m)
	}
}

// act chooses the member's next action.
func (x *experiment) act(m *member) error {
	if x.acts(m) {
		copy(m.nextState, m.PolicyState) // which stays, should the env step fail
		m.acting = agent.Acting{
			Copies: 1, Obs: m.Obs, Actions: m.action, State: m.nextState, Episodes: append(m.acting.Episodes[:0], m.Episode), Step: uint64(x.Step),
		}
		return m.agent.Act(&m.acting)
	}
	m.streams.explore.FillUniform(m.action, uint64(x.Step), 0)
	for i, u := range m.action {
		m.action[i] = 2*u - 1
	}
	return nil
}

// endEpisode writes the line and starts the next episode. Where that fails, the
// next env step says so.
func (x *experiment) endEpisode(m *member) {
	if m.EpisodeStep > 0 { // else it was lost before it began
		x.emit(event.TypeEpisode, m.index, event.Episode{Return: run.Float(m.EpisodeReturn), Length: m.EpisodeStep})
	}
	m.Episode++
	m.EpisodeStep, m.EpisodeReturn = 0, 0
	clear(m.PolicyState)
	if m.failed = m.env.Reset(m.Episode, m.Obs); m.failed != nil {
		m.failed = fmt.Errorf("reset: %w", m.failed)
	}
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
	begin = x.meter.on(partAgent, begin)
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
	x.meter.on(partModels, begin)
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
	made := &m.made[0]
	if made.Losses, made.Stepped, made.Err = learner.Update(mix.Size(), rates(&x.Settings), last); made.Err != nil {
		return m.made[:], nil
	}
	if err := x.prioritise(m, batch); err != nil {
		m.Updates++
		return nil, x.diverged(m, "set priorities", err)
	}
	return m.made[:], nil
}

// mixed notes the mix of a batch that is trained on.
func (x *experiment) mixed(m *member, mix replay.Mix) {
	if m.index == 0 {
		x.inForce(mix)
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

// Mix is how a run of this configuration splits a batch into real and synthetic rows
// under settings; available is the number of synthetic transitions.
func (c *Config) Mix(s *knob.Settings, available int) replay.Mix {
	if !c.generates() {
		return replay.Mix{Real: s.Batch}
	}
	return s.Mix(available)
}

// fits says whether settings that are in range go together, and with what is fixed.
func (c *Config) fits(s *knob.Settings) error {
	if c.generates() && s.Samples > c.Buffer {
		return fmt.Errorf("samples: %s do not fit: D_syn has room for %s transitions (buffer)", knob.FormatCount(s.Samples), knob.FormatCount(c.Buffer))
	}
	return s.CheckMix()
}
