package cpu

import (
	"math"
	"slices"

	"pgrlab/core/device"
)

// guard decides between two segments whether a program may change state that outlives its run: the
// loss and the norm of the gradients must be finite.
type guard struct {
	sums    []float64 // squares of the gradients, by lane
	squares []float64 // sums of squares of the buffers that must be finite, by lane
	norm    float64   // of the last run
	closed  bool      // the last run was stopped
	// tensors holds, if gradients are clipped one by one, the sums of squares of each gradient and of
	// its parameter, by lane.
	tensors [Lanes][]squares
}

// squares are the sums of squares of a parameter and of its gradient.
type squares struct{ param, gradient float64 }

// scale returns the factor by which the gradient of parameter i is clipped.
func (g *guard) scale(a *device.Adam, i int) float32 {
	scale := 1.0
	if a.ClipNorm > 0 { // as torch.nn.utils.clip_grad_norm_
		scale = min(1, a.ClipNorm/(g.norm+1e-6))
	}
	if a.ClipTensor > 0 {
		var sum squares
		for lane := range Lanes {
			sum.param += g.tensors[lane][i].param
			sum.gradient += g.tensors[lane][i].gradient
		}
		bound := a.ClipTensor * max(device.LeastNorm, math.Sqrt(sum.param))
		if norm := scale * math.Sqrt(sum.gradient); norm > bound {
			scale *= bound / norm
		}
	}
	return float32(scale)
}

// open is called by the worker that completes the segment before the gate.
func (g *guard) open() bool {
	total, other := 0.0, 0.0
	for l := range Lanes {
		total += g.sums[l*8]
		other += g.squares[l*8]
	}
	g.norm = math.Sqrt(total)
	g.closed = !(g.norm < device.MaxGradientNorm) || math.IsNaN(other) || math.IsInf(other, 0)
	return !g.closed
}

// check emits the sums that guard decides on, and the gate that follows them.
func (c *compiler) check() {
	if c.p.Adam == nil && len(c.p.Finite) == 0 {
		return
	}
	c.schedule.flush() // the sum of the loss
	g := &c.guard
	g.sums, g.squares = make([]float64, Lanes*8), make([]float64, Lanes*8)
	id := c.scratch()
	uses := []access{{buf: id, split: split{by: byLane}, write: true}}
	var grads []gradient
	if c.p.Adam != nil {
		for _, r := range c.p.Adam.Grads {
			x := c.gradient(r)
			x.squares = c.blockSquares[r]
			uses = append(uses, reads(split{by: byElements, n: len(x.g0)}, r)...)
			grads = append(grads, x)
		}
	}
	clipped := c.clipped(&uses)
	var finite []gradient
	for _, r := range c.p.Finite {
		uses = append(uses, reads(split{by: byElements, n: len(c.data[r])}, r)...)
		finite = append(finite, gradient{g0: c.data[r]})
	}
	c.schedule.add(stage{name: "check", uses: uses, run: ofLanes(func(lane int) {
		g.squares[lane*8] = c.sumOfSquares(finite, lane)
		if clipped == nil {
			g.sums[lane*8] = c.sumOfSquares(grads, lane)
			return
		}
		total := 0.0
		for i := range clipped {
			sum := squares{c.sumOfSquares(clipped[i:i+1], lane), c.sumOfSquares(grads[i:i+1], lane)}
			g.tensors[lane][i] = sum
			total += sum.gradient
		}
		g.sums[lane*8] = total
	})})
	c.gate = c.schedule.cut()
}

// clipped returns the parameters whose gradients are clipped one by one, or nil, and adds their uses
// to those of the check.
func (c *compiler) clipped(uses *[]access) (params []gradient) {
	if c.p.Adam == nil || c.p.Adam.ClipTensor == 0 {
		return nil
	}
	for _, r := range c.p.Adam.Params {
		*uses = append(*uses, reads(split{by: byElements, n: len(c.data[r])}, r)...)
		params = append(params, gradient{g0: c.data[r]})
	}
	for lane := range c.guard.tensors {
		c.guard.tensors[lane] = make([]squares, len(params))
	}
	return params
}

