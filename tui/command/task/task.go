// Package task has the commands about tasks of files.
package task

import (
	"fmt"

	"github.com/spf13/cobra"

	"pgrlab/core/printable"
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

// problem is the status of a check that found something wrong.
type problem struct{ of int }

func (p problem) Error() string {
	return fmt.Sprintf("task check: %d of these lines, marked with !, are in the way of learning", p.of)
}

// ExitStatus is that of a failure.
func (problem) ExitStatus() int { return cli.StatusFailed }

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
			wrong := 0
			err = Check(c.Context(), t, func(f cli.Finding) error {
				mark := "  "
				if f.Wrong {
					mark = "! "
					wrong++
				}
				_, err := fmt.Fprintln(c.OutOrStdout(), mark+printable.Line(f.Text))
				return err
			})
			if err == nil && wrong > 0 {
				err = problem{wrong}
			}
			return err
		},
	}
}
