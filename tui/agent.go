package tui

import (
	"fmt"
	"strings"

	"pgrlab/tui/picture"
)

// agentColumns are those beside the picture.
const agentColumns = 28

// agentBody is the task as it stands, and what the agent makes of it.
func (m *Model) agentBody(w, h int) []string {
	t, s := m.theme, m.snap
	switch {
	case m.options.Draw == nil:
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
	img, err := m.options.Draw(s.Pose, pictureW, 2*pictureH)
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
func (m *Model) agentFacts() []string {
	t, s := m.theme, m.snap
	label := func(name string) string { return t.dim.on(t.fit(name, 9)) }
	out := []string{
		label("episode") + fmt.Sprintf("%s step %s", count(s.Episode), count(s.EpisodeStep)),
		label("return") + number(s.EpisodeReturn) + t.dim.on(" so far"),
	}
	if l := s.Losses; l != nil {
		out = append(out, label("Q mean")+number(l.QMean)+t.dim.on(" over the batch"))
	}
	if s.FReal != nil {
		out = append(out, label("F")+number(s.FReal.Median)+t.dim.on(" median of real"))
	}
	return out
}

// agentNote says where the picture comes from.
func (m *Model) agentNote(w int) string {
	return longest([]string{m.theme.dim.on("the training environment " + strings.TrimSpace(m.theme.glyphs.separator) + " v back"), m.theme.dim.on("v back")}, w)
}
