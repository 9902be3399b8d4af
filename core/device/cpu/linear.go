package cpu

import (
	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

func init() {
	lowerings[device.Linear] = linear
	lowerings[device.LinearAt] = linearAt
	lowerings[device.LinearDX] = linearDX
	lowerings[device.LinearDW] = linearDW
	lowerings[device.ColSum] = colSum
}

// layer is the geometry of x·w + b.
type layer struct {
	rows, in, out int
	shared        bool // all members share one x
}

func (c *compiler) layer(x, w device.Ref) layer {
	n, rows, in := c.shape(x)
	members, _, out := c.shape(w)
	return layer{rows: rows, in: in, out: out, shared: n == 1 && members > 1}
}

// x returns the memory of a member's operand, from row lo on.
func (l layer) x(data []float32, member, lo int) []float32 {
	if l.shared {
		member = 0
	}
	return data[(member*l.rows+lo)*l.in:]
}

func linear(c *compiler, in device.Instr) {
	x, w, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	l := c.layer(in.In[0], in.In[1])
	members, _, _ := c.shape(in.In[1])
	if c.divides(in.In[1], l.rows) {
		c.linearColumns(in, l)
		return
	}
	epilogue, add := c.epilogue(in), func(y []float32, lo, hi int) {}
	if in.Mask != device.None {
		add = c.columnsAdded(in.Mask, in.I[1], in.Out)
	}
	part := func(e, lo, hi int) {
		at := (e*l.rows + lo) * l.out
		c.member(l, epilogue(e, 0, l.out, at), l.x(x, e, lo), w[e*l.in*l.out:], y[at:], hi-lo)
		add(y, e*l.rows+lo, e*l.rows+hi)
	}
	if byMember(members) {
		c.eachMember(in, members, func(e int) { part(e, 0, l.rows) })
		return
	}
	c.rowwise(in, l.rows, in.In[1:3], func(lo, hi int) {
		for e := range members {
			part(e, lo, hi)
		}
	})
}

// linearAt reads its members' indices at each run.
func linearAt(c *compiler, in device.Instr) {
	x, w, b, indices, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.In[3]], c.data[in.Out]
	l := c.layer(in.In[0], in.In[1])
	n, _, _ := c.shape(in.In[0])
	l.shared = n == 1
	if byMember(len(indices)) {
		s := c.byMembers(len(indices))
		c.owned[in.Out] = true
		uses := append(reads(split{by: whole}, in.In[1:]...), writes(s, in.Out))
		if l.shared {
			s = split{by: whole}
		}
		c.stageOfMembers(in, len(indices), append(uses, reads(s, in.In[0])...), func(e int) {
			m := int(indices[e])
			ep := kernel.Epilogue{Bias: b[m*l.out : (m+1)*l.out], ReLU: in.ReLU}
			c.member(l, ep, l.x(x, e, 0), w[m*l.in*l.out:], y[e*l.rows*l.out:], l.rows)
		})
		return
	}
	c.rowwise(in, l.rows, in.In[1:], func(lo, hi int) {
		for e, index := range indices {
			m := int(index)
			ep := kernel.Epilogue{Bias: b[m*l.out : (m+1)*l.out], ReLU: in.ReLU}
			c.member(l, ep, l.x(x, e, lo), w[m*l.in*l.out:], y[(e*l.rows+lo)*l.out:], hi-lo)
		}
	})
}

// member computes one layer on some rows. A layer with a single column does not apply a function as
// it reads and does not start from an addend.
func (c *compiler) member(l layer, ep kernel.Epilogue, x, w, y []float32, rows int) {
	if l.out == 1 {
		c.k.RowDot(rows, l.in, x, l.in, w[:l.in], ep.Bias[0], y, 1)
		if ep.ReLU {
			c.k.ReLU(y[:rows], y[:rows])
		}
		return
	}
	c.k.Gemm(rows, l.out, l.in, x, l.in, 1, w, l.out, y, l.out, ep)
}

