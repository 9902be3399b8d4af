package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
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

// maxResult is more than a result has bytes.
const maxResult = 64 << 10

// fits says whether a result is one of a job, whatever wrote it.
func (r Result) fits(j Job) bool {
	return r.Job == j && (r.Return == nil) == (r.Best == nil) && r.WallS >= 0 && r.Attempts > 0
}

// Result returns the result of a job; false while there is none. What is no result of that job does
// not count: its next attempt writes the result again.
func (g *Grid) Result(j Job) (Result, bool) {
	f, err := g.folder.Open(filepath.Join(j.Name(), resultName))
	if err != nil {
		return Result{}, false
	}
	defer f.Close()
	var r Result
	text, err := f.ReadAll(resultName, maxResult)
	if err != nil || json.Unmarshal(text, &r) != nil || !r.fits(j) {
		return Result{}, false
	}
	return r, true
}

// Attempt is one try at a job. It holds the job's lock.
type Attempt struct {
	Number int
	job    Job
	folder *run.Handle // the job's
	lock   io.Closer
	began  time.Time
}

// Begin begins an attempt. The error is ErrElsewhere if another process makes one.
func (g *Grid) Begin(j Job) (*Attempt, error) {
	folder, err := g.folder.Sub(j.Name())
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", j.Name(), err)
	}
	a := &Attempt{job: j, folder: folder, began: time.Now()}
	if a.lock, err = lock(folder); err == nil {
		if err = a.begin(); err != nil {
			a.lock.Close()
		}
	}
	switch {
	case err == nil:
		return a, nil
	case !errors.Is(err, ErrElsewhere):
		err = fmt.Errorf("begin %s: %w", j.Name(), err)
	}
	folder.Close()
	return nil, err
}

// begin finds the number of the attempt and makes its folder.
func (a *Attempt) begin() error {
	tidy(a.folder, ".", a.lock) // remnants of a killed attempt or of making the sweep
	err := a.folder.Mkdir(attemptsName)
	for err == nil {
		a.Number++
		// Only one process can make this folder, even if there are no locks.
		if err = a.folder.MkdirNew(a.path("")); err == nil {
			return nil
		}
		if errors.Is(err, fs.ErrExist) {
			tidy(a.folder, a.path(""), a.lock)
			err = nil
		}
	}
	return err
}

// path is a file of the attempt, in the job's folder.
func (a *Attempt) path(name string) string {
	return filepath.Join(attemptsName, strconv.Itoa(a.Number), name)
}

// Withdraw ends an attempt that has found another process in the run folder, and removes its
// traces.
func (a *Attempt) Withdraw() error {
	return errors.Join(a.folder.RemoveFolder(a.path("")), a.close())
}

// close gives the job back.
func (a *Attempt) close() error { return errors.Join(a.lock.Close(), a.folder.Close()) }

// Run is where the job's run folder is now. It is an error if something else is there, such as a
// link that may lead out of the sweep.
func (a *Attempt) Run() (dir string, err error) {
	dir = a.folder.Path(runName)
	if info, err := a.folder.Lstat(runName); err == nil && !info.IsDir() {
		return dir, fmt.Errorf("%s is no folder: jobs do not follow a link out of their sweep", dir)
	}
	return dir, nil
}

// Config is where the file of the job's configuration is now.
func (a *Attempt) Config() string { return a.folder.Path(jobName) }

// Log opens the file for the output of the attempt.
func (a *Attempt) Log() (io.WriteCloser, error) {
	return a.folder.Append(a.path(logName))
}

// WhenAskedToSave calls save after each AskToSave, until stop is called.
func (g *Grid) WhenAskedToSave(save func()) (stop func()) {
	seen, end := asked(g.folder, saveName), make(chan struct{})
	go func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				if now := asked(g.folder, saveName); now != seen {
					seen = now
					save()
				}
			}
		}
	}()
	return func() { close(end) }
}

// Done writes the job's result from its journal.
func (a *Attempt) Done() error {
	r := Result{Job: a.job, Attempts: a.Number, Finished: time.Now().UTC().Truncate(time.Second)}
	f, err := a.folder.Open(filepath.Join(runName, run.JournalName))
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
	if err := replaceJSON(a.folder, resultName, r); err != nil {
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
