package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
	taskcommand "pgrlab/tui/command/task"
	"pgrlab/tui/picker"
)

// named are the tasks that are not built in and that a text names on the first screen: a task file, a
// task that another program simulates, or the command of such a program; and files and folders that a
// text begins to name.
func (o *opener) named(text string) []picker.Item {
	const program = "another program simulates it"
	if text == "" {
		return nil
	}
	if o.deps.Simulates(text) {
		return []picker.Item{{Name: text, Doc: program}}
	}
	dir, begun := filepath.Split(text)
	entries, _ := os.ReadDir(filepath.Join(".", dir)) // in a folder that cannot be read nothing begins so
	if filepath.IsAbs(dir) {
		entries, _ = os.ReadDir(dir)
	}
	var all []picker.Item
	for _, e := range entries {
		switch name := e.Name(); {
		case !strings.HasPrefix(name, begun) || begun == "" && dir == "":
		case e.IsDir() && !strings.HasPrefix(name, "."):
			all = append(all, picker.Item{Name: dir + name + "/", Doc: "a folder"})
		case cli.IsTaskFile(name):
			all = append(all, picker.Item{Name: dir + name, Doc: "a task file"})
		}
	}
	if len(all) == 0 && strings.Contains(text, " ") {
		return []picker.Item{{Name: o.deps.Programs.NameOf(text), Doc: program}}
	}
	return all
}

// here is how a program is started that has nothing but its name.
func here() task.Outside {
	dir, _ := os.Getwd() // without, no program is found
	return task.Outside{Folder: dir}
}

// allowed says whether the program of an earlier run's task may be started, and is started by its name
// alone.
func (o *opener) allowed(c config.Config) bool {
	if !o.deps.Simulates(c.Task) || len(c.Environment.Outside.Args) > 0 || c.Environment.Outside.Folder != here().Folder {
		return false
	}
	p, err := o.deps.Programs.Open(c.Task, here())
	if err != nil {
		return false
	}
	is, err := p.Allowed()
	return err == nil && is
}

// check says what is in the way of learning a task that is not built in.
func (o *opener) check(ctx context.Context, name string) (lines []string, err error) {
	tell := func(f cli.Finding) error {
		if f.Wrong {
			lines = append(lines, f.Text)
		}
		return nil
	}
	if o.deps.Simulates(name) {
		p, err := o.deps.Listed(name, here(), nil) // it was chosen before, which has allowed it
		if err != nil {
			return nil, err
		}
		found, err := p.Check(ctx)
		for _, f := range found {
			tell(f)
		}
		return lines, err
	}
	t, err := o.deps.Task(name)
	if err == nil {
		err = taskcommand.Check(ctx, t, tell)
	}
	return lines, err
}