// squareEarly makes the lanes that write a gradient sum the squares of its blocks while the blocks
// are in a cache: reading all gradients of a large network from memory takes half as long as one of
// its products. check adds the sums up in its own order. squareEarly returns the function that a
// lane calls when it has written elements from to to, after all earlier ones. The function does
// nothing if lanes do not write the same elements that they own in check.
func (c *compiler) squareEarly(r device.Ref, written func(lane int) (lo, hi int)) func(lane, from, to int) {
	g := c.data[r]
	var squares [Lanes][]float64
	for lane := range Lanes {
		lo, hi := elementRange(len(g), lane)
		if from, to := written(lane); from != lo || to != hi || c.p.Adam == nil || !slices.Contains(c.p.Adam.Grads, r) {
			return func(int, int, int) {}
		}
		squares[lane] = make([]float64, (hi-lo+block-1)/block)
	}
	c.blockSquares[r] = squares
	return func(lane, from, to int) {
		lo, hi := elementRange(len(g), lane)
		for i := (from - lo) / block; i < len(squares[lane]); i++ {
			at, end := lo+i*block, min(lo+(i+1)*block, hi)
			if end > to {
				return
			}
			if end > from {
				squares[lane][i] = c.k.SumSquares(g[at:end], nil)
			}
		}
	}
}

// sumOfSquares returns a lane's share of the sum of the squares of all elements.
func (c *compiler) sumOfSquares(of []gradient, lane int) (sum float64) {
	for _, x := range of {
		if x.squares[lane] != nil {
			for _, s := range x.squares[lane] {
				sum += s
			}
			continue
		}
		lo, hi := elementRange(len(x.g0), lane)
		for at := lo; at < hi; at += block {
			end := min(at+block, hi)
			var g1 []float32
			if x.g1 != nil {
				g1 = x.g1[at:end]
			}
			sum += c.k.SumSquares(x.g0[at:end], g1)
		}
	}
	return sum
}

// diagnose runs the segments before the gate once more, stage by stage, and reports where the first
// number that is not finite appears. These segments change no state, so they compute the same
// numbers again.
func (x *executable) diagnose() error {
	made := map[int]bool{}
	for _, segment := range x.stages[:x.job.gate] {
		for _, s := range segment {
			for _, a := range s.uses {
				made[a.buf] = made[a.buf] || a.write
			}
		}
	}
	for r := range x.data {
		if made[r] || x.program.HoldsBytes(device.Ref(r)) {
			continue
		}
		if e := x.infinite(-1, r); e != nil {
			return e
		}
	}
	for _, segment := range x.stages[:x.job.gate] {
		for _, s := range segment {
			for _, lane := range lanes() {
				s.run(lane)
			}
			for _, a := range s.uses {
				if !a.write || a.buf >= len(x.data) {
					continue
				}
				if e := x.infinite(s.instr, a.buf); e != nil {
					return e
				}
			}
		}
	}
	return &device.NotFinite{Instr: device.Nowhere, Buffer: device.None, Norm: x.guard.norm}
}

// infinite finds the first element of a buffer, or of its lanes' sums, that is
// not finite.
func (x *executable) infinite(instr, r int) error {
	parts := [][]float32{x.data[r]}
	if copies, ok := x.copies[device.Ref(r)]; ok && instr >= 0 {
		parts = copies[:]
	}
	for i := range x.data[r] {
		for _, p := range parts {
			if v := float64(p[i]); math.IsNaN(v) || math.IsInf(v, 0) {
				return &device.NotFinite{Instr: instr, Buffer: device.Ref(r), Index: i, Value: p[i], Norm: x.guard.norm}
			}
		}
	}
	return nil
}
