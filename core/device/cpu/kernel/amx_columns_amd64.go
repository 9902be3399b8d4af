package kernel

// maxAhead is the largest number of rows that are split in a slot of a product: more rows take
// longer than the products before the slot.
const maxAhead = 3

// ahead describes what the kernels split of the next strips of B while they compute the current
// ones, and how far they are; gen/ahead.go explains the fields. The zero value splits nothing.
type ahead struct {
	rows, quota       int
	src, dst          *float32
	step, half        int
	left, unit, units int
	panel, skip       int

	panels int // number of panels of the strips that are split ahead
}

// panel returns the memory of strips from column j on for a range of k. It alternates between two
// places unless all strips are kept.
func (g *tiledMul) panel(j, first, k int) []float32 {
	panel := unit * up(k, unitDepth)
	if g.kept {
		return g.p.b[2*(unit*first/unitDepth*up(g.n, stripWidth)+panel*j/stripWidth):]
	}
	return g.p.b[j/stripColumns%2*2*tiledStrips*panel:]
}

// splitAhead makes the kernels split what they can of the strips from column j on, over a range of
// k, while they compute m rows of the strips before.
func (g *tiledMul) splitAhead(m, j, first, k int) {
	g.ahead = ahead{}
	units, panels := k/unitDepth, min(stripColumns, g.n-j)/unitRows
	if g.bcs != 1 || units == 0 || panels <= 0 {
		return
	}
	depth := up(k, unitDepth)
	rows, slots := panels*units*unitRows, g.slots(m, first, depth)
	if rows > maxAhead*slots {
		return
	}
	step, tile := 4*g.brs, 4*g.brs*unitDepth
	g.ahead = ahead{
		rows: rows, quota: up(rows, slots), src: &g.b[first*g.brs+j], dst: &g.panel(j, first, k)[0],
		step: step, half: tile / 2, left: unitRows, unit: units, units: units,
		panel: 4*unitRows - units*tile, skip: 4 * unit * (depth - units), panels: panels,
	}
}

// slots returns the number of slots in which rows can be split, for m rows and two strips over a
// range of k: four in each step, except the first step of a block in the last chunk.
func (g *tiledMul) slots(m, first, depth int) int {
	steps := depth
	if first+tiledRange >= g.k {
		steps--
	}
	return 4 * tiledStrips * up(m, blockRows) * steps
}

// packStrips splits strips of B from column j on over a range of k, except the part that was split
// ahead.
func (g *tiledMul) packStrips(b []float32, j, first, k int) {
	panel := unit * up(k, unitDepth)
	for c := 0; c < min(stripColumns, g.n-j); c += unitRows {
		columns, from := min(unitRows, g.n-j-c), 0
		if c/unitRows < g.ahead.panels {
			from = k / unitDepth
		}
		src, stride := g.b[first*g.brs+(j+c)*g.bcs:], g.brs
		if g.bcs != 1 {
			g.transposes(columns, k, src, g.bcs, g.p.stage, unitRows)
			src, stride = g.p.stage, unitRows
		}
		splitColumns(b[c/unitRows*panel:], src, stride, columns, from, k)
	}
}

// splitColumns splits up to 16 columns of B over the units of a range of k, starting at unit from.
// Steps of k beyond the last are zeros; columns beyond the last are undefined.
func splitColumns(dst, src []float32, stride, columns, from, k int) {
	const half = unitDepth / 2
	units, tail := k/unitDepth, k%unitDepth
	if units > from {
		callSplit(units-from, half, &src[from*unitDepth*stride], 4*stride, 4*half*stride, 4*unitDepth*stride, &dst[from*unit], columns, columns)
	}
	if tail == 0 {
		return
	}
	src, dst = src[units*unitDepth*stride:], dst[units*unit:(units+1)*unit]
	clear(dst)
	pairs := max(0, tail-half)
	if pairs > 0 {
		callSplit(1, pairs, &src[0], 4*stride, 4*half*stride, 0, &dst[0], columns, columns)
	}
	if single := min(half, tail); single > pairs { // rows without a partner
		callSplit(1, single-pairs, &src[pairs*stride], 4*stride, 0, 0, &dst[pairs*unitRows], columns, 0)
	}
}
