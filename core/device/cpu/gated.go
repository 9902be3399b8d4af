package cpu

import "pgrlab/core/device"

func init() {
	lowerings[device.GatedUpdate] = gatedUpdate
	lowerings[device.GatedUpdateGrad] = gatedUpdateGrad
	lowerings[device.GatedUpdateKeep] = gatedUpdateKeep
}

// gated emits a stage over the rows of y, member by member where y was written that way and the result has
// members. run gets the parts r, c and u of a row of y, and where they and the row are.
func (c *compiler) gated(in device.Instr, run func(r, candidate, u []float32, of, member, row int)) {
	y := c.data[in.In[0]]
	members, rows, cols := c.shape(in.In[0])
	cols /= 3
	each := func(member, lo, hi int) {
		for row := lo; row < hi; row++ {
			of := (member*rows + row) * 3 * cols
			run(y[of:of+cols], y[of+cols:of+2*cols], y[of+2*cols:of+3*cols], of, member, row)
		}
	}
	if n, _, _ := c.shape(in.Out); c.owned[in.In[0]] && byMember(members) && n == members {
		c.eachMember(in, members, func(e int) { each(e, 0, rows) })
		return
	}
	c.rowwise(in, rows, nil, func(lo, hi int) {
		for e := range members {
			each(e, lo, hi)
		}
	})
}

func gatedUpdate(c *compiler, in device.Instr) {
	h, out := c.data[in.In[1]], c.data[in.Out]
	members, _, _ := c.shape(in.In[0])
	before, after := c.columns(in.In[1], members), c.columns(in.Out, members)
	c.gated(in, func(r, candidate, u []float32, _, member, row int) {
		from, to := before.at(member, row), after.at(member, row)
		c.k.GatedUpdate(out[to:to+len(r)], r, candidate, u, h[from:])
	})
}

func gatedUpdateGrad(c *compiler, in device.Instr) {
	h, dout, dy := c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out]
	c.gated(in, func(r, candidate, u []float32, of, _, _ int) {
		n, at := len(r), of/3
		c.k.GatedGrad(dy[of:of+n], dy[of+n:], dy[of+2*n:], r, candidate, u, h[at:], dout[at:])
	})
}

func gatedUpdateKeep(c *compiler, in device.Instr) {
	dout, dh := c.data[in.In[1]], c.data[in.Out]
	c.gated(in, func(r, _, u []float32, of, _, _ int) {
		at := of / 3
		c.k.GatedKeep(dh[at:at+len(r)], u, dout[at:])
	})
}
