package charts

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"pgrlab/tui/chart"
	"pgrlab/tui/history"
)

// fan is the spread of the forks in a quantity's first line: mean and deviation of either kind where
// all that live have a value. Forks are placed over env steps alone.
func (m *Charts) fan(q quantity) (f chart.Fan) {
	if m.Fan == nil || m.Axis != AxisSteps {
		return f
	}
	f = chart.Fan{With: arm(m.Fan.With, q.Lines[0].curve), Without: arm(m.Fan.Without, q.Lines[0].curve)}
	if m.Projected {
		f.With, f.Without = m.dotted(f.With, m.Fan.With, q.Lines[0].curve), m.dotted(f.Without, m.Fan.Without, q.Lines[0].curve)
	}
	return f
}

// dotted has a dot for each measurement of forks in place of the area.
func (m *Charts) dotted(a chart.Arm, forks []*history.History, name history.CurveName) chart.Arm {
	a.Low, a.High = nil, nil
	for _, h := range forks {
		a.Dots = append(a.Dots, h.Main(name).Points(m.Place(&m.History))...)
	}
	return a
}

func arm(forks []*history.History, name history.CurveName) (a chart.Arm) {
	values, most := map[int][]float64{}, 0
	for _, h := range forks {
		c := h.Main(name)
		if c == nil {
			continue // it has not begun
		}
		for _, s := range c.Samples {
			if !math.IsNaN(s.Y) {
				values[s.Step] = append(values[s.Step], s.Y)
				most = max(most, len(values[s.Step]))
			}
		}
	}
	for _, step := range slices.Sorted(maps.Keys(values)) {
		if len(values[step]) < most {
			continue // some have not come there: the mean would jump when they do
		}
		mean, deviation := stat.MeanStdDev(values[step], nil)
		x := float64(step)
		a.Mid = append(a.Mid, chart.Point{X: x, Y: mean})
		if !math.IsNaN(deviation) {
			a.Low, a.High = append(a.Low, chart.Point{X: x, Y: mean - deviation}), append(a.High, chart.Point{X: x, Y: mean + deviation})
		}
	}
	return a
}
