package cpu

import (
	"math"

	"pgrlab/core/device"
)

func init() {
	lowerings[device.LogSumExp] = logSumExp
	lowerings[device.LogSumExpGrad] = logSumExpGrad
	lowerings[device.Softmax] = softmax
	lowerings[device.SoftmaxGrad] = softmaxGrad
	lowerings[device.CrossEntropy] = crossEntropy
	lowerings[device.CrossEntropyGrad] = crossEntropyGrad
}

// exponentials writes e^{x−largest} and returns the largest x and the sum of the exponentials; dst
// may be x.
func (c *compiler) exponentials(dst, x []float32) (largest float32, sum float64) {
	largest = float32(math.Inf(-1))
	for _, v := range x {
		largest = max(largest, v)
	}
	if math.IsInf(float64(largest), 0) { // all x are −Inf, or one is +Inf
		for j := range dst {
			dst[j] = float32(math.NaN())
		}
		return largest, 1
	}
	for j, v := range x {
		dst[j] = v - largest
	}
	c.k.Exp(dst, dst)
	return largest, total(dst)
}

func logSumExp(c *compiler, in device.Instr) {
	x, y := c.data[in.In[0]], c.data[in.Out]
	members, rows, cols := c.shape(in.In[0])
	work := c.perShare(cols)
	c.rowwiseShare(in, rows, nil, func(s share, lo, hi int) {
		for e := range members {
			for i := e*rows + lo; i < e*rows+hi; i++ {
				largest, sum := c.exponentials(work[s.place()], x[i*cols:(i+1)*cols])
				y[i] = float32(float64(largest) + math.Log(sum))
			}
		}
	})
}

func logSumExpGrad(c *compiler, in device.Instr) {
	x, lse, dy, dx := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out]
	_, _, cols := c.shape(in.Out)
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := dx[i*cols : (i+1)*cols]
			for j, v := range x[i*cols : (i+1)*cols] {
				row[j] = v - lse[i]
			}
			c.k.Exp(row, row)
			c.k.Scale(row, row, dy[i])
		}
	})
}

func softmax(c *compiler, in device.Instr) {
	x, y := c.data[in.In[0]], c.data[in.Out]
	_, _, cols := c.shape(in.Out)
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := y[i*cols : (i+1)*cols]
			_, sum := c.exponentials(row, x[i*cols:(i+1)*cols])
			c.k.Scale(row, row, float32(1/sum))
		}
	})
}

func softmaxGrad(c *compiler, in device.Instr) {
	y, dy, dx := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	_, _, cols := c.shape(in.Out)
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p, g, row := y[i*cols:(i+1)*cols], dy[i*cols:(i+1)*cols], dx[i*cols:(i+1)*cols]
			along := 0.0
			for j := range p {
				along += float64(p[j]) * float64(g[j])
			}
			for j := range p {
				row[j] = float32(float64(p[j]) * (float64(g[j]) - along))
			}
		}
	})
}

// wideRow is the number of columns from which kernels of whole rows are quicker than loops.
const wideRow = 32

func crossEntropy(c *compiler, in device.Instr) {
	e := c.errorTerm(in.In)
	work := c.perShare(e.cols)
	if e.cols >= wideRow {
		c.scalarSumLane(in, e.rows, nil, in.F[0], func(lane, lo, hi int) float64 {
			sum := 0.0
			for m := range e.members {
				for i := lo; i < hi; i++ {
					z, t, _, w := e.row(m, i)
					sum += float64(w) * c.crossEntropyOf(z, t, work[lane])
				}
			}
			return sum
		})
		return
	}
	c.scalarSumLane(in, e.rows, nil, in.F[0], func(lane, lo, hi int) float64 {
		sum := 0.0
		for m := range e.members {
			for i := lo; i < hi; i++ {
				z, t, _, w := e.row(m, i)
				largest, exps := c.exponentials(work[lane], z)
				lse := float64(largest) + math.Log(exps)
				for j, p := range t {
					if p != 0 { // 0·ln 0 is 0
						sum += float64(w) * float64(p) * (lse - float64(z[j]))
					}
				}
			}
		}
		return sum
	})
}

// crossEntropyOf is Σ t·(lse − z) of a row.
func (c *compiler) crossEntropyOf(z, t, work []float32) float64 {
	largest := c.k.Largest(z)
	lse := float64(largest) + math.Log(c.k.ExpSum(work, z, largest))
	sum := lse*c.k.Sum(t) - c.k.Dot(t, z)
	if sum == sum {
		return sum
	}
	sum = 0
	for j, p := range t {
		if p != 0 { // 0·ln 0 is 0
			sum += float64(p) * (lse - float64(z[j]))
		}
	}
	return sum
}

func crossEntropyGrad(c *compiler, in device.Instr) {
	if _, _, cols := c.shape(in.Out); cols >= wideRow {
		c.lossSlope(in, func(dz, z, t []float32, scale float32) {
			share := c.k.Sum(t) / c.k.ExpSum(dz, z, c.k.Largest(z))
			c.k.Scale(dz, dz, float32(float64(scale)*share))
			c.k.Axpy(dz, -scale, t)
		})
		return
	}
	c.lossSlope(in, func(dz, z, t []float32, scale float32) {
		_, sum := c.exponentials(dz, z)
		share := float32(total(t) / sum)
		for j, p := range t {
			dz[j] = scale * (dz[j]*share - p)
		}
	})
}
