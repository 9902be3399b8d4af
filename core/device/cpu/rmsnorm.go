package cpu

import "pgrlab/core/device"

func init() {
	lowerings[device.RMSNorm] = rmsNorm
	lowerings[device.RMSNormDX] = rmsNormDX
	lowerings[device.RMSNormDGamma] = rmsNormDGamma
}

func rmsNorm(c *compiler, in device.Instr) {
	x, gamma, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	_, rows, cols := c.shape(in.Out)
	c.perRow(in, in.Out, in.In[1:], func(lo, hi int) {
		at := lo / rows * cols // of the member
		c.k.RMSNorm(y[lo*cols:hi*cols], x[lo*cols:], gamma[at:at+cols], in.F[0])
	})
}

// rmsNormDX is s·(g − x·s²·mean(g·x)) with g = γ·dy and s = 1/√(mean(x²)+ε).
func rmsNormDX(c *compiler, in device.Instr) {
	x, gamma, dy, dx := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out]
	_, rows, cols := c.shape(in.Out)
	c.perRow(in, in.Out, in.In[1:2], func(lo, hi int) {
		at := lo / rows * cols // of the member
		c.k.RMSNormDX(dx[lo*cols:hi*cols], x[lo*cols:], gamma[at:at+cols], dy[lo*cols:], in.F[0])
	})
}

func rmsNormDGamma(c *compiler, in device.Instr) {
	x, dy := c.data[in.In[0]], c.data[in.In[1]]
	members, rows, cols := c.shape(in.In[0])
	c.overRows(in, rows, nil, func(out []float32, lo, hi int) {
		clear(out)
		for e := range members {
			at, end := (e*rows+lo)*cols, (e*rows+hi)*cols
			c.k.RMSNormDGamma(out[e*cols:(e+1)*cols], x[at:end], dy[at:end], in.F[0])
		}
	})
}
