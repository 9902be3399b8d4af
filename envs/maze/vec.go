package maze

import (
	"errors"
	"fmt"
	"io"
)

// VecEnv is n copies of a task that are stepped together. It belongs to one goroutine at a
// time.
type VecEnv struct {
	task     *Task
	episodes []*episode
	camera   camera
}

// NewVec makes n copies whose episodes are those of a split and a seed.
func (t Task) NewVec(n int, split Split, seed uint64) (*VecEnv, error) {
	if n < 1 {
		return nil, fmt.Errorf("make %s: %d copies", t.Name, n)
	}
	t.cellBonus = 0 // copies serve for evaluation
	v := &VecEnv{task: &t, episodes: make([]*episode, n)}
	for i := range v.episodes {
		v.episodes[i] = newEpisode(&t, split, seed)
	}
	return v, nil
}

// Size returns the number of copies.
func (v *VecEnv) Size() int { return len(v.episodes) }

// ObsSize returns the length of one observation.
func (v *VecEnv) ObsSize() int { return ObsSize }

// ActSize returns the length of one action.
func (v *VecEnv) ActSize() int { return ActSize }

// Reset starts all copies, copy i in episode episode·Size()+i, and writes their observations
// [Size, ObsSize].
func (v *VecEnv) Reset(episode uint64, obs []float32) error {
	n := v.Size()
	if len(obs) != n*ObsSize {
		return fmt.Errorf("reset %s: observations of length %d, want %d", v.task.Name, len(obs), n*ObsSize)
	}
	for i, e := range v.episodes {
		e.reset(episode*uint64(n) + uint64(i))
		e.observe(obs[i*ObsSize : (i+1)*ObsSize])
	}
	return nil
}

// Step takes actions [Size, ActSize] as Env.Step does and writes observations [Size, ObsSize],
// rewards [Size] and whether each episode is over [Size]. A copy whose episode was over before
// stays as it is, with reward 0. An error of one copy does not stop the others; the first error
// is returned.
func (v *VecEnv) Step(actions, obs []float32, rewards []float64, ended []bool) (err error) {
	n := v.Size()
	if len(actions) != n*ActSize || len(obs) != n*ObsSize || len(rewards) != n || len(ended) != n {
		return fmt.Errorf("step %s: actions, observations, rewards, ended of length %d, %d, %d, %d for %d copies",
			v.task.Name, len(actions), len(obs), len(rewards), len(ended), n)
	}
	for i, e := range v.episodes {
		rewards[i] = 0
		if e.Step != notStarted && e.over() {
			ended[i] = true
			continue
		}
		reward, failed := e.step(actions[i*ActSize : (i+1)*ActSize])
		if failed != nil {
			if err == nil {
				err = failed
			}
			continue
		}
		rewards[i], ended[i] = reward, e.over()
		e.observe(obs[i*ObsSize : (i+1)*ObsSize])
	}
	return err
}

// Frames draws the frames of all copies, [Size,side,side,3].
func (v *VecEnv) Frames(dst []byte, side int) error {
	size := side * side * 3
	if len(dst) != len(v.episodes)*size {
		return fmt.Errorf("draw %s: %d bytes for %d frames of %d by %d pixels", v.task.Name, len(dst), v.Size(), side, side)
	}
	var failed error
	for i, e := range v.episodes {
		failed = errors.Join(failed, e.frameTo(&v.camera, dst[i*size:(i+1)*size], side))
	}
	return failed
}

// Televise switches the TV of all copies.
func (v *VecEnv) Televise(tv string) (err error) {
	for _, e := range v.episodes {
		err = errors.Join(err, e.Televise(tv))
	}
	return err
}

// ExplorationOf returns the Exploration of a copy.
func (v *VecEnv) ExplorationOf(copy int) (goals, cells int, moved, onSpot float64) {
	return v.episodes[copy].Exploration()
}

// Save writes the state of all copies, one after the other; see Env.Save.
func (v *VecEnv) Save(w io.Writer) error {
	for _, e := range v.episodes {
		if err := e.Save(w); err != nil {
			return err
		}
	}
	return nil
}

// Load reads what Save wrote for the same number of copies. After an error the state of the
// copies is undefined.
func (v *VecEnv) Load(r io.Reader) error {
	for _, e := range v.episodes {
		if err := e.Load(r); err != nil {
			return err
		}
	}
	return nil
}

// Close does nothing: there is nothing to free.
func (v *VecEnv) Close() error { return nil }
