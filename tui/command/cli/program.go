package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"pgrlab/core/shell"
	"pgrlab/core/task"
)

// Programs are the programs that simulate tasks: see envs/outside.
type Programs interface {
	// Adapter is the Python file that makes an environment such a program.
	Adapter() []byte
	// Simulates says whether a program simulates the task of that name.
	Simulates(task string) bool
	// NameOf is the name of the task that a command simulates.
	NameOf(command string) string
	// Rest ends the processes that nothing uses: programs that were only asked what they are.
	Rest()
	// Kill ends all their processes at once, also those that hang.
	Kill()
	// Open finds the program of a task, and starts nothing.
	Open(name string, o task.Outside) (Program, error)
}

// Program simulates a task. It is started only if its command is allowed.
type Program interface {
	// Command is what would be started, as a person would type it, and the folder in which it would be.
	Command() (command, folder string)
	// Python is the interpreter that was found, for tasks that need one.
	Python() string
	// Allowed says whether the command is in the user's list, and Allow puts it there.
	Allowed() (bool, error)
	Allow() error
	// Meet starts the program and returns what it says of itself.
	Meet() (task.Spec, error)
	// Task is what it simulates, and starts nothing before an environment is used.
	Task() task.Task
	// KeepLog keeps what it writes to standard error in a file that is open for appending, which it closes.
	KeepLog(file *os.File) error
	// Check plays the environment in the ways in which a run does.
	Check(ctx context.Context) ([]Finding, error)
}

// BindOutside adds the flags that say how a program is started.
func BindOutside(f *pflag.FlagSet, o *task.Outside) []string {
	f.StringArrayVar(&o.Args, "env-arg", nil, "`KEY=VALUE` argument of the environment of another program; repeatable")
	f.StringVar(&o.Python, "python", "", "`FILE` interpreter of tasks gym: and dm: (default $PGRLAB_PYTHON, that of the active environment, or python3)")
	f.Float64Var(&o.ActBound, "act-bound", 0, "`X` actions without bounds are from -X to X")
	CountVar(f, &o.EpisodeSteps, "episode-steps", 0, 1, "`N` steps after which an episode of another program is truncated (default: what it says, or 1000)")
	CountVar(f, &o.Timeout, "env-timeout", 0, 1, "`SECONDS` that another program may take for a reply (default 60)")
	CountVar(f, &o.Processes, "env-procs", 0, 1, "`N` processes for the copies of another program's environment (default 1, and up to 4 for evaluations)")
	return []string{"env-arg", "python", "act-bound", "episode-steps", "env-timeout", "env-procs"}
}

// Typed opens the program of a task whose name was typed on this command line, which allows it.
func (d Deps) Typed(name string, o task.Outside) (Program, error) {
	p, err := d.Programs.Open(name, o)
	if err != nil {
		return nil, AsUsage(err)
	}
	_ = p.Allow() // if the list cannot be written it is allowed in this process, and asked about in the next one
	return p, nil
}

// Listed opens the program of a task whose name stands in a file: a person must have typed it before, or allows it now.
// ask asks the person at the keyboard; nil: no one is there.
func (d Deps) Listed(name string, o task.Outside, ask func(question string) bool) (Program, error) {
	p, err := d.Programs.Open(name, o)
	if err != nil {
		return nil, AsUsage(err)
	}
	allowed, err := p.Allowed()
	if err != nil || allowed {
		return p, err
	}
	command, folder := p.Command()
	if ask != nil && ask(fmt.Sprintf("%s is simulated by a command that you have not allowed, or whose file has changed since:\n  %s\nin %s. Start it?", name, command, folder)) {
		return p, p.Allow()
	}
	return nil, Usagef("%s, to be started in %s, is not among the commands that you have allowed, or its file has changed since: look at it, and allow it with: %s", command, folder, allowing(folder, name, o))
}

// Asker asks a person at a terminal for a yes; nil: in and out are not one.
func Asker(in io.Reader, out io.Writer) func(question string) bool {
	for _, stream := range []any{in, out} {
		if f, is := Raw(stream).(*os.File); !is || !term.IsTerminal(int(f.Fd())) {
			return nil
		}
	}
	return func(question string) bool {
		fmt.Fprintf(out, "%s [y/N] ", question)
		answer := ""
		fmt.Fscanln(in, &answer)
		return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
	}
}

// allowing is the command that allows a program.
func allowing(folder, name string, o task.Outside) string {
	text := "pgrlab env allow " + shell.Word(name)
	if here, err := os.Getwd(); err == nil && here != folder {
		text = "cd " + shell.Word(folder) + " && " + text
	}
	for _, arg := range o.Args {
		text += " --env-arg " + shell.Word(arg)
	}
	if o.Python != "" {
		text += " --python " + shell.Word(o.Python)
	}
	return text
}
