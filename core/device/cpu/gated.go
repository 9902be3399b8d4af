package cpu

import "pgrlab/core/device"

func init() {
	lowerings[device.GatedUpdate] = gatedUpdate
	lowerings[device.GatedUpdateGrad] = gatedUpdateGrad
	lowerings[device.GatedUpdateKeep] = gatedUpdateKeep
}

// gated emits a stage over the rows of h, member by member where y was written that way. run gets the
// parts r, c and u of y's row, and the places of the row in h and in y.
func (c *compiler) gated(in device.Instr, h device.Ref, run func(r, candidate, u []float32, at, end, of int)) {
	y := c.data[in.In[0]]
	members, rows, cols := c.shape(h)
	each := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			of := i * 3 * cols
			run(y[of:of+cols], y[of+cols:of+2*cols], y[of+2*cols:of+3*cols], i*cols, (i+1)*cols, of)
		}
	}
	if c.owned[in.In[0]] && byMember(members) {
		c.eachMember(in, members, func(e int) { each(e*rows, (e+1)*rows) })
		return
	}
	c.perRow(in, h, nil, each)
}

func gatedUpdate(c *compiler, in device.Instr) {
	h, out := c.data[in.In[1]], c.data[in.Out]
	c.gated(in, in.Out, func(r, candidate, u []float32, at, end, _ int) {
		c.k.GatedUpdate(out[at:end], r, candidate, u, h[at:end])
	})
}

func gatedUpdateGrad(c *compiler, in device.Instr) {
	h, dout, dy := c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out]
	c.gated(in, in.In[1], func(r, candidate, u []float32, at, end, of int) {
		n := end - at
		c.k.GatedGrad(dy[of:of+n], dy[of+n:of+2*n], dy[of+2*n:of+3*n], r, candidate, u, h[at:end], dout[at:end])
	})
}

func gatedUpdateKeep(c *compiler, in device.Instr) {
	dout, dh := c.data[in.In[1]], c.data[in.Out]
	c.gated(in, in.Out, func(_, _, u []float32, at, end, _ int) {
		c.k.GatedKeep(dh[at:end], u, dout[at:end])
	})
}
