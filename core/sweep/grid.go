package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pgrlab/core/run"
)

// The exit statuses of an attempt, besides 0 (done) and others (failed).
const (
	StatusStopped    = 130 // stopped by hand
	statusTerminated = 143 // told to end before it began to train
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

// Name is the name of the job's folder.
func (j Job) Name() string {
	name := fmt.Sprintf("%04d-%s-%s-s%d", j.Index, j.Task, j.Method, j.Seed)
	if j.Variant != "" {
		name += "-" + named(j.Variant)
	}
	return name
}

// check returns an error if the job's name would not be the name of one folder within the sweep.
func (j Job) check() error {
	for what, name := range map[string]string{"task": j.Task, "method": j.Method} {
		odd := func(r rune) bool { return r == '/' || r == '\\' || r == utf8.RuneError || !unicode.IsPrint(r) }
		if name == "" || strings.HasPrefix(name, ".") || strings.ContainsFunc(name, odd) {
			return fmt.Errorf("job %d: %s %q cannot be part of a folder's name", j.Index, what, name)
		}
	}
	return nil
}

// noLink returns an error if a folder of a sweep is a link, which may lead out of the sweep.
func noLink(folders ...string) error {
	for _, dir := range folders {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is no folder: jobs do not follow a link out of their sweep", dir)
		}
	}
	return nil
}

// named returns text in a form that can be part of a file name.
func named(text string) string {
	const most = 80
	var b strings.Builder
	for _, r := range text {
		if r == '[' || r == ']' {
			continue
		}
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("=.+-", r) {
			r = '_'
		}
		if b.Len() < most {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Grid is the set of jobs of a sweep.
type Grid struct {
	Version int       `json:"version"`
	Made    time.Time `json:"made"`
	Jobs    []Job     `json:"jobs"` // by index

	dir  string
	left map[int]bool // by index
}

// Create makes the grid of jobs with their configurations in dir, or opens the same grid if
// it exists there already. A different grid in dir is an error, unless nothing of it has begun, as
// after a command that named a host that cannot be reached: then it is replaced.
func Create(dir string, jobs []Job, configs [][]byte) (*Grid, error) {
	g, err := Open(dir)
	if err == nil {
		if err = g.same(jobs, configs); err == nil || g.begun() {
			return g, err
		}
		err = g.remove()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, j := range jobs {
		if err := j.check(); err != nil {
			return nil, fmt.Errorf("make sweep %s: %w", dir, err)
		}
	}
	g = &Grid{Version: plainVersion, Made: time.Now().UTC().Truncate(time.Second), Jobs: jobs, dir: dir}
	if slices.ContainsFunc(jobs, func(j Job) bool { return j.Variant != "" }) {
		g.Version = version
	}
	if err := g.write(configs); err != nil {
		if other, e := Open(dir); e == nil { // another process was quicker
			return other, other.same(jobs, configs)
		}
		return nil, fmt.Errorf("make sweep %s: %w", dir, err)
	}
	return g, nil
}

// write makes the folders of the jobs and then the grid file, without which they are no sweep.
func (g *Grid) write(configs [][]byte) error {
	for i, j := range g.Jobs {
		if err := os.MkdirAll(g.Dir(j), 0o777); err != nil {
			return err
		}
		if err := run.ReplaceFile(g.Dir(j), jobName, configs[i]); err != nil {
			return err
		}
	}
	if err := replaceJSON(g.dir, gridName, g); err != nil {
		return err
	}
	run.Tidy(g.dir)
	return nil
}

// Open reads the grid in dir.
func Open(dir string) (*Grid, error) {
	text, err := run.ReadFile(dir, gridName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open sweep %s: no sweep is there: %s: %w", dir, gridName, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("open sweep %s: %w", dir, err)
	}
	g := &Grid{dir: dir}
	if err := json.Unmarshal(text, g); err != nil {
		return nil, fmt.Errorf("open sweep %s: its %s is damaged: %w", dir, gridName, err)
	}
	if g.Version > version {
		return nil, fmt.Errorf("open sweep %s: it was made by a newer pgrlab", dir)
	}
	for i, j := range g.Jobs {
		if j.Index != i {
			return nil, fmt.Errorf("open sweep %s: its %s is damaged: job %d has index %d", dir, gridName, i, j.Index)
		}
		if err := j.check(); err != nil {
			return nil, fmt.Errorf("open sweep %s: its %s is damaged: %w", dir, gridName, err)
		}
	}
	return g, nil
}

// same returns an error if the grid does not consist of these jobs.
func (g *Grid) same(jobs []Job, configs [][]byte) error {
	other := fmt.Errorf("sweep %s is another one: choose another --out, or give --out alone to go on with it", g.dir)
	if !slices.Equal(g.Jobs, jobs) {
		return other
	}
	for i, j := range jobs {
		if text, err := run.ReadFile(g.Dir(j), jobName); err != nil || !bytes.Equal(text, configs[i]) {
			return other
		}
	}
	return nil
}

// Leave takes a job out of the work because its result exists elsewhere. It must be called
// before an Engine runs, and affects only this Grid: nothing is written.
func (g *Grid) Leave(j Job) {
	if g.left == nil {
		g.left = map[int]bool{}
	}
	g.left[j.Index] = true
}

// Job returns the job of that index.
func (g *Grid) Job(index int) (Job, error) {
	if index < 0 || index >= len(g.Jobs) {
		return Job{}, fmt.Errorf("sweep %s has no job %d: it has 0 to %d", g.dir, index, len(g.Jobs)-1)
	}
	return g.Jobs[index], nil
}

// Dir is a job's folder.
func (g *Grid) Dir(j Job) string { return filepath.Join(g.dir, j.Name()) }

// Config is the file of a job's configuration.
func (g *Grid) Config(j Job) string { return filepath.Join(g.Dir(j), jobName) }

// Run is a job's run folder.
func (g *Grid) Run(j Job) string { return filepath.Join(g.Dir(j), runName) }

// replaceJSON replaces a file atomically by v as JSON.
func replaceJSON(dir, name string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return run.ReplaceFile(dir, name, append(text, '\n'))
}
