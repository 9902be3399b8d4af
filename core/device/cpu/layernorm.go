package cpu

import (
	"math"

	"pgrlab/core/device"
)

func init() {
	lowerings[device.LayerNorm] = layerNorm
	lowerings[device.LayerNormDX] = layerNormDX
	lowerings[device.LayerNormDGamma] = layerNormDGamma
}

// moments returns the mean of a row and 1/√(var+eps).
func moments(row []float32, eps float64) (mean, inverse float64) {
	mean = total(row) / float64(len(row))
	square := 0.0
	for _, x := range row {
		d := float64(x) - mean
		square += d * d
	}
	return mean, 1 / math.Sqrt(square/float64(len(row))+eps)
}

func layerNorm(c *compiler, in device.Instr) {
	x, gamma, beta, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out]
	_, rows, cols := c.shape(in.Out)
	c.perRow(in, in.Out, in.In[1:], func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, out, at := x[i*cols:(i+1)*cols], y[i*cols:(i+1)*cols], i/rows*cols
			mean, inverse := moments(row, in.F[0])
			m, s := float32(mean), float32(inverse)
			for j, v := range row {
				out[j] = (v - m) * s
			}
			c.k.Mul(out, out, gamma[at:])
			c.k.Add(out, out, beta[at:])
		}
	})
}

// layerNormDX is (g − mean(g) − x̂·mean(g·x̂))/√(var+ε) with g = γ·dy.
func layerNormDX(c *compiler, in device.Instr) {
	x, gamma, dy, dx := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out]
	_, rows, cols := c.shape(in.Out)
	n := float64(cols)
	c.perRow(in, in.Out, in.In[1:2], func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, out, at := x[i*cols:(i+1)*cols], dx[i*cols:(i+1)*cols], i/rows*cols
			mean, inverse := moments(row, in.F[0])
			c.k.Mul(out, dy[i*cols:], gamma[at:])
			sum, along := 0.0, 0.0
			for j, g := range out {
				sum += float64(g)
				along += float64(g) * (float64(row[j]) - mean)
			}
			slope := along * inverse * inverse / n
			for j, g := range out {
				out[j] = float32((float64(g) - sum/n - (float64(row[j])-mean)*slope) * inverse)
			}
		}
	})
}

func layerNormDGamma(c *compiler, in device.Instr) {
	x, dy := c.data[in.In[0]], c.data[in.In[1]]
	members, rows, cols := c.shape(in.In[0])
	c.overRows(in, rows, nil, func(out []float32, lo, hi int) {
		clear(out)
		for e := range members {
			sums := out[e*cols : (e+1)*cols]
			for i := e*rows + lo; i < e*rows+hi; i++ {
				row, g := x[i*cols:(i+1)*cols], dy[i*cols:(i+1)*cols]
				mean, inverse := moments(row, in.F[0])
				for j, v := range row {
					sums[j] += g[j] * float32((float64(v)-mean)*inverse)
				}
			}
		}
	})
}
