package sweep

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/sweep"
	"pgrlab/core/sweep/hosts"
	"pgrlab/tui/command/cli"
)

// away is a sweep whose jobs are done elsewhere, as commands about it have it.
type away interface {
	look(ctx context.Context)
	lines() []string
	// cancel has the jobs end and says in a line what it did.
	cancel(ctx context.Context) (said string, err error)
}

// openAway finds the sweep of a command about one.
func openAway(c *cobra.Command, dir string) (away, error) {
	g, err := sweep.Open(dir)
	if err != nil {
		return nil, cli.AsUsage(err)
	}
	made, err := newCluster(g, dir)
	if err != nil {
		return nil, err
	}
	if len(made.array.Submissions) > 0 {
		return onCluster{made}, nil
	}
	if names := hosts.Names(dir); len(names) > 0 {
		return onHosts{newFleet(g, dir, names)}, nil
	}
	return nil, cli.Usagef("sweep %s %s: nothing of it is done elsewhere: pgrlab sweep --out %s --on slurm submits it to Slurm, --on ssh:HOST,… has hosts do it", c.Name(), dir, dir)
}

type onCluster struct{ *cluster }

func (c onCluster) look(ctx context.Context) { c.cluster.look(ctx) }

func (c onCluster) cancel(ctx context.Context) (string, error) {
	queued, err := c.array.Queued(ctx)
	if err == nil {
		err = c.array.Cancel(ctx, queued)
	}
	return fmt.Sprintf("%d jobs are cancelled: pgrlab sweep --out %s --on slurm goes on with them", len(queued), c.out), err
}

type onHosts struct{ *fleet }

func (c onHosts) look(context.Context) {
	c.fleet.look(time.Now())
	for name, h := range c.heard { // this one look does not tell who is silent
		h.gone = h.Ended == "" && hosts.Silent(c.out, name) > quiet
		c.heard[name] = h
	}
}

func (c onHosts) cancel(ctx context.Context) (string, error) {
	f := sweepFlags{out: c.out}
	n, err := f.stopHosts(ctx, c.hosts)
	return fmt.Sprintf("%d of %d hosts save their runs and end: pgrlab sweep --out %s --on ssh:… goes on with them", n, len(c.hosts), c.out), err
}

func statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "status DIR",
		Short:   "how the jobs of a sweep on a cluster or on hosts get on",
		Long:    `Shows once what the sweep in DIR that was submitted to Slurm, or started on hosts, has done, and what its jobs do.`,
		Example: `  pgrlab sweep status sweeps/a`,
		Args:    cli.ExactArgs(1, "the folder of a sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := openAway(cmd, args[0])
			if err != nil {
				return err
			}
			c.look(cmd.Context())
			for _, line := range c.lines() {
				fmt.Fprintln(cmd.OutOrStdout(), line)
			}
			return nil
		},
	}
}

func cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel DIR",
		Short: "end the jobs of a sweep on a cluster or on hosts",
		Long: `Takes all jobs of the sweep in DIR out of Slurm's queue, or ends the work of its hosts;
those that run save themselves first. Started again, the sweep goes on where they were.`,
		Example: `  pgrlab sweep cancel sweeps/a`,
		Args:    cli.ExactArgs(1, "the folder of a sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := openAway(cmd, args[0])
			if err != nil {
				return err
			}
			said, err := c.cancel(cmd.Context())
			if err != nil {
				return fmt.Errorf("sweep cancel %s: %w", args[0], err)
			}
			fmt.Fprintln(cmd.ErrOrStderr(), said)
			return nil
		},
	}
}
