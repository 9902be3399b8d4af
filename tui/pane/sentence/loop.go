package sentence

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// The sizes of the loop: as boxes with a line of return below, where there is room for them, and
// else as two lines.
const (
	boxRows      = 5 // a border above, three lines, a border below
	boxLeast     = 22
	arrowColumns = 5
	stripRows    = 2
	stripLeast   = 12
)

// station is a part of the loop with what it says at the moment.
type station struct {
	name   string
	lines  [3]string
	brief  string // what it says where there is room for a word or two
	active bool   // the run is at work there
	flows  bool   // the run is at work between it and the next one
}

// stations are the parts of the loop as they are now.
func (p *Pane) stations() (all []station) {
	for _, part := range p.Parts() {
		all = append(all, p.station(part.Name))
	}
	return all
}

func (p *Pane) station(name string) station {
	s := station{name: name}
	switch name {
	case partReal:
		p.realNow(&s)
	case partF:
		p.fNow(&s)
	case partGenerator:
		p.generatorNow(&s)
	case partSynthetic:
		p.syntheticNow(&s)
	case partBatch:
		p.batchNow(&s)
	}
	return s
}

// number is a number with its name, if it is known.
func (p *Pane) number(name string, v float64, ink theme.Ink) string {
	if math.IsNaN(v) {
		return ""
	}
	return p.Theme.Dim.On(name+" ") + ink.On(format.Number(v))
}

func (p *Pane) realNow(s *station) {
	t, snap := p.Theme, p.Snap
	s.name = "real rows"
	s.brief = t.Real.On(format.Count(snap.Real))
	s.lines[0] = s.brief + t.Dim.On(" lived through")
	if p.Dreams() {
		s.lines[0] = s.brief + t.Dim.On(" from a file")
	}
	if m := snap.Moment; m != nil {
		s.lines[1] = p.number("newest r", m.Reward, t.Bold)
		s.lines[2] = p.number("       Q", m.Q, t.Bold)
	} else if !p.Dreams() {
		s.lines[1] = t.Dim.On("episode ") + format.Count(snap.Episode)
	}
	s.active = p.Phase() == knob.Collect
}

func (p *Pane) fNow(s *station) {
	t, f := p.Theme, p.Effective("relevance").Text
	s.name = "F " + f
	s.brief = t.Dim.On("top ") + format.Percent(p.Effective("top_fraction").Number)
	if m := p.Snap.Moment; m != nil {
		s.lines[0] = p.number("newest", m.F, t.Bold)
	}
	if h := p.History.F; h != nil && p.ShowsChosenF() {
		s.lines[1] = p.number("median", float64(h.Real.Median), t.Real)
	}
	if k := p.Effective("top_fraction").Number; p.About.Config.Prompted() && k < 1 {
		s.lines[2] = t.Dim.On("asks for the top ") + format.Percent(k)
	}
	switch p.Phase() {
	case knob.Score:
		s.lines[2] = p.progress()
		s.active, s.flows = true, false
	case knob.Fit:
		s.flows = true
	case knob.Model, knob.Reach:
		s.active = true
	}
}

func (p *Pane) generatorNow(s *station) {
	t := p.Theme
	fits := 0
	for _, r := range p.History.Refits {
		if r.Steps > 0 {
			fits++
		}
	}
	switch {
	case p.About.Config.Repeats():
		s.brief = t.Dim.On("repeats")
	case fits == 0:
		s.brief = t.Dim.On("untrained")
	default:
		s.brief = format.Count(fits) + t.Dim.On(" fits")
		s.lines[0] = t.Dim.On("fitted ") + format.Count(fits) + t.Dim.On(" times")
	}
	if fits == 1 {
		s.brief, s.lines[0] = t.Dim.On("fitted"), t.Dim.On("fitted once")
	}
	s.lines[0] = cmp.Or(s.lines[0], s.brief)
	if p.About.Config.Prompted() && p.Effective("relevance").Text != "none" && p.About.Config.Has()&knob.UsePrompts != 0 {
		s.lines[1] = t.Dim.On("ω ") + t.Bold.On(p.Effective("guidance").String()) + t.Dim.On(": pull to high F")
	}
	if g := p.History.Generated; g != nil && g.Dynamics != nil {
		s.lines[2] = p.number("error of s'", float64(g.Dynamics.Relative), t.Bold)
	}
	switch p.Phase() {
	case knob.Fit:
		s.lines[2], s.brief, s.active = p.progress(), p.share(), true
	case knob.Generate:
		s.flows = true
	}
}

