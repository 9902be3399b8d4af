package cpu

import "pgrlab/core/device"

func init() {
	lowerings[device.RMSNorm] = rmsNorm
	lowerings[device.RMSNormDX] = rmsNormDX
	lowerings[device.RMSNormDGamma] = rmsNormDGamma
}

// rmsNormed emits a stage over the rows of x, image by image if x was written that way; groups of columns as
// wide as gamma are normalised by themselves. run gets the range of elements, and where the row's member
// begins in gamma.
func (c *compiler) rmsNormed(in device.Instr, run func(at, end, of, width int)) {
	members, rows, cols := c.shape(in.Out)
	_, _, width := c.shape(in.In[1])
	wholes := in.In[1:2]
	if c.imaged[in.In[0]] && members == 1 {
		c.imagewise(in, rows, imageStage{wholes: wholes, image: func(_ share, i int) { run(i*cols, (i+1)*cols, 0, width) }})
		return
	}
	c.perRow(in, in.Out, wholes, func(lo, hi int) { run(lo*cols, hi*cols, lo/rows*width, width) })
}

func rmsNorm(c *compiler, in device.Instr) {
	x, gamma, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	c.rmsNormed(in, func(at, end, of, width int) {
		c.k.RMSNorm(y[at:end], x[at:], gamma[of:of+width], in.F[0])
	})
}

// rmsNormDX is s·(g − x·s²·mean(g·x)) with g = γ·dy and s = 1/√(mean(x²)+ε).
func rmsNormDX(c *compiler, in device.Instr) {
	x, gamma, dy, dx := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out]
	c.rmsNormed(in, func(at, end, of, width int) {
		c.k.RMSNormDX(dx[at:end], x[at:], gamma[of:of+width], dy[at:], in.F[0])
	})
}

func rmsNormDGamma(c *compiler, in device.Instr) {
	x, dy := c.data[in.In[0]], c.data[in.In[1]]
	members, rows, cols := c.shape(in.In[0])
	_, _, width := c.shape(in.Out)
	c.overRows(in, rows, nil, func(out []float32, lo, hi int) {
		clear(out)
		for e := range members {
			at, end := (e*rows+lo)*cols, (e*rows+hi)*cols
			c.k.RMSNormDGamma(out[e*width:(e+1)*width], x[at:end], dy[at:end], in.F[0])
		}
	})
}
