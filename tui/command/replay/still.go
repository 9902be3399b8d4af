package replay

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"pgrlab/core/event"
	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/svg"
)

// fileFlags are the flags for a picture or a film of the screen.
type fileFlags struct {
	picture, cast string
	step          int // of the picture; -1: the last step
	size          string
	stderr        io.Writer
}

// check refuses flags that would have no effect, and a file whose name says that it is something else.
func (f fileFlags) check(flags *pflag.FlagSet) error {
	path, flag, ending := f.picture, "picture", ".svg"
	if f.cast != "" {
		path, flag, ending = f.cast, "cast", ".cast"
	}
	var without []string
	switch {
	case f.picture != "" && f.cast != "":
		return cli.Usagef("replay: --picture does not go with --cast: leave one of them out")
	case f.picture != "":
		without = []string{"plain", "speed"}
	case f.cast != "":
		without = []string{"plain", "step"}
	default:
		if flags.Changed("step") {
			return cli.Usagef("replay: --step is about a picture: add --picture FILE.svg, or leave it out")
		}
		if flags.Changed("size") {
			return cli.Usagef("replay: --size is about a picture: add --picture FILE.svg or --cast FILE.cast, or leave it out")
		}
		return nil
	}
	for _, name := range without {
		if flags.Changed(name) {
			return cli.Usagef("replay: --%s does not go with --%s: leave one of them out", name, flag)
		}
	}
	if !strings.EqualFold(filepath.Ext(path), ending) {
		return cli.Usagef("replay: --%s %s: want a name that ends in %s", flag, path, ending)
	}
	return nil
}

// recorded is a run whose screen is drawn into a file.
type recorded struct {
	about  pane.About
	events []event.Event
	w, h   int // of the screen
}

// read reads a run.
func (f fileFlags) read(d cli.Deps, name string) (r recorded, err error) {
	if r.w, r.h, err = f.cells(); err != nil {
		return r, err
	}
	dir, err := rundir.Find(name)
	if err != nil {
		return r, fmt.Errorf("replay: %w", err)
	}
	o, err := Options(d, dir, 1, f.stderr)
	if err != nil {
		return r, err
	}
	r.about = o.About
	if r.events, err = history.ReadJournal(dir); err != nil {
		return r, fmt.Errorf("replay: %w", err)
	}
	if len(r.events) == 0 {
		return r, fmt.Errorf("replay: %s: its journal is empty", dir)
	}
	return r, nil
}

// draw writes a picture of a run's screen.
func (f fileFlags) draw(d cli.Deps, name string) error {
	r, err := f.read(d, name)
	if err != nil {
		return err
	}
	at := f.step
	if at < 0 {
		at = r.events[len(r.events)-1].Step
	}
	frame, err := tui.Still(r.about, r.events, at, r.w, r.h)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	c := r.about.Config
	title := fmt.Sprintf("pgrlab: %s, %s, step %d of %d", c.Task, c.Method, at, c.Steps)
	return cli.WriteFile(f.picture, func(out io.Writer) error {
		_, err := out.Write(svg.Draw(frame, title))
		return err
	})
}

// cells are the columns and lines of the screen.
func (f fileFlags) cells() (w, h int, err error) {
	const maxSide = 1000
	ws, hs, _ := strings.Cut(f.size, "x")
	w, errW := strconv.Atoi(ws)
	h, errH := strconv.Atoi(hs)
	if errW != nil || errH != nil || w < 1 || h < 1 || w > maxSide || h > maxSide {
		return 0, 0, cli.Usagef("replay: --size is %q: want WxH columns and lines, for example 160x45, at most %dx%d", f.size, maxSide, maxSide)
	}
	return w, h, nil
}
