package session

import (
	"context"
	"os"

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
	here, err := os.Getwd()
	if err != nil {
		return c, err
	}
	c.Task = o.deps.Programs.NameOf(named)
	p, err := o.deps.Typed(c.Task, task.Outside{Folder: here})
	if err != nil {
		return c, err
	}
	found, err := p.Check(ctx)
	for _, f := range found {
		_ = tell(f)
	}
	return c, err
}
