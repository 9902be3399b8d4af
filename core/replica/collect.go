package replica

import (
	"pgrlab/core/agent"
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
	if r.Rounds.Remember() && r.Places == nil {
		r.Places = r.Rounds.locate(nil)
	}
	if err := r.stepEnvs(now); err != nil {
		return err
	}
	r.Stepped = now.Step
	if err := r.Rounds.meet(now); err != nil {
		return err
	}
	if !r.Parts.Fills {
		r.store()
	}
	r.Observed.keep()
	if err := r.observe(now); err != nil {
		return err
	}
	copy(r.Obs, r.next)
	copy(r.PolicyState, r.nextState)
	copy(r.Places, r.Rounds.met.Place)
	for i, end := range r.ends {
		if end != agent.Continues {
			r.endEpisode(i)
		}
	}
	return nil
}

// envStep numbers the env step from 1. What happens once in each env step goes by this number.
func (r *Replica) envStep(now Now) int { return r.Config.EnvSteps(now.Step) }

// store adds the transitions of the env step to D_real.
func (r *Replica) store() {
	for i, end := range r.ends {
		r.Real.Add(replay.Transition{Obs: r.row(r.Obs, i), Act: r.row(r.Action, i), Reward: r.rewards[i], Next: r.row(r.next, i), Done: end == agent.Terminated, Note: r.Rounds.note(i)})
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
		for i := range r.Copies {
			r.episodes[i] = r.Copies[i].Episode
		}
		r.acting = agent.Acting{
			Copies: len(r.envs), Obs: r.Obs, Stacks: r.seen(), Actions: r.Action, State: r.nextState, Episodes: r.episodes, Step: uint64(r.envStep(now)),
		}
		if err := r.Agent.Act(&r.acting); err != nil {
			return err
		}
		r.keepActions()
		return nil
	}
	r.streams.explore.FillUniform(r.Action, uint64(r.envStep(now)), 0)
	r.Task.Random(r.Action)
	return nil
}

// acts says whether the policy chooses the actions. A learner that does not update on batches
// needs no random actions first.
func (r *Replica) acts() bool {
	_, batches := r.Agent.(agent.OffPolicy)
	return !batches && (r.sight == nil || r.Observed.read()) || r.Enough()
}

// observe tells a learner that keeps experience of its own what the env step gave.
func (r *Replica) observe(now Now) error {
	observer, has := r.Agent.(agent.Observer)
	if !r.Observed.read() {
		return nil
	}
	rewards, err := r.observedRewards(now)
	if err != nil {
		return err
	}
	r.course.follow(r, rewards)
	if r.Observed.log != nil {
		r.Observed.log.Observe(rewards)
	}
	if !has {
		return nil
	}
	r.experience = agent.Experience{
		Copies: len(r.envs), Step: uint64(r.envStep(now)), Obs: r.Obs, Next: r.next, Actions: r.Action, State: r.PolicyState,
		Rewards: rewards, Earned: r.rewards, Ends: r.ends, Respawned: r.respawned, F: r.Rounds.judged,
	}
	if r.sight != nil {
		r.experience.Seen, r.experience.NextSeen = r.sight.pass()
	}
	return observer.Observe(&r.experience)
}
