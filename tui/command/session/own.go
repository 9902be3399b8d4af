package session

import (
	"context"
	"os"

	"pgrlab/core/config"
	"pgrlab/core/printable"
	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
	owntask "pgrlab/tui/command/task"
	"pgrlab/tui/picker"
)

// check plays a task that a person has named on the first screen, which allows its command.
func (o *opener) check(ctx context.Context, kind picker.Kind, named string) (picker.Checked, error) {
	c := picker.Checked{Task: named}
	tell := func(f cli.Finding) error {
		c.Found = append(c.Found, picker.Finding{Wrong: f.Wrong, Text: printable.Line(f.Text)})
		return ctx.Err()
	}
	if kind == picker.File {
		if !cli.IsTaskFile(named) {
			return c, cli.Usagef("%s is no task file: want one, as ./pole.toml", named)
		}
		t, err := o.deps.Task(named)
		if err != nil {
			return c, err
		}
		return c, owntask.Check(ctx, t, tell)
	}
	c.Task = o.deps.Programs.NameOf(named)
	p, err := o.deps.Typed(c.Task, here())
	if err != nil {
		return c, err
	}
	found, err := p.Check(ctx)
	for _, f := range found {
		_ = tell(f)
	}
	return c, err
}

// here is how a program is started that has nothing but its name.
func here() task.Outside {
	dir, _ := os.Getwd() // without, no program is found
	return task.Outside{Folder: dir}
}

// allowed says whether the program of an earlier run's task may be started, and is started by its name alone.
func (o *opener) allowed(c config.Config) bool {
	started := c.Environment.Outside
	if !o.deps.Simulates(c.Task) || len(started.Args) > 0 || started.ActBound != 0 || started.Folder != here().Folder {
		return false
	}
	p, err := o.deps.Programs.Open(c.Task, here())
	if err != nil || p.Python() != started.Python {
		return false
	}
	is, err := p.Allowed()
	return err == nil && is
}
