package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"pgrlab/core/shell"
	"pgrlab/core/sweep"
	"pgrlab/core/sweep/ssh"
	"pgrlab/tui/command/cli"
)

// place is where the jobs of a sweep run.
type place interface {
	// lines show the progress of the jobs.
	lines(ctx context.Context) []string
	// cancel ends the running jobs, which save themselves, and lets no more begin. It says what it
	// has done.
	cancel(ctx context.Context) (string, error)
	// requeue runs the jobs again that failed or were given up.
	requeue(ctx context.Context, say func(string)) error
}

// placesOf finds the places where a sweep runs. There are none if it ran on this machine only and no
// process works at it now.
func placesOf(dir string, calls callFlags) (g *sweep.Grid, all []place, err error) {
	g, err = sweep.Open(dir)
	if err != nil {
		return nil, nil, cli.AsUsage(err)
	}
	made, err := newCluster(g, dir)
	if err != nil {
		return nil, nil, err
	}
	made.calls = calls
	if len(made.array.Submissions) > 0 {
		all = append(all, made)
	}
	record, err := ssh.Open(g.Folder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	w := &workers{grid: g, out: dir, record: record, calls: calls}
	if len(w.here()) > 0 || len(record.Hosts) > 0 {
		all = append(all, w)
	}
	return g, all, nil
}

// turn keeps other commands from changing what a sweep's folder says of a place, until end is called. The
// file of that name is locked for it; does says what a command does that has its turn.
func turn(g *sweep.Grid, name, does string) (end func(), err error) {
	lock, err := g.Folder().Append(name)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		lock.Close()
		return nil, fmt.Errorf("another sweep %s just now: try again", does)
	}
	return func() { lock.Close() }, nil
}

// workers are the workers of a sweep: on hosts, and sweeps on this machine.
type workers struct {
	grid   *sweep.Grid
	out    string
	record ssh.Record
	calls  callFlags
}

// here are the workers on this machine that were started by hand.
func (w *workers) here() (all []sweep.Worker) {
	host, _ := os.Hostname()
	remote := map[string]bool{}
	for _, h := range w.record.All() {
		remote[h.Name] = true
	}
	for _, one := range w.grid.Workers() {
		if one.Host == host && one.Element == "" && one.Ended == "" && !remote[one.Name] && w.grid.IsAtWork(one.Name) {
			all = append(all, one)
		}
	}
	return all
}

func (w *workers) lines(context.Context) []string {
	return append(failures(w.grid), workerLines(w.grid)...)
}

// cancel says how many workers end, unless none does because of the error.
func (w *workers) cancel(ctx context.Context) (said string, err error) {
	n := 0
	for _, one := range w.here() {
		if e := w.grid.EndWorker(one.Name); e != nil {
			err = errors.Join(err, e)
			continue
		}
		n++
	}
	remote, e := w.cancelHosts(ctx)
	if n, err = n+remote, errors.Join(err, e); n == 0 && err != nil {
		return "", err
	}
	end := fmt.Sprintf("%d workers save their jobs and end", n)
	if n == 1 {
		end = "1 worker saves its jobs and ends"
	}
	return end + ": start the sweep again to go on", err
}

// requeue makes workers try again what failed, and restarts the workers on hosts that have ended.
func (w *workers) requeue(ctx context.Context, say func(string)) error {
	failed := w.grid.FailedJobs()
	if err := w.grid.AskAgain(); err != nil {
		return err
	}
	say(fmt.Sprintf("%d jobs that failed are tried again", len(failed)))
	if len(w.record.Hosts) == 0 || len(w.grid.Missing()) == 0 {
		return nil
	}
	if err := checkWords("ssh.json", w.record.Flags); err != nil {
		return err
	}
	options, err := w.options()
	if err != nil {
		return err
	}
	return newHosts(w.grid, w.out, w.record, options).begin(ctx, say)
}

// options returns the options for ssh.
func (w *workers) options() ([]string, error) {
	if err := w.record.Usable(); err != nil {
		return nil, err
	}
	return again("ssh", w.calls.ssh, w.record.Options, noneIs)
}

