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

// columnSums emits a sum over rows, in float64, with cols numbers for each row. The result is
// complete for every stage that reads the returned scratch as a whole: total(j) adds the lanes in
// order.
func (c *compiler) columnSums(name string, rows, cols int, uses []access, row func(sums []float64, i int)) (id int, total func(j int) float64) {
	stride := (cols + 7) &^ 7
	sums := make([]float64, Lanes*stride)
	id = c.scratch()
	c.schedule.add(stage{
		name: name, uses: append(uses, access{buf: id, split: split{by: byLane}, write: true}),
		run: ofLanes(func(lane int) {
			mine := sums[lane*stride : lane*stride+cols]
			clear(mine)
			lo, hi := rowRange(rows, lane)
			for i := lo; i < hi; i++ {
				row(mine, i)
			}
		}),
	})
	return id, func(j int) float64 {
		sum := 0.0
		for l := range Lanes {
			sum += sums[l*stride+j]
		}
		return sum
	}
}

// normed returns the shape of x as a batch norm sees it; images have a row for each place.
func (c *compiler) normed(in device.Instr, x device.Ref) (members, rows, cols int) {
	members, rows, cols = c.shape(x)
	if channels := in.I[0]; channels > 0 {
		rows, cols = rows*cols/channels, channels
	}
	return members, rows, cols
}

// memberColumns emits a sum over the rows of each member of x, in float64: one number for each of
// the member's per·cols columns. row adds the numbers of row i (counted over all members) of member
// e to the member's sums.
func (c *compiler) memberColumns(name string, in device.Instr, x device.Ref, per int, uses []access, row func(sums []float64, e, i int)) (id int, total func(e, j int) float64) {
	members, rows, cols := c.normed(in, x)
	width := per * cols
	id, all := c.columnSums(name, rows, members*width, uses, func(sums []float64, i int) {
		for e := range members {
			row(sums[e*width:(e+1)*width], e, e*rows+i)
		}
	})
	return id, func(e, j int) float64 { return all(e*width + j) }
}

// deviations emits the sums over rows of x and of its squared distance from the mean. It takes two
// passes, because the variance of numbers far from zero needs the mean first.
func (c *compiler) deviations(in device.Instr, r device.Ref) (ids [2]int, sum, square func(e, j int) float64) {
	x := c.data[r]
	_, rows, cols := c.normed(in, r)
	byRow := split{by: byRows, n: rows}
	ids[0], sum = c.memberColumns(in.Code.String()+": mean", in, r, 1, reads(byRow, r), func(sums []float64, _, i int) {
		for j, v := range x[i*cols : (i+1)*cols] {
			sums[j] += float64(v)
		}
	})
	uses := append(reads(byRow, r), access{buf: ids[0], split: split{by: whole}})
	ids[1], square = c.memberColumns(in.Code.String()+": variance", in, r, 1, uses, func(sums []float64, e, i int) {
		for j, v := range x[i*cols : (i+1)*cols] {
			d := float64(v) - sum(e, j)/float64(rows)
			sums[j] += d * d
		}
	})
	return ids, sum, square
}

// onceFor emits a stage in which one lane handles each column of each member of x.
func (c *compiler) onceFor(in device.Instr, x device.Ref, uses []access, visit func(e, j int)) {
	members, _, cols := c.normed(in, x)
	first := split{by: byFirst}
	c.schedule.add(stage{name: in.Code.String(), uses: append(uses, writes(first, in.Out)), run: ofLanes(func(lane int) {
		for k := 0; lane == 0 && k < members*cols; k++ {
			visit(k/cols, k%cols)
		}
	})})
}

func batchStats(c *compiler, in device.Instr) {
	stats := c.data[in.Out]
	_, rows, cols := c.normed(in, in.In[0])
	ids, sum, square := c.deviations(in, in.In[0])
	first := split{by: byFirst}
	c.onceFor(in, in.In[0], []access{{buf: ids[0], split: first}, {buf: ids[1], split: first}}, func(e, j int) {
		of := stats[3*e*cols+j:]
		of[statsMean*cols] = float32(sum(e, j) / float64(rows))
		of[statsVar*cols] = float32(square(e, j) / float64(rows))
		of[statsUnbiased*cols] = float32(square(e, j) / float64(rows-1))
	})
}

