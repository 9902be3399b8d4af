package cpu

import (
	"math"

	"pgrlab/core/device"
)

func init() {
	lowerings[device.GroupSoftmax] = groupSoftmax
	lowerings[device.GroupSoftmaxGrad] = groupSoftmaxGrad
	lowerings[device.GroupSample] = groupSample
}

// groupSoftmax implements op.GroupSoftmax.
func groupSoftmax(c *compiler, in device.Instr) {
	x, y, k := c.data[in.In[0]], c.data[in.Out], in.I[0]
	rest, share := 1-in.F[0], float32(in.F[0]/float64(k))
	if k == 4 {
		c.memberwise(in, nil, func(lo, hi int) { c.k.GroupSoftmax4(y[lo:hi], x[lo:hi], float32(rest), share) })
		return
	}
	c.memberwise(in, nil, func(lo, hi int) {
		for at := lo; at < hi; at += k {
			group := y[at : at+k]
			_, sum := c.exponentials(group, x[at:at+k])
			scale := float32(rest / sum)
			for j, v := range group {
				group[j] = v*scale + share
			}
		}
	})
}

// groupSoftmaxGrad is q(dy − Σ q·dy/(1−mix)) with q = y − mix/classes.
func groupSoftmaxGrad(c *compiler, in device.Instr) {
	y, dy, dx, k := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out], in.I[0]
	rest, share := 1-in.F[0], in.F[0]/float64(k)
	c.memberwise(in, nil, func(lo, hi int) {
		for at := lo; at < hi; at += k {
			p, g, out := y[at:at+k], dy[at:at+k], dx[at:at+k]
			along := 0.0
			for j := range p {
				along += (float64(p[j]) - share) * float64(g[j])
			}
			for j := range p {
				out[j] = float32((float64(p[j]) - share) * (float64(g[j]) - along/rest))
			}
		}
	})
}

// groupSample implements op.GroupSample.
func groupSample(c *compiler, in device.Instr) {
	p, u, y, k := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out], in.I[0]
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		_, _, groups := c.shape(in.In[1])
		if k == 4 {
			sampleFours(y[lo*groups*4:hi*groups*4], p[lo*groups*4:], u[lo*groups:])
			return
		}
		for i := lo * groups; i < hi*groups; i++ {
			sample(y[i*k:(i+1)*k], p[i*k:(i+1)*k], u[i])
		}
	})
}

// one are the groups of four with one drawn class.
var one = [4][4]float32{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}

// sampleFours is sample of groups of four, without branches that depend on what is drawn.
func sampleFours(out, p, u []float32) {
	for i := range len(out) / 4 {
		group, at := (*[4]float32)(p[4*i:]), u[i]
		first := group[0]
		second := first + group[1]
		third := second + group[2]
		sum := third + group[3]
		if (sum-sum)+(at-at) != 0 || !(at < sum) { // not finite, or rounded
			sample(out[4*i:4*i+4], group[:], at)
			continue
		}
		class := 3 - below(at, first) - below(at, second) - below(at, third)
		*(*[4]float32)(out[4*i:]) = one[class&3]
	}
}

// below is 1 where a < b, else 0.
func below(a, b float32) uint32 { return math.Float32bits(a-b) >> 31 }

// sample makes a group of one drawn class; see op.GroupSample.
func sample(out, p []float32, u float32) {
	sum, class, last := float32(0), -1, len(p)-1
	for j, x := range p {
		out[j] = 0
		sum += x
		if x > 0 {
			last = j
		}
		if class < 0 && u < sum {
			class = j
		}
	}
	if (sum-sum)+(u-u) != 0 { // not finite
		for j := range out {
			out[j] = float32(math.NaN())
		}
		return
	}
	if class < 0 {
		class = last
	}
	out[class] = 1
}
