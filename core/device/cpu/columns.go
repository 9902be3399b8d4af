package cpu

import (
	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

// large is the number of elements above which the weights of a layer are divided between lanes,
// instead of the rows of the batch. Such weights fill half a MiB, all of a second-level cache. Each
// lane then reads and packs only its own part of the weights, and gradients have no partial sums.
// The cost, a barrier for each layer, is small compared with a product of this size.
const large = 1 << 17

// manyRows is the number of rows above which the rows are divided nevertheless.
const manyRows = 1024

// divides reports whether lanes divide the weights of a layer. Without rows there is nothing to
// divide, nor memory in which a lane's columns begin.
func (c *compiler) divides(w device.Ref, rows int) bool {
	members, in, out := c.shape(w)
	return members == 1 && rows > 0 && rows <= manyRows && in*out > large && in >= 64 && out >= 64
}

// columnwise emits a stage in which each lane works on its columns of every operand, except the
// operands in wholes, which it reads as a whole.
func (c *compiler) columnwise(in device.Instr, cols int, wholes []device.Ref, run func(lo, hi int)) {
	s := c.byColumns(cols)
	c.upright[in.Out] = true
	uses := append(operands(s, wholes, in.In...), operands(s, wholes, in.Mask)...)
	uses = append(uses, writes(s, in.Out))
	c.schedule.add(stage{name: name(in), uses: uses, flops: c.p.FLOPs(in), run: func(s share) {
		if lo, hi := s.columns(cols); lo < hi {
			run(lo, hi)
		}
	}})
}

// linearColumns is linear with each lane computing its columns of the result.
func (c *compiler) linearColumns(in device.Instr, l layer) {
	x, w, y, epilogue := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out], c.epilogue(in)
	c.columnwise(in, l.out, in.In[:1], func(lo, hi int) {
		c.k.Gemm(l.rows, hi-lo, l.in, x, l.in, 1, w[lo:], l.out, y[lo:], l.out, epilogue(0, lo, hi, lo))
	})
}

// linearDXColumns is linearDX with each lane computing its columns of the result from its rows of
// the weights.
func (c *compiler) linearDXColumns(in device.Instr, rows, out, cols int) {
	dz, w, dx := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	c.columnwise(in, cols, in.In, func(lo, hi int) {
		var ep kernel.Epilogue
		if in.Mask != device.None {
			ep.Mask = c.data[in.Mask][lo:]
		}
		c.k.GemmBT(rows, hi-lo, out, dz, out, 1, w[lo*out:], out, dx[lo:], cols, ep)
	})
}

// bandRows is the number of rows of a large weight gradient that one product makes: as many as a
// product packs of its first operand at once. These rows are squared next, and are then mostly
// still in the second-level cache.
const bandRows = 256

// bandEnd returns the end of the band that begins at row at of a share's rows, which end at hi. A
// rest that is too small for a band of its own belongs to the last one: the family "amx" has other
// bits in products of fewer rows, and where a share ends depends on the number of parts.
func bandEnd(at, hi int) int {
	if hi-at < bandRows+rowGrain {
		return hi
	}
	return at + bandRows
}

// linearDWRows is linearDW with each lane computing its rows of the result, from its columns of x
// and all rows of the batch.
func (c *compiler) linearDWRows(in device.Instr, rows, cols, out int) {
	x, dz, dw := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	uses := append(reads(c.byColumns(cols), in.In[0]), reads(split{by: whole}, in.In[1])...)
	uses = append(uses, reads(split{by: whole}, in.In[2:]...)...)
	uses = append(uses, writes(c.grained(byBands, cols, columnGrain), in.Out))
	square := c.squareEarly(in.Out, func(lane int) (int, int) {
		lo, hi := columnRange(cols, lane)
		return lo * out, hi * out
	})
	if c.parts > 1 && columnGrain*out%block != 0 { // a block may span two parts
		delete(c.blockSquares, in.Out)
		square = func(int, int, int) {}
	}
	c.schedule.add(stage{name: name(in), uses: uses, flops: c.p.FLOPs(in), run: func(s share) {
		lo, hi := s.columns(cols)
		for at, end := lo, lo; at < hi; at = end {
			end = bandEnd(at, hi)
			c.k.Gemm(end-at, out, rows, x[at:], 1, cols, dz, out, dw[at*out:], out, kernel.Epilogue{})
			c.decay(in, dw, at*out, end*out)
			square(s.lane, at*out, end*out)
		}
	}})
}

// colSumColumns is colSum with each lane summing its columns.
func (c *compiler) colSumColumns(in device.Instr, rows, cols int) {
	dz, sum := c.data[in.In[0]], c.data[in.Out]
	c.columnwise(in, cols, nil, func(lo, hi int) { c.k.ColSum(rows, hi-lo, dz[lo:], cols, sum[lo:]) })
}
