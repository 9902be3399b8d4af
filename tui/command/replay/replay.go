package replay

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/terminal"
)

// Command is replay.
func Command(d cli.Deps) *cobra.Command {
	var speed float64
	var lines bool
	into := fileFlags{size: "160x45"}
	c := &cobra.Command{
		Use:   "replay DIR",
		Short: "play a run's journal through the screen",
		Long: `Plays the journal of a run folder through the screen that the run had: space pauses,
< and > go back and forth, ( and ) change the speed. Nothing can be changed and nothing
is written. Of a run that was trained with --scenes it also shows the agent, dreams, the
map and the progress of each phase, and T gives the lessons that only look.

With --picture it draws the screen after a step into an SVG file instead; with --cast it
records the whole replay at its --speed as an asciicast (version 2), which asciinema's
player shows on a web page or in a terminal. Neither needs a terminal.`,
		Example: `  pgrlab replay runs/2026-11-21-cheetah-run-pgr-curiosity-s0
  pgrlab replay runs/first --speed 600
  pgrlab replay runs/first --picture screen.svg --step 20000 --size 120x36
  pgrlab replay runs/first --cast first.cast --size 120x36`,
		Args: cli.ExactArgs(1, "one run folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if !(speed > 0) || math.IsInf(speed, 1) {
				return cli.Usagef("replay: --speed %g: want more than 0", speed)
			}
			if err := into.check(c.Flags()); err != nil {
				return err
			}
			into.stderr = c.ErrOrStderr()
			switch {
			case into.picture != "":
				return into.draw(d, args[0])
			case into.cast != "":
				return into.film(c.Context(), d, args[0], speed, c.ErrOrStderr())
			}
			if !lines && (!terminal.IsTerminal(c.InOrStdin()) || !terminal.IsTerminal(c.OutOrStdout())) {
				return cli.Usagef("replay: needs a terminal: ssh -t, or --plain")
			}
			dir, err := rundir.Find(args[0])
			if err != nil {
				return fmt.Errorf("replay: %w", err)
			}
			o, err := Options(d, dir, speed, c.ErrOrStderr())
			if err != nil {
				return err
			}
			if o.Home, err = SettingsHome(c.ErrOrStderr()); err != nil {
				return err
			}
			o.Characters, o.Plain = terminal.Characters(), lines
			outcome, err := d.Screen(c.Context(), o)
			if err == nil && outcome == tui.Cancelled {
				err = c.Context().Err()
			}
			return err
		},
	}
	c.Flags().Float64Var(&speed, "speed", usualSpeed, "`N` seconds of the run per second")
	c.Flags().BoolVar(&lines, "plain", false, "print lines instead of a screen, for screen readers and logs")
	c.Flags().StringVar(&into.picture, "picture", "", "draw the screen into an SVG `FILE` instead")
	cli.CountVar(c.Flags(), &into.step, "step", -1, 0, "with --picture: draw the screen after env step `STEP` (default: the last)")
	c.Flags().StringVar(&into.cast, "cast", "", "record the replay into an asciicast `FILE` instead")
	c.Flags().StringVar(&into.size, "size", into.size, "`WxH` with --picture or --cast: columns and lines of the screen")
	return c
}
