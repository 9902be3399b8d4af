package sweep

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"pgrlab/core/report"
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
// jobs that are missing there. That a job's numbers diverged is a result too.
func (f *sweepResultsFile) leave(w io.Writer) error {
	if f.path == "" {
		return nil
	}
	if _, err := f.read(); err != nil {
		return err
	}
	if err := f.keep(f.grid.Jobs, w); err != nil {
		return err
	}
	byKey, err := f.read()
	if err != nil {
		return err
	}
	left, diverged := map[int]bool{}, 0
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
		diverges := func(r *report.Run) bool { return r.Diverged }
		if len(standing) < len(keys) || slices.ContainsFunc(standing, (*report.Run).CutOff) && !slices.ContainsFunc(standing, diverges) {
			continue // seeds of a cohort that ended with another one go on by themselves
		}
		left[j.Index] = true
		if slices.ContainsFunc(standing, diverges) {
			diverged++
		}
		if r, err := results.LoadRun(f.grid.Run(j)); err == nil && r.Diverged { // its own folder says which seeds did
			standing = slices.DeleteFunc(standing, func(r *report.Run) bool { return r.Failed != "" })
		}
		f.standing = append(f.standing, standing...)
	}
	f.grid.NeedOnly(func(j sweep.Job) bool { return !left[j.Index] })
	switch {
	case diverged > 0:
		fmt.Fprintf(w, "%d of %d stand in %s already, %d of them because they diverged\n", len(left), len(f.grid.Jobs), f.path, diverged)
	case len(left) > 0:
		fmt.Fprintf(w, "%d of %d stand in %s already\n", len(left), len(f.grid.Jobs), f.path)
	}
	return f.grid.KeepNeeded()
}

// read reads the results of the file; none if there is no file yet.
func (f *sweepResultsFile) read() (map[report.ResultKey]*report.Run, error) {
	all, err := report.ReadResults(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cli.AsUsage(err)
	}
	byKey := map[report.ResultKey]*report.Run{}
	for _, r := range all {
		old := byKey[r.Key()] // builds may have one each: what finished counts, then what diverged
		if old == nil || old.CutOff() || old.Failed != "" && r.Failed == "" {
			byKey[r.Key()] = r
		}
	}
	return byKey, nil
}

// keys are the keys of a job's results, one for each of its seeds.
func (f *sweepResultsFile) keys(j sweep.Job) ([]report.ResultKey, error) {
	doc, err := f.grid.ReadConfig(j)
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

// keep adds the results of jobs to the file: of those that are finished, and of those that failed, which give
// way to the same runs when these are tried again and finish.
func (f *sweepResultsFile) keep(jobs []sweep.Job, w io.Writer) error {
	if f.path == "" {
		return nil
	}
	var runs []*report.Run
	for _, j := range jobs {
		_, done := f.grid.Result(j)
		r, err := results.LoadRun(f.grid.Run(j))
		if !done && (err != nil || r.Failed == "") {
			continue
		}
		if err != nil {
			fmt.Fprintf(w, "not kept: %v\n", err) // the run of a finished job may have been removed
			continue
		}
		runs = append(runs, r)
	}
	return results.KeepResults(f.path, runs, w)
}
