package sweep

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"pgrlab/core/run"
	"pgrlab/core/sweep"
	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
)

// own are what the tasks of files that a sweep names are made from, by the names of their files in the
// sweep's folder.
type own map[string][]byte

// add takes what a task is made from, unless it is built in.
func (o own) add(t task.Task) error {
	if t.Own == nil {
		return nil
	}
	all, err := t.Own.Archive()
	if err != nil {
		return err
	}
	name := run.TaskFile(t.Name)
	if other, is := o[name]; is && !bytes.Equal(other, all) {
		return cli.Usagef("two of its tasks are called %s: give one of them another name", t.Name)
	}
	o[name] = all
	return nil
}

// keep writes them into the folder of a sweep, where its jobs find them.
func (o own) keep(g *sweep.Grid) error {
	for name, all := range o {
		there, err := os.ReadFile(filepath.Join(g.Path(), name))
		switch {
		case err == nil && !bytes.Equal(there, all):
			return cli.Usagef("sweep %s: its task was made from other files, %s: choose another --out, or go on with those: leave out --task, --method and --preset", g.Path(), filepath.Join(g.Path(), name))
		case err == nil:
			continue
		}
		if err := g.Folder().Replace(name, all); err != nil {
			return fmt.Errorf("make sweep %s: %w", g.Path(), err)
		}
	}
	return nil
}
