package lab

import (
	"cmp"
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// trainingEnv is a copy of the environment that a member trains in. All copies take an
// action in each env step, and each begins its next episode by itself.
type trainingEnv struct {
	env    task.Env
	failed error // why it can do nothing before it is made anew
}

// copyState are the counters of a copy.
type copyState struct {
	Episode uint64 // of the member's; copy i of n has every n-th from i on
	Step    int    // of the episode
	Return  float64
}

// halfStep is an env step that some copies have made before another one failed: what
// they gave is kept until all have made it.
type halfStep struct {
	Made          []bool
	Actions, Next []float32
	Rewards       []float32
	Ends          []agent.End
}

// startEnvs makes the member's copies of the environment, each in its first episode.
func (x *experiment) startEnvs(m *member) error {
	n := x.config.Environment.InLockstep()
	m.envs, m.Copies = make([]trainingEnv, n), make([]copyState, n)
	for i := range m.envs {
		env, err := x.task.New(m.seed)
		if err != nil {
			return fmt.Errorf("start %s: %w", x.config.Task, err)
		}
		m.envs[i].env, m.Copies[i].Episode = env, uint64(i)
		m.own(envName(i), env)
	}
	obs, act := m.envs[0].env.ObsSize(), m.envs[0].env.ActSize()
	m.Obs, m.next, m.action = make([]float32, n*obs), make([]float32, n*obs), make([]float32, n*act)
	m.rewards, m.ends, m.made = make([]float32, n), make([]agent.End, n), make([]bool, n)
	m.episodes = make([]uint64, n)
	return nil
}

// resetEnvs begins the first episodes.
func (x *experiment) resetEnvs(m *member) error {
	for i := range m.envs {
		if err := m.envs[i].env.Reset(m.Copies[i].Episode, m.row(m.Obs, i)); err != nil {
			return fmt.Errorf("reset %s: %w", x.config.Task, err)
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

// row is copy i's part of numbers of all copies.
func (m *member) row(all []float32, i int) []float32 {
	n := len(all) / len(m.envs)
	return all[i*n : (i+1)*n : (i+1)*n]
}

// stepEnvs acts and makes the env step in every copy; after an episode that was lost
// once more, in the next one, so that every copy gives a transition.
func (x *experiment) stepEnvs(m *member) error {
	m.takeHalf()
	acted := false
	for i := range m.envs {
		for tries := 0; !m.made[i]; tries++ {
			err := m.envs[i].failed
			if err == nil && !acted {
				if err := x.act(m); err != nil {
					return err
				}
				acted = true
			}
			if err == nil {
				if err = x.stepEnv(m, i); err == nil {
					break
				}
			}
			if tries > 0 || !x.tolerateLostEpisode(m, err) {
				m.keepHalf()
				return x.failedEnv(m, i, err)
			}
			x.endEpisode(m, i)
			acted = false // it is in front of another observation
		}
	}
	clear(m.made)
	m.Half = nil
	return nil
}

// stepEnv makes the env step in copy i.
func (x *experiment) stepEnv(m *member, i int) error {
	reward, terminated, truncated, err := m.envs[i].env.Step(m.row(m.action, i), m.row(m.next, i))
	if err != nil {
		return err
	}
	c := &m.Copies[i]
	c.Step++
	c.Return += reward
	m.rewards[i], m.ends[i], m.made[i] = float32(reward), agent.Continues, true
	switch { // a time limit is no true end, even where both come together
	case terminated && !truncated && c.Step != x.task.EpisodeSteps:
		m.ends[i] = agent.Terminated
	case terminated || truncated:
		m.ends[i] = agent.Truncated
	}
	return nil
}

// keepHalf keeps what some copies have given while the env step waits for another one.
func (m *member) keepHalf() {
	m.Half = nil
	for _, made := range m.made {
		if made {
			m.Half = &halfStep{append([]bool(nil), m.made...), append([]float32(nil), m.action...), append([]float32(nil), m.next...),
				append([]float32(nil), m.rewards...), append([]agent.End(nil), m.ends...)}
		}
	}
	clear(m.made)
}

// takeHalf goes on with an env step that some copies have made.
func (m *member) takeHalf() {
	if h := m.Half; h != nil {
		copy(m.made, h.Made)
		copy(m.next, h.Next)
		copy(m.rewards, h.Rewards)
		copy(m.ends, h.Ends)
	}
}

// keepActions brings back the actions that copies have taken already.
func (m *member) keepActions() {
	if h := m.Half; h != nil {
		for i, made := range h.Made {
			if made {
				copy(m.row(m.action, i), m.row(h.Actions, i))
			}
		}
	}
}

// endEpisode writes the line and starts the next episode of copy i. Where that fails,
// the next env step says so.
func (x *experiment) endEpisode(m *member, i int) {
	c, e := &m.Copies[i], &m.envs[i]
	if c.Step > 0 { // else it was lost before it began
		x.emit(event.TypeEpisode, m.index, event.Episode{Return: run.Float(c.Return), Length: c.Step, Copy: i})
	}
	*c = copyState{Episode: c.Episode + uint64(len(m.envs))}
	clear(m.row(m.PolicyState, i))
	if e.failed = e.env.Reset(c.Episode, m.row(m.Obs, i)); e.failed != nil {
		e.failed = fmt.Errorf("reset: %w", e.failed)
	}
}

// failed is why one of the copies can do nothing before it is made anew.
func (m *member) failed() (err error) {
	for i := range m.envs {
		err = cmp.Or(err, m.envs[i].failed)
	}
	return err
}

// adoptCopies takes the counters of a checkpoint that knew one copy.
func (s *memberState) adoptCopies() {
	if len(s.Copies) == 0 {
		s.Copies = []copyState{{s.Episode, s.EpisodeStep, s.EpisodeReturn}}
	}
	s.Episode, s.EpisodeStep, s.EpisodeReturn = 0, 0, 0
}

// checkCopies says whether what was saved is of n copies, with observations of so many numbers
// and actions of so many in all.
func (s *memberState) checkCopies(n, obs, act int) error {
	if len(s.Copies) != n && !(len(s.Copies) == 0 && n == 1) {
		return fmt.Errorf("%d copies of the environment are saved, the run has %d", max(1, len(s.Copies)), n)
	}
	if h := s.Half; h != nil && (len(h.Made) != n || len(h.Rewards) != n || len(h.Ends) != n || len(h.Next) != obs || len(h.Actions) != act) {
		return fmt.Errorf("half of an env step is saved, of other copies than the run's %d", n)
	}
	return nil
}
