package inspect

import (
	"math"
	"slices"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// searchedRows is how many real rows describedRows are compared with between two pauses.
const searchedRows = 4096

// scatter is that of some of the real rows, evenly spread.
func (e *examiner) scatter() analysis.Scatter {
	slots := e.Real.Spread(neighbours)
	return analysis.Spread(len(slots), e.Real.Shape().Width()-1, func(i int) []float32 { return e.Real.Row(slots[i]) })
}

// neighbourhood compares consecutive generated rows with the nearest real rows: how far
// away these are, how many generated rows are copies, and how many real rows have a
// generated one nearby.
func (e *examiner) neighbourhood(rows []float32, scatter analysis.Scatter, g *event.Generated) error {
	real, width := e.Real, e.Real.Shape().Width()
	points := make([][]float32, min(len(rows)/width, neighbours))
	for i := range points {
		points[i] = rows[i*width : (i+1)*width]
	}
	slots := real.Spread(min(boundedRows, real.Len()))
	nearest, err := e.nearest(points, slots, scatter, func(int) int { return -1 })
	if err != nil {
		return err
	}
	few := min(len(points), len(slots))
	among := make([][]float32, few)
	at := func(i int) int { return replay.OneOf(i, i*len(slots)/few, (i+1)*len(slots)/few) }
	for i := range among {
		among[i] = real.Row(slots[at(i)])
	}
	others, err := e.nearest(among, slots, scatter, at)
	if err != nil {
		return err
	}
	m := memorised(points, among, nearest, others, scatter)
	g.Nearest, g.NearestReal, g.Copies, g.Coverage = m.nearest, m.usual, m.copies, m.coverage
	return e.yield()
}

// memory says how close generated rows are to those that the generator was fitted to.
type memory struct{ nearest, usual, copies, coverage run.Float }

// memorised compares the distances of generated points to the nearest row (nearest) with those of
// other rows (others): the medians, the share of copies, and the share of others that have a generated
// point nearby that is no copy.
func memorised(points, among [][]float32, nearest, others []float32, scatter analysis.Scatter) (m memory) {
	usual := analysis.Summarise(others).Median
	copied := analysis.Copies(nearest, usual)
	copies := 0
	for _, is := range copied {
		if is {
			copies++
		}
	}
	return memory{
		nearest: run.Float(analysis.Summarise(nearest).Median), usual: run.Float(usual), copies: run.Float(copies) / run.Float(len(copied)),
		coverage: run.Float(analysis.Coverage(points, among, scatter, func(i int) bool { return copied[i] })),
	}
}

// nearest returns the distance of each point to the nearest real row in slots. itself
// returns the place of point i among the slots, −1 if it is not one of them.
func (e *examiner) nearest(points [][]float32, slots []int, scatter analysis.Scatter, itself func(i int) int) ([]float32, error) {
	all := slices.Repeat([]float32{float32(math.Inf(1))}, len(points))
	rows := make([][]float32, 0, searchedRows)
	for from := 0; from < len(slots); from += searchedRows {
		rows = rows[:0]
		for _, slot := range slots[from:min(from+searchedRows, len(slots))] {
			rows = append(rows, e.Real.Row(slot))
		}
		for first := 0; first < len(points); first += describedRows {
			some := points[first:min(first+describedRows, len(points))]
			for i, d := range analysis.Nearest(some, rows, scatter, func(i int) int { return itself(first+i) - from }) {
				all[first+i] = min(all[first+i], d)
			}
			if err := e.yield(); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
