// Package task has the commands about tasks of files.
package task

import (
	"github.com/spf13/cobra"

	"pgrlab/tui/command/cli"
)

// Command is task.
func Command(d cli.Deps) *cobra.Command {
	c := &cobra.Command{
		Use:   "task check FILE",
		Short: "check a task of yours",
		Args:  cli.NoArgs,
		RunE:  cli.NeedsSubcommand,
	}
	c.AddCommand(checkCommand(d))
	return c
}

func checkCommand(d cli.Deps) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "read a task file, and play some random steps",
		Long: `Reads a task file with its model and formulas, and plays 200 random steps: what is
observed, and between which bounds it was; the rewards; how often an episode ends and how
different its starts are; whether a saved state goes on as if nothing had been; how quick
it is, and how much memory it takes. What is wrong with the file is said with line and
column. A line with ! says what would be in the way of learning; the exit status is then 1.

A task file names a MuJoCo model and says in formulas what is observed and rewarded:

  model = "pole.xml"
  observe = ["qpos", "clip(qvel, -10, 10)"]
  reward = 'tolerance(site("tip")[2], 0.9, inf, 1)'

docs/own-task.md has the whole language.`,
		Example: `  pgrlab task check ./pole.toml
  pgrlab --task ./pole.toml --method pgr-curiosity --scale demo`,
		Args: cli.ExactArgs(1, "a task file"),
		RunE: func(c *cobra.Command, args []string) error {
			if !cli.IsTaskFile(args[0]) {
				return cli.Usagef("task check %s: want a task file, as ./pole.toml", args[0])
			}
			t, err := d.Task(args[0])
			if err != nil {
				return err
			}
			all := cli.Findings{Out: c.OutOrStdout()}
			if err := Check(c.Context(), t, all.Add); err != nil {
				return err
			}
			return all.Err("task check", "learning")
		},
	}
}
