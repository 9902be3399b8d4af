package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"pgrlab/core/run"
)

// The exit statuses of an attempt, besides 0 (done) and others (failed).
const (
	StatusStopped    = 130 // stopped by hand
	statusTerminated = 143 // ended by a signal before it began to train
	StatusAgain      = 85  // saved, not done: run me again
	StatusElsewhere  = 75  // another process makes an attempt at this job
)

const (
	gridName     = "grid.json"
	version      = 2 // version of a grid with variants
	plainVersion = 1 // version of any other grid
	jobName      = "job.toml"
	runName      = "run"
	resultName   = "result.json"
	attemptsName = "attempts" // folder that holds a folder for each attempt, by number
	attemptName  = "attempt.json"
	logName      = "log"
	lockName     = "lock"
)

// Job is one experiment of a grid.
type Job struct {
	Index  int    `json:"index"`
	Task   string `json:"task"`
	Method string `json:"method"`
	Seed   uint64 `json:"seed"`
	Steps  int    `json:"steps"`
	// Variant is the setting that distinguishes the job from others of its task and method, such
	// as guidance=3; empty if there is none.
	Variant string `json:"variant,omitempty"`
}

// Grid is the set of jobs of a sweep.
type Grid struct {
	Version int       `json:"version"`
	Made    time.Time `json:"made"`
	Jobs    []Job     `json:"jobs"` // by index

	folder *run.Handle  // open for as long as the Grid is used: it stays this folder under any name
	use    io.Closer    // its share of the folder's lock, from Create
	left   map[int]bool // by index
}

// Create makes the grid of jobs with their configurations in dir, or opens the same grid if
// it exists there already. A different grid in dir is an error, unless nothing of it has begun and no
// process has it from Create, as after a command that named a host that cannot be reached: then it
// is replaced.
func Create(dir string, jobs []Job, configs [][]byte) (*Grid, error) {
	for _, j := range jobs {
		if err := j.check(); err != nil {
			return nil, fmt.Errorf("make sweep %s: %w", dir, err)
		}
	}
	folder, err := run.MakeHandle(dir)
	if err != nil {
		return nil, fmt.Errorf("make sweep %s: %w", dir, err)
	}
	use, err := enter(folder, func(lock io.Closer) error { return place(folder, lock, jobs, configs) })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make sweep %s: %w", dir, err), folder.Close())
	}
	g, err := opened(dir, folder)
	if err == nil {
		g.use = use
		err = g.same(jobs, configs)
	}
	if err != nil {
		return nil, errors.Join(err, use.Close())
	}
	return g, nil
}

// place puts the grid of jobs into a folder that no other process uses, unless one that has begun is there.
func place(folder *run.Handle, lock io.Closer, jobs []Job, configs [][]byte) error {
	g, err := read(folder)
	if err == nil {
		if g.same(jobs, configs) == nil || g.begun() {
			return nil
		}
		err = g.remove()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	g = &Grid{Version: plainVersion, Made: time.Now().UTC().Truncate(time.Second), Jobs: jobs, folder: folder}
	if slices.ContainsFunc(jobs, func(j Job) bool { return j.Variant != "" }) {
		g.Version = version
	}
	if err := g.write(configs); err != nil {
		return err
	}
	tidy(folder, ".", lock)
	return nil
}

// write makes the folders of the jobs and then the grid file, without which they are no sweep.
func (g *Grid) write(configs [][]byte) error {
	for i, j := range g.Jobs {
		if err := g.folder.MkdirNew(j.Name()); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := g.folder.Replace(filepath.Join(j.Name(), jobName), configs[i]); err != nil {
			return err
		}
	}
	return replaceJSON(g.folder, gridName, g)
}

// Open reads the grid in dir.
func Open(dir string) (*Grid, error) {
	folder, err := run.OpenHandle(dir)
	if err != nil {
		return nil, unopened(dir, err)
	}
	return opened(dir, folder)
}

// opened reads the grid of an open folder, which it closes if that fails.
func opened(dir string, folder *run.Handle) (*Grid, error) {
	g, err := read(folder)
	if err != nil {
		folder.Close()
		return nil, unopened(dir, err)
	}
	return g, nil
}

func unopened(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open sweep %s: no sweep is there: %s: %w", dir, gridName, fs.ErrNotExist)
	}
	return fmt.Errorf("open sweep %s: %w", dir, err)
}

// read reads the grid of an open folder.
func read(folder *run.Handle) (*Grid, error) {
	text, err := folder.Read(gridName)
	if err != nil {
		return nil, err
	}
	g := &Grid{folder: folder}
	if err := json.Unmarshal(text, g); err != nil {
		return nil, fmt.Errorf("its %s is damaged: %w", gridName, err)
	}
	if g.Version > version {
		return nil, errors.New("it was made by a newer pgrlab")
	}
	for i, j := range g.Jobs {
		if j.Index != i {
			return nil, fmt.Errorf("its %s is damaged: job %d has index %d", gridName, i, j.Index)
		}
		if err := j.check(); err != nil {
			return nil, fmt.Errorf("its %s is damaged: %w", gridName, err)
		}
	}
	if err := g.readLeft(); err != nil {
		return nil, err
	}
	return g, nil
}

// same returns an error if the grid does not consist of these jobs.
func (g *Grid) same(jobs []Job, configs [][]byte) error {
	other := fmt.Errorf("sweep %s is another one: choose another --out, or give --out alone to continue it", g.folder.Name())
	if !slices.Equal(g.Jobs, jobs) {
		return other
	}
	for i, j := range jobs {
		if text, err := g.ReadConfig(j); err != nil || !bytes.Equal(text, configs[i]) {
			return other
		}
	}
	return nil
}

// Job returns the job of that index.
func (g *Grid) Job(index int) (Job, error) {
	if index < 0 || index >= len(g.Jobs) {
		return Job{}, fmt.Errorf("sweep %s has no job %d: it has 0 to %d", g.folder.Name(), index, len(g.Jobs)-1)
	}
	return g.Jobs[index], nil
}
