package command

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"pgrlab/core/lab"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/sweep"
	"pgrlab/presets"
)

// resultsEnding is that of the names of results files.
const resultsEnding = ".csv"

// fingerprint is a hash of settings, without names and what changes only what is known of
// a run.
func fingerprint(settings map[string]string) string {
	var lines []string
	for key, value := range settings {
		if !slices.Contains(judging, key) && !slices.Contains([]string{"task", "method", "scale", "preset"}, key) {
			lines = append(lines, key+" = "+value)
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:6])
}

// resultKey is the one that a run of the configuration will have.
func resultKey(c lab.Config) (report.ResultKey, error) {
	settings, err := presets.Settings(c)
	return report.ResultKey{Task: c.Task, Method: c.Method, Scale: c.Scale, Fingerprint: fingerprint(settings), Seed: c.Seed, Steps: c.Steps}, err
}

// keepResults adds those runs to a file that are results, and says what became of them.
func keepResults(path string, runs []*report.Run, w io.Writer) error {
	if !strings.HasSuffix(path, resultsEnding) {
		return usagef("--results %s: want a name that ends in %s", path, resultsEnding)
	}
	var kept []*report.Run
	for _, r := range runs {
		if err := r.IsResult(); err != nil {
			fmt.Fprintf(w, "not kept: %v\n", err)
			continue
		}
		kept = append(kept, r)
	}
	added, err := report.AddResults(path, kept)
	if err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	if added > 0 {
		fmt.Fprintf(w, "%s: %d new, of %d results here\n", path, added, len(kept))
	}
	return nil
}

// sweepResultsFile is where a sweep keeps what its jobs measured, and finds what need not
// be done again. Without a path it does nothing.
type sweepResultsFile struct {
	path string
	grid *sweep.Grid
	// standing are the results in the file of the jobs that were left out.
	standing []*report.Run
}

// leave takes jobs out of the sweep whose results stand in the file, and adds those that
// are done and do not stand there.
func (f *sweepResultsFile) leave(w io.Writer) error {
	if f.path == "" {
		return nil
	}
	results, err := report.ReadResults(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return asUsage(err)
	}
	byKey := map[report.ResultKey]*report.Run{}
	for _, r := range results {
		byKey[r.Key()] = r
	}
	for _, j := range f.grid.Jobs {
		if _, done := f.grid.Result(j); done {
			continue
		}
		key, err := f.key(j)
		if err != nil {
			return err
		}
		if r := byKey[key]; r != nil {
			f.grid.Leave(j)
			f.standing = append(f.standing, r)
		}
	}
	if n := len(f.standing); n > 0 {
		fmt.Fprintf(w, "%d of %d stand in %s already\n", n, len(f.grid.Jobs), f.path)
	}
	return f.keep(f.grid.Jobs, w)
}

func (f *sweepResultsFile) key(j sweep.Job) (report.ResultKey, error) {
	doc, err := run.ReadFile(filepath.Split(f.grid.Config(j)))
	if err != nil {
		return report.ResultKey{}, err
	}
	c, err := presets.Decode(f.grid.Config(j), doc)
	if err != nil {
		return report.ResultKey{}, err
	}
	return resultKey(c)
}

// keep adds those jobs to the file that are done.
func (f *sweepResultsFile) keep(jobs []sweep.Job, w io.Writer) error {
	if f.path == "" {
		return nil
	}
	var runs []*report.Run
	for _, j := range jobs {
		if _, done := f.grid.Result(j); !done {
			continue
		}
		r, err := loadRun(f.grid.Run(j))
		if err != nil {
			fmt.Fprintf(w, "not kept: %v\n", err) // the run of a job that is done may have been removed
			continue
		}
		runs = append(runs, r)
	}
	return keepResults(f.path, runs, w)
}
