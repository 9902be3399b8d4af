package sweep

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/sweep"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/results"
)

// sweepResultsFile is the file in which a sweep keeps the results of its jobs, and finds which need
// not be done again. Without a path it does nothing.
type sweepResultsFile struct {
	path string
	grid *sweep.Grid
	// standing are the file's results of the jobs that were left out.
	standing []*report.Run
}

// leave removes the jobs from the sweep whose results are in the file, and adds the results of
// finished jobs that are missing there.
func (f *sweepResultsFile) leave(w io.Writer) error {
	if f.path == "" {
		return nil
	}
	kept, err := results.Read(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cli.AsUsage(err)
	}
	byKey := map[report.ResultKey]*report.Run{}
	for _, r := range kept {
		byKey[r.Key()] = r
	}
	n := 0
	for _, j := range f.grid.Jobs {
		if _, done := f.grid.Result(j); done {
			continue
		}
		keys, err := f.keys(j)
		if err != nil {
			return err
		}
		var standing []*report.Run
		for _, key := range keys {
			if r := byKey[key]; r != nil {
				standing = append(standing, r)
			}
		}
		if len(standing) < len(keys) {
			continue
		}
		f.grid.Leave(j)
		f.standing = append(f.standing, standing...)
		n++
	}
	if n > 0 {
		fmt.Fprintf(w, "%d of %d stand in %s already\n", n, len(f.grid.Jobs), f.path)
	}
	return f.keep(f.grid.Jobs, w)
}

// keys are the keys of a job's results, one for each of its seeds.
func (f *sweepResultsFile) keys(j sweep.Job) ([]report.ResultKey, error) {
	doc, err := run.ReadFile(filepath.Split(f.grid.Config(j)))
	if err != nil {
		return nil, err
	}
	c, err := presets.Decode(f.grid.Config(j), doc)
	if err != nil {
		return nil, err
	}
	first, err := results.ResultKey(c)
	keys := []report.ResultKey{first}
	for i := 1; i < c.Members; i++ {
		next := first
		next.Seed += uint64(i)
		keys = append(keys, next)
	}
	return keys, err
}

// keep adds the results of finished jobs to the file.
func (f *sweepResultsFile) keep(jobs []sweep.Job, w io.Writer) error {
	if f.path == "" {
		return nil
	}
	var runs []*report.Run
	for _, j := range jobs {
		if _, done := f.grid.Result(j); !done {
			continue
		}
		r, err := results.LoadRun(f.grid.Run(j))
		if err != nil {
			fmt.Fprintf(w, "not kept: %v\n", err) // the run of a finished job may have been removed
			continue
		}
		runs = append(runs, r)
	}
	return results.KeepResults(f.path, runs, w)
}
