// Package env has the commands about environments of other programs.
package env

import (
	"fmt"

	"github.com/spf13/cobra"

	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
)

// AdapterCommand is env-adapter.
func AdapterCommand(d cli.Deps) *cobra.Command {
	return &cobra.Command{
		Use:   "env-adapter",
		Short: "print the Python file that makes an environment of yours a task",
		Long: `Prints a Python file that makes an environment a task: one of Gymnasium, one of dm_env,
or any object with reset(seed), step(action), low and high. It needs Python 3.8 and NumPy.
Tasks gym:ID and dm:DOMAIN-TASK need no file. For a class of your own:

  from pgrlab_env import serve
  serve(MyEnv)

and then pgrlab --env 'python3 my_env.py'. The head of the file says more.`,
		Example: `  pgrlab env-adapter > pgrlab_env.py
  pgrlab env check 'python3 my_env.py'`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := c.OutOrStdout().Write(d.Programs.Adapter())
			return err
		},
	}
}

// Command is env.
func Command(d cli.Deps) *cobra.Command {
	c := &cobra.Command{
		Use:   "env check|allow TASK|COMMAND",
		Short: "check an environment of another program, or allow its command",
		Args:  cli.NoArgs,
		RunE:  cli.NeedsSubcommand,
	}
	c.AddCommand(checkCommand(d), allowCommand(d))
	return c
}

func checkCommand(d cli.Deps) *cobra.Command {
	var o task.Outside
	c := &cobra.Command{
		Use:   "check TASK|COMMAND",
		Short: "play an environment of another program as a run does",
		Long: `Starts the program of a task and plays some thousand random steps: whether the same seed
and actions bring the same again, in another process, in a copy that was used before, and
beside other copies; how an episode is taken up again when a run is resumed; how quick it
is; and what its numbers are like. TASK is gym:ID or dm:DOMAIN-TASK, COMMAND that of a
program of your own. A line with ! says what would keep runs from repeating; the exit
status is then 1.`,
		Example: `  pgrlab env check gym:Pendulum-v1
  pgrlab env check 'python3 my_env.py' --env-arg gravity=3.7`,
		Args: cli.ExactArgs(1, "a task or a command, in quotes"),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := typed(d, args[0], o)
			if err != nil {
				return err
			}
			found, err := p.Check(c.Context())
			all := cli.Findings{Out: c.OutOrStdout()}
			for _, f := range found {
				if err := all.Add(f); err != nil {
					return err
				}
			}
			if err != nil {
				return err
			}
			return all.Err("env check", "runs that repeat")
		},
	}
	c.Flags().SortFlags = false
	cli.BindOutside(c.Flags(), &o)
	return c
}

// typed is the program that an argument names.
func typed(d cli.Deps, arg string, o task.Outside) (cli.Program, error) {
	return d.Typed(d.Programs.NameOf(arg), o)
}

func allowCommand(d cli.Deps) *cobra.Command {
	var o task.Outside
	c := &cobra.Command{
		Use:   "allow TASK|COMMAND",
		Short: "allow a command to be started by runs that are resumed",
		Long: `Puts a command into your list of allowed commands, without starting it. What you type with
--task or --env is put there by itself; configuration files, presets, run folders and
sweeps never start a command that is not in the list. It is there with its folder, its
arguments and the contents of the files that it names: after a change it must be allowed
again.`,
		Example: `  pgrlab env allow 'python3 my_env.py'`,
		Args:    cli.ExactArgs(1, "a task or a command, in quotes"),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := typed(d, args[0], o)
			if err != nil {
				return err
			}
			if err := p.Allow(); err != nil { // and says why it cannot be kept
				return err
			}
			command, folder := p.Command()
			_, err = fmt.Fprintf(c.ErrOrStderr(), "allowed in %s: %s\n", folder, command)
			return err
		},
	}
	c.Flags().SortFlags = false
	cli.BindOutside(c.Flags(), &o)
	return c
}
