package cpu

import (
	"math"

	"pgrlab/core/device"
)

func init() {
	lowerings[device.RMSNorm] = rmsNorm
	lowerings[device.RMSNormDX] = rmsNormDX
	lowerings[device.RMSNormDGamma] = rmsNormDGamma
}

// inverseRMS is 1/√(mean(x²)+eps) of a row.
func (c *compiler) inverseRMS(row []float32, eps float64) float64 {
	return 1 / math.Sqrt(c.k.SumSquares(row, nil)/float64(len(row))+eps)
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
			sums := out[e*cols : (e+1)*cols]
			for i := e*rows + lo; i < e*rows+hi; i++ {
				row, g := x[i*cols:(i+1)*cols], dy[i*cols:(i+1)*cols]
				inverse := float32(c.inverseRMS(row, in.F[0]))
				for j, v := range row {
					sums[j] += g[j] * (v * inverse)
				}
			}
		}
	})
}
