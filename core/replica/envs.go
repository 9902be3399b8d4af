package replica

import (
	"cmp"
	"errors"
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// trainingEnv is a copy of the environment that a replica trains in. All copies take an
// action in each env step, and each begins its next episode by itself.
type trainingEnv struct {
	env    task.Env
	failed error // why it cannot be used before it is made again
}

// Copy are the counters of a copy of the environment.
type Copy struct {
	Episode uint64 // of the replica's episodes; copy i of n has every n-th from i on
	Step    int    // of the episode
	Return  float64
}

// halfStep is an env step that some copies have made before another one failed: their results
// are kept until all have made it.
type halfStep struct {
	Made          []bool
	Actions, Next []float32
	Rewards       []float32
	Ends          []agent.End
	Respawned     []bool
	Frames        []byte // if the learner sees them
}

// startEnvs makes the replica's copies of the environment, each in its first episode.
func (r *Replica) startEnvs() error {
	n := r.Config.Environment.InLockstep()
	r.envs, r.Copies = make([]trainingEnv, n), make([]Copy, n)
	for i := range r.envs {
		env, err := r.Task.New(r.Seed)
		if err != nil {
			return fmt.Errorf("start %s: %w", r.Config.Task, err)
		}
		r.envs[i].env, r.Copies[i].Episode = env, uint64(i)
		r.own(envName(i), env)
	}
	obs, act := r.envs[0].env.ObsSize(), r.envs[0].env.ActSize()
	r.Obs, r.next, r.Action = make([]float32, n*obs), make([]float32, n*obs), make([]float32, n*act)
	r.rewards, r.ends, r.made, r.respawned = make([]float32, n), make([]agent.End, n), make([]bool, n), make([]bool, n)
	r.episodes = make([]uint64, n)
	return nil
}

// resetEnvs begins the first episodes.
func (r *Replica) resetEnvs() error {
	for i := range r.envs {
		if err := r.envs[i].env.Reset(r.Copies[i].Episode, r.row(r.Obs, i)); err != nil {
			return fmt.Errorf("reset %s: %w", r.Config.Task, err)
		}
		if err := r.open(i); err != nil {
			return fmt.Errorf("reset %s: %w", r.Config.Task, err)
		}
	}
	return nil
}

// envName is the name of a copy among the parts of a checkpoint.
func envName(i int) string {
	if i == 0 {
		return "env"
	}
	return fmt.Sprintf("env %d", i)
}

// row is copy i's part of the numbers of all copies.
func (r *Replica) row(all []float32, i int) []float32 {
	n := len(all) / len(r.envs)
	return all[i*n : (i+1)*n : (i+1)*n]
}

// stepEnvs acts and makes the env step in every copy. If a copy's episode is lost, it tries once
// more in the next episode, so that every copy gives a transition.
func (r *Replica) stepEnvs(now Now) error {
	for i := range r.envs {
		if err := televise(r.envs[i].env, now); err != nil {
			return err
		}
	}
	r.takeHalf()
	acted := false
	for i := range r.envs {
		for tries := 0; !r.made[i]; tries++ {
			err := r.envs[i].failed
			if err == nil && !acted {
				if err := r.act(now); err != nil {
					return err
				}
				acted = true
			}
			if err == nil {
				if err = r.stepEnv(i); err == nil {
					break
				}
			}
			if tries > 0 || !r.tolerateLostEpisode(err) {
				r.keepHalf()
				return r.failedEnv(i, err)
			}
			r.endEpisode(i)
			acted = false // the copy has another observation now
		}
	}
	clear(r.made)
	r.Half = nil
	return nil
}

// televise switches the TV of an environment that has one. If the settings say nothing about it,
// the TV stays as the task has it.
func televise(env any, now Now) error {
	if t, has := env.(task.Televised); has && now.Settings.TV != "" {
		return t.Televise(now.Settings.TV)
	}
	return nil
}

// stepEnv makes the env step in copy i.
func (r *Replica) stepEnv(i int) error {
	reward, terminated, truncated, err := r.envs[i].env.Step(r.row(r.Action, i), r.row(r.next, i))
	if err != nil {
		return err
	}
	if err := r.look(i); err != nil {
		return err
	}
	c := &r.Copies[i]
	c.Step++
	c.Return += reward
	r.rewards[i], r.ends[i], r.made[i] = float32(reward), agent.Continues, true
	if e, may := r.envs[i].env.(task.Respawning); may {
		r.respawned[i] = e.Respawned()
	}
	switch { // a time limit is no true end, even where both come together
	case terminated && !truncated && c.Step != r.Task.EpisodeSteps:
		r.ends[i] = agent.Terminated
	case terminated || truncated:
		r.ends[i] = agent.Truncated
	}
	return nil
}

// keepHalf keeps the results of some copies while the env step waits for another one.
func (r *Replica) keepHalf() {
	r.Half = nil
	for _, made := range r.made {
		if made {
			r.Half = &halfStep{append([]bool(nil), r.made...), append([]float32(nil), r.Action...), append([]float32(nil), r.next...),
				append([]float32(nil), r.rewards...), append([]agent.End(nil), r.ends...), append([]bool(nil), r.respawned...), nil}
			if r.sight != nil {
				r.Half.Frames = append([]byte(nil), r.sight.next...)
			}
		}
	}
	clear(r.made)
}

// takeHalf goes on with an env step that some copies have made.
func (r *Replica) takeHalf() {
	if h := r.Half; h != nil {
		copy(r.made, h.Made)
		copy(r.next, h.Next)
		copy(r.rewards, h.Rewards)
		copy(r.ends, h.Ends)
		copy(r.respawned, h.Respawned)
		if r.sight != nil {
			copy(r.sight.next, h.Frames)
		}
	}
}

// keepActions restores the actions that copies have taken already.
func (r *Replica) keepActions() {
	if h := r.Half; h != nil {
		for i, made := range h.Made {
			if made {
				copy(r.row(r.Action, i), r.row(h.Actions, i))
			}
		}
	}
}

// endEpisode writes the line and starts the next episode of copy i. If that fails, the next env
// step says so.
func (r *Replica) endEpisode(i int) {
	c, e := &r.Copies[i], &r.envs[i]
	if c.Step > 0 { // else it was lost before it began
		r.emit(event.TypeEpisode, event.Episode{Return: run.Float(c.Return), Length: c.Step, Copy: i, Explored: exploredIn(e.env)})
	}
	*c = Copy{Episode: c.Episode + uint64(len(r.envs))}
	clear(r.row(r.PolicyState, i))
	if e.failed = e.env.Reset(c.Episode, r.row(r.Obs, i)); e.failed == nil {
		e.failed = r.open(i)
	}
	if e.failed != nil {
		e.failed = fmt.Errorf("reset: %w", e.failed)
	}
	r.Rounds.locateOne(r.Places, i)
}

// Failed returns why one of the copies cannot be used before it is made again; nil: all can go
// on.
func (r *Replica) Failed() (err error) {
	for i := range r.envs {
		err = cmp.Or(err, r.envs[i].failed)
	}
	return err
}

// checkCopies returns an error if what was saved is not of n copies, with obs numbers in all
// observations and act numbers in all actions.
func (s *State) checkCopies(n, obs, act int) error {
	if len(s.Copies) != n {
		return fmt.Errorf("%d copies of the environment are saved, the run has %d", len(s.Copies), n)
	}
	if h := s.Half; h != nil && (len(h.Made) != n || len(h.Rewards) != n || len(h.Ends) != n || len(h.Next) != obs || len(h.Actions) != act) {
		return fmt.Errorf("half of an env step is saved, of other copies than the run's %d", n)
	}
	return nil
}

// ErrEnvironment says that an environment has failed and that the host was told. What could not
// be done is tried again when training goes on.
var ErrEnvironment = errors.New("the environment has failed")

// Simulate is what a host is told was not done when an env step has to be made again.
const Simulate = "simulate"

// failedEnv handles an error of a copy of the environment that is more than a lost episode. The
// episode ends here; the environment is made again, because nothing is known of its state, and
// makes the env step in its next episode when EnvStep is called again.
func (r *Replica) failedEnv(i int, err error) error {
	r.Host.Fault(r.Index, Simulate, err)
	fresh, made := r.Task.New(r.Seed)
	if made != nil {
		r.envs[i].failed = fmt.Errorf("start %s again: %w", r.Config.Task, made) // and again at the next try
		return ErrEnvironment
	}
	r.envs[i].env = fresh
	r.replace(envName(i), fresh)
	r.endEpisode(i)
	return ErrEnvironment
}

// lost is an error of Step that says whether the simulation broke down: the episode is over, and
// a Reset starts the next one as if nothing had happened.
type lost interface {
	error
	EpisodeLost() bool
}

// tolerateLostEpisode says whether err means only that an episode was lost, in which case it
// writes a note and training goes on. It returns false for every other error.
func (r *Replica) tolerateLostEpisode(err error) bool {
	if l := lost(nil); !errors.As(err, &l) || !l.EpisodeLost() {
		return false
	}
	r.emit(event.TypeNote, event.Noted{Text: "episode lost: " + err.Error()})
	return true
}

// Shown returns the action of the env step in the first copy, whose pose Pose returns.
func Shown(r *Replica) []float32 { return r.row(r.Action, 0) }

// Pose returns the pose of the first copy if its environment is task.Posed; else nil.
func (r *Replica) Pose() []float64 {
	if posed, ok := r.envs[0].env.(task.Posed); ok {
		return posed.Pose(nil)
	}
	return nil
}
