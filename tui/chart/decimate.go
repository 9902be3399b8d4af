package chart

import "math"

// extreme is the largest magnitude that counts as a number. Spans of an axis overflow beyond it, so
// larger values are gaps like NaN and ±Inf.
const extreme = 1e300

// Point is one measurement at horizontal position X. A Y that is NaN, infinite or of magnitude
// above 1e300 is a gap: the line stops before it and starts again after it.
type Point struct{ X, Y float64 }

func finite(v float64) bool { return math.Abs(v) <= extreme }

// Column is what one column of a plot shows.
type Column struct {
	N             int     // points that fall into the column
	Min, Max      float64 // the range of those points; NaN when N = 0
	Value         float64 // where the line passes: the mean of the points, or when N = 0 the interpolation between the neighbours; NaN in a gap
	first, second float64 // first and last value of the column, for the interpolation
	broken        bool    // a gap follows the last value of the column
}

// Decimate reduces points, ascending in X, to exactly the given number of columns over [x0, x1].
// Every point is counted, so the smallest and the largest value survive in Min and Max of their
// columns. Columns between two neighbouring points are interpolated linearly unless there is a gap
// between the points. Points outside [x0, x1] are ignored. The result is empty when columns < 1.
func Decimate(points []Point, x0, x1 float64, columns int) []Column {
	if columns < 1 {
		return nil
	}
	out := make([]Column, columns)
	for i := range out {
		out[i] = Column{Min: math.NaN(), Max: math.NaN(), Value: math.NaN()}
	}
	last := -1 // the column of the last point
	for _, p := range points {
		if !finite(p.X) || p.X < x0 || p.X > x1 {
			continue
		}
		if !finite(p.Y) {
			if last >= 0 {
				out[last].broken = true
			}
			continue
		}
		at := columnOf(p.X, x0, x1, columns)
		if at < last {
			at = last
		}
		out[at].add(p.Y)
		last = at
	}
	interpolate(out)
	return out
}

// add counts one value; Value is kept as a running mean, which cannot overflow.
func (c *Column) add(y float64) {
	if c.N == 0 {
		c.Min, c.Max, c.Value, c.first = y, y, y, y
	}
	c.N++
	c.Min, c.Max = math.Min(c.Min, y), math.Max(c.Max, y)
	c.Value += (y - c.Value) / float64(c.N)
	c.second = y
	c.broken = false
}

func interpolate(out []Column) {
	from := -1
	for to := range out {
		if out[to].N == 0 {
			continue
		}
		if from >= 0 && !out[from].broken {
			a, b := out[from].second, out[to].first
			for i := from + 1; i < to; i++ {
				t := float64(i-from) / float64(to-from)
				out[i].Value = a*(1-t) + b*t
			}
		}
		from = to
	}
}

// columnOf is the column of x in [x0, x1].
func columnOf(x, x0, x1 float64, columns int) int {
	if !(x1 > x0) {
		return 0
	}
	return min(columns-1, max(0, int(math.Round((x-x0)/(x1-x0)*float64(columns-1)))))
}
