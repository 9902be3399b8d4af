package scores

import (
	"math"
	"slices"
	"strings"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/theme"
)

// spanNumbers is the room for the numbers after a span, such as " med 5.3e-4 p90 0.0015".
const spanNumbers = 24

// span is the part of a distribution of F that a journal keeps.
type span struct {
	name             string
	q10, median, q90 float64
	colour           theme.Ink
}

// spans are those of the real transitions, of the F requested by the last prompts, and of the F of
// the resulting rows.
func (v *Pane) spans() []span {
	t, h := v.Theme, v.History
	var out []span
	low, known := h.Main(history.CurveF10).Last()
	if median, ok := h.Main(history.CurveF50).Last(); ok && known {
		high, _ := h.Main(history.CurveF90).Last()
		out = append(out, span{"real", low.Y, median.Y, high.Y, t.Real})
	}
	add := func(name string, q *event.Quantiles, colour theme.Ink) {
		if q != nil {
			out = append(out, span{name, float64(q.Q10), float64(q.Median), float64(q.Q90), colour})
		}
	}
	if g := h.Generated; g != nil && len(out) > 0 {
		add("asked", g.Asked, t.Reference)
		add("D_syn", g.Achieved, t.Synthetic)
	}
	return out
}

// spanLines draws each span from its 10th to its 90th percentile with a mark at the median, over
// one axis, which stands below if there is a line for it.
func (v *Pane) spanLines(all []span, w, h int) []string {
	t := v.Theme
	if len(all) > h { // the result matters more than the request
		all = slices.DeleteFunc(all, func(s span) bool { return s.name == "asked" })
	}
	across := min(2*event.Bins, w-labelWidth-1-spanNumbers)
	on := axisOf(all)
	var out []string
	for _, s := range all[:min(len(all), h)] {
		numbers := theme.Longest([]string{
			t.Dim.On(" med ") + format.Number(s.median) + t.Dim.On(" p90 ") + format.Number(s.q90),
			t.Dim.On(" med ") + format.Number(s.median),
			" " + format.Number(s.median),
		}, w-labelWidth-1-max(0, across))
		line := s.colour.On(t.Fit(s.name, labelWidth)) + " "
		if across >= event.Bins/2 {
			line += v.spanIn(s, on, across)
		}
		out = append(out, t.Clip(line+numbers, w))
	}
	if across >= event.Bins/2 && len(out) < h {
		lo, hi := format.Number(on.low), format.Number(on.high)
		text := lo + strings.Repeat(" ", max(1, across-theme.Width(lo)-theme.Width(hi))) + hi
		if on.log {
			text = theme.Longest([]string{text, text + "  log"}, w-labelWidth-1)
		}
		out = append(out, t.Fit("", labelWidth+1)+t.Dim.On(t.Clip(text, w-labelWidth-1)))
	}
	return out
}

// axis is the range over which the spans are drawn.
type axis struct {
	low, high float64
	log       bool
}

// axisOf reaches from the lowest 10th percentile to the highest 90th; it is logarithmic if all
// values are above 0.
func axisOf(all []span) axis {
	a := axis{math.Inf(1), math.Inf(-1), true}
	for _, s := range all {
		a.low, a.high = min(a.low, s.q10), max(a.high, s.q90)
		a.log = a.log && s.q10 > 0
	}
	return a
}

// column is the column of a value among w columns.
func (a axis) column(value float64, w int) int {
	lo, hi := a.low, a.high
	if a.log {
		lo, hi, value = math.Log(lo), math.Log(hi), math.Log(value)
	}
	at := (value - lo) / (hi - lo) * float64(w-1)
	if !(at >= 0) { // no spread, or not a number
		return 0
	}
	return min(w-1, int(math.Round(at)))
}

func (v *Pane) spanIn(s span, on axis, w int) string {
	g := v.Theme.Glyphs
	from, median, to := on.column(s.q10, w), on.column(s.median, w), on.column(s.q90, w)
	var b strings.Builder
	for i := range w {
		switch {
		case i == median:
			b.WriteString(g.Dot)
		case i >= from && i <= to:
			b.WriteString(g.Horizontal)
		default:
			b.WriteByte(' ')
		}
	}
	return s.colour.On(b.String())
}
