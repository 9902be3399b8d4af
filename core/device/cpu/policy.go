package cpu

import (
	"math"

	"pgrlab/core/device"
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

func tanhGaussian(c *compiler, in device.Instr) {
	h, eps, out := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	members, rows, n := c.shape(in.In[1])
	std, u, slope := aligned(members*rows*n), aligned(members*rows*n), aligned(members*rows*n)
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		std, u, slope := std[lo*n:hi*n], u[lo*n:hi*n], slope[lo*n:hi*n]
		for i := lo; i < hi; i++ {
			for j := range n {
				std[(i-lo)*n+j] = min(max(h[i*2*n+n+j], logStdMin), logStdMax)
			}
		}
		c.k.Exp(std, std)
		for i := lo; i < hi; i++ {
			for j := range n {
				at := (i-lo)*n + j
				u[at] = h[i*2*n+j] + std[at]*eps[i*n+j]
				slope[at] = -2 * max(u[at], -u[at])
			}
		}
		// 1 − tanh²u = 4t/(1+t)² with t = exp(−2|u|) keeps its digits where tanh u
		// is next to one.
		c.k.Exp(slope, slope)
		for i, t := range slope {
			slope[i] = 4*t/((1+t)*(1+t)) + squash
		}
		c.k.Log(slope, slope)
		c.k.Tanh(u, u)
		for i := lo; i < hi; i++ {
			logp := 0.0
			for j := range n {
				at := (i-lo)*n + j
				e := float64(eps[i*n+j])
				logStd := float64(min(max(h[i*2*n+n+j], logStdMin), logStdMax))
				out[i*(n+1)+j] = u[at]
				logp += -e*e/2 - logStd - halfLog2Pi - float64(slope[at])
			}
			out[i*(n+1)+n] = float32(logp)
		}
	})
}

// tanhGaussianGrad takes 1 − a² from u rather than from a, as the forward pass
// does: a float32 next to one has few digits of it left.
func tanhGaussianGrad(c *compiler, in device.Instr) {
	h, eps, out, dout, dh := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.In[3]], c.data[in.Out]
	members, rows, n := c.shape(in.In[1])
	std, slope := aligned(members*rows*n), aligned(members*rows*n)
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		std, slope := std[lo*n:hi*n], slope[lo*n:hi*n]
		for i := lo; i < hi; i++ {
			for j := range n {
				std[(i-lo)*n+j] = min(max(h[i*2*n+n+j], logStdMin), logStdMax)
			}
		}
		c.k.Exp(std, std)
		for i := lo; i < hi; i++ {
			for j := range n {
				at := (i-lo)*n + j
				u := h[i*2*n+j] + std[at]*eps[i*n+j]
				slope[at] = -2 * max(u, -u)
			}
		}
		c.k.Exp(slope, slope)
		for i := lo; i < hi; i++ {
			dlogp := dout[i*(n+1)+n]
			for j := range n {
				at := (i-lo)*n + j
				a, raw, t := out[i*(n+1)+j], h[i*2*n+n+j], slope[at]
				s := 4 * t / ((1 + t) * (1 + t))
				du := dout[i*(n+1)+j]*s + dlogp*2*a*s/(s+squash)
				dh[i*2*n+j] = du
				dh[i*2*n+n+j] = 0
				if raw >= logStdMin && raw <= logStdMax {
					dh[i*2*n+n+j] = du*std[at]*eps[i*n+j] - dlogp
				}
			}
		}
	})
}

// subset returns, for each run, the members that operand 1 of n names, or all.
// The slice is the lane's own.
func (c *compiler) subset(in device.Instr, n int) func(lane int) []int {
	members, _, _ := c.shape(in.In[0])
	var lists [Lanes][]int
	for l := range lists {
		for e := range members {
			lists[l] = append(lists[l], e)
		}
	}
	if len(in.In) < n {
		return func(lane int) []int { return lists[lane] }
	}
	indices := c.data[in.In[1]]
	for l := range lists {
		lists[l] = make([]int, len(indices))
	}
	return func(lane int) []int {
		for i, v := range indices {
			if !(v >= 0 && float64(v) < float64(members)) {
				return nil
			}
			lists[lane][i] = int(v)
		}
		return lists[lane]
	}
}

func minMembers(c *compiler, in device.Instr) {
	q, out := c.data[in.In[0]], c.data[in.Out]
	_, rows, cols := c.shape(in.In[0])
	subset := c.subset(in, 2)
	c.rowwiseLane(in, rows, in.In[1:], func(lane, lo, hi int) {
		list := subset(lane)
		for i := lo * cols; i < hi*cols; i++ {
			out[i] = float32(math.NaN())
			for k, e := range list {
				if v := q[e*rows*cols+i]; k == 0 {
					out[i] = v
				} else {
					out[i] = min(out[i], v)
				}
			}
		}
	})
}

func minMembersGrad(c *compiler, in device.Instr) {
	last := len(in.In) - 1
	q, least, dout, dq := c.data[in.In[0]], c.data[in.In[last-1]], c.data[in.In[last]], c.data[in.Out]
	members, rows, cols := c.shape(in.In[0])
	subset := c.subset(in, 4)
	c.rowwiseLane(in, rows, in.In[1:last-1], func(lane, lo, hi int) {
		for e := range members {
			clear(dq[(e*rows+lo)*cols : (e*rows+hi)*cols])
		}
		list := subset(lane)
		for i := lo * cols; i < hi*cols; i++ {
			for _, e := range list {
				if at := e*rows*cols + i; q[at] == least[i] {
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
