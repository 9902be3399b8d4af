package envs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"pgrlab/envs/mujoco"
)

// maxGroups bounds the physics instances of a VecEnv; each holds 16 MB.
const maxGroups = 8

// VecEnv is n copies of a task that are stepped together, in groups that share a physics
// instance, by a few goroutines. The results do not depend on which goroutine steps a
// copy. A VecEnv belongs to one goroutine at a time.
type VecEnv struct {
	task   Task
	sims   []*simulation
	groups []*group
	crew   *crew

	// The data of the present job, per copy.
	job     job
	episode uint64
	actions []float32
	obs     []float32
	rewards []float64
	ended   []bool
	frames  []byte
	side    int // side of a frame
}

// group is a run of copies.
type group struct {
	instance *mujoco.Instance
	first    int
	sims     []*simulation
	action   []float64
	err      error // the first error of the present job
	failed   int   // copies that failed in it
	eye      eye
}

// job is an operation on all copies.
type job int

const (
	jobReset job = iota
	jobStep
	jobFrame
)

// NewVec makes n copies whose episodes are drawn from seed.
func (t Task) NewVec(n int, seed uint64) (*VecEnv, error) {
	return t.newVec(n, seed, processors)
}

// processors is how many processors this process may use. A program may later let Go run
// more threads, for work that must not wait for a computation; with as many environments
// at once, they would only take turns.
var processors = runtime.GOMAXPROCS(0)

// newVec makes n copies for that many goroutines, in four times as many groups, so that a
// goroutine that is delayed leaves some groups to the others.
func (t Task) newVec(n int, seed uint64, workers int) (*VecEnv, error) {
	if n < 1 {
		return nil, fmt.Errorf("make %s: %d copies", t.Name, n)
	}
	workers = min(workers, n, maxGroups)
	count := 1
	if workers > 1 {
		count = min(n, 4*workers, maxGroups)
	}
	v := &VecEnv{task: t, sims: make([]*simulation, n)}
	var building sync.WaitGroup
	first := 0
	for i := range count {
		size := n / count
		if place := min(2*i, 2*(count-1-i)+1); place < n%count { // the larger groups are taken first
			size++
		}
		g := &group{first: first, sims: v.sims[first : first+size], action: make([]float64, t.ActSize)}
		first += size
		v.groups = append(v.groups, g)
		building.Go(func() { g.err = g.build(&v.task, seed) })
	}
	building.Wait()
	if err := v.errors(); err != nil {
		v.Close()
		return nil, err
	}
	v.crew = newCrew(workers-1, count, v.serve)
	return v, nil
}

// build makes all copies before the first is stepped, so that memory grows once.
func (g *group) build(t *Task, seed uint64) (err error) {
	if g.instance, err = instance(); err != nil {
		return fmt.Errorf("make %s: %w", t.Name, err)
	}
	for i := range g.sims {
		if g.sims[i], err = newSimulation(g.instance, t, seed); err != nil {
			return err
		}
	}
	return nil
}

// serve does the present job on a group.
func (v *VecEnv) serve(part int) {
	g := v.groups[part]
	g.err, g.failed = nil, 0
	for i := range g.sims {
		if err := v.work(g, g.first+i); err != nil {
			g.err = cmp.Or(g.err, err)
			g.failed++
		}
	}
}

// work does the present job on copy i of a group.
func (v *VecEnv) work(g *group, i int) error {
	s := v.sims[i]
	if v.job == jobFrame {
		size := v.side * v.side * 3
		return g.eye.frame(s, v.frames[i*size:(i+1)*size], v.side)
	}
	obs := v.obs[i*v.task.ObsSize : (i+1)*v.task.ObsSize]
	switch {
	case v.job == jobReset:
		if err := s.reset(v.episode*uint64(len(v.sims)) + uint64(i)); err != nil {
			return err
		}
	case s.ended():
		v.rewards[i], v.ended[i] = 0, true
	default:
		for k, a := range v.actions[i*v.task.ActSize : (i+1)*v.task.ActSize] {
			g.action[k] = float64(a)
		}
		reward, err := s.advance(g.action)
		v.rewards[i], v.ended[i] = reward, s.ended()
		if err != nil {
			return err
		}
	}
	s.narrow(obs)
	return nil
}

// run does a job on all copies.
func (v *VecEnv) run(j job) error {
	v.job = j
	v.crew.run()
	return v.errors()
}

func (v *VecEnv) errors() error {
	var first error
	failed := 0
	for _, g := range v.groups {
		first = cmp.Or(first, g.err)
		failed += g.failed
	}
	if failed > 1 {
		return fmt.Errorf("%w (and %d more copies)", first, failed-1)
	}
	return first
}

// Size returns the number of copies.
func (v *VecEnv) Size() int { return len(v.sims) }

// ObsSize returns the length of one observation.
func (v *VecEnv) ObsSize() int { return v.task.ObsSize }

// ActSize returns the length of one action.
func (v *VecEnv) ActSize() int { return v.task.ActSize }

// Reset starts all copies, copy i in episode episode·Size()+i, and writes their
// observations [Size, ObsSize].
func (v *VecEnv) Reset(episode uint64, obs []float32) error {
	if len(obs) != v.Size()*v.ObsSize() {
		return fmt.Errorf("reset %s: observations of length %d, want %d", v.task.Name, len(obs), v.Size()*v.ObsSize())
	}
	v.episode, v.obs = episode, obs
	return v.run(jobReset)
}

// Step takes actions [Size, ActSize] in [-1,1] and writes observations [Size,
// ObsSize], rewards [Size] and whether each episode is over [Size]. A copy whose
// episode was over before stays as it is, with reward 0. An error of one copy,
// such as *Diverged, does not stop the others; the first error is returned.
func (v *VecEnv) Step(actions, obs []float32, rewards []float64, ended []bool) error {
	n := v.Size()
	if len(actions) != n*v.ActSize() || len(obs) != n*v.ObsSize() || len(rewards) != n || len(ended) != n {
		return fmt.Errorf("step %s: actions, observations, rewards, ended of length %d, %d, %d, %d for %d copies",
			v.task.Name, len(actions), len(obs), len(rewards), len(ended), n)
	}
	v.actions, v.obs, v.rewards, v.ended = actions, obs, rewards, ended
	return v.run(jobStep)
}

// Save writes the state of all copies, one after the other; see Env.Save.
func (v *VecEnv) Save(w io.Writer) error {
	for _, s := range v.sims {
		if err := s.save(w); err != nil {
			return err
		}
	}
	return nil
}

// Load reads what Save wrote for the same number of copies. After an error the state of
// the copies is undefined.
func (v *VecEnv) Load(r io.Reader) error {
	for _, s := range v.sims {
		if err := s.load(r); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the helpers and frees the groups' memory.
func (v *VecEnv) Close() error {
	if v.crew != nil {
		v.crew.close()
	}
	var err error
	for _, g := range v.groups {
		if g.instance != nil {
			err = errors.Join(err, g.instance.Close())
		}
	}
	v.groups = nil
	return err
}