// batchNorm normalises with the given row of the statistics as the variance.
func batchNorm(c *compiler, in device.Instr, variance int) {
	x, gamma, beta, stats, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.In[3]], c.data[in.Out]
	members, rows, cols := c.normed(in, in.Out)
	// Each share folds γ, β and the statistics into one scale and one shift.
	scales, shifts := c.perShare(cols), c.perShare(cols)
	c.rowwiseShare(in, rows, in.In[1:], func(s share, lo, hi int) {
		scale, shift := scales[s.place()], shifts[s.place()]
		for e := range members {
			of := stats[3*e*cols:]
			for j := range cols {
				scale[j] = gamma[e*cols+j] / float32(math.Sqrt(float64(of[variance*cols+j])+batchNormEps))
				shift[j] = beta[e*cols+j] - of[statsMean*cols+j]*scale[j]
			}
			for i := e*rows + lo; i < e*rows+hi; i++ {
				row := y[i*cols : (i+1)*cols]
				c.k.Mul(row, x[i*cols:(i+1)*cols], scale)
				c.k.Add(row, row, shift)
			}
		}
	})
}

// perShare returns separate memory for each share, indexed by place.
func (c *compiler) perShare(n int) (copies [][]float32) {
	for range Lanes * c.parts {
		copies = append(copies, aligned(n))
	}
	return copies
}

// batchNormDX is γ/√(v+ε)·(dy − mean(dy) − x̂·mean(dy·x̂)).
func batchNormDX(c *compiler, in device.Instr) {
	x, gamma, stats, dy, dx := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.In[3]], c.data[in.Out]
	members, rows, cols := c.normed(in, in.Out)
	s := split{by: byRows, n: rows}
	uses := append(reads(s, in.In[0], in.In[3]), reads(split{by: whole}, in.In[2])...)
	id, total := c.memberColumns("batch norm sums", in, in.In[0], 2, uses, func(sums []float64, e, i int) {
		mean := stats[3*e*cols+statsMean*cols:]
		for j := range cols {
			g := float64(dy[i*cols+j])
			sums[j] += g
			sums[cols+j] += g * (float64(x[i*cols+j]) - float64(mean[j]))
		}
	})
	s = c.byRows(rows)
	all := append(reads(s, in.In[0], in.In[3]), reads(split{by: whole}, in.In[1], in.In[2])...)
	all = append(all, access{buf: id, split: split{by: whole}}, writes(s, in.Out))
	terms := make([][]float64, Lanes*c.parts)
	for i := range terms {
		terms[i] = make([]float64, 3*cols)
	}
	c.schedule.add(stage{name: in.Code.String(), uses: all, run: func(s share) {
		// In float64: the sum of the result over rows is zero except for rounding, and the bias of
		// a layer below receives that sum.
		mine := terms[s.place()]
		scale, offset, slope := mine[:cols], mine[cols:2*cols], mine[2*cols:]
		lo, hi := s.rows(rows)
		for e := range members {
			of := stats[3*e*cols:]
			for j := range cols {
				inv := 1 / math.Sqrt(float64(of[statsVar*cols+j])+batchNormEps)
				scale[j] = float64(gamma[e*cols+j]) * inv
				offset[j] = total(e, j) / float64(rows)
				slope[j] = total(e, cols+j) * inv * inv / float64(rows)
			}
			for i := e*rows + lo; i < e*rows+hi; i++ {
				for j := range cols {
					centred := float64(x[i*cols+j]) - float64(of[statsMean*cols+j])
					dx[i*cols+j] = float32(scale[j] * (float64(dy[i*cols+j]) - offset[j] - centred*slope[j]))
				}
			}
		}
	}})
}

func batchNormDGamma(c *compiler, in device.Instr) {
	x, stats, dy := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]]
	members, rows, cols := c.normed(in, in.In[0])
	c.overRows(in, rows, in.In[1:2], func(out []float32, lo, hi int) {
		clear(out)
		for e := range members {
			sums, of := out[e*cols:(e+1)*cols], stats[3*e*cols:]
			for i := e*rows + lo; i < e*rows+hi; i++ {
				for j := range cols {
					sums[j] += dy[i*cols+j] * (x[i*cols+j] - of[statsMean*cols+j])
				}
			}
			for j := range cols {
				sums[j] /= float32(math.Sqrt(float64(of[statsVar*cols+j]) + batchNormEps))
			}
		}
	})
}