// cancelHosts ends the workers on hosts and returns how many.
func (w *workers) cancelHosts(ctx context.Context) (n int, err error) {
	atWork := slices.DeleteFunc(w.record.All(), func(h ssh.Host) bool {
		one, err := w.grid.Worker(h.Name)
		return err != nil || one.Ended != ""
	})
	if len(atWork) == 0 {
		return 0, nil
	}
	path, dir, err := program(w.grid)
	if err != nil {
		return 0, err
	}
	options, err := w.options()
	if err != nil {
		return 0, err
	}
	client, err := ssh.NewClient(path, options)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	for _, h := range atWork {
		text, e := client.Run(ctx, h.Name, "sweep", "worker", dir, "--name", h.Name, "--end")
		if e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", h.Name, e))
		} else if strings.TrimSpace(text) == signalled {
			n++
		}
	}
	return n, err
}

// inAll calls do for all places of a command's sweep, and writes the results.
func inAll(cmd *cobra.Command, dir string, calls callFlags, do func(place) (string, error)) error {
	if err := calls.check(); err != nil {
		return err
	}
	g, all, err := placesOf(dir, calls)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		begins := fmt.Sprintf("pgrlab sweep --out %s goes on with what is missing", shell.Word(dir))
		if failed := g.FailedJobs(); len(failed) > 0 {
			begins = fmt.Sprintf("%d of its jobs failed: %s", len(failed), g.WhatHelps(failed, fmt.Sprintf("pgrlab sweep --out %s tries them again", shell.Word(dir))))
		} else if len(g.Missing()) == 0 {
			begins = "all its jobs are done"
		}
		return cli.Usagef("sweep %s %s: no sweep is at work at it: %s", cmd.Name(), dir, begins)
	}
	for _, p := range all {
		said, e := do(p)
		if said != "" {
			fmt.Fprintln(cmd.ErrOrStderr(), said)
		}
		err = errors.Join(err, e)
	}
	if err != nil {
		return fmt.Errorf("sweep %s %s: %w", cmd.Name(), dir, err)
	}
	return nil
}

func cancelCommand() *cobra.Command {
	var calls callFlags
	c := &cobra.Command{
		Use:   "cancel DIR",
		Short: "end the jobs of a sweep",
		Long: `Removes all jobs of the sweep in DIR from Slurm's queue, and ends the workers on hosts
and the sweeps on this machine; running jobs save themselves first. Started again, the
sweep continues where they were.`,
		Example: `  pgrlab sweep cancel sweeps/a`,
		Args:    cli.ExactArgs(1, "the folder of a sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return inAll(cmd, args[0], calls, func(p place) (string, error) { return p.cancel(cmd.Context()) })
		},
	}
	calls.addSSH(c)
	return c
}

func requeueCommand() *cobra.Command {
	var calls callFlags
	c := &cobra.Command{
		Use:   "requeue DIR",
		Short: "run the failed jobs of a sweep again",
		Long: `Tries the jobs that failed or were given up once more, from where they were saved, while
the sweep in DIR is at work or can be reached: workers, and a sweep on this machine, try
them again within seconds; workers on hosts that have ended are started again; jobs that
left Slurm's queue without a result are submitted as before. Options of ssh have to be
given again, and those of sbatch that do more than ask for time, processors, memory,
GPUs, a partition or an account. A sweep on this machine that has ended is started again
instead, by pgrlab sweep --out DIR. A job whose numbers diverged diverges again.`,
		Example: `  pgrlab sweep requeue sweeps/a`,
		Args:    cli.ExactArgs(1, "the folder of a sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return inAll(cmd, args[0], calls, func(p place) (string, error) {
				return "", p.requeue(cmd.Context(), func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), text) })
			})
		},
	}
	calls.addSSH(c)
	calls.addSbatch(c)
	return c
}

func pokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "poke DIR",
		Short: "make the running jobs of a sweep write a checkpoint now",
		Long: `Makes all running jobs of the sweep in DIR write a checkpoint within seconds, wherever
they run, and go on. The disk then holds their present state, and taking a machine down
loses nothing. The request goes through the sweep's folder, which the jobs read.`,
		Example: `  pgrlab sweep poke sweeps/a`,
		Args:    cli.ExactArgs(1, "the folder of a sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := sweep.Open(args[0])
			if err != nil {
				return cli.AsUsage(err)
			}
			n := len(slices.DeleteFunc(slices.Clone(g.Jobs), func(j sweep.Job) bool { return !g.IsHeld(j) }))
			if n == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "no job runs now")
				return nil
			}
			if err := g.AskToSave(); err != nil {
				return fmt.Errorf("sweep poke %s: %w", args[0], err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%d jobs save themselves\n", n)
			return nil
		},
	}
}
