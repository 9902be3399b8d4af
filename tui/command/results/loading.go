package results

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/remote"
)

// LoadRuns reads the runs that the paths refer to. Notes say which have not begun, and which of those
// below a folder cannot be read, beside others that can; if there is no other, that is an error, and so
// is a path that is itself a run that cannot be read.
func LoadRuns(paths []string) (all []*report.Run, notes []string, err error) {
	var first error // why the first run is left out
	for _, path := range paths {
		path, err := rundir.Find(path)
		if err != nil {
			return nil, nil, err
		}
		if strings.HasSuffix(path, resultsEnding) {
			results, err := report.ReadResults(path)
			if err != nil {
				return nil, nil, cli.AsUsage(err)
			}
			all = append(all, results...)
			continue
		}
		dirs, err := report.Find(path)
		if err != nil {
			return nil, nil, cli.AsUsage(err)
		}
		for _, dir := range dirs {
			r, err := LoadRun(dir)
			if err == nil {
				all = append(all, r)
				continue
			}
			if dir == path && !errors.Is(err, report.ErrNotBegun) {
				return nil, nil, err
			}
			first = cmp.Or(first, err)
			notes = append(notes, fmt.Sprintf("%s is left out: %s", dir, strings.TrimPrefix(err.Error(), dir+": ")))
		}
	}
	if len(all) == 0 && first != nil {
		return nil, nil, first
	}
	return all, notes, nil
}

// LoadRun reads a run with its configuration.
func LoadRun(dir string) (*report.Run, error) {
	if !rundir.Exists(dir) {
		return nil, cli.Usagef("%s: there is no such run folder", dir)
	}
	r, err := report.Load(dir)
	if err != nil {
		return nil, err
	}
	doc, err := rundir.Config(dir)
	if err != nil {
		return nil, err
	}
	c, err := presets.Decode(filepath.Join(dir, run.ConfigName), doc)
	if err != nil {
		return nil, err
	}
	r.Begun(c.Seed)
	r.Steps, r.Moved = c.Steps, moved(dir, r.Device)
	if c.Sees() {
		r.Frames = c.Frames(1)
	}
	if !r.Done && r.Failed == "" {
		r.Standing = notEnded(dir, c.Steps)
	}
	if r.Settings, err = presets.Settings(c); err != nil {
		return nil, err
	}
	differences, err := presets.Differences(presets.Choice{Task: c.Task, Method: c.Method, Scale: c.Scale, Observation: c.Environment.Observation, Choices: c.Environment.Outside.Spec.Choices > 0}, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	r.Variant = variant(presets.Distinguishing(differences, c))
	if c.Sees() && slices.Contains(presets.Observations(c.Method), task.ObservationState) {
		r.Variant = strings.TrimSuffix("pixels, "+r.Variant, ", ") // the method also learns from states
	}
	r.Fingerprint = fingerprint(r.Settings)
	return r, nil
}

// moved lists the devices other than the one before on which a run's checkpoints were taken, oldest
// first. The journal names only the device that the run began with.
func moved(dir, before string) (devices []string) {
	found, _ := run.Checkpoints(dir) // one that cannot be read says nothing
	for _, c := range slices.Backward(found) {
		if c.Err == nil && c.Device != "" && c.Device != before {
			devices = append(devices, c.Device)
			before = c.Device
		}
	}
	return devices
}

// notEnded says how far a run that has not ended has come.
func notEnded(dir string, steps int) string {
	_, err := remote.Find(dir)
	var elsewhere remote.Elsewhere
	var stopped remote.Stopping
	var between remote.Between
	switch {
	case errors.As(err, &between):
		return fmt.Sprintf(" of %s, starts or ends just now", report.Count(steps))
	case err == nil:
		return fmt.Sprintf(" of %s, goes on: pgrlab attach %s", report.Count(steps), shell.Word(rundir.Near(dir)))
	case errors.As(err, &elsewhere):
		return fmt.Sprintf(" of %s, goes on at %s: pgrlab attach %s", report.Count(steps), elsewhere.Host, shell.Word(rundir.Near(dir)))
	case errors.As(err, &stopped):
		return fmt.Sprintf(" of %s, %s", report.Count(steps), remote.HowToContinue(stopped.PID))
	}
	return fmt.Sprintf(" of %s, not ended: pgrlab train --resume %s continues it", report.Count(steps), shell.Word(rundir.Near(dir)))
}

// variant names the settings in which a run differs from its task, method and scale.
func variant(all []presets.Difference) string {
	var parts []string
	for _, d := range all {
		parts = append(parts, strings.TrimPrefix(d.Key, "knobs.")+"="+strings.ReplaceAll(d.To, "'", ""))
	}
	return strings.Join(parts, ", ")
}
