package forks

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/fan"
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
	var r request
	var seed uint64
	c := &cobra.Command{
		Use:   "fork DIR[@STEP] --set KNOB=VALUE",
		Short: "make a new run from a checkpoint, with knobs changed (train --resume begins it)",
		Long: `Makes the folder of a new run that continues from the last checkpoint of a run, or from
the last one at or before STEP, with knobs turned there; KNOB=VALUE! redoes at once what
depends on the knob. It prints the path of the folder; train --resume begins the run. On
the disk, forks share what their parent has collected. A fork ends where its parent
does, or at --steps, which a fork of a run that has ended needs.

With --pairs N it makes N runs with the knobs turned and N without, each with a seed of
its own from there on. The runs without get what the change redoes, too: with
guidance=3! all of them generate again. Chance decides which seeds get the change. They
are evaluated four times as often as their parent. Once
they are trained, pgrlab report of their folders says whether the change did something;
it takes 4 pairs or more to tell. The parent stays as it is: its journal has no line of
these forks, and its screen does not list them, as it lists those that its key f made.`,
		Example: `  pgrlab fork runs/a@20000 --set guidance=3!
  pgrlab fork runs/a --set guidance=3! --steps 60000
  pgrlab fork runs/a@20000 --set relevance=td! --pairs 4 > forks
  xargs -n 1 pgrlab train --resume < forks && xargs pgrlab report < forks`,
		Args: cli.ExactArgs(1, "one run folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("seed") {
				r.seed = &seed
			}
			dirs, err := r.make(args[0], func(text string) { fmt.Fprintln(c.ErrOrStderr(), text) })
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
	f.StringArrayVar(&r.set, "set", nil, "`KNOB=VALUE` turn a knob there, given by its name or symbol; repeatable")
	cli.CountIn(f, &r.pairs, "pairs", 0, 1, maxPairs, "`N` runs with --set and N without, each with its own seed")
	cli.CountIn(f, &r.steps, "steps", 0, 1, cli.MaxSteps, "`N` env steps of a fork, including those before it (default: as many as its parent)")
	f.Uint64Var(&seed, "seed", 0, "`N` seed of the fork's random numbers (default: its parent's)")
	f.StringVar(&r.out, "out", "", "`DIR` run folder (default beside the parent); with --pairs the beginning of the names")
	return c
}

// maxPairs limits the effect of a typing error.
const maxPairs = 1_000

// request holds the flags of fork.
type request struct {
	set          []string
	pairs, steps int     // steps is the length of the forks; 0: that of their parent
	seed         *uint64 // nil: the parent's
	out          string
}

// make makes the folders of the forks that a person wants of a run. say gets messages for the person.
func (r *request) make(name string, say func(string)) (made []string, err error) {
	switch {
	case r.pairs > 0 && len(r.set) == 0:
		return nil, cli.Usagef("--pairs without --set: there is nothing that would differ")
	case r.pairs > 0 && r.seed != nil:
		return nil, cli.Usagef("--seed with --pairs: each of their runs has a seed of its own")
	}
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
	for _, text := range r.set {
		if _, err := checkpoint.ParseChange(&config, knob.After(from.Step), text); err != nil {
			return nil, cli.Usagef("fork: --set %s: %w", text, err)
		}
	}
	if config.Steps, err = length(name, from.Step, config.Steps, r.steps); err != nil {
		return nil, err
	}
	out := r.out
	if out != "" && r.pairs == 0 && rundir.Exists(out) {
		return nil, cli.Usagef("fork %s: %s exists: choose another --out", name, out)
	}
	if out == "" {
		out = fmt.Sprintf("%s-fork-%s", run.Named(parent), strings.NewReplacer("/", "-", ":", "-").Replace(from.Position))
	}
	if r.pairs > 0 {
		return r.all(config, from, out, say)
	}
	if r.seed != nil {
		config.Seed = *r.seed
	}
	doc, err := presets.Encode(config)
	if err != nil {
		return nil, err
	}
	for {
		dir := rundir.Free(out)
		said, err := checkpoint.Fork(config, doc, from, r.set, dir)
		if r.out == "" && errors.Is(err, run.ErrTaken) {
			continue // by another fork, which was quicker
		}
		if said != "" {
			say(said)
		}
		if err != nil {
			return nil, err
		}
		return []string{dir}, nil
	}
}

// all makes as many forks with the knobs turned as without.
func (r *request) all(c config.Config, from run.Found, out string, say func(string)) (dirs []string, err error) {
	c.Evaluation.Every = max(1, c.Evaluation.Every/fan.Denser)
	made, err := Make(c, from, r.set, r.pairs, out, say)
	for _, f := range made.Forks {
		dirs = append(dirs, f.Dir)
	}
	if err == nil && r.pairs < fan.LeastForks {
		say(fmt.Sprintf("with %d of each kind no verdict is possible: --pairs %d is the least that can give one", r.pairs, fan.LeastForks))
	}
	return dirs, err
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
