package outside

import (
	"fmt"
	"io"
)

// Env is one copy of an environment. It belongs to one goroutine at a time.
type Env struct {
	fleet  *fleet
	reward [1]float64
}

// New makes an environment whose episodes are drawn from seed. Its program starts with the first episode.
func (t *Task) New(seed uint64) (*Env, error) {
	f, err := newFleet(t, &t.program.training, 1, seed)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", t.Name, err)
	}
	return &Env{fleet: f}, nil
}

func (e *Env) rider() *rider { return e.fleet.riders[0] }

// ObsSize is the length of an observation.
func (e *Env) ObsSize() int { return e.fleet.task.ObsSize }

// ActSize is the length of an action.
func (e *Env) ActSize() int { return e.fleet.task.ActSize }

// Reset starts an episode and writes its first observation [ObsSize].
func (e *Env) Reset(number uint64, obs []float32) error {
	err := e.fleet.each(func(b *batch) error { return b.reset(func(int) uint64 { return number }) })
	if err == nil {
		e.narrow(obs)
	}
	return err
}

// Step takes an action [ActSize] in [-1,1], or the row of a choice, and writes the observation that follows. An error
// that is a *Lost ends the episode and leaves obs as it was.
func (e *Env) Step(action, obs []float32) (reward float64, terminated, truncated bool, err error) {
	if len(action) != e.ActSize() || len(obs) != e.ObsSize() {
		return 0, false, false, fmt.Errorf("step %s: an action of %d and room for %d numbers, want %d and %d", e.fleet.task.Name, len(action), len(obs), e.ActSize(), e.ObsSize())
	}
	if r := &e.rider().episode; e.rider().resuming == nil && r.over() {
		return 0, false, false, fmt.Errorf("step %s: its episode is over", e.fleet.task.Name)
	}
	if err := e.fleet.batches[0].step(action, e.reward[:]); err != nil {
		return 0, false, false, err
	}
	e.narrow(obs)
	r := &e.rider().episode
	return e.reward[0], r.Terminated, r.Truncated, nil
}

// narrow writes the present observation.
func (e *Env) narrow(obs []float32) { copy(obs, e.rider().episode.Obs) }

// Draw returns a picture of the running episode: bytes of red, green and blue, the top line first.
func (e *Env) Draw(width, height int) ([]byte, error) {
	r := e.rider()
	if err := r.ready(); err != nil {
		return nil, err
	}
	if !r.process.spec.Picture {
		return nil, fmt.Errorf("its program draws no pictures")
	}
	return r.process.picture(r.seat.copy, width, height)
}

// Save writes what is needed to go on.
func (e *Env) Save(w io.Writer) error { return e.fleet.save(w) }

// Load reads what Save wrote; the episode is taken up again in the next Step. If it cannot be repeated, that Step is an
// error that is a *Lost.
func (e *Env) Load(r io.Reader) error { return e.fleet.load(r) }

// Close gives the copy back; a program without copies ends.
func (e *Env) Close() error {
	e.fleet.close()
	return nil
}

// VecEnv is n copies of an environment that are stepped together.
type VecEnv struct{ fleet *fleet }

// NewVec makes n copies, for evaluations, whose episodes are drawn from seed.
func (t *Task) NewVec(n int, seed uint64) (*VecEnv, error) {
	if n < 1 {
		return nil, fmt.Errorf("make %s: %d copies", t.Name, n)
	}
	f, err := newFleet(t, &t.program.judging, n, seed)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", t.Name, err)
	}
	return &VecEnv{f}, nil
}

// Size is the number of copies.
func (v *VecEnv) Size() int { return len(v.fleet.riders) }

// ObsSize is the length of one observation.
func (v *VecEnv) ObsSize() int { return v.fleet.task.ObsSize }

// ActSize is the length of one action.
func (v *VecEnv) ActSize() int { return v.fleet.task.ActSize }

// Reset starts all copies, copy i in episode number·Size()+i, and writes their observations [Size, ObsSize].
func (v *VecEnv) Reset(number uint64, obs []float32) error {
	n := uint64(v.Size())
	err := v.fleet.each(func(b *batch) error { return b.reset(func(i int) uint64 { return number*n + uint64(i) }) })
	if err == nil {
		v.observe(obs)
	}
	return err
}

func (v *VecEnv) observe(obs []float32) {
	size := v.ObsSize()
	for i, r := range v.fleet.riders {
		copy(obs[i*size:(i+1)*size], r.episode.Obs)
	}
}

// Truncated says whether the episode of copy i was cut off; where both come together, the limit wins.
func (v *VecEnv) Truncated(i int) bool { return v.fleet.riders[i].episode.Truncated }

// Step takes actions [Size, ActSize] and writes observations [Size, ObsSize], rewards [Size] and whether each episode is
// over [Size]. A copy whose episode was over before stays as it is, with reward 0; so does one whose episode is lost.
func (v *VecEnv) Step(actions, obs []float32, rewards []float64, ended []bool) error {
	n := v.Size()
	if len(actions) != n*v.ActSize() || len(obs) != n*v.ObsSize() || len(rewards) != n || len(ended) != n {
		return fmt.Errorf("step %s: actions, observations, rewards, ended of length %d, %d, %d, %d for %d copies", v.fleet.task.Name, len(actions), len(obs), len(rewards), len(ended), n)
	}
	err := v.fleet.each(func(b *batch) error { return b.step(actions, rewards) })
	v.observe(obs)
	for i, r := range v.fleet.riders {
		ended[i] = r.episode.over()
	}
	return err
}

// Save writes what is needed to go on with all copies.
func (v *VecEnv) Save(w io.Writer) error { return v.fleet.save(w) }

// Load reads what Save wrote for the same number of copies.
func (v *VecEnv) Load(r io.Reader) error { return v.fleet.load(r) }

// Close gives the copies back; a program without copies ends.
func (v *VecEnv) Close() error {
	v.fleet.close()
	return nil
}
