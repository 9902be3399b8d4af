package envs

import (
	"fmt"
	"io"

	"pgrlab/envs/mujoco"
)

// Env is one environment. It belongs to one goroutine at a time.
type Env struct {
	instance *mujoco.Instance
	sim      *simulation
	action   []float64
	eye      eye
}

// New makes an environment whose episodes are drawn from seed.
func (t Task) New(seed uint64) (*Env, error) {
	in, err := instance()
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", t.Name, err)
	}
	sim, err := newSimulation(in, &t, seed)
	if err != nil {
		in.Close()
		return nil, err
	}
	return &Env{instance: in, sim: sim, action: make([]float64, t.ActSize)}, nil
}

// ObsSize returns the length of an observation.
func (e *Env) ObsSize() int { return e.sim.task.ObsSize }

// ActSize returns the length of an action.
func (e *Env) ActSize() int { return e.sim.task.ActSize }

// Bounds returns the controls of the actuators [ActSize] that actions of -1 and of 1 stand for.
func (e *Env) Bounds() (low, high []float64) {
	for _, c := range e.sim.body.controls {
		low, high = append(low, c.low), append(high, c.high)
	}
	return low, high
}

// Reset starts an episode and writes its first observation [ObsSize]. The start
// state is a function of the seed and the episode alone.
func (e *Env) Reset(episode uint64, obs []float32) error {
	if len(obs) != e.ObsSize() {
		return fmt.Errorf("reset %s: room for %d observations, want %d", e.sim.task.Name, len(obs), e.ObsSize())
	}
	if err := e.sim.reset(episode); err != nil {
		return err
	}
	e.sim.narrow(obs)
	return nil
}

// Step takes an action [ActSize] in [-1,1] and writes the observation [ObsSize]
// that follows. The reward of a control step is in [0,1], except for Gym's tasks;
// with action repeat the rewards are summed. Terminated is a true end, truncated the
// time limit; both can occur together, and after either the environment needs a Reset.
//
// An action that has another length, is beyond [-1,1] or is not finite is an error that
// changes nothing, and so is a Step without a running episode. An error that is a
// *Diverged ends the episode and leaves obs as it was.
func (e *Env) Step(action, obs []float32) (reward float64, terminated, truncated bool, err error) {
	switch {
	case len(action) != e.ActSize():
		return 0, false, false, fmt.Errorf("step %s: action of length %d, want %d", e.sim.task.Name, len(action), e.ActSize())
	case len(obs) != e.ObsSize():
		return 0, false, false, fmt.Errorf("step %s: room for %d observations, want %d", e.sim.task.Name, len(obs), e.ObsSize())
	}
	for i, a := range action {
		e.action[i] = float64(a)
	}
	reward, err = e.sim.advance(e.action)
	if err != nil {
		return 0, false, false, err
	}
	e.sim.narrow(obs)
	return reward, e.sim.over, e.sim.timeout(), nil
}

// Observation writes the observation that was returned last [ObsSize]; after Load, the
// one that the saved environment returned last.
func (e *Env) Observation(obs []float32) { e.sim.narrow(obs) }

// Save writes the whole state: another Env of the same task and seed that loads it
// continues bit for bit, in this episode and in those after it. One of another seed
// continues this episode, and then starts its own ones.
func (e *Env) Save(w io.Writer) error { return e.sim.save(w) }

// Load reads what Save wrote. After an error the environment is unchanged.
func (e *Env) Load(r io.Reader) error { return e.sim.load(r) }

// Close frees the environment's memory.
func (e *Env) Close() error { return e.instance.Close() }
