package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/sweep"
	"pgrlab/core/sweep/hosts"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/terminal"
)

// workCommand is what a host does of a sweep with --on ssh:….
func workCommand() *cobra.Command {
	f := sweepFlags{device: "auto"}
	var name string
	c := &cobra.Command{
		Use:   "work DIR --host NAME",
		Short: "work at a sweep without a view, as a host of it",
		Long: `Does what is missing of the sweep in DIR, and what other hosts leave that are gone. It
says of itself in hosts/NAME/worker.json what it works at. SIGTERM saves the runs and
ends it. pgrlab sweep --on ssh:NAME,… starts it on each host, detached.`,
		Example: `  pgrlab sweep work sweeps/a --host a --jobs 2`,
		Args:    cli.ExactArgs(1, "the folder of a sweep"),
		RunE: func(c *cobra.Command, args []string) error {
			f.out = args[0]
			g, err := sweep.Open(f.out)
			if err != nil {
				return cli.AsUsage(err)
			}
			if err := f.work(c, g, name); err != nil {
				return fmt.Errorf("sweep work %s: %w", f.out, err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&name, "host", "", "`NAME` of the host in the list of --on")
	cli.CountVar(c.Flags(), &f.jobs, "jobs", 0, 1, "`N` runs at a time, at most (default: as many as there are processors)")
	cli.CountIn(c.Flags(), &f.threads, "threads", 1, 1, cli.MaxThreads, "`N` threads of each run; the results stay the same")
	c.Flags().StringVar(&f.disk, "disk", "", "`SIZE` most that the checkpoints of each run may take, as 5GiB")
	return c
}

// work runs the engine, and says every few seconds how it gets on.
func (f *sweepFlags) work(c *cobra.Command, g *sweep.Grid, name string) error {
	if _, err := hosts.Parse(name); err != nil {
		return cli.Usagef("--host: %v", err)
	}
	release, err := hosts.Hire(f.out, name)
	if err != nil {
		return err
	}
	defer release()
	e := &sweep.Engine{Grid: g, Workers: f.jobs, Process: func(j sweep.Job) *exec.Cmd { return f.process(j) }}
	if e.Workers == 0 {
		e.Workers = runtime.NumCPU()
	}
	e.Say = func(text string) {
		fmt.Fprintf(c.OutOrStdout(), "%s %s\n", time.Now().Format(time.DateTime), text)
	}
	machine, _ := os.Hostname() // only for people
	w := hosts.Worker{PID: os.Getpid(), Machine: machine, Jobs: e.Workers, Began: time.Now().UTC().Truncate(time.Second)}
	ctx, stop := terminal.StartWatch(c.Context(), func() {}, func(string) { e.Signal(syscall.SIGUSR1) }, e.Say)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	tick := time.NewTicker(hosts.Beat)
	defer tick.Stop()
	for {
		w.Note(e.States())
		if err := w.Tell(f.out, name); err != nil {
			e.Say(cli.Line(err)) // a full disk: the jobs say so as well
		}
		select {
		case <-tick.C:
		case err := <-ended:
			w.Note(e.States())
			if w.Ended = "done"; err != nil {
				w.Ended = cli.Line(err)
			}
			return errors.Join(err, w.Tell(f.out, name))
		}
	}
}

// place is what a host says of itself before it works.
type place struct {
	Version    string `json:"version"`
	Processors int    `json:"processors"`
	Sees       bool   `json:"sees"`    // the sweep's folder, with the token of who asks
	Working    bool   `json:"working"` // it has a worker
}

// hostCommand answers who starts a worker, and stops one.
func hostCommand(d cli.Deps) *cobra.Command {
	var name, token string
	var stop bool
	c := &cobra.Command{
		Use:     "host DIR --host NAME",
		Short:   "what this machine is to a sweep, as JSON",
		Long:    `Says whether this machine sees the folder of a sweep and works at it. With --stop its worker is told to save the runs and end.`,
		Example: `  pgrlab sweep host sweeps/a --host a`,
		Hidden:  true,
		Args:    cli.ExactArgs(1, "the folder of a sweep"),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := hosts.Parse(name); err != nil {
				return cli.Usagef("--host: %v", err)
			}
			at := place{Version: d.Version, Processors: runtime.NumCPU()}
			if _, err := os.Stat(filepath.Join(args[0], "hosts", token)); err == nil {
				at.Sees, at.Working = true, hosts.Working(args[0], name)
			}
			if stop && at.Working {
				w, err := hosts.Told(args[0], name)
				if err == nil {
					err = syscall.Kill(w.PID, syscall.SIGTERM)
				}
				if err != nil {
					return fmt.Errorf("stop the worker: %w", err)
				}
			}
			return json.NewEncoder(c.OutOrStdout()).Encode(at)
		},
	}
	c.Flags().StringVar(&name, "host", "", "`NAME` of the host in the list of --on")
	c.Flags().StringVar(&token, "token", "", "`FILE` that is in the folder hosts of the sweep")
	c.Flags().BoolVar(&stop, "stop", false, "tell its worker to save the runs and end")
	return c
}
