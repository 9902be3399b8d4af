package tui

import (
	"fmt"
	"math"
	"strings"

	"pgrlab/tui/chart"
)

// chartTitle names the quantity and, where there is room, how it is drawn.
func (m *charts) chartTitle(p paneID, w int) string {
	q := m.shown(p)
	title := m.spelled(q.title)
	if q.id == "dormant" && len(m.history.dormant) > 0 && w >= 64 {
		title += fmt.Sprintf(" policy τ=%g", m.history.dormant[len(m.history.dormant)-1].tau)
	} else if q.about != "" && w >= 64 {
		title += " " + q.about
	}
	if m.smooth > 0 { // the line is not what was measured: that is said at any width
		title += fmt.Sprintf(" smoothed %g", smoothSteps[m.smooth])
	}
	var how []string
	if m.axis != axisSteps {
		how = append(how, "x: "+m.axis.String())
	}
	if m.log[q.id] {
		how = append(how, "log")
	}
	if m.window.zoomed && w >= 60 {
		how = append(how, "zoomed")
	}
	if len(how) > 0 && w >= 46 {
		title += " (" + strings.Join(how, ", ") + ")"
	}
	return title
}

// chartNote is the legend, as long as the border allows.
func (m *charts) chartNote(p paneID, w int) string {
	q := m.shown(p)
	if m.empty(q) {
		return ""
	}
	if q.id == "return" {
		return m.returnNote(q, w)
	}
	t := m.theme
	at, where := m.readAt()
	var long, short []string
	for i, l := range q.lines {
		s, ok := m.valueAt(&m.history, l.curve, at)
		if !ok {
			continue
		}
		mark := m.sample(lookOfLine(i)) + t.series[lookOfLine(i)].on(" "+m.spelled(l.label))
		value := number(s.y)
		if q.id == "dormant" {
			value = fmt.Sprintf("%.3f", s.y)
		}
		long = append(long, mark+" "+t.bold.on(value))
		if i == 0 {
			short = append(short, mark+" "+t.bold.on(value))
		}
	}
	letters := m.comparedNote(q, at, 0)
	var notes []string
	for _, all := range [][]string{append(long[:len(long):len(long)], m.comparedNote(q, at, noteName)...), append(long, letters...)} {
		notes = append(notes, where+strings.Join(all, "   "), where+strings.Join(all, " "), strings.Join(all, " "))
	}
	return firstFitting(append(notes, strings.Join(append(short[:len(short):len(short)], letters...), " "), strings.Join(short, " ")), w)
}

// noteName is the most columns of a run's name in a legend.
const noteName = 20

// sample is a piece of a line as the charts draw it; of a smoothed one, whose values
// are not those of the legend, a dot.
func (m *charts) sample(look int) string {
	t := m.theme
	draw := chart.Line
	if m.smooth > 0 {
		draw = chart.Dots
	}
	return t.series[look%len(t.series)].on(t.chart.Sample(look, draw))
}

// comparedNote is the value of each compared run, with its label and its name in so
// many columns.
func (m *charts) comparedNote(q quantity, at, name int) []string {
	t := m.theme
	var out []string
	for i, other := range m.others {
		if s, ok := m.valueAt(&other.history, q.lines[0].curve, at); ok {
			look := m.lookOf(i) % len(t.series)
			called := " " + m.runLabel(i+1)
			if name > 0 {
				called += " " + t.middle(other.name, name)
			}
			out = append(out, m.sample(look)+t.series[look].on(called)+" "+number(s.y))
		}
	}
	return out
}

// readAt is the step whose values the legends show, and what they say of it.
func (m *charts) readAt() (step int, where string) {
	if !m.cursorOn {
		return math.MaxInt, ""
	}
	return m.cursor, m.theme.dim.on("step ") + count(m.cursor) + "  "
}

func (m *charts) valueAt(h *history, name curveName, step int) (sample, bool) {
	return h.curve(name, 0).at(step)
}

// returnNote says what the dots and the ± are, in words where there is room.
func (m *charts) returnNote(q quantity, w int) string {
	h, t := &m.history, m.theme
	at, where := m.readAt()
	e, found := evaluation{}, false
	for _, v := range h.evaluations {
		if v.step <= at && v.member == 0 {
			e, found = v, true
		}
	}
	if !found {
		return where
	}
	dot := t.series[0].on(t.chart.Sample(0, chart.Dots))
	if label := m.runLabel(0); label != "" {
		dot += t.series[0].on(" " + label)
	}
	mean, std := spreadOf(e.mean, e.std)
	pm := " " + t.glyphs.plusMinus + " "
	value := t.bold.on(mean) + pm + std
	words := t.dim.on(fmt.Sprintf(" mean %s std of %d episodes", t.glyphs.plusMinus, e.episodes))
	others := func(name int) string {
		text := ""
		for _, o := range m.comparedNote(q, at, name) {
			text += "  " + o
		}
		return text
	}
	var notes []string
	for _, tail := range []string{others(noteName) + m.referenceNote(2), others(noteName) + m.referenceNote(1), others(noteName), others(0)} {
		few := t.dim.on(fmt.Sprintf(" %d episodes ", e.episodes))
		for _, head := range []string{dot + words + " " + value, dot + few + value, dot + " " + value} {
			notes = append(notes, where+head+tail)
		}
	}
	notes = append(notes, dot+" "+value, value)
	return firstFitting(notes, w)
}

// referenceNote is up to so many published values, the one that compares best first,
// with their steps.
func (m *charts) referenceNote(most int) string {
	t := m.theme
	out := ""
	for i, r := range m.about.References {
		if i == most {
			break
		}
		mean, std := spreadOf(r.Mean, r.Std)
		text := fmt.Sprintf("%s %s %s %s at %s", r.Source, mean, t.glyphs.plusMinus, std, chart.FormatCount(float64(r.Step)))
		if r.OtherScale {
			out += "  " + t.dim.on(text+", other scale")
		} else {
			out += "  " + t.reference.on(text)
		}
	}
	return out
}
