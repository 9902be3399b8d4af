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
	saveName    = "save.json"
	// beat is how often a worker writes its progress when nothing changes, and how often what is
	// asked of workers and attempts through the disk is read.
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
	grid   *Grid
	folder *run.Handle
	lock   io.Closer
	mu     sync.Mutex
	me     Worker
	stop   chan struct{}
	done   sync.WaitGroup
}

// Register takes the name of a worker for an engine. The error is ErrElsewhere if a live
// worker has the name.
func (g *Grid) Register(w Worker) (*Registered, error) {
	dir := workerDir(w.Name)
	if err := errors.Join(g.folder.Mkdir(workersName), g.folder.Mkdir(dir)); err != nil {
		return nil, err
	}
	folder, err := g.folder.Sub(dir)
	if err != nil {
		return nil, err
	}
	lock, err := lock(folder)
	if err == nil && isUnlocked(lock) && g.IsAtWork(w.Name) {
		err = errors.Join(ErrElsewhere, lock.Close())
	}
	if err != nil {
		folder.Close()
		return nil, err
	}
	tidy(folder, ".", lock)
	w.Process, w.Began = run.Self(), time.Now().UTC()
	w.Beat = w.Began
	return &Registered{grid: g, folder: folder, lock: lock, stop: make(chan struct{}), me: w}, nil
}

// workerDir is the folder of a worker within that of the sweep.
func workerDir(name string) string { return filepath.Join(workersName, name) }

// Keep writes the progress of an engine until End, and makes the engine try failed jobs again
// when AskAgain was called.
func (r *Registered) Keep(e *Engine) {
	seen := asked(r.grid.folder, againName)
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
				if now := asked(r.grid.folder, againName); now != seen {
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
	_ = replaceJSON(r.folder, workerName, r.me)
}

// End gives the name back and records how the work ended.
func (r *Registered) End(states []State, how string) {
	close(r.stop)
	r.done.Wait()
	r.write(states, how)
	r.close()
}

// Leave gives the name back as if it had never been taken.
func (r *Registered) Leave() {
	close(r.stop)
	r.done.Wait()
	r.grid.folder.RemoveFolder(workerDir(r.me.Name))
	r.close()
}

func (r *Registered) close() {
	r.lock.Close()
	r.folder.Close()
}

// Workers returns all workers that have ever registered, by name.
func (g *Grid) Workers() []Worker {
	var all []Worker
	folders, _ := g.folder.ReadDir(workersName)
	for _, f := range folders {
		if w, err := g.Worker(f.Name()); err == nil {
			all = append(all, w)
		}
	}
	return all
}

// Worker returns the worker of that name. Its file may be another user's.
func (g *Grid) Worker(name string) (Worker, error) { return g.worker(name, g.folder.Read) }

func (g *Grid) worker(name string, read func(name string) ([]byte, error)) (w Worker, err error) {
	text, err := read(filepath.Join(workerDir(name), workerName))
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	w.Name = name
	return w, err
}

// WorkerLog opens the log file of a worker that has no terminal, whose folder may not exist yet.
func (g *Grid) WorkerLog(name string) (*os.File, error) {
	if err := errors.Join(g.folder.Mkdir(workersName), g.folder.Mkdir(workerDir(name))); err != nil {
		return nil, err
	}
	file, err := g.folder.Append(filepath.Join(workerDir(name), logName))
	if err != nil {
		return nil, err
	}
	return file.File, nil
}

// IsAtWork says whether a worker is alive, judged by its lock. If the disk's locks work across
// machines, the worker may be on any of them, otherwise only on this machine. On a disk without locks it is
// judged by its process.
func (g *Grid) IsAtWork(name string) bool {
	err := g.try(workerDir(name))
	if run.HasNoLocks(err) {
		w, err := g.Worker(name)
		return err == nil && w.Ended == "" && w.Signal(syscall.Signal(0)) == nil
	}
	return errors.Is(err, syscall.EWOULDBLOCK)
}

// IsGone says whether a worker of this machine was killed: it has not recorded an end, and no
// process has its lock. It is false for workers of other machines, and if the file system does
// not support locks.
func (g *Grid) IsGone(w Worker) bool {
	host, _ := os.Hostname()
	return w.Ended == "" && w.Host == host && g.try(workerDir(w.Name)) == nil
}

// EndWorker makes a worker of this machine save its jobs and end. The error is os.ErrProcessDone if
// the process that registered is gone.
func (g *Grid) EndWorker(name string) error {
	w, err := g.worker(name, g.folder.ReadOwn)
	if err != nil {
		return fmt.Errorf("worker %s: %w", name, err)
	}
	if host, _ := os.Hostname(); w.Host != host {
		return fmt.Errorf("worker %s runs on %s, not here", name, w.Host)
	}
	if w.Ended != "" || !g.IsAtWork(name) {
		return fmt.Errorf("worker %s: %w", name, os.ErrProcessDone)
	}
	if err := w.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("worker %s: process %d is not the one that registered: %w", name, w.PID, err)
	}
	return nil
}

// AskAgain makes all workers try failed jobs again within seconds.
func (g *Grid) AskAgain() error { return g.ask(againName) }

// AskToSave makes all attempts under way, on whatever machine, write a checkpoint within seconds.
func (g *Grid) AskToSave() error { return g.ask(saveName) }

// ask changes a file that workers or attempts read at every beat.
func (g *Grid) ask(name string) error {
	if err := g.folder.Mkdir(workersName); err != nil {
		return err
	}
	return replaceJSON(g.folder, filepath.Join(workersName, name), map[string]any{"asked": time.Now().UTC().Format(time.RFC3339Nano)})
}

// asked returns the content of such a file of a sweep's folder, which changes when ask is called.
func asked(folder *run.Handle, name string) string {
	text, _ := folder.Read(filepath.Join(workersName, name))
	return string(text)
}
