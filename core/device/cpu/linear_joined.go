package cpu

import (
	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

func init() {
	lowerings[device.LinearJoined] = linearJoined
	lowerings[device.LinearJoinedDW] = linearJoinedDW
	lowerings[device.LinearDXPart] = linearDXPart
}

// linearJoined is a layer whose operand is two matrices side by side. They are never concatenated:
// the second product adds to the first.
func linearJoined(c *compiler, in device.Instr) {
	x1, x2, w, b, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.In[3]], c.data[in.Out]
	members, width, out := c.shape(in.In[2])
	_, rows, second := c.shape(in.In[1])
	first := width - second
	s1, s2, sy := c.apart(in.In[0], members), c.apart(in.In[1], members), c.columns(in.Out, members)
	if in.I[1] == beside {
		s1 = c.columns(in.In[0], members)
	}
	c.rowwise(in, rows, in.In[2:], func(lo, hi int) {
		for e := range members {
			we, ye := w[e*width*out:], y[sy.at(e, lo):]
			c.k.Gemm(hi-lo, out, first, x1[s1.at(e, lo):], s1.row, 1, we, out, ye, sy.row, kernel.Epilogue{})
			last := kernel.Epilogue{Accumulate: true, Bias: b[e*out : (e+1)*out], ReLU: in.ReLU}
			c.k.Gemm(hi-lo, out, second, x2[s2.at(e, lo):], s2.row, 1, we[first*out:], out, ye, sy.row, last)
		}
	})
}

// linearJoinedDW writes the rows of the gradient that belong to each operand.
func linearJoinedDW(c *compiler, in device.Instr) {
	dz := c.data[in.In[2]]
	members, rows, out := c.shape(in.In[2])
	var parts [2]layer
	width := 0
	for i := range parts {
		n, _, cols := c.shape(in.In[i])
		parts[i] = layer{rows: rows, in: cols, out: out, shared: n == 1 && members > 1}
		width += cols
	}
	c.overRows(in, rows, nil, func(dw []float32, lo, hi int) {
		if lo == hi {
			clear(dw)
			return
		}
		for e := range members {
			at := e * width * out
			for i, l := range parts {
				x := l.x(c.data[in.In[i]], e, lo)
				c.k.Gemm(l.in, out, hi-lo, x, 1, l.in, dz[(e*rows+lo)*out:], out, dw[at:], out, kernel.Epilogue{})
				at += l.in * out
			}
		}
	})
}

// linearDXPart computes columns I[0] to I[1] of LinearDX: an actor needs the critics' gradient with
// respect to its action, not to the observation beside it.
func linearDXPart(c *compiler, in device.Instr) {
	dz, w, dx := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	members, rows, out := c.shape(in.In[0])
	results, _, cols := c.shape(in.Out)
	_, width, _ := c.shape(in.In[1])
	c.rowwise(in, rows, in.In[1:], func(lo, hi int) {
		for e := range members {
			part := w[(e*width+in.I[0])*out:] // rows of w are columns of wᵀ
			ep := kernel.Epilogue{Accumulate: results < members && e > 0}
			c.k.GemmBT(hi-lo, cols, out, dz[(e*rows+lo)*out:], out, 1, part, out, dx[(e%results*rows+lo)*cols:], cols, ep)
		}
	})
}
