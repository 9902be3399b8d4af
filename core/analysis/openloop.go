package analysis

import (
	"math"
	"slices"
)

// OpenLoop is how far what a model predicts lies from what followed.
type OpenLoop struct {
	Horizon []int     // steps without an observation: 1, 2, 4, …, and the last one
	Error   []float64 // by horizon: root mean square error in deviations of each group of numbers, mean over the groups that vary
	Held    []float64 // the same of the last observation, taken for all that follow
	Each    []float64 // by group: the error at all horizons together; NaN if it does not vary
}

// Horizons are the numbers of steps after context ones, of steps, at which an OpenLoop measures: 1, 2, 4, …, and
// the last one.
func Horizons(steps, context int) (all []int) {
	for h := 1; context+h <= steps; h *= 2 {
		all = append(all, h)
	}
	if last := steps - context; len(all) > 0 && all[len(all)-1] != last {
		all = append(all, last)
	}
	return all
}

// MeasureOpenLoop compares predicted with real numbers, both [rows,steps,groups,alike], of which the first context
// steps were seen. The alike numbers of a group, such as the colours of a frame, have one deviation: that of all
// rows and steps from the mean of each number.
func MeasureOpenLoop[N float32 | uint8](real, predicted []N, rows, steps, context, alike int) OpenLoop {
	width := len(real) / rows / steps
	m := OpenLoop{Horizon: Horizons(steps, context), Each: make([]float64, width/alike)}
	deviation := deviations(real, width, alike)
	frame := func(of []N, row, step, group int) []N { return of[(row*steps+step)*width+group*alike:][:alike] }
	for _, h := range m.Horizon {
		of, held, n := 0.0, 0.0, 0
		for group, d := range deviation {
			if d == 0 {
				continue
			}
			squares, before := 0.0, 0.0
			for row := range rows {
				want := frame(real, row, context+h-1, group)
				squares += apart(frame(predicted, row, context+h-1, group), want)
				before += apart(frame(real, row, context-1, group), want)
			}
			count := float64(rows * alike)
			of, held, n = of+math.Sqrt(squares/count)/d, held+math.Sqrt(before/count)/d, n+1
		}
		m.Error, m.Held = append(m.Error, of/float64(n)), append(m.Held, held/float64(n))
	}
	for group, d := range deviation {
		squares, n := 0.0, 0
		for row := range rows {
			for step := context; step < steps; step++ {
				squares, n = squares+apart(frame(predicted, row, step, group), frame(real, row, step, group)), n+alike
			}
		}
		if m.Each[group] = math.NaN(); d > 0 {
			m.Each[group] = math.Sqrt(squares/float64(n)) / d
		}
	}
	return m
}

// apart is the sum of the squared differences of some numbers.
func apart[N float32 | uint8](x, y []N) (sum float64) {
	for i, v := range x {
		sum += square(float64(v) - float64(y[i]))
	}
	return sum
}

func square(x float64) float64 { return x * x }

// deviations are the standard deviations of groups of alike columns, each from its own mean.
func deviations[N float32 | uint8](rows []N, width, alike int) []float64 {
	n := float64(len(rows) / width)
	mean, out := make([]float64, width), make([]float64, width/alike) // mean from the first row, so that equal numbers have none
	for i, v := range rows {
		mean[i%width] += (float64(v) - float64(rows[i%width])) / n
	}
	for i, v := range rows {
		out[i%width/alike] += square(float64(v)-float64(rows[i%width])-mean[i%width]) / n
	}
	for group, v := range out {
		out[group] = math.Sqrt(v / float64(alike))
	}
	return out
}

// Spread returns at most n groups that are evenly spread from the best predicted one to the worst.
func (m OpenLoop) Spread(n int) []int {
	var order []int
	for j, e := range m.Each {
		if !math.IsNaN(e) {
			order = append(order, j)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case m.Each[a] < m.Each[b]:
			return -1
		case m.Each[a] > m.Each[b]:
			return 1
		}
		return 0
	})
	if len(order) <= n {
		return order
	}
	var out []int
	for i := range n {
		out = append(out, order[i*(len(order)-1)/max(1, n-1)])
	}
	return out
}
