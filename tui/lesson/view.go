package lesson

import (
	"fmt"
	"math"
	"strings"

	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// Rows is how many of the screen's h rows a lesson takes at the foot: as many as it needs, as long
// as the panes keep the least height that shows anything; if they cannot, the lesson stands alone.
func (x *Lessons) Rows(w, h int) int {
	if x.Lesson == nil || h < 4 {
		return 0
	}
	n := min(len(x.Lines(w)), max(5, h-pane.AboveLesson))
	if h-n < pane.AboveLesson || h < pane.TabbedHeight {
		return h - 2
	}
	return n
}

// In are the lesson's lines in n rows; if there are more lines, the one with the keys stays.
func (x *Lessons) In(w, n int) []string {
	text := x.Lines(w)
	if len(text) > n {
		text = append(text[:n-1:n-1], text[len(text)-1])
	}
	return text
}

// Lines are the lesson in w columns: a title on a rule, its text, and the keys to press.
func (x *Lessons) Lines(w int) []string {
	t, l := x.Theme, x.Lesson
	title := t.TitleFocus.On(t.Glyphs.Cursor + "LESSON " + x.Spelled(l.Title))
	note := t.Dim.On(fmt.Sprintf("step %d of %d", l.At+1, len(l.Steps)))
	out := []string{t.Fit(t.RuleTitle(title, note, w), w)}
	out = append(out, x.Text(w-2)...)
	for i := 1; i < len(out); i++ {
		out[i] = t.Fit(" "+out[i], w)
	}
	return append(out, t.Fit(" "+x.KeyHints(w-2), w))
}

// Text is what the step says, asks or reveals.
func (x *Lessons) Text(w int) []string {
	t, l := x.Theme, x.Lesson
	s := l.Step()
	var out []string
	say := func(paint theme.Ink, text string) {
		for _, line := range theme.Wrap(x.Spelled(text), w) {
			out = append(out, paint.On(line))
		}
	}
	if s.Say != "" {
		say(t.Text, s.Say)
	}
	if l.refused != "" {
		say(t.Bad, t.Glyphs.Cross+" "+l.refused)
	}
	if s.Ask != "" && l.Part == Reading {
		say(t.Bold, s.Ask)
	}
	if l.Part == Awaiting {
		say(t.Warn, x.waitText())
	}
	if r := s.Reveal; r != nil {
		from, to := l.kept[r.From], l.kept[r.To]
		text, paint, mark := r.Unsure, t.Warn, "?"
		if r.Zero != "" && from.value == 0 && to.value == 0 {
			text = r.Zero
		}
		switch judge(*r, from, to) {
		case held:
			text, paint, mark = r.Held, t.Good, t.Glyphs.Check
		case didNotHold:
			text, paint, mark = r.Failed, t.Accent, t.Glyphs.Cross
		}
		prediction := ""
		if l.answer != "" {
			prediction = " You said: " + l.answer + "."
		}
		say(paint, mark+" "+x.filled(text)+prediction)
		say(t.Dim, r.Paper)
	}
	return out
}

// filled inserts the kept numbers where a text names them.
func (x *Lessons) filled(text string) string {
	for name, v := range x.Lesson.kept {
		shown := format.Number(v.value)
		if v.err > 0 && !math.IsInf(v.err, 1) {
			shown += " (standard error " + format.Number(v.err) + ")"
		}
		text = strings.ReplaceAll(text, "{"+name+"}", shown)
	}
	return text
}

// waitText says what the lesson waits for.
func (x *Lessons) waitText() string {
	w := x.Lesson.Step().Wait
	if w == nil {
		return ""
	}
	done, of := x.awaited()
	what := map[string]string{"evaluated": "evaluations", "generated": "generations", "previewed": "previews", "in_force": "changes in force", "forked": "forks", "grounded": "answers of G",
		"collecting": "env steps", "scoring": "scorings", "fitting": "fits", "generating": "generations"}[w.For]
	text := fmt.Sprintf("%d of %d %s", done, of, what)
	if of == 1 {
		text = "waiting for the next " + strings.TrimSuffix(what, "s")
	}
	switch {
	case w.For == "forked": // children go on training while the run is paused or over
		text = "waiting for a fork: press f"
		if done, of := x.forks.Under(); of > 0 {
			text = fmt.Sprintf("%d of %d forks are trained; 0 shows them", done, of)
		}
	case w.For == "grounded" && x.Snap.Ground != nil:
		text = fmt.Sprintf("%d of %d episodes", x.Snap.Ground.Episodes, x.Snap.Ground.Of)
	case w.For == "grounded" && !x.Ended():
		text = "press G"
	case x.Ended():
		text = "the run has ended before " + text + ": esc leaves"
	case x.Paused():
		text += ", but the run is paused: space goes on"
	case w.For == "previewed":
		text = x.PreviewText()
	case w.For == "generated" && x.Remaking():
		text += ", which is being made"
	case w.For == "generated" && x.Snap.NextRefit > 0:
		text += ", in " + format.Count(x.Snap.NextRefit) + " steps"
	}
	return text
}

// KeyHints says which keys to press.
func (x *Lessons) KeyHints(w int) string {
	t, l := x.Theme, x.Lesson
	s := l.Step()
	hint := func(key, does string) string { return t.Key.On(key) + " " + t.Dim.On(does) }
	var hints []string
	switch {
	case l.Part == Reading && s.Ask != "":
		for i, a := range s.Answers {
			hints = append(hints, hint(fmt.Sprint(i+1), a))
		}
	case l.Part == Reading && len(s.Set) > 0:
		hints = append(hints, hint("enter", "set "+strings.Join(s.Set, ", ")))
	case l.Part == Reading && s.Stage != "":
		hints = append(hints, hint("enter", "stage "+s.Stage))
	case l.Part == Reading && s.Restore && !x.Ended():
		hints = append(hints, hint("enter", "put the knobs back"))
	case l.Part == Awaiting && s.Wait != nil && s.Wait.For == "forked" && len(x.Staged) > 0:
		hints = append(hints, hint("f", "fork with "+s.Stage+" and without"))
	case l.Part == Awaiting && s.Wait != nil && s.Wait.For == "grounded" && x.Snap.Ground == nil:
		hints = append(hints, hint("G", "64 single updates, an episode after each"))
	case l.Part != Awaiting && l.At+1 == len(l.Steps):
		hints = append(hints, hint("enter", "end of the lesson"))
	case l.Part != Awaiting:
		hints = append(hints, hint("enter", "go on"))
	}
	return theme.Join(w, "   ", append(hints, hint("esc", "leave the lesson"))...)
}
