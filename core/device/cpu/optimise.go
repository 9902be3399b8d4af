package cpu

import (
	"math"
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

// gradient holds the memory of one parameter's step, and the averages that follow the parameter.
type gradient struct {
	w, m, v, g0, g1 []float32
	squares         [Lanes][]float64 // sums of squares of its blocks, if the lanes computed them while writing it
	followers       []follower
}

// follower is an average that moves to the stepped parameter at a rate.
type follower struct{ dst, rate []float32 }

// stepped is the number of elements that are stepped at once: they are still in the first-level
// cache when their averages move.
const stepped = 1 << 11

// optimise emits the optimiser's step together with the updates of averages of the parameters. If a
// gradient is still in the lanes' sums, the step adds the sums itself.
func (c *compiler) optimise() {
	a := c.p.Adam
	if a == nil {
		return
	}
	var params []gradient
	var uses []access
	for i, p := range a.Params {
		g := c.gradient(a.Grads[i])
		g.w, g.m, g.v = c.data[p], c.data[a.M[i]], c.data[a.V[i]]
		s := c.byElements(len(g.w))
		uses = append(uses, writes(s, p), writes(s, a.M[i]), writes(s, a.V[i]))
		uses = append(uses, reads(s, a.Grads[i])...)
		for _, l := range c.p.Lerps {
			if c.follows(l, p) {
				g.followers = append(g.followers, follower{c.data[l.Dst], c.data[l.Rate]})
				uses = append(uses, writes(s, l.Dst))
				uses = append(uses, reads(split{by: whole}, l.Rate)...)
			}
		}
		params = append(params, g)
	}
	step := new(kernel.AdamStep)
	rate := c.data[a.Rate]
	c.before = append(c.before, func() {
		t := float64(*a.T + 1)
		*step = kernel.AdamStep{
			Beta1: float32(a.Beta1), Beta2: float32(a.Beta2),
			Step:      float32(float64(rate[0]) / (1 - math.Pow(float64(float32(a.Beta1)), t))),
			InvSqrtC2: float32(1 / math.Sqrt(1-math.Pow(float64(float32(a.Beta2)), t))),
			Eps:       float32(a.Eps), Decay: float32(float64(rate[0]) * a.WeightDecay),
		}
	})
	c.after = append(c.after, func() { *a.T++ })
	c.schedule.add(stage{name: a.Rule.String(), uses: uses, run: func(s share) {
		mine := *step
		for i, p := range params {
			mine.GradScale = c.guard.scale(a, i)
			lo, hi := s.elements(len(p.w))
			for at := lo; at < hi; at += stepped {
				end := min(at+stepped, hi)
				var g1 []float32
				if p.g1 != nil {
					g1 = p.g1[at:end]
				}
				switch a.Rule { // not by a function value, for which mine would be allocated
				case device.RuleAdam:
					c.k.Adam(p.w[at:end], p.m[at:end], p.v[at:end], p.g0[at:end], g1, &mine)
				case device.RuleLaProp:
					c.k.LaProp(p.w[at:end], p.m[at:end], p.v[at:end], p.g0[at:end], g1, &mine)
				}
				for _, to := range p.followers {
					c.k.Lerp(to.dst[at:end], p.w[at:end], to.rate[0])
				}
			}
		}
	}})
}

// gradient returns where a gradient is stored: whole, or in the lanes' sums.
func (c *compiler) gradient(r device.Ref) gradient {
	g := gradient{g0: c.data[r]}
	if copies, ok := c.partial[r]; ok {
		g.g1 = copies[1]
	}
	return g
}

// follows reports whether an average moves to a parameter that the optimiser steps, and to nothing
// else; the average then moves in the same pass.
func (c *compiler) follows(l device.Lerp, param device.Ref) bool {
	if l.Src != param || l.Rate == device.None {
		return false
	}
	for _, other := range c.p.Lerps {
		if other != l && (other.Dst == l.Dst || other.Src == l.Dst || other.Dst == param || other.Dst == l.Rate) {
			return false
		}
	}
	return true
}

// averages emits the updates of averages that do not follow a step, after the optimiser.
func (c *compiler) averages() {
	for _, l := range c.p.Lerps {
		if c.p.Adam != nil && slices.ContainsFunc(c.p.Adam.Params, func(p device.Ref) bool { return c.follows(l, p) }) {
			continue
		}
		c.combine(l.Src)
		dst, src := c.data[l.Dst], c.data[l.Src]
		n := len(dst)
		s := c.byElements(n)
		uses := append(reads(s, l.Src), writes(s, l.Dst))
		if l.Rate == device.None {
			c.schedule.add(stage{name: "move", uses: uses, run: func(s share) {
				lo, hi := s.elements(n)
				copy(dst[lo:hi], src[lo:hi])
			}})
			continue
		}
		rate := c.data[l.Rate]
		uses = append(uses, reads(split{by: whole}, l.Rate)...)
		c.schedule.add(stage{name: "average", uses: uses, run: func(s share) {
			lo, hi := s.elements(n)
			for at := lo; at < hi; at += block {
				end := min(at+block, hi)
				c.k.Lerp(dst[at:end], src[at:end], rate[0])
			}
		}})
	}
}
