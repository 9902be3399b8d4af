package theme

import (
	"math"
	"strings"

	"pgrlab/tui/format"
)

// Bar draws a fraction in w columns, in eighths of a column where the glyphs allow.
func (t *Theme) Bar(fraction float64, w int) string {
	if w < 3 {
		return ""
	}
	if !(fraction > 0) {
		fraction = 0
	}
	inner := w - 2
	steps := len(t.Glyphs.parts) + 1
	n := min(inner*steps, int(fraction*float64(inner*steps)))
	full := strings.Repeat(t.Glyphs.Full, n/steps)
	if part := n % steps; part > 0 {
		full += t.Glyphs.parts[part-1]
	}
	rest := strings.Repeat(t.Glyphs.Rest, inner-(n+steps-1)/steps)
	return t.Faint.On(t.Glyphs.barLeft) + t.BarFull.On(full) + t.barRest.On(rest) + t.Faint.On(t.Glyphs.barRight)
}

// Columns draws values as bars, rows high and one column each, scaled to the largest; the topmost
// row comes first. Values that are not finite or not positive are blank.
func (t *Theme) Columns(values []float64, rows int, colour Ink) []string {
	highest := 0.0
	for _, v := range values {
		if !math.IsInf(v, 0) {
			highest = math.Max(highest, v)
		}
	}
	levels := len(t.Glyphs.Blocks)
	out := make([]string, rows)
	for r := range rows {
		var b strings.Builder
		for _, v := range values {
			height := 0
			if highest > 0 && v > 0 && !math.IsInf(v, 0) {
				height = max(1, int(math.Round(v/highest*float64(rows*levels))))
			}
			switch above := height - (rows-1-r)*levels; {
			case above <= 0:
				b.WriteByte(' ')
			case above >= levels:
				b.WriteString(t.Glyphs.Blocks[levels-1])
			default:
				b.WriteString(t.Glyphs.Blocks[above-1])
			}
		}
		out[r] = colour.On(b.String())
	}
	return out
}

// Trend is a sparkline in at most w columns, followed by the range of its values if there is room.
func (t *Theme) Trend(values []float64, w int) string {
	const fewest = 4 // columns needed to show a trend
	for n := min(len(values), w); n >= min(fewest, len(values)); n-- {
		lo, hi := rangeOf(values[len(values)-n:])
		text := " " + format.Number(lo) + ".." + format.Number(hi)
		if lo > hi {
			text = ""
		}
		if n+Width(text) <= w {
			return t.sparkline(values, n) + text
		}
	}
	return t.sparkline(values, w)
}

// rangeOf is the smallest and the largest finite value; lo > hi if there is none.
func rangeOf(values []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	return lo, hi
}

// minSpan is the smallest range that the height of a sparkline stands for, as a share of the
// largest magnitude in it: a change of a few per cent must not look like a jump from nothing to
// all.
const minSpan = 0.5

// sparkline draws the last w values between their smallest and largest, or in the middle of the
// range given by minSpan.
func (t *Theme) sparkline(values []float64, w int) string {
	if len(values) > w {
		values = values[len(values)-max(0, w):]
	}
	lo, hi := rangeOf(values)
	if span := minSpan * math.Max(math.Abs(lo), math.Abs(hi)); hi-lo < span {
		middle := lo/2 + hi/2
		lo, hi = middle-span/2, middle+span/2
	}
	return t.SparklineIn(values, lo, hi)
}

// SparklineIn draws values between lo and hi; gaps stay blank.
func (t *Theme) SparklineIn(values []float64, lo, hi float64) string {
	var b strings.Builder
	levels := len(t.Glyphs.Blocks)
	for _, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			b.WriteByte(' ')
		case !(hi > lo):
			b.WriteString(t.Glyphs.Blocks[levels/2])
		default:
			b.WriteString(t.Glyphs.Blocks[max(0, min(levels-1, int((v/(hi-lo)-lo/(hi-lo))*float64(levels))))])
		}
	}
	return b.String()
}
