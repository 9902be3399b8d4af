package analysis

import (
	"math"
	"slices"
)

// OpenLoop is how far what a model predicts lies from what followed.
type OpenLoop struct {
	Horizon []int     // steps without an observation: 1, 2, 4, …, and the last one
	Error   []float64 // by horizon: root mean square error in deviations of each number, mean over the numbers that vary
	Held    []float64 // the same of the last observation, taken for all that follow
	Each    []float64 // by number: the error at all horizons together; NaN if it does not vary
}

// MeasureOpenLoop compares predicted with real numbers, both [rows,steps,width], of which the first context
// steps were seen. Deviations are those of the real numbers of all rows and steps.
func MeasureOpenLoop(real, predicted []float32, rows, steps, context, width int) OpenLoop {
	m := OpenLoop{Each: make([]float64, width)}
	deviation := deviations(real, width)
	for h := 1; context+h <= steps; h *= 2 {
		m.Horizon = append(m.Horizon, h)
	}
	if last := steps - context; len(m.Horizon) > 0 && m.Horizon[len(m.Horizon)-1] != last {
		m.Horizon = append(m.Horizon, last)
	}
	at := func(row, step, j int) int { return (row*steps+step)*width + j }
	for _, h := range m.Horizon {
		of, held, n := 0.0, 0.0, 0
		for j, d := range deviation {
			if d == 0 {
				continue
			}
			squares, before := 0.0, 0.0
			for row := range rows {
				want := float64(real[at(row, context+h-1, j)])
				squares += square(float64(predicted[at(row, context+h-1, j)]) - want)
				before += square(float64(real[at(row, context-1, j)]) - want)
			}
			of, held, n = of+math.Sqrt(squares/float64(rows))/d, held+math.Sqrt(before/float64(rows))/d, n+1
		}
		m.Error, m.Held = append(m.Error, of/float64(n)), append(m.Held, held/float64(n))
	}
	for j, d := range deviation {
		squares, n := 0.0, 0
		for row := range rows {
			for step := context; step < steps; step++ {
				squares, n = squares+square(float64(predicted[at(row, step, j)])-float64(real[at(row, step, j)])), n+1
			}
		}
		if m.Each[j] = math.NaN(); d > 0 {
			m.Each[j] = math.Sqrt(squares/float64(n)) / d
		}
	}
	return m
}

func square(x float64) float64 { return x * x }

// deviations are the standard deviations of columns.
func deviations(rows []float32, width int) []float64 {
	n := float64(len(rows) / width)
	mean, out := make([]float64, width), make([]float64, width)
	for i, v := range rows {
		mean[i%width] += float64(v) / n
	}
	for i, v := range rows {
		out[i%width] += square(float64(v)-mean[i%width]) / n
	}
	for j, v := range out {
		out[j] = math.Sqrt(v)
	}
	return out
}

// Spread returns at most n numbers that are evenly spread from the best predicted one to the worst.
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
