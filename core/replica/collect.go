package replica

import (
	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
)

// EnvStep makes one env step in all copies of the environment: act, step, store (line 2 of
// Algorithm 1). While the buffer holds at most StartSteps transitions the actions are random;
// with one copy there are StartSteps+1 of them. If an environment fails, the error is
// ErrEnvironment, and EnvStep must be called again for the same step: copies that have made the
// step by then do not make it twice, and a replica that has made all of it does nothing.
func (r *Replica) EnvStep(now Now) error {
	if r.Stepped == now.Step {
		return nil
	}
	if r.Rounds.Remember() {
		r.World.KeepPlaces()
	}
	if err := r.World.Televise(now.Settings.TV); err != nil {
		return err
	}
	if err := r.World.Step(func() error { return r.act(now) }); err != nil {
		return err
	}
	r.Stepped = now.Step
	if err := r.Rounds.meet(now); err != nil {
		return err
	}
	if !r.Parts.Fills { // D_real, for learners that take batches, generators, and exports
		r.store()
	}
	r.Observed.add() // the log, for learners and functions that read env steps in their order
	if err := r.setRewards(now); err != nil {
		return err
	}
	copy(r.PolicyState, r.nextState)
	r.World.Advance()
	return nil
}

// envStep numbers the env step from 1. What happens once in each env step goes by this number.
func (r *Replica) envStep(now Now) int { return r.Config.EnvSteps(now.Step) }

// store adds the transitions of the env step to D_real.
func (r *Replica) store() {
	from := r.World
	for i, end := range from.Ends {
		r.Real.Add(replay.Transition{
			Obs: from.Row(from.Obs, i), Act: from.Row(from.Action, i), Reward: from.Rewards[i], Next: from.Row(from.Next, i), Done: end == experience.Terminated, Note: r.Rounds.note(i),
		})
		if r.priorities != nil {
			r.priorities.Added(r.Real.Newest(0))
		}
		r.BonusReturn.Pending++
	}
}

// act chooses the next actions in all copies.
func (r *Replica) act(now Now) error {
	if r.acts() {
		copy(r.nextState, r.PolicyState) // PolicyState stays, should the env step fail
		for i, c := range r.World.Counters {
			r.episodes[i] = c.Episode
		}
		r.acting = agent.Acting{
			Copies: r.World.Copies, Obs: r.World.Obs, Stacks: r.seen(), Actions: r.World.Action, State: r.nextState, Episodes: r.episodes, Step: uint64(r.envStep(now)),
		}
		return r.Agent.Act(&r.acting)
	}
	r.streams.explore.FillUniform(r.World.Action, uint64(r.envStep(now)), 0)
	r.Task.Random(r.World.Action)
	return nil
}

// acts says whether the policy chooses the actions.
func (r *Replica) acts() bool { return !r.Parts.Random || r.Enough() }

// setRewards computes the rewards of the env step as a learner observes them that reads the log.
func (r *Replica) setRewards(now Now) error {
	if !r.Observed.read() {
		return nil
	}
	rewards, err := r.observedRewards(now)
	if err != nil {
		return err
	}
	r.Observed.follow(rewards)
	r.Observed.log.SetRewards(rewards)
	return nil
}
