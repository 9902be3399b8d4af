package replay

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"pgrlab/core/shell"
	"pgrlab/tui"
	"pgrlab/tui/cast"
	"pgrlab/tui/command/cli"
)

const (
	framesPerSecond = 5               // of a film: the screen itself is drawn as often
	longest         = time.Hour       // that a film may take: its file is then some ten megabytes
	standing        = 3 * time.Second // at the end of a film
	saidEvery       = 2 * time.Second // how far the film has come
)

// film writes a run's screen as it changed, as an asciicast. speed is in seconds of the run per second.
func (f fileFlags) film(ctx context.Context, d cli.Deps, name string, speed float64, stderr io.Writer) error {
	r, err := f.read(d, name)
	if err != nil {
		return err
	}
	first, last := r.events[0].Wall, r.events[len(r.events)-1].Wall
	takes := last.Sub(first).Seconds() / speed
	if takes > longest.Seconds() {
		return cli.Usagef("replay: --speed %g: the cast would take more than an hour: choose at least %.0f", speed, math.Ceil(last.Sub(first).Seconds()/longest.Seconds()))
	}
	c := r.about.Config
	head := cast.Header{Width: r.w, Height: r.h, Title: fmt.Sprintf("pgrlab: %s, %s", c.Task, c.Method), Begun: first}
	said := time.Now()
	var end time.Duration
	err = cli.WriteFile(f.cast, func(out io.Writer) error {
		film, err := cast.NewWriter(out, head)
		if err != nil {
			return err
		}
		err = tui.Film(ctx, r.about, r.events, speed, framesPerSecond, r.w, r.h, func(at time.Duration, frame string) error {
			if now := time.Now(); now.Sub(said) > saidEvery {
				said = now
				fmt.Fprintf(stderr, "drawn: %.0f of %.0f s\n", at.Seconds(), takes)
			}
			end = at
			return film.Frame(at, frame)
		})
		if err != nil {
			return err
		}
		return film.End(end + standing)
	})
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	_, err = fmt.Fprintf(stderr, "%s, %.0f s: asciinema play %s\n", f.cast, end.Seconds(), shell.Word(f.cast))
	return err
}
