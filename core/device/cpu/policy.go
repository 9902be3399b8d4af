package cpu

import (
	"math"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

func init() {
	lowerings[device.TanhGaussian] = tanhGaussian
	lowerings[device.TanhGaussianGrad] = tanhGaussianGrad
	lowerings[device.MinMembers] = minMembers
	lowerings[device.MinMembersGrad] = minMembersGrad
	lowerings[device.MeanMembers] = meanMembers
	lowerings[device.BroadcastMembers] = broadcastMembers
	lowerings[device.TDTarget] = tdTarget
}

// Constants of the tanh-Gaussian policy; see op.TanhGaussian.
const (
	logStdMin, logStdMax = -20, 2
	squash               = 1e-6
	halfLog2Pi           = 0.91893853320467274178
)

// gaussian holds the numbers that a policy sample and its gradient share, each in memory of
// [members·rows, n]; a lane has its own rows.
type gaussian struct {
	k      *kernel.Family
	h, eps []float32 // operands; h is [members·rows, 2n]
	n      int
	logStd []float32 // within its limits
	noise  []float32 // σ·eps
	u      []float32 // μ + σ·eps
	slope  []float32 // ∂tanh u/∂u = 1 − tanh²u
	four   []float32 // constant
}

func newGaussian(c *compiler, in device.Instr) *gaussian {
	g := &gaussian{k: c.k, h: c.data[in.In[0]], eps: c.data[in.In[1]]}
	members, rows, n := c.shape(in.In[1])
	g.n = n
	for _, x := range []*[]float32{&g.logStd, &g.noise, &g.u, &g.slope} {
		*x = aligned(members * rows * n)
	}
	g.four = constant(members*rows*n, 4)
	return g
}

func constant(n int, v float32) []float32 {
	x := aligned(n)
	for i := range x {
		x[i] = v
	}
	return x
}

// make fills rows lo to hi−1. The slope is 4y(1−y) with y = σ(−2|u|), σ being the logistic
// function; this form keeps its digits where tanh u is close to one.
func (g *gaussian) make(lo, hi int) {
	n, from, to := g.n, lo*g.n, hi*g.n
	for i := lo; i < hi; i++ {
		raw, logStd := g.h[(2*i+1)*n:][:n], g.logStd[i*n:][:n]
		for j, v := range raw {
			if v < logStdMin {
				v = logStdMin
			} else if v > logStdMax {
				v = logStdMax
			}
			logStd[j] = v
		}
	}
	g.k.Exp(g.noise[from:to], g.logStd[from:to])
	g.k.Mul(g.noise[from:to], g.noise[from:to], g.eps[from:to])
	for i := lo; i < hi; i++ {
		mu, noise, u, slope := g.h[2*i*n:][:n], g.noise[i*n:][:n], g.u[i*n:][:n], g.slope[i*n:][:n]
		for j, v := range mu {
			v += noise[j]
			u[j] = v
			slope[j] = -2 * math.Float32frombits(math.Float32bits(v)&^(1<<31))
		}
	}
	g.k.Sigmoid(g.slope[from:to], g.slope[from:to])
	g.k.SigmoidGrad(g.slope[from:to], g.four[from:to], g.slope[from:to])
}

func tanhGaussian(c *compiler, in device.Instr) {
	g, out := newGaussian(c, in), c.data[in.Out]
	c.gaussians[in.Out] = g
	n, little, logSlope := g.n, constant(len(g.u), squash), aligned(len(g.u))
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		g.make(lo, hi)
		from, to := lo*n, hi*n
		g.k.Add(logSlope[from:to], g.slope[from:to], little[from:to])
		g.k.Log(logSlope[from:to], logSlope[from:to])
		g.k.Tanh(g.u[from:to], g.u[from:to])
		for i := lo; i < hi; i++ {
			a, eps, logStd, logSlope, out := g.u[i*n:][:n], g.eps[i*n:][:n], g.logStd[i*n:][:n], logSlope[i*n:][:n], out[i*(n+1):][:n+1]
			logp := -float64(n) * halfLog2Pi
			for j, e := range eps {
				e := float64(e)
				out[j] = a[j]
				logp -= e*e/2 + float64(logStd[j]) + float64(logSlope[j])
			}
			out[n] = float32(logp)
		}
	})
}

