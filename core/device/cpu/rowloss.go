package cpu

import (
	"math"

	"pgrlab/core/device"
)

func init() {
	rowLoss(device.BCE, device.BCEGrad,
		func(_ [3]float64, z, t float32) float64 { return softplus(float64(z)) - float64(t)*float64(z) },
		func(_ [3]float64, z, t float32) float32 { return float32(sigmoid(float64(z)) - float64(t)) })
	lowerings[device.GaussianKL] = gaussianKL
	lowerings[device.GaussianKLGrad] = gaussianKLGrad
}

// rowLoss registers a loss that is a sum over elements, optionally weighted by rows, and its
// gradient.
func rowLoss(code, grad device.Code, value func(f [3]float64, p, t float32) float64, slope func(f [3]float64, p, t float32) float32) {
	lowerings[code] = func(c *compiler, in device.Instr) {
		c.lossSum(in, func(p, t []float32) float64 {
			sum := 0.0
			for j := range p {
				sum += value(in.F, p[j], t[j])
			}
			return sum
		})
	}
	lowerings[grad] = func(c *compiler, in device.Instr) {
		c.lossSlope(in, func(dp, p, t []float32, scale float32) {
			for j := range p {
				dp[j] = scale * slope(in.F, p[j], t[j])
			}
		})
	}
}

// lossSum emits Σ w·row(p,t)/norm.
func (c *compiler) lossSum(in device.Instr, row func(p, t []float32) float64) {
	e := c.errorTerm(in.In)
	c.scalarSum(in, e.rows, nil, in.F[0], func(lo, hi int) float64 {
		sum := 0.0
		for m := range e.members {
			for i := lo; i < hi; i++ {
				p, t, _, w := e.row(m, i)
				sum += float64(w) * row(p, t)
			}
		}
		return sum
	})
}

// lossSlope emits the gradient of such a loss with respect to p: row writes one row of the
// gradient, times scale.
func (c *compiler) lossSlope(in device.Instr, row func(dp, p, t []float32, scale float32)) {
	last := len(in.In) - 1
	e := c.errorTerm(in.In[:last])
	dp, dloss := c.data[in.Out], c.data[in.In[last]]
	part := func(m, lo, hi int) {
		scale := float32(float64(dloss[0]) / in.F[0])
		for i := lo; i < hi; i++ {
			p, t, at, w := e.row(m, i)
			row(dp[at:at+len(p)], p, t, scale*w)
		}
	}
	if c.owned[in.In[0]] {
		c.eachMember(in, e.members, func(m int) { part(m, 0, e.rows) })
		return
	}
	c.rowwise(in, e.rows, in.In[last:], func(lo, hi int) {
		for m := range e.members {
			part(m, lo, hi)
		}
	})
}

func gaussianKL(c *compiler, in device.Instr) {
	h := c.data[in.In[0]]
	members, rows, width := c.shape(in.In[0])
	c.scalarSum(in, rows, nil, in.F[0], func(lo, hi int) float64 {
		sum := 0.0
		for e := range members {
			for i := e*rows + lo; i < e*rows+hi; i++ {
				mu, logVar := h[i*width:i*width+width/2], h[i*width+width/2:(i+1)*width]
				for j := range mu {
					m, v := float64(mu[j]), float64(logVar[j])
					sum += m*m + math.Exp(v) - v - 1
				}
			}
		}
		return sum / 2
	})
}

func gaussianKLGrad(c *compiler, in device.Instr) {
	h, dloss, dh := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	_, _, width := c.shape(in.Out)
	d := width / 2
	c.perRow(in, in.Out, in.In[1:], func(lo, hi int) {
		scale := float64(dloss[0]) / in.F[0]
		for i := lo; i < hi; i++ {
			row, out := h[i*width:(i+1)*width], dh[i*width:(i+1)*width]
			for j := range d {
				out[j] = float32(scale * float64(row[j]))
				out[d+j] = float32(scale * math.Expm1(float64(row[d+j])) / 2)
			}
		}
	})
}
