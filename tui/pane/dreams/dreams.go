// Package dreams shows synthetic rows beside the truth: s of a row, the s' that the generator made of
// it, and the s' of the task from the same s and a, as poses and number by number.
package dreams

import (
	"fmt"
	"math"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/picture"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// every is the shortest time between two requests for rows: the first one after a generation costs the
// training some milliseconds.
const every = time.Second

// lies is the error from which on a row says more wrong than right about what follows: that of the best
// guess that looks at neither s nor a.
const lies = 1

// Pane is some rows of D_syn, one of them beside the truth.
type Pane struct {
	*pane.Run
	at    int // index of the row that is shown
	asked time.Time
	drawn drawn
}

// drawn are the lines as last drawn: three poses take some milliseconds.
type drawn struct {
	of    *event.Dreamt
	at    int
	on    picture.Canvas
	w, h  int
	lines []string
}

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{Run: r} }

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.Dreams }

// Tab is the name of the pane on the tab bar.
func (p *Pane) Tab() string { return string(pane.Dreams) }

// Title is the text in the border of the pane.
func (p *Pane) Title(w int) (title, note string) {
	d := p.rows()
	if d == nil {
		return "DREAMS", ""
	}
	t := p.Theme
	step := t.Dim.On("step " + format.Count(d.Step))
	if d.Mixed > 0 {
		return "DREAMS", t.Dim.On(format.Percent(d.Mixed)+" of D_syn new, ") + step
	}
	return "DREAMS", theme.Longest([]string{step, t.Dim.On("D_syn beside the task, ") + step}, w-13)
}

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding {
	return []pane.Binding{
		{Name: "dream-next", Keys: []string{"right", "l", "down", "j"}, Label: "right l", Hint: "left right", Does: "next, previous row", Help: "the next row in their order", Action: func() tea.Cmd { return p.move(1) }},
		{Name: "dream-previous", Keys: []string{"left", "h", "up", "k"}, Label: "left h", Help: "the row before it", Action: func() tea.Cmd { return p.move(-1) }},
		{Name: "dream-lie", Keys: []string{"x", "enter"}, Label: "x enter", Hint: "x", Does: "next lie", Help: "the next row that is more wrong than a guess", Action: p.nextLie},
	}
}

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Snapshot} }

// Poll asks the run for rows while the pane is shown.
func (p *Pane) Poll(visible bool) {
	if !visible || !p.Answers() || !p.Generates() || p.About.Config.Sees() || p.Snap.Synthetic == 0 || p.Now().Sub(p.asked) < every {
		return
	}
	if p.Lab.Send(event.Dreams{Rows: event.MostDreams}) == nil {
		p.asked = p.Now()
	}
}

// rows are those to show; nil: there are none.
func (p *Pane) rows() *event.Dreamt {
	if p.Snap == nil || p.Snap.Dreamt == nil || p.Snap.Dreamt.Unknown != "" || len(p.Snap.Dreamt.Rows) == 0 {
		return nil
	}
	return p.Snap.Dreamt
}

func (p *Pane) show(at int) {
	p.at = at
	p.TouchPane(pane.Dreams)
}

func (p *Pane) move(by int) tea.Cmd {
	if d := p.rows(); d != nil {
		p.show(max(0, min(p.at+by, len(d.Rows)-1)))
	}
	return nil
}

// nextLie goes to the next row that lies, from the last one on to the first.
func (p *Pane) nextLie() tea.Cmd {
	d := p.rows()
	if d == nil {
		return nil
	}
	for i := range d.Rows {
		at := (p.at + 1 + i) % len(d.Rows)
		if tr := d.Rows[at].Truth; tr != nil && tr.Off >= lies {
			p.show(at)
			return nil
		}
	}
	p.Tell(fmt.Sprintf("none of these %d rows is more wrong than a guess", len(d.Rows)))
	return nil
}

// Body is a row beside the truth.
func (p *Pane) Body(w, h int) []string {
	d := p.rows()
	switch {
	case !p.Generates():
		return p.Waiting(p.About.Config.Method+" generates no rows", w, h)
	case d == nil && p.About.Replay:
		return p.Waiting("a journal holds no rows: they are seen while a run goes on, and in replays of runs with --scenes", w, h)
	case d == nil && p.Snap.Dreamt != nil && p.Snap.Dreamt.Unknown != "":
		return p.Waiting(p.Snap.Dreamt.Unknown, w, h)
	case d == nil && p.Snap.Synthetic == 0:
		return p.Waiting("nothing is generated yet: a row appears here with the first generation", w, h)
	case d == nil && p.Ended():
		return p.Waiting("the run has ended: this is seen while it goes on", w, h)
	case d == nil:
		return p.Waiting("asking the run", w, h)
	}
	p.at = min(p.at, len(d.Rows)-1)
	k, on := &p.drawn, p.Canvas()
	if k.of != d || k.at != p.at || k.on != on || k.w != w || k.h != h {
		*k = drawn{of: d, at: p.at, on: on, w: w, h: h, lines: p.lines(d, w, h)}
	}
	return k.lines
}

