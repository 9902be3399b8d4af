package replay

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/terminal"
)

// demoSpeed is in seconds of the recorded run per second: about a minute for the whole run.
const demoSpeed = 4

// DemoCommand is demo.
func DemoCommand(d cli.Deps) *cobra.Command {
	var speed float64
	var lines bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "play a recorded run that comes with this program",
		Long: `Plays a recorded run of preset demo through the screen, with the agent, its dreams and
the loop of PGR as they were: nothing is computed, and nothing can go wrong. T gives
lessons about what is seen, the first one on what PGR is; space pauses, < and > go back
and forth, L changes the layout, q leaves.

A run of your own, which you steer, begins with pgrlab.`,
		Example: `  pgrlab demo
  pgrlab demo --speed 1       as quickly as it was`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !(speed > 0) || math.IsInf(speed, 1) {
				return cli.Usagef("demo: --speed %g: want more than 0", speed)
			}
			if !lines && (!terminal.IsTerminal(c.InOrStdin()) || !terminal.IsTerminal(c.OutOrStdout())) {
				return cli.Usagef("demo: needs a terminal: ssh -t, or --plain")
			}
			if d.Recording == nil {
				return errors.New("demo: this program has no recorded run")
			}
			dir, err := unpacked(d.Recording)
			if err != nil {
				return fmt.Errorf("demo: %w", err)
			}
			defer os.RemoveAll(filepath.Dir(dir))
			o, err := Options(d, dir, speed, c.ErrOrStderr())
			if err != nil {
				return err
			}
			if o.Home, err = SettingsHome(c.ErrOrStderr()); err != nil {
				return err
			}
			o.About.Again = func() string { return "pgrlab starts a run that you steer" }
			o.Characters, o.Plain, o.Layout = terminal.Characters(), lines, "present"
			if o.Message = "a recorded run: T explains it, space pauses, q leaves"; lines {
				o.Message = "a recorded run: lesson pgr explains it, pause stops it and goes on, quit leaves"
			}
			outcome, err := d.Screen(c.Context(), o)
			if err == nil && outcome == tui.Cancelled {
				err = c.Context().Err()
			}
			return err
		},
	}
	c.Flags().Float64Var(&speed, "speed", demoSpeed, "`N` seconds of the run per second")
	c.Flags().BoolVar(&lines, "plain", false, "print lines instead of a screen, for screen readers and logs")
	return c
}

// unpacked writes a run folder into a temporary folder.
func unpacked(recorded fs.FS) (dir string, err error) {
	above, err := os.MkdirTemp("", "pgrlab-demo-")
	if err != nil {
		return "", err
	}
	dir = filepath.Join(above, "demo")
	if err := os.CopyFS(dir, recorded); err != nil {
		os.RemoveAll(above)
		return "", err
	}
	return dir, nil
}
