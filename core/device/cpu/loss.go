package cpu

import (
	"pgrlab/core/device"
)

func init() {
	lowerings[device.SquaredError] = squaredError
	lowerings[device.WeightedSquaredError] = squaredError
	lowerings[device.SquaredErrorGrad] = squaredErrorGrad
	lowerings[device.WeightedSquaredErrorGrad] = squaredErrorGrad
	lowerings[device.EntropyLoss] = entropyLoss
	lowerings[device.EntropyGradLogp] = entropyGradLogp
	lowerings[device.EntropyGradQ] = entropyGradQ
	lowerings[device.AddScalars] = addScalars
	lowerings[device.RowMeanSquare] = rowMeanSquare
}

// scalarSum emits a sum over rows in float64 and, as late as possible, the end
// of it: out = sum/norm. Gradients do not wait for the value of their loss.
func (c *compiler) scalarSum(in device.Instr, rows int, wholes []device.Ref, norm float64, sum func(lo, hi int) float64) {
	sums := make([]float64, Lanes*8) // a cache line apart
	id := c.scratch()
	uses := []access{{buf: id, split: split{by: byLane}, write: true}}
	for _, r := range in.In {
		if contains(wholes, r) {
			uses = append(uses, reads(split{by: whole}, r)...)
		} else {
			uses = append(uses, reads(split{byRows, rows}, r)...)
		}
	}
	c.schedule.add(stage{name: in.Code.String(), uses: uses, run: func(lane int) {
		lo, hi := rowRange(rows, lane)
		sums[lane*8] = sum(lo, hi)
	}})
	out := c.data[in.Out]
	first := split{by: byFirst}
	c.schedule.postpone(stage{name: "sum", uses: []access{{buf: id, split: first}, writes(first, in.Out)}, run: func(lane int) {
		if lane != 0 {
			return
		}
		total := 0.0
		for l := range Lanes {
			total += sums[l*8]
		}
		out[0] = float32(total / norm)
	}})
}

// errorTerm is the geometry of p against t, weighted or not.
type errorTerm struct {
	p, t, w             []float32
	members, rows, cols int
	shared              bool // one target serves all members
}

func (c *compiler) errorTerm(in device.Instr) errorTerm {
	e := errorTerm{p: c.data[in.In[0]], t: c.data[in.In[1]]}
	e.members, e.rows, e.cols = c.shape(in.In[0])
	n, _, _ := c.shape(in.In[1])
	e.shared = n < e.members
	if in.Code == device.WeightedSquaredError || in.Code == device.WeightedSquaredErrorGrad {
		e.w = c.data[in.In[2]]
	}
	return e
}

// row returns one row of predictions and targets, where it begins and its weight.
func (e errorTerm) row(member, i int) (p, t []float32, at int, w float32) {
	at = (member*e.rows + i) * e.cols
	target := at
	if e.shared {
		target = i * e.cols
	}
	w = 1
	if e.w != nil {
		w = e.w[i]
	}
	return e.p[at : at+e.cols], e.t[target : target+e.cols], at, w
}

func squaredError(c *compiler, in device.Instr) {
	e := c.errorTerm(in)
	c.scalarSum(in, e.rows, nil, in.F[0], func(lo, hi int) float64 {
		sum := 0.0
		for m := range e.members {
			if e.w == nil && !e.shared && lo < hi { // contiguous: one call
				_, _, from, _ := e.row(m, lo)
				to := (m*e.rows + hi) * e.cols
				sum += c.squares(e.p[from:to], e.t[from:to])
				continue
			}
			for i := lo; i < hi; i++ {
				p, t, _, w := e.row(m, i)
				sum += float64(w) * c.k.SumSquaredDiff(p, t)
			}
		}
		return sum
	})
}

// squares sums in blocks, each short enough to be preempted after.
func (c *compiler) squares(a, b []float32) float64 {
	sum := 0.0
	for at := 0; at < len(a); at += block {
		end := min(at+block, len(a))
		sum += c.k.SumSquaredDiff(a[at:end], b[at:end])
	}
	return sum
}

func squaredErrorGrad(c *compiler, in device.Instr) {
	e := c.errorTerm(in)
	dp, dloss := c.data[in.Out], c.data[in.In[len(in.In)-1]]
	factor := 2 / in.F[0]
	c.rowwise(in, e.rows, in.In[len(in.In)-1:], func(lo, hi int) {
		scale := float32(factor * float64(dloss[0]))
		for m := range e.members {
			for i := lo; i < hi; i++ {
				p, t, at, w := e.row(m, i)
				s := scale * w
				out := dp[at : at+len(p)]
				for j := range out {
					out[j] = s * (p[j] - t[j])
				}
			}
		}
	})
}

func entropyLoss(c *compiler, in device.Instr) {
	logp, q, alpha := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]]
	_, rows, _ := c.shape(in.In[0])
	c.scalarSum(in, rows, in.In[2:], float64(rows), func(lo, hi int) float64 {
		sum := 0.0
		for i := lo; i < hi; i++ {
			sum += float64(alpha[0])*float64(logp[i]) - float64(q[i])
		}
		return sum
	})
}

func entropyGradLogp(c *compiler, in device.Instr) {
	alpha, dloss, out := c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out]
	_, rows, _ := c.shape(in.Out)
	c.rowwise(in, rows, in.In[1:], func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = dloss[0] * alpha[0] / float32(rows)
		}
	})
}

func entropyGradQ(c *compiler, in device.Instr) {
	dloss, out := c.data[in.In[1]], c.data[in.Out]
	_, rows, _ := c.shape(in.Out)
	c.rowwise(in, rows, in.In[1:], func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = -dloss[0] / float32(rows)
		}
	})
}

func addScalars(c *compiler, in device.Instr) {
	a, b, out := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	first := split{by: byFirst}
	c.schedule.postpone(stage{name: "add scalars", uses: append(reads(first, in.In...), writes(first, in.Out)), run: func(lane int) {
		if lane == 0 {
			out[0] = a[0] + b[0]
		}
	}})
}

func rowMeanSquare(c *compiler, in device.Instr) {
	a, b, out := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	_, rows, cols := c.shape(in.In[0])
	c.rowwise(in, rows, nil, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = float32(c.k.SumSquaredDiff(a[i*cols:(i+1)*cols], b[i*cols:(i+1)*cols]) / float64(cols))
		}
	})
}
