// Package command is the command line: the lab screen, the same run without a
// screen, and the commands around them, one file each. Data goes to stdout,
// everything else to stderr; an error is one line that says what was being
// done, what was wrong and what to do.
//
// The package knows tasks, devices and the screen only through Deps, which main
// fills.
package command

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/device"
	"pgrlab/core/lab"
	"pgrlab/presets"
	"pgrlab/tui"
	"pgrlab/tui/pane"
)

// Deps is what the commands need from outside.
type Deps struct {
	Version string
	Tasks   []lab.Task
	// Device starts a device. The caller closes it.
	Device func(r DeviceRequest) (Device, error)
	// ChooseGPU finds the GPU that auto, cuda, cuda:1 or GPU-UUID asks for, and says
	// why that one. nil, as in the rest of these: there are none.
	ChooseGPU func(name string) (gpu GPU, why string, err error)
	// CheckGPU tries whether one does what the CPU does, in a process of its own.
	CheckGPU func(g GPU, precision string) error
	// GPUs looks for all GPUs.
	GPUs func() GPUs
	// TryGPU compiles the kernels for one and says in a line how that went.
	TryGPU func(g GPU) (string, error)
	// WatchGPU says what one is doing; the error stays where it cannot be known.
	WatchGPU func(uuid string) (pane.GPU, error)
	// Screen shows a lab on the terminal until the person leaves: tui.Run.
	Screen func(ctx context.Context, o tui.Options) (tui.Outcome, error)
	// Trace writes a task's observations and rewards as JSON lines.
	Trace func(ctx context.Context, w io.Writer, r TraceRequest) error
	// View makes what draws a task.
	View func(task string) (View, error)
	// Kernels and Physics say what was found on this machine; Physics tries it.
	Kernels func() Kernels
	Physics func(ctx context.Context) Physics
}

// Device is a device that can be given back.
type Device interface {
	device.Device
	Threads() int
	Close() error
}

// View draws a task. It belongs to one goroutine.
type View interface {
	// Draw paints a pose of the task's lab.Posed environment, w by h pixels; the
	// picture is good until the next call.
	Draw(pose []float64, w, h int) (*image.RGBA, error)
	// StepTime is the simulated time of an env step.
	StepTime() time.Duration
}

// drawing is the drawing function of a screen. The view is made when the first
// picture is wanted, which most screens never do.
func (d Deps) drawing(task string) func(pose []float64, w, h int) (*image.RGBA, error) {
	if d.View == nil {
		return nil
	}
	view := sync.OnceValues(func() (View, error) { return d.View(task) })
	return func(pose []float64, w, h int) (*image.RGBA, error) {
		v, err := view()
		if err != nil {
			return nil, err
		}
		return v.Draw(pose, w, h)
	}
}

// task finds a task by its name; case, - and _ make no difference.
func (d Deps) task(name string) (lab.Task, error) {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }
	names := make([]string, len(d.Tasks))
	for i, t := range d.Tasks {
		if plain(t.Name) == plain(name) {
			return t, nil
		}
		names[i] = t.Name
	}
	return lab.Task{}, asUsage(presets.Unknown("task", name, names, "pgrlab list tasks"))
}

// Main runs one command line and returns the exit status.
func Main(ctx context.Context, d Deps, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out, errs := newConsole(stdout), newConsole(stderr)
	root := newRoot(d)
	root.SetArgs(append([]string{}, args...)) // nil would mean those of the process
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	var differ errDiffer
	var s signalled
	switch {
	case err == nil, errors.As(err, &differ), errors.As(err, &s):
	case isBrokenPipe(err): // pgrlab list tasks | head -1
		return StatusDone
	default:
		fmt.Fprintln(errs, "pgrlab: "+line(err))
	}
	return status(err)
}

func newRoot(d Deps) *cobra.Command {
	root := labCommand(d)
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.SetFlagErrorFunc(flagError)
	root.PersistentPreRunE = refuseEmpty
	root.SetUsageFunc(usage)
	root.Version = d.Version
	root.SetVersionTemplate(versionLine(d))
	root.SetHelpCommand(helpCommand())
	root.AddCommand(trainCommand(d), trainForksCommand(), forkCommand(), reportCommand(d), exportCommand(d), cardCommand(), listCommand(d), presetCommand(d), doctorCommand(d), benchCommand(d),
		traceCommand(d), replayCommand(d), watchCommand(d), analyseCommand(d), journalCommand(), versionCommand(d))
	root.AddCommand(sweepCommand(d), attachCommand(d), psCommand(), stopCommand(), pauseCommand(), parkCommand(), resumeCommand(), checkpointCommand(), completionCommand(), manCommand(d), licencesCommand())
	root.InitDefaultHelpCmd()
	addCompletions(d, root)
	return root
}

// noArgs, exactArgs and needsSubcommand word wrong arguments like every other
// usage error.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if names := subcommands(c); len(names) > 0 {
		return asUsage(presets.Unknown("command", args[0], names, c.CommandPath()+" --help"))
	}
	return usagef("%sunexpected argument %q: see %s --help", prefixOf(c), args[0], c.CommandPath())
}

func exactArgs(n int, what string) cobra.PositionalArgs { return rangeArgs(n, n, what) }

func rangeArgs(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		return usagef("%sneeds %s: see %s --help", prefixOf(c), what, c.CommandPath())
	}
}

func needsSubcommand(c *cobra.Command, _ []string) error {
	return usagef("%sneeds one of %s: see %s --help", prefixOf(c), strings.Join(subcommands(c), ", "), c.CommandPath())
}

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
