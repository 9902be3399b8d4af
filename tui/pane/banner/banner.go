// Package banner shows the return, the step and the time to the next look of a fan in digits that can be
// read from the back of a lecture hall.
package banner

import (
	"fmt"
	"strings"
	"time"

	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Look says when forks are looked at next; false: they will not be, or it is not known.
type Look func() (in time.Duration, which string, known bool)

// Pane is the banner.
type Pane struct {
	*pane.Run
	look Look
	said string // the time to the next look as drawn last
}

// New makes the banner of a run.
func New(r *pane.Run, look Look) *Pane { return &Pane{Run: r, look: look} }

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.Banner }

// Tab is the name of the pane on the tab bar, which does not have it.
func (p *Pane) Tab() string { return string(pane.Banner) }

// Title is the text in the border of the pane, which has none.
func (p *Pane) Title(int) (title, note string) { return "", "" }

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding { return nil }

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Snapshot, topic.Curves} }

// Poll counts down.
func (p *Pane) Poll(visible bool) {
	if !visible {
		return
	}
	said := ""
	if in, _, known := p.look(); known {
		said = clock(in)
	}
	if said != p.said {
		p.said = said
		p.TouchPane(pane.Banner)
		p.Changed()
	}
}

// figure is a number with its name.
type figure struct {
	name, number string
	ink          theme.Ink
}

// Body is the numbers beside each other, as large as there is room for.
func (p *Pane) Body(w, h int) []string {
	all := p.figures()
	for n := len(all); n > 0; n-- { // the first line of the screen has the step too
		for scale := 3; scale > 0; scale-- {
			if h < 1+p.Theme.BigRows(scale) {
				continue
			}
			if lines := p.beside(all[:n], scale, w); lines != nil {
				return lines
			}
		}
	}
	var words []string
	for _, f := range all {
		words = append(words, f.name+" "+f.ink.On(f.number))
	}
	return []string{theme.Join(w, "   ", words...)}
}

// figures are what there is to show, the least important last.
func (p *Pane) figures() (all []figure) {
	t := p.Theme
	if n := len(p.History.Evaluations); n > 0 && !p.Dreams() {
		e := p.History.Evaluations[n-1]
		mean, std := format.SpreadOf(e.Mean, e.Std)
		all = append(all, figure{"RETURN " + t.Glyphs.PlusMinus + " " + std + " at " + format.Count(e.Step), mean, t.Series[0]})
	}
	if in, which, known := p.look(); known {
		all = append(all, figure{"NEXT LOOK, " + which, clock(in), t.Staged})
	}
	step := figure{"STEP of " + format.Count(p.Snap.Steps), format.Count(p.Snap.Step), t.Bold}
	if p.Dreams() {
		step = figure{"GENERATION", format.Count(max(1, p.Snap.Step)), t.Bold}
	}
	return append(all, step)
}

// beside draws the numbers with their names above them; nil: w is too narrow.
func (p *Pane) beside(all []figure, scale, w int) []string {
	t := p.Theme
	lines := make([]string, 1+t.BigRows(scale))
	bigs, widths, used := make([][]string, len(all)), make([]int, len(all)), 0
	for i, f := range all {
		bigs[i] = t.Big(f.number, scale)
		widths[i] = max(theme.Width(f.name), theme.Width(bigs[i][0]))
		used += widths[i]
	}
	// Two numbers must not read as one; three digits between them are enough.
	gap := max(2*scale+1, min(18*scale, (w-used)/max(1, len(all))))
	for i, f := range all {
		big, width := bigs[i], widths[i]
		if i > 0 {
			for y := range lines {
				lines[y] += strings.Repeat(" ", gap)
			}
		}
		lines[0] += t.Bold.On(t.Fit(f.name, width))
		for y, l := range big {
			lines[1+y] += f.ink.On(l) + strings.Repeat(" ", width-theme.Width(l))
		}
	}
	if theme.Width(lines[0]) > w {
		return nil
	}
	return lines
}

// clock is a time to go as minutes and seconds.
func clock(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