// lines are the place among the rows, the poses, the verdict, and the numbers.
func (p *Pane) lines(d *event.Dreamt, w, h int) []string {
	row := d.Rows[p.at]
	tr := row.Truth
	if tr == nil {
		return p.Waiting("these rows are latents: the pane map shows the frames nearest to them", w, h)
	}
	out := []string{p.head(d, w), p.strip(d, w), p.verdict(row, w)}
	numbers := p.numbers(row, w)
	if room := h - len(out); w >= leastPoses && room >= leastPoseRows+3 {
		poses := max(leastPoseRows, min(room-min(len(numbers), room/2)-1, w/5))
		out = append(out, p.poses(tr, w, poses)...)
	}
	return append(out, numbers[:max(0, min(len(numbers), h-len(out)))]...)
}

// head says which row it is.
func (p *Pane) head(d *event.Dreamt, w int) string {
	t, row := p.Theme, d.Rows[p.at]
	text := t.Bold.On(fmt.Sprintf("dream %d", p.at+1)) + t.Dim.On(fmt.Sprintf(" of %d", len(d.Rows)))
	texts := []string{text}
	if !math.IsNaN(row.F) {
		text += "  " + t.Dim.On("F ") + t.Synthetic.On(format.Number(row.F))
		texts = append(texts, text, text+t.Dim.On(" "+by(d)))
		text = texts[len(texts)-1]
	} else {
		texts = append(texts, text+t.Dim.On(", by "+by(d)))
	}
	return theme.Longest(append(texts, text+t.Dim.On(fmt.Sprintf(", rank %d of %s rows of %s", row.Rank+1, format.Count(d.Looked), format.Count(p.Snap.Synthetic)))), w)
}

// by names what the rows are sorted by.
func by(d *event.Dreamt) string {
	switch d.Order {
	case event.DreamsByF:
		return d.Relevance
	case event.DreamsByAsked:
		return "asked for, " + d.Relevance
	}
	return "reward"
}

// strip shows all rows at once: how wrong each is, and which one is shown.
func (p *Pane) strip(d *event.Dreamt, w int) string {
	t := p.Theme
	var b strings.Builder
	lie, known := 0, 0
	for i, r := range d.Rows {
		cell, ink := "?", t.Faint
		switch {
		case r.Truth == nil || math.IsNaN(r.Truth.Off):
		case r.Truth.Off >= lies:
			cell, ink = t.Glyphs.Cross, t.Bad
			lie, known = lie+1, known+1
		case r.Truth.Off >= lies/4.:
			cell, ink, known = t.Glyphs.Ring, t.Warn, known+1
		default:
			cell, ink, known = t.Glyphs.Check, t.Good, known+1
		}
		if i == p.at {
			ink = t.Selected
		}
		b.WriteString(ink.On(cell))
	}
	what := "F"
	if d.Order == event.DreamsByReturn {
		what = "reward"
	}
	text := t.Dim.On("high "+what+" ") + b.String() + t.Dim.On(" low "+what)
	if known == 0 {
		return theme.Longest([]string{b.String(), text}, w)
	}
	return theme.Longest([]string{b.String(), text, text + t.Dim.On(fmt.Sprintf("   %d of %d lie", lie, known)),
		text + t.Dim.On(fmt.Sprintf("   %s within a quarter of a change, %s within one, %s %d of %d lie", t.Glyphs.Check, t.Glyphs.Ring, t.Glyphs.Cross, lie, known))}, w)
}

// verdict says in words how far the row is from the truth.
func (p *Pane) verdict(row event.Dream, w int) string {
	t, tr := p.Theme, row.Truth
	off := t.Dim.On(" off by ") + format.Number(tr.Off) + t.Dim.On(" of a step's change")
	switch {
	case tr.True == nil:
		return theme.Longest([]string{t.Warn.On("no truth"), t.Warn.On("no truth") + t.Dim.On(": the task cannot be set to this s")}, w)
	case math.IsNaN(tr.Off):
		return t.Dim.On(t.Fit("nothing changes in this task: no error can be measured", w))
	case tr.Off >= lies:
		return theme.Longest([]string{t.Bad.On("LIES") + off, t.Bad.On("LIES") + off + t.Dim.On(": a guess that looks at neither s nor a would be as good")}, w)
	case tr.Off >= lies/4.:
		return theme.Longest([]string{t.Warn.On("ROUGHLY TRUE") + off, t.Warn.On("ROUGHLY TRUE") + off + t.Dim.On(": such a step could happen, but not quite so")}, w)
	}
	return theme.Longest([]string{t.Good.On("TRUE") + off, t.Good.On("TRUE") + off + t.Dim.On(": it never happened, and it could have")}, w)
}
