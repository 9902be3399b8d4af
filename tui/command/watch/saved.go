package watch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"pgrlab/core/config"
	"pgrlab/core/offline"
	"pgrlab/core/policy"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
)

// savedPolicy is a policy that a run has saved.
type savedPolicy struct {
	config config.Config // of its run
	dir    string        // of the run
	// read reads it, and says where it was. own is the run's task.
	read func(own task.Task, device cli.Device) (from io.ReadCloser, where string, err error)
}

// firstOfCohort is the policy of the first member of a cohort, which has no policy.bin.
const firstOfCohort = "policy-0.bin"

// findPolicy finds the policy that a path refers to, and the configuration of its run.
func findPolicy(path string) (*savedPolicy, error) {
	path, err := rundir.Find(path)
	if err != nil {
		return nil, err
	}
	dir, file := filepath.Dir(path), path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		dir, file = path, filepath.Join(path, run.PolicyName)
		if first := filepath.Join(path, firstOfCohort); !rundir.Exists(file) && rundir.Exists(first) {
			file = first
		}
	}
	_, err = os.Stat(file)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing && !rundir.Exists(filepath.Join(dir, run.ConfigName)) {
		return nil, fmt.Errorf("read policy %s: there is none: a run writes it when it ends", file)
	}
	doc, err := run.ReadFile(dir, run.ConfigName)
	if err != nil {
		return nil, fmt.Errorf("read policy %s: its run's %s must lie beside it", file, run.ConfigName)
	}
	c, err := presets.Decode(filepath.Join(dir, run.ConfigName), doc)
	if err != nil {
		return nil, err
	}
	// A run that was resumed has the policy of its former end until it ends again.
	found, err := run.Checkpoints(dir)
	if dir == path && err == nil && len(found) > 0 && (missing || !rundir.Complete(dir, c.Steps)) {
		return inCheckpoint(offline.Run{Config: c, Dir: dir, Step: -1}), nil
	}
	if missing {
		return nil, fmt.Errorf("read policy %s: there is none: a run writes it when it ends, and there is no checkpoint yet: pgrlab checkpoint %s saves one", file, shell.Word(dir))
	}
	return inFile(file, dir, c), nil
}

// inFile is the policy of a file.
func inFile(path, dir string, c config.Config) *savedPolicy {
	return &savedPolicy{c, dir, func(task.Task, cli.Device) (io.ReadCloser, string, error) {
		f, err := run.OpenFile(filepath.Split(path))
		if err != nil {
			return nil, "", fmt.Errorf("read policy: %w", err)
		}
		return f, path, nil
	}}
}

// inCheckpoint is the policy of a checkpoint.
func inCheckpoint(s offline.Run) *savedPolicy {
	return &savedPolicy{s.Config, s.Dir, func(own task.Task, device cli.Device) (io.ReadCloser, string, error) {
		text, step, err := s.Policy(own, device, 0)
		return io.NopCloser(bytes.NewReader(text)), fmt.Sprintf("%s at step %s", s.Dir, report.Count(step)), err
	}}
}

// load reads the policy for a device, to act in a task, and says where it was.
func (s *savedPolicy) load(d cli.Deps, acts task.Task, device cli.Device) (p policy.Policy, where string, err error) {
	own, err := d.TaskIn(s.dir, s.config.Task, s.config.Environment)
	if err != nil {
		return nil, "", err
	}
	from, where, err := s.read(own, device)
	if err != nil {
		return nil, "", err
	}
	defer from.Close()
	if p, err = policy.Load(&s.config, acts, device, from); err != nil {
		return nil, "", fmt.Errorf("read policy %s: %w", where, err)
	}
	return p, where, nil
}
