package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgrlab/tui/chart"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// chartTitle names the quantity and, if there is room, how it is drawn.
func (m *Charts) chartTitle(p pane.ID, w int) string {
	q := m.shown(p)
	title := m.Spelled(q.title)
	if q.ID == "dormant" && len(m.History.Dormant) > 0 && w >= 64 {
		title += fmt.Sprintf(" policy τ=%g", m.History.Dormant[len(m.History.Dormant)-1].Tau)
	} else if q.about != "" && w >= 64 {
		title += " " + q.about
	}
	if m.Smooth > 0 { // the line is not what was measured, so the title says that at any width
		title += fmt.Sprintf(" smoothed %g", SmoothSteps[m.Smooth])
	}
	var how []string
	if m.Axis != AxisSteps {
		how = append(how, "x: "+m.Axis.String())
	}
	if n := m.About.Config.Frames(1); m.About.Config.Sees() && m.Axis == AxisSteps && n > 1 && w >= 80 {
		how = append(how, fmt.Sprintf("a step is %d frames", n))
	}
	if m.log[q.ID] {
		how = append(how, "log")
	}
	if m.Window.zoomed && w >= 60 {
		how = append(how, "zoomed")
	}
	if len(how) > 0 && w >= 46 {
		title += " (" + strings.Join(how, ", ") + ")"
	}
	return title
}

// chartNote is the legend, as long as the border allows.
func (m *Charts) chartNote(p pane.ID, w int) string {
	q := m.shown(p)
	if m.empty(q) {
		return ""
	}
	if q.ID == "return" {
		return m.returnNote(q, w)
	}
	t := m.Theme
	at, where := m.readAt()
	var long, short, values []string
	for i, l := range q.Lines {
		s, ok := m.valueAt(&m.History, l.curve, at)
		if !ok {
			continue
		}
		mark := m.sample(lookOfLine(i)) + t.Series[lookOfLine(i)].On(" "+m.Spelled(l.Label))
		value := format.Number(s.Y)
		if q.ID == "dormant" {
			value = fmt.Sprintf("%.3f", s.Y)
		}
		values = append(values, value)
		long = append(long, mark+" "+t.Bold.On(value))
		if i == 0 {
			short = append(short, mark+" "+t.Bold.On(value))
		}
	}
	letters := m.comparedNote(q, at, 0)
	var notes []string
	for _, all := range [][]string{append(long[:len(long):len(long)], m.comparedNote(q, at, noteName)...), append(long, letters...)} {
		notes = append(notes, where+strings.Join(all, "   "), where+strings.Join(all, " "), strings.Join(all, " "))
	}
	if len(long) > 1 && len(letters) == 0 && !m.CursorOn {
		notes = append(notes, m.namesNote(q, values[0], w))
	}
	return theme.FirstFitting(append(notes, strings.Join(append(short[:len(short):len(short)], letters...), " "), strings.Join(short, " ")), w)
}

// leastName is the shortest that a name in a legend is cut to.
const leastName = 4

// namesNote names each line that is drawn, for a border with little room: with the value of the first
// one or without; names are cut to w columns, the longest first. If that is not enough, it is wider
// than w.
func (m *Charts) namesNote(q quantity, first string, w int) string {
	t := m.Theme
	var marks, names []string
	width := -1
	for i, l := range q.Lines {
		if _, measured := m.valueAt(&m.History, l.curve, math.MaxInt); !measured {
			continue
		}
		look, draw := lookOfLine(i), chart.Line
		if m.Smooth > 0 || q.dotted(len(m.History.Main(l.curve).Samples)) {
			draw = chart.Dots
		}
		mark := []rune(t.Chart.Sample(look, draw))[0]
		marks, names = append(marks, t.Series[look].On(string(mark))), append(names, m.Spelled(l.Label))
		width += 3 + theme.Width(names[len(names)-1])
	}
	for ; width > w; width-- {
		longest := 0
		for i, name := range names {
			if theme.Width(name) > theme.Width(names[longest]) {
				longest = i
			}
		}
		long := theme.Width(names[longest])
		if long <= leastName {
			break
		}
		names[longest] = string([]rune(names[longest])[:long-2]) + "."
	}
	for i := range names {
		names[i] = marks[i] + " " + names[i]
	}
	if width+1+theme.Width(first) <= w {
		names[0] += " " + t.Bold.On(first)
	}
	return strings.Join(names, " ")
}

// noteName is the maximum width of a run's name in a legend.
const noteName = 20

// sample is a piece of a line as the charts draw it; for a smoothed line, whose values are not
// those of the legend, it is a dot.
func (m *Charts) sample(look int) string {
	t := m.Theme
	draw := chart.Line
	if m.Smooth > 0 {
		draw = chart.Dots
	}
	return t.Series[look%len(t.Series)].On(t.Chart.Sample(look, draw))
}