// linearDX is dz·wᵀ; if the result has one member, the members' products are added up. The mask of
// a ReLU below is applied to the finished sum.
func linearDX(c *compiler, in device.Instr) {
	members, rows, out := c.shape(in.In[0])
	results, _, cols := c.shape(in.Out)
	if c.divides(in.In[1], rows) {
		c.linearDXColumns(in, rows, out, cols)
		return
	}
	dz, w, dx := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	var mask []float32
	if in.Mask != device.None {
		mask = c.data[in.Mask]
	}
	part := func(e, lo, hi int) {
		at := (e%results*rows + lo) * cols
		ep := kernel.Epilogue{Accumulate: results < members && e > 0}
		if mask != nil && (results == members || e == members-1) {
			ep.Mask = mask[at:]
		}
		if out == 1 { // a single column is its own transpose
			c.k.Gemm(hi-lo, cols, 1, dz[e*rows+lo:], 1, 1, w[e*cols:], cols, dx[at:], cols, ep)
			return
		}
		c.k.GemmBT(hi-lo, cols, out, dz[(e*rows+lo)*out:], out, 1, w[e*out*cols:], out, dx[at:], cols, ep)
	}
	if byMember(members) && results == members {
		c.eachMember(in, members, func(e int) { part(e, 0, rows) })
		return
	}
	s := c.byRows(rows)
	uses := append(reads(s, in.In[0], in.Mask), writes(s, in.Out))
	uses = append(uses, reads(split{by: whole}, in.In[1])...)
	c.schedule.add(stage{name: in.Code.String(), uses: uses, flops: c.p.FLOPs(in), run: func(s share) {
		if lo, hi := s.rows(rows); lo < hi {
			for e := range members {
				part(e, lo, hi)
			}
		}
	}})
}

func linearDW(c *compiler, in device.Instr) {
	x, dz := c.data[in.In[0]], c.data[in.In[1]]
	members, _, out := c.shape(in.In[1])
	n, rows, cols := c.shape(in.In[0])
	if c.divides(in.Out, rows) {
		c.linearDWRows(in, rows, cols, out)
		return
	}
	l := layer{rows: rows, in: cols, out: out, shared: n == 1 && members > 1}
	part := func(dw []float32, e, lo, hi, from, to int) { // computes rows from to to
		dwe := dw[(e*cols+from)*out:]
		if lo == hi { // a lane without rows adds nothing, and an empty batch has no column from
			clear(dwe[:(to-from)*out])
		} else if xe, dze := l.x(x, e, lo)[from:], dz[(e*rows+lo)*out:]; out == 1 { // as dzᵀ·x, one row
			c.k.Gemm(1, to-from, hi-lo, dze, 0, 1, xe, cols, dwe, cols, kernel.Epilogue{})
		} else {
			c.k.Gemm(to-from, out, hi-lo, xe, 1, cols, dze, out, dwe, out, kernel.Epilogue{})
		}
		c.decay(in, dw, (e*cols+from)*out, (e*cols+to)*out)
	}
	if byMember(members) {
		dw := c.data[in.Out]
		c.eachMember(in, members, func(e int) { part(dw, e, 0, rows, 0, cols) })
		return
	}
	c.overRowsCut(in, rows, in.In[2:], cols, func(dw []float32, lo, hi, from, to int) {
		for e := range members {
			part(dw, e, lo, hi, from, to)
		}
	})
}

// decay adds the multiple of operand 2 to elements of a gradient of weights, see fused. Of partial sums
// the first lane's, which is in the memory of the result, has it added.
func (c *compiler) decay(in device.Instr, dw []float32, from, to int) {
	if len(in.In) < 3 || from == to || &dw[0] != &c.data[in.Out][0] {
		return
	}
	w, factor := c.data[in.In[2]], float32(in.F[0])
	for at := from; at < to; at += block {
		end := min(at+block, to)
		c.k.Axpy(dw[at:end], factor, w[at:end])
	}
}

func colSum(c *compiler, in device.Instr) {
	dz := c.data[in.In[0]]
	members, rows, cols := c.shape(in.In[0])
	if c.upright[in.In[0]] && members == 1 {
		c.colSumColumns(in, rows, cols)
		return
	}
	part := func(sum []float32, e, lo, hi int) {
		if lo == hi {
			clear(sum[e*cols : (e+1)*cols])
			return
		}
		c.k.ColSum(hi-lo, cols, dz[(e*rows+lo)*cols:], cols, sum[e*cols:])
	}
	if byMember(members) {
		sum := c.data[in.Out]
		c.eachMember(in, members, func(e int) { part(sum, e, 0, rows) })
		return
	}
	c.overRows(in, rows, nil, func(sum []float32, lo, hi int) {
		for e := range members {
			part(sum, e, lo, hi)
		}
	})
}