func (p *Pane) syntheticNow(s *station) {
	t, snap := p.Theme, p.Snap
	s.name = "synthetic rows"
	s.brief = t.Synthetic.On(format.Count(snap.Synthetic))
	s.lines[0] = s.brief + t.Dim.On(" "+p.dreamt())
	if snap.Synthetic == 0 {
		s.brief, s.lines[0] = t.Dim.On("none yet"), t.Dim.On("none yet")
	}
	if m := snap.Moment; m != nil && m.Twin != nil {
		s.lines[1] = p.number("its twin r", m.Twin.Reward, t.Synthetic)
		s.lines[2] = p.number("         F", m.Twin.F, t.Synthetic)
	}
	if p.Phase() == knob.Generate {
		s.lines[2], s.brief, s.active = p.progress(), p.share(), true
	}
	s.flows = snap.MixSynthetic > 0 && (p.Phase() == knob.Collect || p.Phase() == knob.Learn)
}

func (p *Pane) batchNow(s *station) {
	t, snap := p.Theme, p.Snap
	if all := snap.MixReal + snap.MixSynthetic; all > 0 {
		s.brief = t.Real.On(format.Count(snap.MixReal)) + "+" + t.Synthetic.On(format.Count(snap.MixSynthetic))
		s.lines[0] = t.Real.On(format.Count(snap.MixReal)+" real") + " + " + t.Synthetic.On(format.Count(snap.MixSynthetic)+" "+p.dreamt())
		const room = 16
		n := (snap.MixReal*room + all/2) / all
		s.lines[1] = t.Real.On(strings.Repeat(t.Glyphs.Full, n)) + t.Synthetic.On(strings.Repeat(t.Glyphs.Blocks[3], room-n))
	} else {
		s.brief = t.Dim.On("r ") + format.Percent(p.Effective("ratio").Number)
		s.lines[0] = t.Synthetic.On(format.Percent(p.Effective("ratio").Number)) + t.Dim.On(" synthetic")
	}
	s.lines[2] = format.Count(int(snap.Updates)) + t.Dim.On(" updates")
	s.active = snap.Updates > 0 && (p.Phase() == knob.Collect || p.Phase() == knob.Learn)
}

// share is how much of the phase is done.
func (p *Pane) share() string {
	return p.Theme.Accent.On(format.Percent(float64(p.Snap.PhaseDone) / math.Max(1, float64(p.Snap.PhaseTotal))))
}

// progress is the same with a bar.
func (p *Pane) progress() string {
	return p.Theme.Bar(float64(p.Snap.PhaseDone)/math.Max(1, float64(p.Snap.PhaseTotal)), 12) + " " + p.share()
}

// loopRows is how many lines the loop takes in w by h; 0: it is left out.
func (p *Pane) loopRows(w, h int) int {
	n := len(p.Parts())
	switch {
	case h < stripRows+2, w/n < stripLeast:
		return 0
	case h >= boxRows+1+2 && (w-(n-1)*arrowColumns)/n >= boxLeast:
		return boxRows + 1
	}
	return stripRows
}

// loop draws the loop in w columns and as many lines as loopRows says.
func (p *Pane) loop(w, rows int) []string {
	switch rows {
	case 0:
		return nil
	case stripRows:
		return p.strip(w)
	}
	t, all := p.Theme, p.stations()
	n := len(all)
	each := (w - (n-1)*arrowColumns) / n
	last := w - (n-1)*(each+arrowColumns)
	out := make([]string, boxRows)
	for i, s := range all {
		width := each
		if i == n-1 {
			width = last
		}
		body := make([]string, len(s.lines))
		for y, l := range s.lines {
			body[y] = " " + t.Fit(l, width-4)
		}
		box := t.Box(s.name, "", body, width, boxRows, s.active)
		for y := range out {
			if i > 0 {
				out[y] += p.arrow(y, all[i-1].flows)
			}
			out[y] += box[y]
		}
	}
	return append(out, p.back(w, each, last))
}

