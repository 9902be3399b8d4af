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

// scalarSum emits a sum over rows in float64 and, as late as possible, its last step: out =
// sum/norm. Gradients do not wait for the value of their loss.
func (c *compiler) scalarSum(in device.Instr, rows int, wholes []device.Ref, norm float64, sum func(lo, hi int) float64) {
	c.scalarSumLane(in, rows, wholes, norm, func(_, lo, hi int) float64 { return sum(lo, hi) })
}

// scalarSumLane is scalarSum for stages that need scratch memory for each lane.
func (c *compiler) scalarSumLane(in device.Instr, rows int, wholes []device.Ref, norm float64, sum func(lane, lo, hi int) float64) {
	sums := make([]float64, Lanes*8) // a cache line apart
	id := c.scratch()
	uses := append(operands(split{by: byRows, n: rows}, wholes, in.In...), access{buf: id, split: split{by: byLane}, write: true})
	c.schedule.add(stage{name: in.Code.String(), uses: uses, run: ofLanes(func(lane int) {
		lo, hi := rowRange(rows, lane)
		sums[lane*8] = sum(lane, lo, hi)
	})})
	out := c.data[in.Out]
	first := split{by: byFirst}
	c.schedule.postpone(stage{name: "sum", uses: []access{{buf: id, split: first}, writes(first, in.Out)}, run: ofLanes(func(lane int) {
		if lane != 0 {
			return
		}
		total := 0.0
		for l := range Lanes {
			total += sums[l*8]
		}
		out[0] = float32(total / norm)
	})})
}

// errorTerm is the geometry of p against t, weighted or not.
type errorTerm struct {
	p, t, w             []float32
	members, rows, cols int
	shared              bool // all members share one target
}

// errorTerm returns the geometry for the operands p, t and, if there is a third, w.
func (c *compiler) errorTerm(operands []device.Ref) errorTerm {
	e := errorTerm{p: c.data[operands[0]], t: c.data[operands[1]]}
	e.members, e.rows, e.cols = c.shape(operands[0])
	n, _, _ := c.shape(operands[1])
	e.shared = n < e.members
	if len(operands) == 3 {
		e.w = c.data[operands[2]]
	}
	return e
}

// row returns one row of predictions and of targets, the index where it begins, and its weight.
func (e errorTerm) row(member, i int) (p, t []float32, at int, w float32) {
	at = (member*e.rows + i) * e.cols
	target := at
	if e.shared {
		target = i * e.cols
	}
	w = 1
	if e.w != nil {
		w = e.w[(member*e.rows+i)%len(e.w)]
	}
	return e.p[at : at+e.cols], e.t[target : target+e.cols], at, w
}

func squaredError(c *compiler, in device.Instr) {
	e := c.errorTerm(in.In)
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

// squares sums in blocks that are short enough to allow preemption between them.
func (c *compiler) squares(a, b []float32) float64 {
	sum := 0.0
	for at := 0; at < len(a); at += block {
		end := min(at+block, len(a))
		sum += c.k.SumSquaredDiff(a[at:end], b[at:end])
	}
	return sum
}

func squaredErrorGrad(c *compiler, in device.Instr) {
	c.lossSlope(in, func(dp, p, t []float32, scale float32) {
		for j := range dp {
			dp[j] = 2 * scale * (p[j] - t[j])
		}
	})
}

func entropyLoss(c *compiler, in device.Instr) {
	logp, q, alpha := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]]
	members, rows, _ := c.shape(in.In[0])
	c.scalarSum(in, rows, in.In[2:], float64(rows), func(lo, hi int) float64 {
		sum := 0.0
		for e := range members {
			for i := e*rows + lo; i < e*rows+hi; i++ {
				sum += float64(alpha[0])*float64(logp[i]) - float64(q[i])
			}
		}
		return sum
	})
}

func entropyGradLogp(c *compiler, in device.Instr) {
	alpha, dloss, out := c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out]
	_, rows, _ := c.shape(in.Out)
	c.memberwise(in, in.In[1:], func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = dloss[0] * alpha[0] / float32(rows)
		}
	})
}

func entropyGradQ(c *compiler, in device.Instr) {
	dloss, out := c.data[in.In[1]], c.data[in.Out]
	_, rows, _ := c.shape(in.Out)
	c.memberwise(in, in.In[1:], func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = -dloss[0] / float32(rows)
		}
	})
}

func addScalars(c *compiler, in device.Instr) {
	a, b, out := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	first := split{by: byFirst}
	c.schedule.postpone(stage{name: "add scalars", uses: append(reads(first, in.In...), writes(first, in.Out)), run: ofLanes(func(lane int) {
		if lane == 0 {
			out[0] = a[0] + b[0]
		}
	})})
}

func rowMeanSquare(c *compiler, in device.Instr) {
	a, b, out := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	_, _, cols := c.shape(in.In[0])
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = float32(c.k.SumSquaredDiff(a[i*cols:(i+1)*cols], b[i*cols:(i+1)*cols]) / float64(cols))
		}
	})
}