// comparedNote is the value of each compared run, with the run's label and its name in at most name
// columns.
func (m *Charts) comparedNote(q quantity, at, name int) []string {
	t := m.Theme
	var out []string
	for i, other := range m.Others {
		if s, ok := m.valueAt(&other.History, q.Lines[0].curve, at); ok {
			look := m.LookOf(i) % len(t.Series)
			called := " " + m.RunLabel(i+1)
			if name > 0 {
				called += " " + t.Middle(other.Name, name)
			}
			out = append(out, m.sample(look)+t.Series[look].On(called)+" "+format.Number(s.Y))
		}
	}
	return out
}

// readAt is the step at which the legends read their values, and the text that names it.
func (m *Charts) readAt() (step int, where string) {
	if !m.CursorOn {
		return math.MaxInt, ""
	}
	where = m.Theme.Dim.On("step ") + format.Count(m.Cursor) + "  "
	if c := m.About.Config; c.Sees() {
		where = m.Theme.Dim.On("step ") + format.Count(m.Cursor) + m.Theme.Dim.On(", frame ") + format.Count(c.Frames(m.Cursor)) + "  "
	}
	return m.Cursor, where
}

func (m *Charts) valueAt(h *history.History, name history.CurveName, step int) (history.Sample, bool) {
	return h.Main(name).At(step)
}

// returnNote says what the dots and the ± are, in words if there is room.
func (m *Charts) returnNote(q quantity, w int) string {
	h, t := &m.History, m.Theme
	at, where := m.readAt()
	e, found := history.Evaluation{}, false
	for _, v := range h.Evaluations {
		if v.Step <= at {
			e, found = v, true
		}
	}
	if !found {
		return where
	}
	dot := t.Series[0].On(t.Chart.Sample(0, chart.Dots))
	if label := m.RunLabel(0); label != "" {
		dot += t.Series[0].On(" " + label)
	}
	mean, std := format.SpreadOf(e.Mean, e.Std)
	value := t.Bold.On(mean) + " " + t.Glyphs.PlusMinus + " " + std
	noise := m.noiseNote(e)
	others := func(name int) string {
		text := ""
		for _, o := range m.comparedNote(q, at, name) {
			text += "  " + o
		}
		return text
	}
	over := t.Dim.On(" over " + e.Of())
	unknown := ""
	if text := m.noiseUnknown(e.Step); text != "" {
		unknown = t.Dim.On(" " + t.Glyphs.Separator + " " + text)
	}
	var notes, tails []string
	known := m.About.References
	for _, ghost := range m.ghostNotes(e.Step) {
		tails = append(tails, ghost+m.referenceNote(known, 2), ghost+m.referenceNote(unframed(known), 1), ghost)
	}
	for _, tail := range append(tails, others(noteName)+m.referenceNote(known, 2), others(noteName)+m.referenceNote(known, 1), others(noteName)+m.referenceNote(unframed(known), 1), others(noteName), others(0)) {
		for _, head := range []string{over + noise + unknown, over + noise, noise} {
			notes = append(notes, where+dot+" "+value+head+tail)
		}
	}
	notes = append(notes, where+dot+" "+value, dot+" "+value+noise, dot+" "+value, value)
	return theme.FirstFitting(notes, w)
}

// unframed are references without their steps in frames, which the title of the chart lets one
// work out.
func unframed(all []pane.Reference) []pane.Reference {
	all = slices.Clone(all)
	for i := range all {
		all[i].Frames = 0
	}
	return all
}

// when is the env steps that a result is of.
func when(r pane.Reference) string {
	at := chart.FormatCount(float64(r.Step))
	if r.From > 0 {
		return "over " + chart.FormatCount(float64(r.From)) + " to " + at
	}
	return "at " + at
}

// referenceNote is up to most of all published values with their steps, the most comparable first.
func (m *Charts) referenceNote(all []pane.Reference, most int) string {
	t := m.Theme
	out := ""
	for i, r := range all {
		if i == most {
			break
		}
		mean, std := format.SpreadOf(r.Mean, r.Std)
		text := fmt.Sprintf("%s %s %s %s %s", r.Source, mean, t.Glyphs.PlusMinus, std, when(r))
		if r.Frames > 0 {
			text += fmt.Sprintf(" (%s frames)", chart.FormatCount(float64(r.Frames)))
		}
		switch {
		case r.Where != "":
			out += "  " + t.Dim.On(text+", "+r.Where)
		case r.OtherScale:
			out += "  " + t.Dim.On(text+", other scale")
		default:
			out += "  " + t.Reference.On(text)
		}
	}
	if u := m.About.Untrained; u != nil && most > 1 {
		out += "  " + t.Dim.On("untrained ") + format.Number(*u)
	}
	return out
}
