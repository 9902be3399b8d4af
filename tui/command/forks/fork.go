package forks

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/checkpoint"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/terminal"
)

// Command is fork.
func Command() *cobra.Command {
	var set []string
	var pairs, steps int
	var out string
	c := &cobra.Command{
		Use:   "fork DIR[@STEP] --set KNOB=VALUE",
		Short: "make a new run from a checkpoint, with knobs changed (train --resume begins it)",
		Long: `Makes the folder of a new run that continues from the last checkpoint of a run, or from
the last one at or before STEP, with knobs turned there; KNOB=VALUE! redoes at once what
depends on the knob. It prints the path of the folder; train --resume begins the run. On
the disk, forks share what their parent has collected. A fork ends where its parent
does, or at --steps, which a fork of a run that has ended needs.

With --pairs it makes pairs of runs, one with the knobs turned and one without, each
pair with a seed of its own from there on. They show, over seeds, what turning the knobs
did.`,
		Example: `  pgrlab fork runs/a@20000 --set guidance=3!
  pgrlab fork runs/a --set guidance=3! --steps 60000
  pgrlab fork runs/a@20000 --set relevance=td --pairs 4 | xargs -n 1 pgrlab train --resume`,
		Args: cli.ExactArgs(1, "one run folder"),
		RunE: func(c *cobra.Command, args []string) error {
			dirs, err := forks(args[0], set, pairs, steps, out, func(text string) { fmt.Fprintln(c.ErrOrStderr(), text) })
			for _, dir := range dirs {
				fmt.Fprintln(c.OutOrStdout(), dir)
			}
			if len(dirs) == 1 && terminal.IsTerminal(c.OutOrStdout()) {
				fmt.Fprintln(c.ErrOrStderr(), "begin it: pgrlab train --resume "+shell.Word(dirs[0]))
			}
			return err
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringArrayVar(&set, "set", nil, "`KNOB=VALUE` turn a knob there, given by its name or symbol; repeatable")
	cli.CountIn(f, &pairs, "pairs", 0, 1, maxPairs, "`N` pairs of runs, with and without --set, each with its own seed")
	cli.CountIn(f, &steps, "steps", 0, 1, cli.MaxSteps, "`N` env steps of a fork, including those before it (default: as many as its parent)")
	f.StringVar(&out, "out", "", "`DIR` run folder (default beside the parent); with --pairs the beginning of the names")
	return c
}

// maxPairs limits the effect of a typing error.
const maxPairs = 1_000

// forks makes the folders of forks; steps is their length, 0 means the length of their parent. say
// gets messages for the person.
func forks(name string, set []string, pairs, steps int, out string, say func(string)) (made []string, err error) {
	from, err := rundir.Checkpoint(name)
	if err != nil {
		return nil, err
	}
	parent := filepath.Dir(filepath.Dir(from.Path))
	if _, err := rundir.Config(parent); err != nil {
		return nil, fmt.Errorf("fork: %w", err)
	}
	if err := run.CheckConfig(parent, from.Config); err != nil {
		return nil, fmt.Errorf("fork %s: %w", from.Path, err)
	}
	config, err := presets.Resolve(presets.Choice{Preset: filepath.Join(parent, run.ConfigName)})
	if err != nil {
		return nil, err
	}
	for _, text := range set {
		if _, err := checkpoint.ParseChange(&config, knob.After(from.Step), text); err != nil {
			return nil, cli.Usagef("fork: --set %s: %w", text, err)
		}
	}
	if config.Steps, err = length(name, from.Step, config.Steps, steps); err != nil {
		return nil, err
	}
	if out != "" && pairs == 0 && rundir.Exists(out) {
		return nil, cli.Usagef("fork %s: %s exists: choose another --out", name, out)
	}
	if out == "" {
		out = fmt.Sprintf("%s-fork-%s", filepath.Clean(parent), strings.NewReplacer("/", "-", ":", "-").Replace(from.Position))
	}
	one := func(seed uint64, dir string, set []string) error {
		c := config
		c.Seed = seed
		doc, err := presets.Encode(c)
		if err == nil {
			var said string
			if said, err = checkpoint.Fork(c, doc, from, set, dir); said != "" {
				say(said)
			}
		}
		if err == nil {
			made = append(made, dir)
		}
		return err
	}
	if pairs == 0 {
		return made, one(config.Seed, rundir.Free(out), set)
	}
	if len(set) == 0 {
		return nil, cli.Usagef("--pairs without --set: there is nothing that would differ")
	}
	for i := range pairs {
		seed := config.Disjoint(i)
		for _, kind := range []string{"changed", "control"} {
			turned := set
			if kind == "control" {
				turned = nil
			}
			if err := one(seed, rundir.Free(fmt.Sprintf("%s-%s-s%d", out, kind, seed)), turned); err != nil {
				return made, err
			}
		}
	}
	return made, nil
}

// length is the length of a fork at a step of a run that has whole steps in all; asked is the
// length that the person wants, 0 if none was given.
func length(name string, at, whole, asked int) (int, error) {
	switch {
	case asked == 0 && at < whole:
		return whole, nil
	case asked == 0:
		return 0, cli.Usagef("fork %s: the run ends there, at step %d, and so would the fork: give it more steps with --steps N, or fork an earlier place, DIR@STEP", name, at)
	case asked <= at:
		return 0, cli.Usagef("fork %s: --steps is %d, but the fork begins at step %d: want more, the steps before it count", name, asked, at)
	}
	return asked, nil
}
