package cpu

import (
	"math"

	"pgrlab/core/device"
)

func init() {
	lowerings[device.BatchStats] = batchStats
	lowerings[device.BatchNorm] = func(c *compiler, in device.Instr) { batchNorm(c, in, statsVar) }
	lowerings[device.BatchNormEval] = func(c *compiler, in device.Instr) { batchNorm(c, in, statsUnbiased) }
	lowerings[device.BatchNormDX] = batchNormDX
	lowerings[device.BatchNormDGamma] = batchNormDGamma
}

// Rows of the statistics; see op.BatchStats.
const (
	statsMean = iota
	statsVar
	statsUnbiased
	batchNormEps = 1e-5
)

// columnSums emits a sum over rows of cols numbers a row, in float64. The
// result is complete for every stage that reads the returned scratch as a whole:
// total(j) adds the lanes in order.
func (c *compiler) columnSums(name string, rows, cols int, uses []access, row func(sums []float64, i int)) (id int, total func(j int) float64) {
	stride := (cols + 7) &^ 7
	sums := make([]float64, Lanes*stride)
	id = c.scratch()
	c.schedule.add(stage{
		name: name, uses: append(uses, access{buf: id, split: split{by: byLane}, write: true}),
		run: func(lane int) {
			mine := sums[lane*stride : lane*stride+cols]
			clear(mine)
			lo, hi := rowRange(rows, lane)
			for i := lo; i < hi; i++ {
				row(mine, i)
			}
		},
	})
	return id, func(j int) float64 {
		sum := 0.0
		for l := range Lanes {
			sum += sums[l*stride+j]
		}
		return sum
	}
}

func batchStats(c *compiler, in device.Instr) {
	x, stats := c.data[in.In[0]], c.data[in.Out]
	_, rows, cols := c.shape(in.In[0])
	byRow := reads(split{byRows, rows}, in.In[0])
	sum, total := c.columnSums("batch mean", rows, cols, byRow, func(sums []float64, i int) {
		for j, v := range x[i*cols : (i+1)*cols] {
			sums[j] += float64(v)
		}
	})
	// Two passes: the variance of numbers far from zero needs their mean first.
	uses := append(reads(split{byRows, rows}, in.In[0]), access{buf: sum, split: split{by: whole}})
	squares, square := c.columnSums("batch variance", rows, cols, uses, func(sums []float64, i int) {
		for j, v := range x[i*cols : (i+1)*cols] {
			d := float64(v) - total(j)/float64(rows)
			sums[j] += d * d
		}
	})
	first := split{by: byFirst}
	c.schedule.add(stage{
		name: in.Code.String(),
		uses: []access{{buf: sum, split: first}, {buf: squares, split: first}, writes(first, in.Out)},
		run: func(lane int) {
			if lane != 0 {
				return
			}
			for j := range cols {
				stats[statsMean*cols+j] = float32(total(j) / float64(rows))
				stats[statsVar*cols+j] = float32(square(j) / float64(rows))
				stats[statsUnbiased*cols+j] = float32(square(j) / float64(rows-1))
			}
		},
	})
}

// batchNorm normalises by the given row of the statistics as variance.
func batchNorm(c *compiler, in device.Instr, variance int) {
	x, gamma, beta, stats, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.In[3]], c.data[in.Out]
	_, rows, cols := c.shape(in.Out)
	// Each lane folds γ, β and the statistics into one scale and one shift.
	scales, shifts := perLane(cols), perLane(cols)
	c.rowwiseLane(in, rows, in.In[1:], func(lane, lo, hi int) {
		scale, shift := scales[lane], shifts[lane]
		for j := range cols {
			scale[j] = gamma[j] / float32(math.Sqrt(float64(stats[variance*cols+j])+batchNormEps))
			shift[j] = beta[j] - stats[statsMean*cols+j]*scale[j]
		}
		for i := lo; i < hi; i++ {
			row := y[i*cols : (i+1)*cols]
			c.k.Mul(row, x[i*cols:(i+1)*cols], scale)
			c.k.Add(row, row, shift)
		}
	})
}

func perLane(n int) (copies [Lanes][]float32) {
	for l := range copies {
		copies[l] = aligned(n)
	}
	return copies
}

// batchNormDX is γ/√(v+ε)·(dy − mean(dy) − x̂·mean(dy·x̂)).
func batchNormDX(c *compiler, in device.Instr) {
	x, gamma, stats, dy, dx := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.In[3]], c.data[in.Out]
	_, rows, cols := c.shape(in.Out)
	s := split{byRows, rows}
	uses := append(reads(s, in.In[0], in.In[3]), reads(split{by: whole}, in.In[2])...)
	id, total := c.columnSums("batch norm sums", rows, 2*cols, uses, func(sums []float64, i int) {
		for j := range cols {
			g := float64(dy[i*cols+j])
			sums[j] += g
			sums[cols+j] += g * (float64(x[i*cols+j]) - float64(stats[statsMean*cols+j]))
		}
	})
	all := append(reads(s, in.In[0], in.In[3]), reads(split{by: whole}, in.In[1], in.In[2])...)
	all = append(all, access{buf: id, split: split{by: whole}}, writes(s, in.Out))
	var terms [Lanes][]float64
	for lane := range terms {
		terms[lane] = make([]float64, 3*cols)
	}
	c.schedule.add(stage{name: in.Code.String(), uses: all, run: func(lane int) {
		// In float64: the sum over rows of the result is zero but for rounding,
		// and the bias of a layer below receives that sum.
		scale, offset, slope := terms[lane][:cols], terms[lane][cols:2*cols], terms[lane][2*cols:]
		for j := range cols {
			inv := 1 / math.Sqrt(float64(stats[statsVar*cols+j])+batchNormEps)
			scale[j] = float64(gamma[j]) * inv
			offset[j] = total(j) / float64(rows)
			slope[j] = total(cols+j) * inv * inv / float64(rows)
		}
		lo, hi := rowRange(rows, lane)
		for i := lo; i < hi; i++ {
			for j := range cols {
				centred := float64(x[i*cols+j]) - float64(stats[statsMean*cols+j])
				dx[i*cols+j] = float32(scale[j] * (float64(dy[i*cols+j]) - offset[j] - centred*slope[j]))
			}
		}
	}})
}

func batchNormDGamma(c *compiler, in device.Instr) {
	x, stats, dy := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]]
	_, rows, cols := c.shape(in.In[0])
	c.overRows(in, rows, in.In[1:2], func(out []float32, lo, hi int) {
		clear(out)
		for i := lo; i < hi; i++ {
			for j := range cols {
				out[j] += dy[i*cols+j] * (x[i*cols+j] - stats[statsMean*cols+j])
			}
		}
		for j := range cols {
			out[j] /= float32(math.Sqrt(float64(stats[statsVar*cols+j]) + batchNormEps))
		}
	})
}
