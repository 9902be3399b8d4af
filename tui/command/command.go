package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"pgrlab/tui/command/analyse"
	"pgrlab/tui/command/attach"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/data"
	"pgrlab/tui/command/env"
	"pgrlab/tui/command/forks"
	"pgrlab/tui/command/machine"
	"pgrlab/tui/command/pack"
	"pgrlab/tui/command/replay"
	"pgrlab/tui/command/report"
	"pgrlab/tui/command/session"
	"pgrlab/tui/command/sweep"
	"pgrlab/tui/command/task"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/command/watch"
)

// Main runs one command line and returns the exit status.
func Main(ctx context.Context, d cli.Deps, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	defer terminal.EndAtQuit(stderr, d.Exit)()
	out, errs := cli.NewConsole(stdout), cli.NewConsole(stderr)
	root := newRoot(d)
	var unwritten error // a help function returns none
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { unwritten = cli.Help(c) })
	root.SetArgs(append([]string{}, args...)) // nil would mean the arguments of the process
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(errs)
	err := cmp.Or(root.ExecuteContext(ctx), unwritten)
	var differ errDiffer
	var s cli.Signalled
	switch {
	case err == nil, errors.As(err, &differ), errors.As(err, &s):
	case isBrokenPipe(err): // as in: pgrlab list tasks | head -1
		return cli.StatusDone
	default:
		fmt.Fprintln(errs, "pgrlab: "+cli.Line(err))
		var where interface{ Caret() string } // of a formula that is wrong
		if errors.As(err, &where) {
			fmt.Fprintln(errs, "  "+strings.ReplaceAll(where.Caret(), "\n", "\n  "))
		}
	}
	return cli.ExitStatus(err)
}

func newRoot(d cli.Deps) *cobra.Command {
	root := session.LabCommand(d)
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.SetFlagErrorFunc(cli.FlagError)
	root.PersistentPreRunE = cli.RefuseEmpty
	root.SetUsageFunc(cli.Usage)
	root.Version = d.Version
	root.SetVersionTemplate(versionLine(d))
	root.SetHelpCommand(cli.HelpCommand())
	root.AddCommand(task.Command(d), session.TrainCommand(d), session.DreamCommand(d), forks.TrainCommand(), forks.Command(), pack.Command(d), pack.UnpackCommand(), report.Command(d), report.ExportCommand(d), report.CardCommand(d), listCommand(d), presetCommand(d), machine.DoctorCommand(d), machine.BenchCommand(d, session.Estimate),
		traceCommand(d), replay.Command(d), replay.DemoCommand(d), watch.Command(d), analyse.Command(d), journalCommand(), versionCommand(d))
	root.AddCommand(env.Command(d), env.AdapterCommand(d), data.Command(), data.AdapterCommand())
	root.AddCommand(sweep.Command(d, func() *cobra.Command { return newRoot(d) }), attach.Command(d), attach.ServeCommand(d), attach.PsCommand(), attach.StopCommand(), attach.PauseCommand(), attach.ParkCommand(), attach.ResumeCommand(), attach.CheckpointCommand(), completionCommand(), manCommand(d), licencesCommand())
	root.InitDefaultHelpCmd()
	addCompletions(d, root)
	return root
}

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