// arrow is line y of the arrow after a part. What flows is a dot that goes along it at the pace of
// the run.
func (p *Pane) arrow(y int, flows bool) string {
	if y != boxRows/2 {
		return strings.Repeat(" ", arrowColumns)
	}
	t := p.Theme
	const shaft = arrowColumns - 2
	if !flows {
		return t.Faint.On(" " + strings.Repeat(t.Glyphs.Horizontal, shaft) + t.Glyphs.Cursor)
	}
	at := p.beat(shaft)
	return " " + t.Faint.On(strings.Repeat(t.Glyphs.Horizontal, at)) + t.Accent.On(t.Glyphs.Dot) + t.Faint.On(strings.Repeat(t.Glyphs.Horizontal, shaft-at-1)+t.Glyphs.Cursor)
}

// beat is a place among n that goes on with the run's own work: env steps, or units of the phase.
func (p *Pane) beat(n int) int {
	s := p.Snap
	if p.Phase() == knob.Collect || s.PhaseTotal <= 1 {
		return s.Step % n
	}
	return min(n-1, s.PhaseDone*n/max(1, s.PhaseTotal))
}

// back is the line from the batch back to the real rows: the agent that learns from the one and makes
// the other. Without an agent there is none.
func (p *Pane) back(w, first, last int) string {
	if p.Dreams() {
		return ""
	}
	t := p.Theme
	from, to := first/2, w-1-last/2
	text := " the agent learns, acts, and each step is a new real row "
	if n := len(p.History.Evaluations); n > 0 {
		e := p.History.Evaluations[n-1]
		mean, std := format.SpreadOf(e.Mean, e.Std)
		text = fmt.Sprintf(" the agent learns, acts, and each step is a new real row; its return is %s %s %s ", mean, t.Glyphs.PlusMinus, std)
	}
	room := to - from - 1
	if theme.Width(text) > room-8 {
		text = " the agent "
	}
	left := (room - theme.Width(text)) / 2
	right := room - theme.Width(text) - left
	line := func(n int, moves bool) string {
		if !moves || n < 1 {
			return t.Faint.On(strings.Repeat(t.Glyphs.Horizontal, max(0, n)))
		}
		at := n - 1 - p.beat(n)
		return t.Faint.On(strings.Repeat(t.Glyphs.Horizontal, at)) + t.Accent.On(t.Glyphs.Dot) + t.Faint.On(strings.Repeat(t.Glyphs.Horizontal, n-at-1))
	}
	acts := p.Phase() == knob.Collect || p.Phase() == knob.Rollout
	ink := t.Dim
	if acts {
		ink = t.Text
	}
	return strings.Repeat(" ", from) + t.Faint.On(t.Glyphs.BottomLeft) + line(left, acts) + ink.On(text) + line(right, acts && p.Snap.Updates > 0) + t.Faint.On(t.Glyphs.BottomRight)
}

// strip is the loop in two lines: names, and a word of each part below.
func (p *Pane) strip(w int) []string {
	t, all := p.Theme, p.stations()
	n := len(all)
	each := w / n
	names, words := "", ""
	for i, s := range all {
		name := s.name
		if short := strings.TrimSuffix(name, " rows"); theme.Width(name) > each-3 {
			name = short
		}
		ink := t.Dim
		if s.active { // seen without colours too
			ink, name = t.TitleFocus, strings.ToUpper(name)
		}
		arrow := "  "
		if i > 0 {
			arrow = t.Faint.On(t.Glyphs.Cursor) + " "
			if all[i-1].flows {
				arrow = t.Accent.On(t.Glyphs.Dot) + " "
			}
		}
		names += t.Fit(arrow+ink.On(name), each)
		words += t.Fit("  "+s.brief, each)
	}
	return []string{names, words}
}

// dreamt is the word for what D_syn holds.
func (p *Pane) dreamt() string {
	if p.About.Config.Repeats() {
		return "copied"
	}
	return "dreamt"
}
