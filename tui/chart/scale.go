package chart

import (
	"math"
	"strconv"
	"strings"
)

// scale maps values to rows so that every labelled row stands for a round number.
type scale struct {
	low   float64 // value of the lowest row
	row   float64 // difference in value between two rows
	every int     // rows between two labels
	step  float64 // difference in value between two labels
	rows  int
}

// newScale covers [lo, hi] with the given number of rows. Among the round label steps and label
// distances that cover the range it takes the pair that wastes least.
func newScale(lo, hi float64, rows int) scale {
	lo, hi = widen(lo, hi)
	if rows < 2 {
		return scale{low: (lo + hi) / 2, row: hi - lo, every: 1, step: hi - lo, rows: 1}
	}
	best := plainScale(lo, hi, rows)
	found := false
	for every := 1; every <= 5; every++ {
		labels := 1 + (rows-1)/every
		if labels < 2 || labels > 3 && every == 1 || labels > 9 && every < 5 {
			continue
		}
		if s, ok := roundScale(lo, hi, rows, every); ok && (!found || s.row < best.row*0.98) {
			best, found = s, true
		}
	}
	if plain := plainScale(lo, hi, rows); rows < 8 && best.row > 1.5*plain.row {
		return plain
	}
	return best
}

// plainScale runs from lo to hi and labels both ends; it is for plots of few rows, whose round
// labels would not cover a range around zero.
func plainScale(lo, hi float64, rows int) scale {
	return scale{
		low: lo, row: (hi - lo) / float64(rows-1), rows: rows,
		every: rows - 1, step: math.Pow(10, math.Floor(math.Log10(hi-lo))-1),
	}
}

// tiniest is the smallest span of an axis; narrower spans would make the steps underflow.
const tiniest = 1e-250

// widen makes an empty or too narrow range drawable.
func widen(lo, hi float64) (float64, float64) {
	size := math.Max(math.Abs(lo), math.Abs(hi))
	if hi-lo > size*1e-6 && hi-lo > tiniest {
		return lo, hi
	}
	pad := size * 0.05
	if pad < tiniest {
		pad = 0.5
	}
	return lo - pad, hi + pad
}

var roundSteps = []float64{1, 2, 2.5, 5}

// nearest is how far, in rows, a value may lie outside the first or last row and still be rounded
// onto it.
const nearest = 0.49

// roundScale takes the smallest round label step whose rows reach from a multiple of the step at or
// below lo to hi; false if no step does.
func roundScale(lo, hi float64, rows, every int) (scale, bool) {
	exp := math.Floor(math.Log10((hi-lo)/float64(rows))) - 1
	for end := exp + 5; exp < end; exp++ {
		for _, m := range roundSteps {
			step := m * math.Pow(10, exp)
			row := step / float64(every)
			low := math.Floor((lo+nearest*row)/step) * step
			if low+row*(float64(rows-1)+nearest) >= hi {
				return scale{low: low, row: row, every: every, step: step, rows: rows}, true
			}
		}
	}
	return scale{}, false
}

// rowOf is the row of v counted from the lowest; it may lie outside [0, rows).
func (s scale) rowOf(v float64) float64 { return (v - s.low) / s.row }

// labels gives each row's label, lowest row first; "" for rows without one.
func (s scale) labels(format func(v, step float64) string) []string {
	out := make([]string, s.rows)
	for i := 0; i < s.rows; i += s.every {
		out[i] = format(s.low+float64(i)*s.row, s.step)
	}
	return out
}

// FormatValue writes v with as many decimals as a label step needs; from 100,000 on with the
// suffixes k, M, G.
func FormatValue(v, step float64) string {
	if math.Abs(v) < step*1e-6 {
		v = 0
	}
	switch size := math.Max(math.Abs(v), step); {
	case size >= 1e13:
		return strconv.FormatFloat(v, 'e', 1, 64)
	case size >= 1e5:
		return FormatCount(v)
	}
	decimals := 0
	for s := step; decimals < 9 && math.Abs(s-math.Round(s)) > 1e-6*s; s *= 10 {
		decimals++
	}
	if decimals > 4 {
		digits := 1
		if v != 0 {
			digits = max(1, decimals+int(math.Floor(math.Log10(math.Abs(v)))))
		}
		return strconv.FormatFloat(v, 'e', digits, 64)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// FormatCount writes a number of steps or samples in short form: 950, 12.5k, 1M.
func FormatCount(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= u.size {
			return trimZeros(strconv.FormatFloat(v/u.size, 'f', 2, 64)) + u.name
		}
	}
	return trimZeros(strconv.FormatFloat(v, 'f', 2, 64))
}

// FormatPlace writes a place on an axis: as FormatCount, with all digits of a whole number.
func FormatPlace(v float64) string {
	size, name := 1.0, ""
	switch {
	case v != math.Round(v) || math.Abs(v) < 1e3 || math.Abs(v) >= 1e15:
		return FormatCount(v)
	case math.Abs(v) >= 1e9:
		size, name = 1e9, "G"
	case math.Abs(v) >= 1e6:
		size, name = 1e6, "M"
	default:
		size, name = 1e3, "k"
	}
	return strconv.FormatFloat(v/size, 'f', -1, 64) + name
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// roundTicks are the multiples of a round number in [lo, hi], at most most of them.
func roundTicks(lo, hi float64, most int) []float64 {
	if most < 1 || !(hi > lo) {
		return []float64{lo}
	}
	exp := math.Floor(math.Log10((hi-lo)/float64(most))) - 1
	for end := exp + 5; exp < end; exp++ {
		for _, m := range []float64{1, 2, 5} {
			step := m * math.Pow(10, exp)
			first := math.Ceil(lo/step - 1e-9)
			if n := math.Floor(hi/step+1e-9) - first + 1; n <= float64(most) {
				out := make([]float64, 0, max(0, int(n)))
				for i := 0.0; i < n; i++ {
					out = append(out, (first+i)*step)
				}
				return out
			}
		}
	}
	return []float64{lo}
}
