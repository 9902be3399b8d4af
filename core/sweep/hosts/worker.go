package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"pgrlab/core/run"
	"pgrlab/core/sweep"
)

const (
	folderName = "hosts"
	lockName   = "lock"
	workerName = "worker.json"
	// LogName is the file in a host's folder with what its worker said.
	LogName = "log"
)

// Folder is that of a host in the folder of a sweep.
func Folder(dir, name string) string { return filepath.Join(dir, folderName, name) }

// Names lists the hosts that have worked at a sweep.
func Names(dir string) (names []string) {
	entries, _ := os.ReadDir(filepath.Join(dir, folderName))
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// Worker is what one says of itself.
type Worker struct {
	PID     int       `json:"pid"`
	Machine string    `json:"machine"` // what the host calls itself
	Jobs    int       `json:"jobs"`    // at a time
	Began   time.Time `json:"began"`
	Beat    int       `json:"beat"`    // counts renewals
	Running []int     `json:"running"` // indexes of jobs
	Failed  []int     `json:"failed,omitempty"`
	Ended   string    `json:"ended,omitempty"` // how it ended; "": it has not said so
}

// ErrWorking: the host has a worker for the sweep already.
var ErrWorking = errors.New("it works at the sweep already")

// Beat is the time between two renewals of worker.json.
const Beat = 2 * time.Second

// Hire makes this process the worker of a host, for a sweep in dir: release gives the place
// back.
func Hire(dir, name string) (release func() error, err error) {
	in := Folder(dir, name)
	if err := os.MkdirAll(in, 0o777); err != nil {
		return nil, err
	}
	lock, err := run.AppendFile(in, lockName)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrWorking
		}
		return nil, fmt.Errorf("lock %s: %w", in, err)
	}
	return lock.Close, nil
}

// Working says whether this machine has a worker of that name. It is for the host itself: not
// every shared disk shows locks of other machines.
func Working(dir, name string) bool {
	var held io.Closer
	lock, err := run.AppendFile(Folder(dir, name), lockName)
	if err != nil {
		return false
	}
	held = lock
	defer held.Close()
	return errors.Is(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// Tell writes what the worker says of itself.
func (w *Worker) Tell(dir, name string) error {
	w.Beat++
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return run.ReplaceFile(Folder(dir, name), workerName, append(text, '\n'))
}

// Note takes over how the engine's jobs stand.
func (w *Worker) Note(states []sweep.State) {
	w.Running, w.Failed = []int{}, nil
	for i, s := range states {
		switch s {
		case sweep.Running:
			w.Running = append(w.Running, i)
		case sweep.Failed:
			w.Failed = append(w.Failed, i)
		}
	}
}

// Forget makes the folder of a host, and forgets what a worker there said that is gone.
func Forget(dir, name string) error {
	in := Folder(dir, name)
	if err := os.MkdirAll(in, 0o777); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(in, workerName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Silent is how long ago the worker of a host said something, by the clock of the disk.
func Silent(dir, name string) time.Duration {
	info, err := os.Stat(filepath.Join(Folder(dir, name), workerName))
	if err != nil {
		return 0
	}
	return time.Since(info.ModTime())
}

// Told is what the worker of a host said last.
func Told(dir, name string) (w Worker, err error) {
	text, err := run.ReadFile(Folder(dir, name), workerName)
	if err != nil {
		return w, err
	}
	return w, json.Unmarshal(text, &w)
}
