package tui

import (
	"fmt"
	"strings"
)

// rows is how many rows a lesson takes at the foot of the screen, of h: as
// many as it needs while the panes have the least that shows anything; where they
// cannot have that, it stands alone.
func (m *lessons) rows(w, h int) int {
	if m.lesson == nil || h < 4 {
		return 0
	}
	n := min(len(m.lines(w)), max(5, h-aboveLesson))
	if h-n < aboveLesson || h < tabbedHeight {
		return h - 2
	}
	return n
}

// in are the lesson's lines in n rows; where they are more, the keys stay.
func (m *lessons) in(w, n int) []string {
	text := m.lines(w)
	if len(text) > n {
		text = append(text[:n-1:n-1], text[len(text)-1])
	}
	return text
}

// lines are the lesson as it stands, in w columns: a title on a rule, what it
// says, and what to press.
func (m *lessons) lines(w int) []string {
	t, l := m.theme, m.lesson
	title := t.titleFocus.on(t.glyphs.cursor + "LESSON " + m.spelled(l.Title))
	note := t.dim.on(fmt.Sprintf("step %d of %d", l.at+1, len(l.Steps)))
	out := []string{t.fit(t.ruleTitle(title, note, w), w)}
	out = append(out, m.text(w-2)...)
	for i := 1; i < len(out); i++ {
		out[i] = t.fit(" "+out[i], w)
	}
	return append(out, t.fit(" "+m.keyHints(w-2), w))
}

// text is what the step says, asks or reveals.
func (m *lessons) text(w int) []string {
	t, l := m.theme, m.lesson
	s := l.step()
	var out []string
	say := func(paint ink, text string) {
		for _, line := range wrap(m.spelled(text), w) {
			out = append(out, paint.on(line))
		}
	}
	if s.Say != "" {
		say(t.text, s.Say)
	}
	if l.refused != "" {
		say(t.bad, t.glyphs.cross+" "+l.refused)
	}
	if s.Ask != "" && l.part == reading {
		say(t.bold, s.Ask)
	}
	if l.part == awaiting {
		say(t.warn, m.waitText())
	}
	if r := s.Reveal; r != nil {
		from, to := l.kept[r.From], l.kept[r.To]
		text, paint, mark := r.Unsure, t.warn, "?"
		switch judge(*r, from, to) {
		case held:
			text, paint, mark = r.Held, t.good, t.glyphs.check
		case didNotHold:
			text, paint, mark = r.Failed, t.accent, t.glyphs.cross
		}
		prediction := ""
		if l.answer != "" {
			prediction = " You said: " + l.answer + "."
		}
		say(paint, mark+" "+m.filled(text)+prediction)
		say(t.dim, r.Paper)
	}
	return out
}

// filled puts the kept numbers where a text names them.
func (m *lessons) filled(text string) string {
	for name, v := range m.lesson.kept {
		shown := number(v.value)
		if v.err > 0 {
			shown += " (standard error " + number(v.err) + ")"
		}
		text = strings.ReplaceAll(text, "{"+name+"}", shown)
	}
	return text
}

// waitText says what the lesson waits for.
func (m *lessons) waitText() string {
	w := m.lesson.step().Wait
	if w == nil {
		return ""
	}
	done, of := m.awaited()
	what := map[string]string{"evaluated": "evaluations", "generated": "generations", "previewed": "previews", "in_force": "changes in force"}[w.For]
	text := fmt.Sprintf("%d of %d %s", done, of, what)
	if of == 1 {
		text = "waiting for the next " + strings.TrimSuffix(what, "s")
	}
	switch {
	case m.ended():
		text = "the run has ended before " + text + ": esc leaves"
	case m.paused():
		text += ", but the run is paused: space goes on"
	case w.For == "previewed":
		text = m.previewText()
	case w.For == "generated" && m.snap.NextRefit > 0:
		text += ", in " + count(m.snap.NextRefit) + " steps"
	}
	return text
}

// keyHints is what to press.
func (m *lessons) keyHints(w int) string {
	t, l := m.theme, m.lesson
	s := l.step()
	hint := func(key, does string) string { return t.key.on(key) + " " + t.dim.on(does) }
	var hints []string
	switch {
	case l.part == reading && s.Ask != "":
		for i, a := range s.Answers {
			hints = append(hints, hint(fmt.Sprint(i+1), a))
		}
	case l.part == reading && len(s.Set) > 0:
		hints = append(hints, hint("enter", "set "+strings.Join(s.Set, ", ")))
	case l.part == reading && s.Stage != "":
		hints = append(hints, hint("enter", "stage "+s.Stage))
	case l.part == reading && s.Restore:
		hints = append(hints, hint("enter", "put the knobs back"))
	case l.part != awaiting && l.at+1 == len(l.Steps):
		hints = append(hints, hint("enter", "end of the lesson"))
	case l.part != awaiting:
		hints = append(hints, hint("enter", "go on"))
	}
	return join(w, "   ", append(hints, hint("esc", "leave the lesson"))...)
}
