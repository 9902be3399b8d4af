package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"pgrlab/core/run"
)

const (
	workersName = "workers" // folder of folders by name
	workerName  = "worker.json"
	againName   = "requeue.json"
	// beat is how often a worker writes how it gets on when nothing changes, and looks
	// whether jobs that failed are to be tried again.
	beat = 2 * time.Second
)

// Worker is how an Engine at work at a grid gets on, as it says itself on the disk.
type Worker struct {
	Name    string    `json:"name"`
	Host    string    `json:"host"` // as the machine calls itself
	PID     int       `json:"pid"`
	Element string    `json:"element,omitempty"` // of a job array of Slurm, that it is
	Jobs    int       `json:"jobs"`              // at a time
	Began   time.Time `json:"began"`
	Beat    time.Time `json:"beat"`  // by the clock of its machine: for people
	Beats   int       `json:"beats"` // grows while it lives
	Running []int     `json:"running,omitempty"`
	Failed  []int     `json:"failed,omitempty"`
	Ended   string    `json:"ended,omitempty"` // how; empty while it works
}

// Registered is the place of a worker in the sweep's folder: its name is its own until it ends.
type Registered struct {
	grid *Grid
	dir  string
	lock io.Closer
	mu   sync.Mutex
	me   Worker
	stop chan struct{}
	done sync.WaitGroup
}

// Register takes the name of a worker for an engine; ErrElsewhere where one has it that
// lives.
func (g *Grid) Register(w Worker) (*Registered, error) {
	dir := filepath.Join(g.dir, workersName, w.Name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	lock, err := lock(dir)
	if err != nil {
		return nil, err
	}
	run.Tidy(dir)
	w.Host, _ = os.Hostname()
	w.PID, w.Began = os.Getpid(), time.Now().UTC()
	w.Beat = w.Began
	return &Registered{grid: g, dir: dir, lock: lock, stop: make(chan struct{}), me: w}, nil
}

// Keep writes how an engine gets on until End, and has it try again what failed when the
// sweep is told to (AskAgain).
func (r *Registered) Keep(e *Engine) {
	seen := r.grid.asked()
	changed := e.Changed() // before it is written how they are
	r.write(e.States(), "")
	r.done.Go(func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			select {
			case <-r.stop:
				return
			case <-changed:
			case <-tick.C:
				if now := r.grid.asked(); now != seen {
					seen = now
					e.Again()
				}
			}
			changed = e.Changed()
			r.write(e.States(), "")
		}
	})
}

// write says how the worker gets on. What the disk does not take now the next beat tries.
func (r *Registered) write(states []State, ended string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.me.Running, r.me.Failed, r.me.Ended = nil, nil, ended
	for i, s := range states {
		switch s {
		case Running:
			r.me.Running = append(r.me.Running, i)
		case Failed:
			r.me.Failed = append(r.me.Failed, i)
		}
	}
	r.me.Beats++
	r.me.Beat = time.Now().UTC()
	_ = replaceJSON(r.dir, workerName, r.me)
}

// End gives the name back and leaves how the work ended.
func (r *Registered) End(states []State, how string) {
	close(r.stop)
	r.done.Wait()
	r.write(states, how)
	r.lock.Close()
}

// Leave gives the name back as if it had never been taken.
func (r *Registered) Leave() {
	close(r.stop)
	r.done.Wait()
	os.RemoveAll(r.dir)
	r.lock.Close()
}

// Workers are those that have ever registered, by name.
func (g *Grid) Workers() []Worker {
	var all []Worker
	folders, _ := os.ReadDir(filepath.Join(g.dir, workersName))
	for _, f := range folders {
		if w, err := g.Worker(f.Name()); err == nil {
			all = append(all, w)
		}
	}
	return all
}

// Worker is that of a name.
func (g *Grid) Worker(name string) (w Worker, err error) {
	text, err := run.ReadFile(filepath.Join(g.dir, workersName, name), workerName)
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	return w, err
}

// WorkerLog is where a worker that has no terminal says what it does.
func (g *Grid) WorkerLog(name string) string {
	return filepath.Join(g.dir, workersName, name, logName)
}

// IsAtWork says whether a worker lives, as its lock tells: on a disk whose locks reach over
// machines wherever it works, else on this machine.
func (g *Grid) IsAtWork(name string) bool {
	return held(filepath.Join(g.dir, workersName, name))
}

// IsHeld says whether a process makes an attempt at a job, as its lock tells.
func (g *Grid) IsHeld(j Job) bool { return held(g.Dir(j)) }

// held says whether another process has the lock of a folder.
func held(dir string) bool {
	file, err := run.OpenFile(dir, lockName)
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// SignalWorker sends a signal to a worker of this machine.
func (g *Grid) SignalWorker(name string, s syscall.Signal) error {
	w, err := g.Worker(name)
	if err != nil {
		return err
	}
	if host, _ := os.Hostname(); w.Host != host {
		return fmt.Errorf("worker %s runs on %s, not here", name, w.Host)
	}
	if w.Ended != "" || !g.IsAtWork(name) { // its process id may be another's by now
		return fmt.Errorf("worker %s: %w", name, os.ErrProcessDone)
	}
	return syscall.Kill(w.PID, s)
}

// AskAgain has all workers try again what failed, within seconds.
func (g *Grid) AskAgain() error {
	if err := os.MkdirAll(filepath.Join(g.dir, workersName), 0o777); err != nil {
		return err
	}
	return replaceJSON(filepath.Join(g.dir, workersName), againName, map[string]any{"asked": time.Now().UTC().Format(time.RFC3339Nano)})
}

// asked is what was asked last.
func (g *Grid) asked() string {
	text, _ := run.ReadFile(filepath.Join(g.dir, workersName), againName)
	return string(text)
}

// FailedJobs are those without a result that a worker has given up and nobody tries now.
func (g *Grid) FailedJobs() []Job {
	failed := map[int]bool{}
	for _, w := range g.Workers() {
		for _, i := range w.Failed {
			failed[i] = true
		}
	}
	return slices.DeleteFunc(g.Missing(), func(j Job) bool { return !failed[j.Index] || g.IsHeld(j) })
}
