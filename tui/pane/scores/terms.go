package scores

import (
	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// termLines are the terms of a formula, a line each: of what is staged their histograms, each over bins
// of its own, else what they were at the last evaluation. The widest term decides which rows are relevant.
func (v *Pane) termLines(w int) []string {
	t := v.Theme
	var out []string
	line := func(bars, term string, q10, median, q90 float64) {
		left := t.Dim.On(t.Fit("term", labelWidth)) + " " + bars
		most, least := t.Dim.On(" med ")+format.Number(median)+t.Dim.On(" p90 ")+format.Number(q90), " "+format.Number(median)
		if w >= labelWidth+1+event.Bins+3*quantileWidth+theme.Width(term) {
			most = t.Dim.On(" p10 ") + format.Number(q10) + most
		}
		room := w - theme.Width(left) - 2
		numbers := theme.Longest([]string{least, most}, max(theme.Width(least), room-min(theme.Width(term), room/2)))
		out = append(out, left+numbers+"  "+t.Dim.On(t.Clip(term, max(0, room-theme.Width(numbers)))))
	}
	if p := v.Previewed(); p != nil {
		for _, term := range p.Terms {
			h := term.Values
			bars := t.Columns(inColumns(h.Counts[:], event.Bins), 1, t.Staged)[0]
			line(bars, term.Term, float64(h.Q10), float64(h.Median), float64(h.Q90))
		}
		return out
	}
	if s := v.History.Scores; s != nil && v.ShowsChosenF() && s.Relevance == v.Effective("relevance").Text {
		for _, term := range s.Terms {
			if len(term.Quantiles) == 3 {
				line("", term.Term, float64(term.Quantiles[0]), float64(term.Quantiles[1]), float64(term.Quantiles[2]))
			}
		}
	}
	return out
}
