package steer

import (
	"fmt"
	"math"
	"strings"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// measures are what is shown of each value of a strip.
var measures = []struct {
	name, short string // in the table, and in a sentence; "": only in the table
	of          func(event.Dose) float64
	write       func(float64) string
}{
	{"F median", "F median", func(d event.Dose) float64 { return d.Median }, format.Number},
	{"F p90", "", func(d event.Dose) float64 { return d.Q90 }, format.Number},
	{"outside", "outside", func(d event.Dose) float64 { return d.Outside }, format.Percent},
	{"error s'", "error of s'", func(d event.Dose) float64 { return d.State }, format.Number},
	{"error r", "of r", func(d event.Dose) float64 { return d.Reward }, format.Number},
}

// dosesText says what the staged value makes beside the one in force, in a sentence.
func (s *Steering) dosesText(a *event.Previewed) (found []string) {
	asked, known := a.Dose(a.Value)
	if !known {
		return nil
	}
	now, compares := a.Dose(s.Effective(a.Knob).String())
	var all []string
	for _, m := range measures {
		v := m.of(asked)
		if math.IsNaN(v) || m.short == "" {
			continue
		}
		text := m.short + " "
		if was := m.write(m.of(now)); compares && was != m.write(v) {
			text += was + " " + s.Theme.Glyphs.Arrow + " "
		}
		all = append(all, text+m.write(v))
	}
	return []string{strings.TrimPrefix(fmt.Sprintf("%s (%d rows)", strings.Join(all, ", "), asked.Rows), " ")}
}

// The widths of a strip's columns.
const stripLabel, stripColumn = 10, 9

// stripValues is the number of values of a strip that is whole.
const stripValues = 5

// Strip is the table of the values that the answer is about, the staged one and the one in force marked;
// nil: there is no answer, it is about one value, or w is too narrow.
func (s *Steering) Strip(w int) (out []string) {
	a := s.Answered()
	if a == nil || a.Err != "" || len(a.Doses) < 2 && !a.More {
		return nil
	}
	t, room := s.Theme, min(stripColumn, (w-stripLabel)/stripValues)
	if room < stripColumn-2 {
		return nil
	}
	k, err := s.FindKnob(a.Knob)
	if err != nil {
		return nil
	}
	head := t.Fit(pane.Symbol(k), stripLabel)
	for _, d := range a.Doses {
		switch d.Value {
		case a.Value:
			head += t.Staged.On(right(t.Glyphs.Cursor+d.Value, room))
		case s.Effective(a.Knob).String():
			head += t.BarFull.On(right(t.Glyphs.Dot+d.Value, room))
		default:
			head += right(d.Value, room)
		}
	}
	out = append(out, head)
	for _, m := range measures {
		line, any := t.Dim.On(t.Fit(t.Spelled(m.name), stripLabel)), false
		for _, d := range a.Doses {
			v := m.of(d)
			any = any || !math.IsNaN(v)
			cell := right(m.write(v), room)
			if d.Value == a.Value {
				cell = t.Staged.On(cell)
			}
			line += cell
		}
		if any {
			out = append(out, line)
		}
	}
	about := fmt.Sprintf("%d rows each, from the same noise", a.Doses[0].Rows)
	if a.Seconds >= 0.1 && !a.More {
		about += fmt.Sprintf(", %.1f s", a.Seconds)
	}
	return append(out, t.Dim.On(theme.Longest([]string{about, about + "; what the return does: f"}, w)))
}

// right puts text at the right end of w columns.
func right(text string, w int) string {
	return strings.Repeat(" ", max(0, w-theme.Width(text))) + text
}
