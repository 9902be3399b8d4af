package runflags

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
)

// lay is the configuration of a choice with the keys of --set.
func (r *Flags) lay(choice presets.Choice, side int) (config.Config, error) {
	c, err := presets.Resolve(choice)
	if err != nil {
		return c, err
	}
	if side > 0 {
		c.Pixels.Side = side
	}
	if r.Recorded != nil {
		c.Schedule, c.Environment.Copies = nil, 1 // of the run that made the recording
		if !r.Changed("data") {
			c.Data = config.Data{} // its rows are among those of the run
		}
	}
	return c, r.assign(&c)
}

// find finds the task of a configuration. If another program simulates it, the program is asked what it is, unless the
// configuration says so; where it offers actions to choose from, the configuration becomes one for choices. typed is the
// task that was named on the command line, if pgrlab simulates it.
func (r *Flags) find(d cli.Deps, c *config.Config, choice presets.Choice, side int, typed task.Task) (task.Task, error) {
	if task.Recorded(choice.Task) && r.Recorded != nil {
		c.Environment.Outside = task.Outside{Spec: *r.Recorded}
		return task.Data(choice.Task, *r.Recorded), nil
	}
	if !d.Simulates(c.Task) {
		if given := r.ofPrograms(); given != "" {
			return task.Task{}, fmt.Errorf("--%s is for tasks that other programs simulate, and %s is one of pgrlab's own: leave it out, or name a task gym:ID, or a program with --env", given, c.Task)
		}
		if choice.Task != "" {
			return typed, nil
		}
		return d.TaskIn(filepath.Dir(r.Preset), c.Task, c.Environment)
	}
	o := r.started(c.Environment.Outside)
	open := func(name string, o task.Outside) (cli.Program, error) { return d.Listed(name, o, r.ask) }
	if choice.Task != "" {
		if r.typed(c.Environment.Outside) {
			open = d.Typed
		}
		here, err := os.Getwd()
		if err != nil {
			return task.Task{}, err
		}
		o.Folder, o.Spec = here, task.Spec{}
	}
	p, err := open(c.Task, o)
	if err != nil {
		return task.Task{}, err
	}
	o.Python = p.Python() // a run goes on with the same one
	if !o.Met() {
		if o.Spec, err = r.meet(p); err != nil {
			return task.Task{}, err
		}
	}
	if choice.Choices = o.Spec.Choices > 0; choice.Choices {
		if *c, err = r.lay(choice, side); err != nil {
			return task.Task{}, err
		}
	}
	c.Environment.Outside = o
	return p.Task(), nil
}

// typed says whether everything that decides what is started was typed on the command line: the interpreter and the
// arguments may come from another person's file.
func (r *Flags) typed(o task.Outside) bool {
	given := func(flag, key string) bool {
		return r.Changed(flag) || slices.ContainsFunc(slices.Concat(r.Set, r.Vary), func(text string) bool {
			return strings.HasPrefix(strings.TrimSpace(text), "environment.outside."+key)
		})
	}
	return (o.Python == "" || given("python", "python")) && (len(o.Args) == 0 || given("env-arg", "args"))
}

// patience is how long a program may be silent before a line says for what the person waits.
const patience = 3 * time.Second

// meet asks a program what it is.
func (r *Flags) meet(p cli.Program) (task.Spec, error) {
	if r.Stderr != nil {
		command, _ := p.Command()
		waiting := time.AfterFunc(patience, func() { fmt.Fprintf(r.Stderr(), "waiting for %s to say what it is\n", command) })
		defer waiting.Stop()
	}
	return p.Meet()
}

// started is how a program is started, with the flags over what a file says.
func (r *Flags) started(o task.Outside) task.Outside {
	set := func(flag string, do func()) {
		if r.Changed(flag) {
			do()
		}
	}
	set("env-arg", func() { o.Args = r.Outside.Args })
	set("python", func() { o.Python = r.Outside.Python })
	set("act-bound", func() { o.ActBound = r.Outside.ActBound })
	set("episode-steps", func() { o.EpisodeSteps = r.Outside.EpisodeSteps })
	set("env-timeout", func() { o.Timeout = r.Outside.Timeout })
	set("env-procs", func() { o.Processes = r.Outside.Processes })
	return o
}

// OfPrograms are the flags that say how a program is started.
var OfPrograms = []string{"env-arg", "python", "act-bound", "episode-steps", "env-timeout", "env-procs"}

// ofPrograms is the first one of these flags that was given, or a --set of the like; "": none.
func (r *Flags) ofPrograms() string {
	for _, name := range OfPrograms {
		if r.Changed(name) {
			return name
		}
	}
	for _, text := range slices.Concat(r.Set, r.Vary) {
		if key, _, _ := strings.Cut(strings.TrimSpace(text), "="); strings.HasPrefix(key, "environment.outside.") {
			return "set " + key
		}
	}
	return ""
}
