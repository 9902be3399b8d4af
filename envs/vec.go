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

// maxWorkers bounds the goroutines of a VecEnv; each holds 16 MB.
const maxWorkers = 8

// VecEnv is n copies of a task that are stepped together, by a few goroutines
// with a physics instance each. Which of them steps a copy changes nothing. It
// belongs to one goroutine at a time.
type VecEnv struct {
	task    Task
	sims    []*simulation
	workers []*worker
	waiting sync.WaitGroup // for the workers' present job

	// What the present job works on, per copy.
	episode uint64
	actions []float32
	obs     []float32
	rewards []float64
	ended   []bool
}

// worker steps a run of copies.
type worker struct {
	instance *mujoco.Instance
	first    int
	sims     []*simulation
	action   []float64
	jobs     chan job
	err      error // the first of the present job
	failed   int   // copies that failed in it
}

// job is what the workers are to do with their copies.
type job int

const (
	jobReset job = iota
	jobStep
)

// NewVec makes n copies whose episodes are drawn from seed.
func (t Task) NewVec(n int, seed uint64) (*VecEnv, error) {
	return t.newVec(n, seed, min(n, runtime.GOMAXPROCS(0), maxWorkers))
}

func (t Task) newVec(n int, seed uint64, count int) (*VecEnv, error) {
	if n < 1 {
		return nil, fmt.Errorf("make %s: %d copies", t.Name, n)
	}
	v := &VecEnv{task: t, sims: make([]*simulation, n)}
	for i := range count {
		first, end := i*n/count, (i+1)*n/count
		w := &worker{first: first, sims: v.sims[first:end], action: make([]float64, t.ActSize), jobs: make(chan job)}
		v.workers = append(v.workers, w)
		v.waiting.Go(func() { w.err = w.build(&v.task, seed) })
	}
	v.waiting.Wait()
	for _, w := range v.workers {
		go v.serve(w)
	}
	if err := v.errors(); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// build makes all copies before the first is stepped, so that memory grows once.
func (w *worker) build(t *Task, seed uint64) (err error) {
	if w.instance, err = instance(); err != nil {
		return fmt.Errorf("make %s: %w", t.Name, err)
	}
	for i := range w.sims {
		if w.sims[i], err = newSimulation(w.instance, t, seed); err != nil {
			return err
		}
	}
	return nil
}

// serve runs a worker until its jobs end.
func (v *VecEnv) serve(w *worker) {
	for j := range w.jobs {
		w.err, w.failed = nil, 0
		for i := range w.sims {
			if err := v.work(w, j, w.first+i); err != nil {
				w.err = cmp.Or(w.err, err)
				w.failed++
			}
		}
		v.waiting.Done()
	}
}

// work does a job on copy i.
func (v *VecEnv) work(w *worker, j job, i int) error {
	s := v.sims[i]
	obs := v.obs[i*v.task.ObsSize : (i+1)*v.task.ObsSize]
	switch {
	case j == jobReset:
		if err := s.reset(v.episode*uint64(len(v.sims)) + uint64(i)); err != nil {
			return err
		}
	case s.ended():
		v.rewards[i], v.ended[i] = 0, true
	default:
		for k, a := range v.actions[i*v.task.ActSize : (i+1)*v.task.ActSize] {
			w.action[k] = float64(a)
		}
		reward, err := s.advance(w.action)
		v.rewards[i], v.ended[i] = reward, s.ended()
		if err != nil {
			return err
		}
	}
	s.narrow(obs)
	return nil
}

// run gives a job to all workers and waits for them.
func (v *VecEnv) run(j job) error {
	v.waiting.Add(len(v.workers))
	for _, w := range v.workers {
		w.jobs <- j
	}
	v.waiting.Wait()
	return v.errors()
}

func (v *VecEnv) errors() error {
	var first error
	failed := 0
	for _, w := range v.workers {
		first = cmp.Or(first, w.err)
		failed += w.failed
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
// such as *Diverged, stops none of the others; the first one is returned.
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

// Load reads what Save wrote for the same number of copies. After an error the
// copies are of no defined state.
func (v *VecEnv) Load(r io.Reader) error {
	for _, s := range v.sims {
		if err := s.load(r); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the workers and frees their memory.
func (v *VecEnv) Close() error {
	var err error
	for _, w := range v.workers {
		close(w.jobs)
		if w.instance != nil {
			err = errors.Join(err, w.instance.Close())
		}
	}
	v.workers = nil
	return err
}
