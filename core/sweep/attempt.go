package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"pgrlab/core/run"
)

// ErrElsewhere: another process makes an attempt at the job.
var ErrElsewhere = errors.New("another process works at it")

// Result is the result of a job that is done.
type Result struct {
	Job
	Return   *float64  `json:"return"` // return of the last evaluation; for several seeds, their mean
	Best     *float64  `json:"best"`
	WallS    float64   `json:"wall_s"` // training time of all attempts together
	Attempts int       `json:"attempts"`
	Finished time.Time `json:"finished"`
}

// Attempt is one try at a job. It holds the job's lock.
type Attempt struct {
	Number int
	grid   *Grid
	job    Job
	dir    string
	lock   io.Closer
	began  time.Time
}

// Result returns the result of a job; false while there is none.
func (g *Grid) Result(j Job) (Result, bool) {
	var r Result
	text, err := run.ReadFile(g.Dir(j), resultName)
	return r, err == nil && json.Unmarshal(text, &r) == nil
}

// Begin begins an attempt. The error is ErrElsewhere if another process makes one.
func (g *Grid) Begin(j Job) (*Attempt, error) {
	attempts := filepath.Join(g.Dir(j), attemptsName)
	if err := noLink(g.Dir(j), attempts); err != nil {
		return nil, fmt.Errorf("begin %s: %w", j.Name(), err)
	}
	lock, err := lock(g.Dir(j))
	if errors.Is(err, ErrElsewhere) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", j.Name(), err)
	}
	run.Tidy(g.Dir(j)) // remnants of a killed attempt or of making the sweep
	a := &Attempt{grid: g, job: j, lock: lock, began: time.Now()}
	err = os.MkdirAll(attempts, 0o777)
	for err == nil {
		a.Number++
		a.dir = filepath.Join(attempts, strconv.Itoa(a.Number))
		// Only one process can make this folder, even if there are no locks.
		if err = os.Mkdir(a.dir, 0o777); err == nil {
			return a, nil
		}
		if errors.Is(err, fs.ErrExist) {
			run.Tidy(a.dir)
			err = nil
		}
	}
	lock.Close()
	return nil, fmt.Errorf("begin %s: %w", j.Name(), err)
}

// lockTries and lockPause allow for processes that only check whether the lock is held: they
// hold it themselves for a moment.
const (
	lockTries = 4
	lockPause = 25 * time.Millisecond
)

// lock takes the lock of a folder. The error is ErrElsewhere if another process has it. If the
// file system does not support locks, every process gets it; the lease of the run folder then
// keeps two attempts apart.
func lock(dir string) (io.Closer, error) {
	file, err := run.AppendFile(dir, lockName)
	if err != nil {
		return nil, err
	}
	for range lockTries {
		if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			return file, nil
		}
		time.Sleep(lockPause)
	}
	file.Close()
	return nil, ErrElsewhere
}

// Withdraw ends an attempt that has found another process in the run folder, and removes its
// traces.
func (a *Attempt) Withdraw() error {
	return errors.Join(os.RemoveAll(a.dir), a.lock.Close())
}

// Run is the job's run folder. It is an error if that is a link.
func (a *Attempt) Run() (dir string, err error) {
	dir = a.grid.Run(a.job)
	return dir, noLink(dir)
}

// Log opens the file for the output of the attempt.
func (a *Attempt) Log() (io.WriteCloser, error) {
	return run.AppendFile(a.dir, logName)
}

// Done writes the job's result from its journal.
func (a *Attempt) Done() error {
	r := Result{Job: a.job, Attempts: a.Number, Finished: time.Now().UTC().Truncate(time.Second)}
	f, err := run.OpenFile(a.grid.Run(a.job), run.JournalName)
	if err != nil {
		return fmt.Errorf("result of %s: %w", a.job.Name(), err)
	}
	defer f.Close()
	reader, all := run.NewReader(f), returns{}
	for {
		e, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("result of %s: %w", a.job.Name(), err)
		}
		r.WallS = max(r.WallS, e.WallS)
		var v struct {
			Return run.Float `json:"return_mean"`
		}
		if e.Type != "evaluated" || e.Fields(&v) != nil {
			continue
		}
		all.take(e, float64(v.Return))
	}
	for _, mean := range all.means {
		r.Return = &mean
		if r.Best == nil || mean > *r.Best {
			r.Best = &mean
		}
	}
	if err := replaceJSON(a.grid.Dir(a.job), resultName, r); err != nil {
		return fmt.Errorf("result of %s: %w", a.job.Name(), err)
	}
	return nil
}

// returns are those of a journal's evaluations. The members of a cohort go in lockstep and share
// an evaluation, whose return is their mean.
type returns struct {
	means         []float64
	step, members int // of the newest
}

// take adds the return of an evaluated line.
func (r *returns) take(e run.Entry, value float64) {
	if r.members == 0 || e.Step != r.step || e.Member == run.NoMember {
		r.means, r.step, r.members = append(r.means, 0), e.Step, 0
	}
	mean := &r.means[len(r.means)-1]
	*mean = (*mean*float64(r.members) + value) / float64(r.members+1)
	r.members++
}
