package chart

import "math"

// Fan is the spread of two kinds of runs from one place on, as areas around their means. Without an
// area there is only the line.
type Fan struct{ With, Without Arm }

// Arm is one kind of runs, ascending in X, and single measurements in any order.
type Arm struct{ Low, Mid, High, Dots []Point }

// fanDots are the dots of a fan's measurements, without the change and with it.
var fanDots = [2]int{1, 4}

// arms are the kinds, those without the change first.
func (f Fan) arms() [2]Arm { return [2]Arm{f.Without, f.With} }

// points are all points of a fan.
func (f Fan) points() (all []Point) {
	for _, a := range f.arms() {
		all = append(append(append(append(all, a.Low...), a.Mid...), a.High...), a.Dots...)
	}
	return all
}

// logarithm is the fan on a logarithmic axis.
func (f Fan) logarithm() Fan {
	of := func(a Arm) Arm {
		return Arm{logarithms(a.Low), logarithms(a.Mid), logarithms(a.High), logarithms(a.Dots)}
	}
	return Fan{With: of(f.With), Without: of(f.Without)}
}

// drawFan draws the areas, darker where both are, and the means over them.
func (c *Chart) drawFan(to *canvas, l layout, s scale, x0, x1 float64) {
	covered := map[[2]int]int{} // by cell: a bit for each kind
	for kind, arm := range c.Fan.arms() {
		low, high := fill(Decimate(arm.Low, x0, x1, l.width)), fill(Decimate(arm.High, x0, x1, l.width))
		for x := range low {
			if math.IsNaN(low[x]) || math.IsNaN(high[x]) {
				continue
			}
			for row := s.clip(low[x]); row <= s.clip(high[x]); row++ {
				covered[[2]int{l.left + x, l.height - 1 - row}] |= 1 << kind
			}
		}
	}
	for at, kinds := range covered {
		to.set(at[0], at[1], c.Glyphs.fan[kinds-1], Role{Kind: FanArea, Series: kinds - 1})
	}
	for kind, arm := range c.Fan.arms() {
		for x, v := range fill(Decimate(arm.Mid, x0, x1, l.width)) {
			if !math.IsNaN(v) {
				to.set(l.left+x, l.height-1-s.clip(v), c.Glyphs.mean[kind], Role{Kind: FanMean, Series: kind})
			}
		}
		for _, p := range arm.Dots {
			if finite(p.X) && finite(p.Y) && p.X >= x0 && p.X <= x1 {
				to.set(l.left+columnOf(p.X, x0, x1, l.width), l.height-1-s.clip(p.Y), c.Glyphs.dots[fanDots[kind]], Role{Kind: FanMean, Series: kind})
			}
		}
	}
}

// fill are the values of columns, with straight lines over columns without a point between two that
// have one.
func fill(columns []Column) []float64 {
	out, last := make([]float64, len(columns)), -1
	for x, col := range columns {
		out[x] = math.NaN()
		if col.N == 0 || math.IsNaN(col.Value) {
			continue
		}
		out[x] = col.Value
		for gap := last + 1; last >= 0 && gap < x; gap++ {
			out[gap] = out[last] + (col.Value-out[last])*float64(gap-last)/float64(x-last)
		}
		last = x
	}
	return out
}
