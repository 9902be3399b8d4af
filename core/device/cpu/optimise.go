package cpu

import (
	"math"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

// gradient is what one parameter is stepped by.
type gradient struct {
	w, m, v, g0, g1 []float32
}

// optimise emits the Adam step. Where a gradient is still in the lanes' sums,
// the step adds them itself.
func (c *compiler) optimise() {
	a := c.p.Adam
	if a == nil {
		return
	}
	var params []gradient
	var uses []access
	for i, p := range a.Params {
		g := gradient{w: c.data[p], m: c.data[a.M[i]], v: c.data[a.V[i]], g0: c.data[a.Grads[i]]}
		if copies, ok := c.partial[a.Grads[i]]; ok {
			g.g1 = copies[1]
		}
		s := split{byElements, len(g.w)}
		uses = append(uses, writes(s, p), writes(s, a.M[i]), writes(s, a.V[i]))
		uses = append(uses, reads(s, a.Grads[i])...)
		params = append(params, g)
	}
	step := new(kernel.AdamStep)
	rate := c.data[a.Rate]
	c.before = append(c.before, func() {
		*a.T++
		t := float64(*a.T)
		*step = kernel.AdamStep{
			Beta1: float32(a.Beta1), Beta2: float32(a.Beta2),
			Step:      float32(float64(rate[0]) / (1 - math.Pow(float64(float32(a.Beta1)), t))),
			InvSqrtC2: float32(1 / math.Sqrt(1-math.Pow(float64(float32(a.Beta2)), t))),
			Eps:       float32(a.Eps), Decay: float32(float64(rate[0]) * a.WeightDecay), GradScale: 1,
		}
	})
	norm := func() float64 { return 0 }
	if a.ClipNorm > 0 {
		id, of := c.gradientNorm(params, a.Grads)
		norm = of
		uses = append(uses, access{buf: id, split: split{by: whole}})
	}
	c.schedule.add(stage{name: "adam", uses: uses, run: func(lane int) {
		mine := *step
		if a.ClipNorm > 0 { // as torch.nn.utils.clip_grad_norm_
			mine.GradScale = float32(min(1, a.ClipNorm/(norm()+1e-6)))
		}
		for _, p := range params {
			lo, hi := elementRange(len(p.w), lane)
			for at := lo; at < hi; at += block {
				end := min(at+block, hi)
				var g1 []float32
				if p.g1 != nil {
					g1 = p.g1[at:end]
				}
				c.k.Adam(p.w[at:end], p.m[at:end], p.v[at:end], p.g0[at:end], g1, &mine)
			}
		}
	}})
}

// gradientNorm emits the sum of squares of all gradients.
func (c *compiler) gradientNorm(params []gradient, grads []device.Ref) (id int, norm func() float64) {
	sums := make([]float64, Lanes*8)
	id = c.scratch()
	uses := []access{{buf: id, split: split{by: byLane}, write: true}}
	for i, g := range grads {
		uses = append(uses, reads(split{byElements, len(params[i].w)}, g)...)
	}
	c.schedule.add(stage{name: "gradient norm", uses: uses, run: func(lane int) {
		sum := 0.0
		for _, p := range params {
			lo, hi := elementRange(len(p.w), lane)
			for at := lo; at < hi; at += block {
				end := min(at+block, hi)
				var g1 []float32
				if p.g1 != nil {
					g1 = p.g1[at:end]
				}
				sum += c.k.SumSquares(p.g0[at:end], g1)
			}
		}
		sums[lane*8] = sum
	}})
	return id, func() float64 {
		total := 0.0
		for l := range Lanes {
			total += sums[l*8]
		}
		return math.Sqrt(total)
	}
}

// averages emits the moves of averages, after the optimiser.
func (c *compiler) averages() {
	for _, l := range c.p.Lerps {
		c.combine(l.Src)
		dst, src, rate := c.data[l.Dst], c.data[l.Src], c.data[l.Rate]
		n := len(dst)
		s := split{byElements, n}
		uses := append(reads(s, l.Src), writes(s, l.Dst))
		uses = append(uses, reads(split{by: whole}, l.Rate)...)
		c.schedule.add(stage{name: "average", uses: uses, run: func(lane int) {
			lo, hi := elementRange(n, lane)
			for at := lo; at < hi; at += block {
				end := min(at+block, hi)
				c.k.Lerp(dst[at:end], src[at:end], rate[0])
			}
		}})
	}
}
