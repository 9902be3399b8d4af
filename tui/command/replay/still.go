package replay

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/history"
	"pgrlab/tui/svg"
)

// stillFlags are the flags for a picture of the screen.
type stillFlags struct {
	path string
	step int // -1: the last step
	size string
}

// check refuses flags that would have no effect, and a file whose name says that it is something else.
func (f stillFlags) check(flags *pflag.FlagSet) error {
	if f.path == "" {
		for _, name := range []string{"step", "size"} {
			if flags.Changed(name) {
				return cli.Usagef("replay: --%s is about a picture: add --picture FILE.svg, or leave it out", name)
			}
		}
		return nil
	}
	for _, name := range []string{"plain", "speed"} {
		if flags.Changed(name) {
			return cli.Usagef("replay: --%s does not go with --picture: leave one of them out", name)
		}
	}
	if !strings.EqualFold(filepath.Ext(f.path), ".svg") {
		return cli.Usagef("replay: --picture %s: want a name that ends in .svg", f.path)
	}
	return nil
}

// draw writes a picture of a run's screen.
func (f stillFlags) draw(name string) error {
	w, h, err := f.cells()
	if err != nil {
		return err
	}
	dir, err := rundir.Find(name)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	o, err := Options(dir, 1)
	if err != nil {
		return err
	}
	events, err := history.ReadJournal(dir)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if len(events) == 0 {
		return fmt.Errorf("replay: %s: its journal is empty", dir)
	}
	at := f.step
	if at < 0 {
		at = events[len(events)-1].Step
	}
	frame, err := tui.Still(o.About, events, at, w, h)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	c := o.About.Config
	title := fmt.Sprintf("pgrlab: %s, %s, step %d of %d", c.Task, c.Method, at, c.Steps)
	return cli.WriteFile(f.path, func(out io.Writer) error {
		_, err := out.Write(svg.Draw(frame, title))
		return err
	})
}

// cells are the columns and lines of the screen.
func (f stillFlags) cells() (w, h int, err error) {
	const maxSide = 1000
	ws, hs, _ := strings.Cut(f.size, "x")
	w, errW := strconv.Atoi(ws)
	h, errH := strconv.Atoi(hs)
	if errW != nil || errH != nil || w < 1 || h < 1 || w > maxSide || h > maxSide {
		return 0, 0, cli.Usagef("replay: --size is %q: want WxH columns and lines, for example 160x45, at most %dx%d", f.size, maxSide, maxSide)
	}
	return w, h, nil
}
