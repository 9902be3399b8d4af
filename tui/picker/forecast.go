package picker

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// Forecast is what a run would take on this machine.
type Forecast struct {
	cost.Model
	Free int64 // bytes free on the disk that the run writes to; 0: unknown
}

// Forecasts are the forecasts for the choices that were tried so far.
type Forecasts struct {
	known map[string]Tried
	Asked string // the choice being tried
	stop  context.CancelFunc
}

// Tried is a forecast, or the reason why there is none.
type Tried struct {
	choice string
	Forecast
	err error
}

// rest is how long a choice must stay under the cursor before it is tried: merely passing over it
// starts nothing.
const rest = 300 * time.Millisecond

// triedAs is the key of a forecast, which is the same for every seed.
func triedAs(c config.Config) string {
	c.Seed = 0
	return fmt.Sprintf("%+v", c)
}

// Forecast tries the present choice outside the event loop, unless the result is known or being
// worked out. It gives up any earlier trial.
func (p *Picker) Forecast() tea.Cmd {
	if p.Try == nil {
		return nil
	}
	if p.opened || p.wrong != nil || p.at[PickRecent] > 0 {
		p.Forecasts.give()
		return nil
	}
	c := p.config
	wanted := triedAs(c)
	if _, known := p.Forecasts.known[wanted]; known || p.Forecasts.Asked == wanted {
		return nil
	}
	p.Forecasts.give()
	ctx, stop := context.WithCancel(context.Background())
	p.Forecasts.Asked, p.Forecasts.stop = wanted, stop
	try := p.Try
	return func() (msg tea.Msg) {
		defer stop()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(rest):
		}
		defer func() {
			if r := recover(); r != nil {
				msg = Tried{choice: wanted, err: fmt.Errorf("panic: %v\n%s", r, debug.Stack())}
			}
		}()
		f, err := try(ctx, c)
		if ctx.Err() != nil {
			return nil // no longer wanted
		}
		return Tried{wanted, f, err}
	}
}

// give gives up the present trial.
func (f *Forecasts) give() {
	if f.stop != nil {
		f.stop()
	}
	f.Asked, f.stop = "", nil
}

// TakeForecast keeps the result of a trial.
func (p *Picker) TakeForecast(f Tried) {
	all := &p.Forecasts
	if all.known == nil {
		all.known = map[string]Tried{}
	}
	all.known[f.choice] = f
	if all.Asked == f.choice {
		all.Asked, all.stop = "", nil
	}
	p.Changed()
}

// takes says in w columns how long the present choice takes on this machine, and how much it
// writes.
func (p *Picker) takes(w int) []string {
	t := p.theme
	f, known := p.Forecasts.known[triedAs(p.config)]
	lines := [][]string{p.takesTime(f, known)}
	switch {
	case !known:
		return append(first(lines, w), "") // keeps the place free, so that nothing moves when the forecast comes
	case f.err != nil:
		why, _, _ := strings.Cut(f.err.Error(), "\n")
		return append(first(lines, w), theme.WrapStyled(t.Bad.On(t.Glyphs.Cross+" "+why), w)...)
	}
	return first(append(lines, p.takesRoom(f)), w)
}

// first joins the first parts of each line, as many as fit, but at least one.
func first(lines [][]string, w int) []string {
	var out []string
	for _, parts := range lines {
		text := parts[0]
		for _, more := range parts[1:] {
			if theme.Width(text)+theme.Width(more) > w {
				break
			}
			text += more
		}
		out = append(out, theme.WrapStyled(text, w)...)
	}
	return out
}

// takesTime is how long the present choice takes, and the basis of that estimate: the newest run like
// it, if that had about as much of the machine as a trial has now; else the trial.
func (p *Picker) takesTime(f Tried, known bool) []string {
	t := p.theme
	takes := func(m cost.Model, how string) []string {
		parts := []string{t.Dim.On("takes about ") + roughly(m.Whole(&p.config)), t.Dim.On(" on this machine"), t.Dim.On(", " + how)}
		if m.Cores > 0 {
			parts = append(parts, t.Dim.On(fmt.Sprintf(", which had %.1f of %d processors", m.Cores, runtime.NumCPU())))
		}
		return parts
	}
	earlier, has := like(p.config, f.Device, p.Recent)
	tried := known && f.err == nil && f.Step > 0
	switch {
	case has && (!tried || asBusy(earlier.Measured.Cores, f.Cores)):
		return takes(earlier.Measured, "as quick as "+earlier.Dir)
	case tried:
		return takes(f.Model, "by a short trial of all its parts")
	case !known && p.Try != nil:
		return []string{t.Dim.On("a short trial finds out how long it takes" + t.Glyphs.Wait)}
	}
	return []string{t.Dim.On("how long it takes is not known"), t.Dim.On(" before the first such run on this machine")}
}

// asBusy says whether two measurements had about as much of the machine.
func asBusy(then, now float64) bool { return then > 0.75*now && now > 0.75*then }

// takesRoom is how much the run writes, and how much room there is.
func (p *Picker) takesRoom(f Tried) []string {
	t := p.theme
	all := "checkpoints"
	if f.Disk.Generation > 0 {
		all = "checkpoints and D_syn"
	}
	writes := f.Disk.Total()
	if f.Step > 0 {
		writes = f.Disk.After(cost.Checkpoints(&p.config, f.Whole(&p.config)))
	}
	text := t.Dim.On("writes about ") + format.BytesText(float64(writes))
	if f.Free > 0 && writes > f.Free {
		return []string{text + t.Bad.On(fmt.Sprintf(": only %s are free", format.BytesText(float64(f.Free))))}
	}
	out := []string{text, t.Dim.On(", " + all + " included")}
	if f.Frames > 0 {
		out = []string{text, t.Dim.On(", keeps ") + format.BytesText(float64(f.Frames)) + t.Dim.On(" of frames in memory"), t.Dim.On("; " + all + " included")}
	}
	return out
}

// roughly is a duration with no more digits than a guess deserves.
func roughly(d time.Duration) string {
	round := func(v float64, unit string) string {
		if v >= 20 {
			v = 5 * math.Round(v/5)
		}
		return fmt.Sprintf("%.0f %s", v, unit)
	}
	switch s := d.Seconds(); {
	case s < 90:
		return round(max(1, s), "s")
	case s < 90*60:
		return round(s/60, "min")
	case s < 10*3600:
		return fmt.Sprintf("%.1f hours", s/3600)
	case s < 48*3600:
		return round(s/3600, "hours")
	default:
		return round(s/86400, "days")
	}
}
