package cpu

import (
	"math"

	"pgrlab/core/device"
)

func init() {
	lowerings[device.Fourier] = fourier
	lowerings[device.EDMNoised] = edmNoised
}

func fourier(c *compiler, in device.Instr) {
	t, w, out := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	_, _, width := c.shape(in.Out)
	c.perRow(in, in.Out, in.In[1:], func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := out[i*width : (i+1)*width]
			if i > lo && t[i] == t[i-1] { // a sampler's rows share their noise level
				copy(row, out[(i-1)*width:i*width])
				continue
			}
			row[0] = t[i]
			for k, f := range w {
				sin, cos := math.Sincos(2 * math.Pi * float64(t[i]) * float64(f))
				row[1+k], row[1+len(w)+k] = float32(sin), float32(cos)
			}
		}
	})
}

// edmNoised implements the formulas of op.EDMNoised.
func edmNoised(c *compiler, in device.Instr) {
	x, n, z, spread, out := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.In[3]], c.data[in.Out]
	pMean, pStd := in.F[0], in.F[1]
	_, _, d := c.shape(in.In[0])
	c.perRow(in, in.Out, in.In[3:], func(lo, hi int) {
		for i := lo; i < hi; i++ {
			logSigma := pMean + pStd*float64(z[i])
			sigma := math.Exp(logSigma)
			row := out[i*(2*d+1) : (i+1)*(2*d+1)]
			var scaleIn, ofX, ofN float32
			for j := range d {
				if j == 0 || spread[j] != spread[j-1] {
					scaleIn, ofX, ofN = noising(sigma, float64(spread[j]))
				}
				xv, nv := x[i*d+j], n[i*d+j]
				row[j] = scaleIn * (xv + float32(sigma)*nv)
				row[d+j] = ofX*xv - ofN*nv
			}
			row[2*d] = float32(logSigma / 4)
		}
	})
}

// noising returns c_in, and the factors of x and of the noise n in the target (x −
// c_skip(x+σn))/c_out. The factors avoid the cancellation at small σ, since x − c_skip·x =
// x·σ²/(σ²+σ_d²).
func noising(sigma, spread float64) (in, ofX, ofN float32) {
	root := math.Sqrt(sigma*sigma + spread*spread)
	return float32(1 / root), float32(sigma / (spread * root)), float32(spread / root)
}