// tanhGaussianGrad computes 1 − a² from u instead of a, as the forward pass does: a float32 close
// to one leaves few digits for the difference. If the forward pass is part of the program, its
// intermediate numbers are reused.
func tanhGaussianGrad(c *compiler, in device.Instr) {
	out, dout, dh := c.data[in.In[2]], c.data[in.In[3]], c.data[in.Out]
	g, made := c.gaussians[in.In[2]]
	if !made {
		g = newGaussian(c, in)
	}
	n := g.n
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		if !made {
			g.make(lo, hi)
		}
		for i := lo; i < hi; i++ {
			a, da, raw := out[i*(n+1):][:n], dout[i*(n+1):][:n+1], g.h[(2*i+1)*n:][:n]
			logStd, noise, slope := g.logStd[i*n:][:n], g.noise[i*n:][:n], g.slope[i*n:][:n]
			dMu, dRaw := dh[2*i*n:][:n], dh[(2*i+1)*n:][:n]
			dlogp := da[n]
			for j, s := range slope {
				du := s * (da[j] + 2*dlogp*a[j]/(s+squash))
				dMu[j], dRaw[j] = du, 0
				if raw[j] == logStd[j] { // within its limits
					dRaw[j] = du*noise[j] - dlogp
				}
			}
		}
	})
}

func minMembers(c *compiler, in device.Instr) {
	q, out := c.data[in.In[0]], c.data[in.Out]
	members, rows, cols := c.shape(in.In[0])
	c.rowwise(in, rows, nil, func(lo, hi int) {
		for i := lo * cols; i < hi*cols; i++ {
			out[i] = q[i]
			for e := 1; e < members; e++ {
				out[i] = min(out[i], q[e*rows*cols+i])
			}
		}
	})
}

func minMembersGrad(c *compiler, in device.Instr) {
	q, minimum, dout, dq := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out]
	members, rows, cols := c.shape(in.In[0])
	c.rowwise(in, rows, nil, func(lo, hi int) {
		for e := range members {
			clear(dq[(e*rows+lo)*cols : (e*rows+hi)*cols])
		}
		for i := lo * cols; i < hi*cols; i++ {
			for e := range members {
				if at := e*rows*cols + i; q[at] == minimum[i] {
					dq[at] = dout[i]
					break
				}
			}
		}
	})
}

func meanMembers(c *compiler, in device.Instr) {
	q, out := c.data[in.In[0]], c.data[in.Out]
	members, rows, cols := c.shape(in.In[0])
	c.rowwise(in, rows, nil, func(lo, hi int) {
		for i := lo * cols; i < hi*cols; i++ {
			sum := float32(0)
			for e := range members {
				sum += q[e*rows*cols+i]
			}
			out[i] = sum / float32(members)
		}
	})
}

func broadcastMembers(c *compiler, in device.Instr) {
	dy, out := c.data[in.In[0]], c.data[in.Out]
	members, rows, cols := c.shape(in.Out)
	c.rowwise(in, rows, nil, func(lo, hi int) {
		for i := lo * cols; i < hi*cols; i++ {
			v := dy[i] / float32(members)
			for e := range members {
				out[e*rows*cols+i] = v
			}
		}
	})
}

func tdTarget(c *compiler, in device.Instr) {
	r, d, q, logp := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.In[3]]
	gamma, alpha, y := c.data[in.In[4]], c.data[in.In[5]], c.data[in.Out]
	c.perRow(in, in.Out, in.In[4:], func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] = r[i] + gamma[0]*(1-d[i])*(q[i]-alpha[0]*logp[i])
		}
	})
}
