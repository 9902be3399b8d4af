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

	"pgrlab/core/run"
)

// The exit statuses of an attempt, beside 0 (done) and others (failed).
const (
	StatusAgain     = 85 // saved, not done: run me again
	StatusElsewhere = 75 // another process makes an attempt at this job
)

const (
	gridName     = "grid.json"
	version      = 2 // of a grid with variants
	plainVersion = 1 // of any other
	jobName      = "job.toml"
	runName      = "run"
	resultName   = "result.json"
	attemptsName = "attempts" // folder of folders by number
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
	// Variant is in what it differs from others of its task and method, as guidance=3; empty: in
	// nothing.
	Variant string `json:"variant,omitempty"`
}

// Name is that of the job's folder.
func (j Job) Name() string {
	name := fmt.Sprintf("%04d-%s-%s-s%d", j.Index, j.Task, j.Method, j.Seed)
	if j.Variant != "" {
		name += "-" + named(j.Variant)
	}
	return name
}

// named is a text as part of a file's name, short enough for one.
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

// Grid is what a sweep consists of.
type Grid struct {
	Version int       `json:"version"`
	Made    time.Time `json:"made"`
	Jobs    []Job     `json:"jobs"` // by index

	dir  string
	left map[int]bool // by index
}

// Create makes the grid of jobs with their configurations in dir, or finds the same
// grid there, begun before. Another one is refused.
func Create(dir string, jobs []Job, configs [][]byte) (*Grid, error) {
	g, err := Open(dir)
	if err == nil {
		return g, g.same(jobs, configs)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
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

// write makes the folders of the jobs, and then the grid: only that makes them a sweep.
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
	}
	return g, nil
}

// same says whether the grid is the one of these jobs.
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

// Leave takes a job out of the work that there is: its result stands elsewhere. It is
// said before an Engine runs, and of this Grid alone: nothing is written.
func (g *Grid) Leave(j Job) {
	if g.left == nil {
		g.left = map[int]bool{}
	}
	g.left[j.Index] = true
}

// Job is the one of that index.
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

// replaceJSON writes a file at once.
func replaceJSON(dir, name string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return run.ReplaceFile(dir, name, append(text, '\n'))
}
