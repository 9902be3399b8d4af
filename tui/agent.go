package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"pgrlab/core/event"
	"pgrlab/tui/picture"
)

// agentColumns are those beside the picture.
const agentColumns = 28

// agentPane is the task as it stands, drawn, and the numbers of the moment.
type agentPane struct {
	*runView
	watched time.Time // when the newest transition was asked for
}

func newAgent(r *runView) *agentPane { return &agentPane{runView: r} }

// ID names the pane.
func (m *agentPane) ID() paneID { return paneAgent }

// Tab is its name on the tab bar.
func (m *agentPane) Tab() string { return string(paneAgent) }

// Title is what its border says.
func (m *agentPane) Title(w int) (title, note string) { return "AGENT", m.agentNote(w - 14) }

// Keys work while it is in focus.
func (m *agentPane) Keys() []binding { return nil }

// DependsOn are the topics that it shows.
func (m *agentPane) DependsOn() []topic { return []topic{topicSnapshot} }

// Body is the task as it stands, and what the agent makes of it.
func (m *agentPane) Body(w, h int) []string {
	t, s := m.theme, m.snap
	switch {
	case m.about.Draw == nil:
		return m.waiting("nothing can be drawn here", w, h)
	case s.Pose == nil:
		return m.waiting("no pose of the body yet", w, h)
	}
	facts := m.agentFacts()
	beside := w >= 60
	pictureW, pictureH := w, h-len(facts)
	if beside {
		pictureW, pictureH = w-agentColumns-2, h
	}
	if pictureW < 8 || pictureH < 3 {
		return facts
	}
	img, err := m.about.Draw(s.Pose, pictureW, 2*pictureH)
	if err != nil {
		return m.waiting(err.Error(), w, h)
	}
	style := picture.For(t.renderer.ColorProfile(), t.set != ASCII)
	out := picture.Lines(img, pictureW, pictureH, style)
	if !beside {
		return append(facts, out...)
	}
	for i := range out {
		if i < len(facts) {
			out[i] += "  " + facts[i]
		}
	}
	return out
}

// agentFacts are the numbers of the moment.
func (m *agentPane) agentFacts() []string {
	t, s := m.theme, m.snap
	label := func(name string) string { return t.dim.on(t.fit(name, 9)) }
	out := []string{
		label("episode") + fmt.Sprintf("%s step %s", count(s.Episode), count(s.EpisodeStep)),
		label("return") + number(s.EpisodeReturn) + t.dim.on(" so far"),
	}
	now := s.Moment
	if now == nil {
		return out
	}
	out = append(out, label("Q")+unknown(now.Q)+t.dim.on(" of s, π(s)"), label("F")+unknown(now.F)+m.share(now.F), label("action"))
	for _, a := range now.Action {
		out = append(out, " "+m.slider(float64(a), 15)+fmt.Sprintf(" %+.2f", a))
	}
	return out
}

// unknown is a number, or that there is none yet.
func unknown(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return number(v)
}

// share says where an F lies among those of the real rows.
func (m *agentPane) share(f float64) string {
	h := m.snap.FReal
	if h == nil || math.IsNaN(f) || !(h.High > h.Low) {
		return ""
	}
	below := 0.0
	for i, n := range h.Counts {
		part := (f - h.Edge(i)) / (h.Edge(i+1) - h.Edge(i))
		below += float64(n) * math.Max(0, math.Min(1, part))
	}
	return m.theme.dim.on(" above " + percent(below/math.Max(1, float64(h.Rows))))
}

// slider shows a number of [-1, 1] as a place on a line of w columns.
func (m *agentPane) slider(v float64, w int) string {
	t := m.theme
	at := int(math.Round((math.Max(-1, math.Min(1, v)) + 1) / 2 * float64(w-1)))
	var b strings.Builder
	for i := range w {
		switch i {
		case at:
			b.WriteString(t.accent.on(t.glyphs.full))
		case w / 2:
			b.WriteString(t.faint.on(t.glyphs.vertical))
		default:
			b.WriteString(t.faint.on(t.glyphs.rest))
		}
	}
	return b.String()
}

// agentNote says where the picture comes from.
func (m *agentPane) agentNote(w int) string {
	return longest([]string{m.theme.dim.on("the training environment " + strings.TrimSpace(m.theme.glyphs.separator) + " v back"), m.theme.dim.on("v back")}, w)
}

// watchEvery is the least time between two questions for the newest transition: each
// costs the training some milliseconds.
const watchEvery = 500 * time.Millisecond

// Poll asks the run for its newest transition while the pane is shown.
func (m *agentPane) Poll(visible bool) {
	if !visible || !m.answers() || m.now().Sub(m.watched) < watchEvery {
		return
	}
	if moment := m.snap.Moment; moment != nil && moment.Step == m.snap.Step {
		return
	}
	if m.lab.Send(event.Watch{}) == nil {
		m.watched = m.now()
	}
}
