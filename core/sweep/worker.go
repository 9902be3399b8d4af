package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"pgrlab/core/run"
)

const (
	workersName = "workers" // folder that holds a folder for each worker, by name
	workerName  = "worker.json"
	againName   = "requeue.json"
	// beat is how often a worker writes its progress when nothing changes, and checks
	// whether failed jobs are to be tried again.
	beat = 2 * time.Second
)

// Worker is the progress of an Engine that works at a grid, as the engine itself writes it to
// the disk.
type Worker struct {
	Name string `json:"name"`
	run.Process
	Element string    `json:"element,omitempty"` // the element of a Slurm job array that the worker is
	Jobs    int       `json:"jobs"`              // number of jobs at a time
	Began   time.Time `json:"began"`
	Beat    time.Time `json:"beat"`  // by the clock of its machine; only for people
	Beats   int       `json:"beats"` // grows while the worker lives
	Running []int     `json:"running,omitempty"`
	Failed  []int     `json:"failed,omitempty"`
	Ended   string    `json:"ended,omitempty"` // how it ended; empty while it works
}

// Registered is a worker's place in the sweep's folder. No other worker can have its name until
// it ends.
type Registered struct {
	grid *Grid
	dir  string
	lock io.Closer
	mu   sync.Mutex
	me   Worker
	stop chan struct{}
	done sync.WaitGroup
}

// Register takes the name of a worker for an engine. The error is ErrElsewhere if a live
// worker has the name.
func (g *Grid) Register(w Worker) (*Registered, error) {
	dir := filepath.Join(g.dir, workersName, w.Name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	if err := noLink(filepath.Join(g.dir, workersName), dir); err != nil {
		return nil, err
	}
	lock, err := lock(dir)
	if err != nil {
		return nil, err
	}
	run.Tidy(dir)
	w.Process, w.Began = run.Self(), time.Now().UTC()
	w.Beat = w.Began
	return &Registered{grid: g, dir: dir, lock: lock, stop: make(chan struct{}), me: w}, nil
}

// Keep writes the progress of an engine until End, and makes the engine try failed jobs again
// when the sweep is told to (AskAgain).
func (r *Registered) Keep(e *Engine) {
	seen := r.grid.asked()
	changed := e.Changed() // before the states are written
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

// write writes the worker's progress. If that fails, the next beat tries again.
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

// End gives the name back and records how the work ended.
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

// Workers returns all workers that have ever registered, by name.
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

// Worker returns the worker of that name. Its file may be another user's.
func (g *Grid) Worker(name string) (Worker, error) { return g.worker(name, run.ReadFile) }

func (g *Grid) worker(name string, read func(dir, name string) ([]byte, error)) (w Worker, err error) {
	text, err := read(filepath.Join(g.dir, workersName, name), workerName)
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	w.Name = name
	return w, err
}

// WorkerLog is the log file of a worker that has no terminal.
func (g *Grid) WorkerLog(name string) string {
	return filepath.Join(g.dir, workersName, name, logName)
}

// IsAtWork says whether a worker is alive, judged by its lock. If the disk's locks work across
// machines, the worker may be on any of them, otherwise only on this machine.
func (g *Grid) IsAtWork(name string) bool {
	return held(filepath.Join(g.dir, workersName, name))
}

// IsGone says whether a worker of this machine was killed: it has not recorded an end, and no
// process has its lock. It is false for workers of other machines, and if the file system does
// not support locks.
func (g *Grid) IsGone(w Worker) bool {
	host, _ := os.Hostname()
	return w.Ended == "" && w.Host == host && try(filepath.Join(g.dir, workersName, w.Name)) == nil
}

// IsHeld says whether a process makes an attempt at a job, judged by the job's lock.
func (g *Grid) IsHeld(j Job) bool { return held(g.Dir(j)) }

// held says whether another process has the lock of a folder.
func held(dir string) bool { return errors.Is(try(dir), syscall.EWOULDBLOCK) }

// try returns nil if the lock of a folder is free, and EWOULDBLOCK if another process has it.
func try(dir string) error {
	file, err := run.OpenFile(dir, lockName)
	if err != nil {
		return err
	}
	defer file.Close()
	return syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
}

// SignalWorker sends a signal to a worker of this machine. The error is os.ErrProcessDone if the
// process that registered is gone.
func (g *Grid) SignalWorker(name string, s os.Signal) error {
	w, err := g.worker(name, run.ReadOwnFile)
	if err != nil {
		return fmt.Errorf("worker %s: %w", name, err)
	}
	if host, _ := os.Hostname(); w.Host != host {
		return fmt.Errorf("worker %s runs on %s, not here", name, w.Host)
	}
	if w.Ended != "" || !g.IsAtWork(name) {
		return fmt.Errorf("worker %s: %w", name, os.ErrProcessDone)
	}
	if err := w.Signal(s); err != nil {
		return fmt.Errorf("worker %s: process %d is not the one that registered: %w", name, w.PID, err)
	}
	return nil
}

// AskAgain makes all workers try failed jobs again within seconds.
func (g *Grid) AskAgain() error {
	if err := os.MkdirAll(filepath.Join(g.dir, workersName), 0o777); err != nil {
		return err
	}
	return replaceJSON(filepath.Join(g.dir, workersName), againName, map[string]any{"asked": time.Now().UTC().Format(time.RFC3339Nano)})
}

// asked returns the content of the last request of AskAgain.
func (g *Grid) asked() string {
	text, _ := run.ReadFile(filepath.Join(g.dir, workersName), againName)
	return string(text)
}
