package op

import (
	"errors"
	"math"

	"gorgonia.org/tensor"
)

// BatchNormEps is added to the variance, as PyTorch's default.
const BatchNormEps = 1e-5

// Rows of the tensor that BatchStats makes and that running statistics have.
const (
	StatsMean     = iota
	StatsVar          // biased: normalises the batch
	StatsUnbiased     // B/(B−1) times that: what running statistics average
	StatsRows     int = iota
)

// BatchStats is the mean, the variance and the unbiased variance over the rows of
// x [B,C], as [3,C]. It has no derivative of its own: BatchNorm's accounts for it.
func (g *Graph) BatchStats(x *Node) *Node { return g.apply(BatchStats, Attr{}, x) }

// BatchNorm is γ(x−mean)/√(var+1e-5) + β by the statistics of this batch (Ioffe
// and Szegedy 2015); gamma and beta are [C]. The gradient to x includes the
// dependence of the statistics on x.
func (g *Graph) BatchNorm(x, gamma, beta, stats *Node) *Node {
	return g.apply(BatchNorm, Attr{}, x, gamma, beta, stats)
}

// BatchNormEval is the same by running statistics [3,C]: their mean and their
// unbiased variance, as PyTorch's eval mode. It has no derivative.
func (g *Graph) BatchNormEval(x, gamma, beta, running *Node) *Node {
	return g.apply(BatchNormEval, Attr{}, x, gamma, beta, running)
}

func normShape(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
	x, gamma, beta, stats := in[0], in[1], in[2], in[3]
	if len(x) != 2 || len(gamma) != 1 || gamma[0] != x[1] || !beta.Eq(gamma) {
		return nil, errors.New("want x [B,C], gamma and beta [C]")
	}
	if len(stats) != 2 || stats[0] != StatsRows || stats[1] != x[1] {
		return nil, errors.New("statistics must be [3,C]")
	}
	return x.Clone(), nil
}

func init() {
	rules[BatchStats] = rule{name: "BatchStats", wrt: []bool{false},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			if len(in[0]) != 2 || in[0][0] < 2 {
				return nil, errors.New("want at least two rows, [B,C]")
			}
			return tensor.Shape{StatsRows, in[0][1]}, nil
		}, do32: batchStats[float32], do64: batchStats[float64]}
	rules[BatchNorm] = rule{name: "BatchNorm", wrt: []bool{true, true, true, false}, shape: normShape,
		do32: func(c call[float32]) { batchNorm(c, StatsVar) }, do64: func(c call[float64]) { batchNorm(c, StatsVar) },
		grad: func(d derivation) []*Node {
			x, gamma, stats := d.in[0], d.in[1], d.in[3]
			return []*Node{
				d.apply(BatchNormDX, Attr{}, x, gamma, stats, d.dout),
				d.apply(BatchNormDGamma, Attr{}, x, stats, d.dout),
				d.apply(ColSum, Attr{}, d.dout), nil,
			}
		}}
	rules[BatchNormEval] = rule{name: "BatchNormEval", shape: normShape,
		do32: func(c call[float32]) { batchNorm(c, StatsUnbiased) }, do64: func(c call[float64]) { batchNorm(c, StatsUnbiased) }}
	rules[BatchNormDX] = rule{name: "BatchNormDX", shape: first, do32: batchNormDX[float32], do64: batchNormDX[float64]}
	rules[BatchNormDGamma] = rule{name: "BatchNormDGamma",
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) { return tensor.Shape{in[0][1]}, nil },
		do32:  batchNormDGamma[float32], do64: batchNormDGamma[float64]}
}

func batchStats[T float](c call[T]) {
	rows, cols := c.ins[0][0], c.ins[0][1]
	for j := range cols {
		sum, square := 0.0, 0.0
		for i := range rows {
			sum += float64(c.in[0][i*cols+j])
		}
		mean := sum / float64(rows)
		for i := range rows {
			d := float64(c.in[0][i*cols+j]) - mean
			square += d * d
		}
		c.out[StatsMean*cols+j] = T(mean)
		c.out[StatsVar*cols+j] = T(square / float64(rows))
		c.out[StatsUnbiased*cols+j] = T(square / float64(rows-1))
	}
}

func batchNorm[T float](c call[T], variance int) {
	cols := c.ins[0][1]
	for i, x := range c.in[0] {
		j := i % cols
		scale := float64(c.in[1][j]) / math.Sqrt(float64(c.in[3][variance*cols+j])+BatchNormEps)
		c.out[i] = T(float64(x-c.in[3][StatsMean*cols+j])*scale + float64(c.in[2][j]))
	}
}

// batchNormDX is γ/√(v+ε) · (dy − mean(dy) − x̂·mean(dy·x̂)).
func batchNormDX[T float](c call[T]) {
	rows, cols := c.ins[0][0], c.ins[0][1]
	x, gamma, stats, dy := c.in[0], c.in[1], c.in[2], c.in[3]
	for j := range cols {
		inv := 1 / math.Sqrt(float64(stats[StatsVar*cols+j])+BatchNormEps)
		mean := float64(stats[StatsMean*cols+j])
		sum, along := 0.0, 0.0
		for i := range rows {
			g := float64(dy[i*cols+j])
			sum += g
			along += g * (float64(x[i*cols+j]) - mean) * inv
		}
		for i := range rows {
			hat := (float64(x[i*cols+j]) - mean) * inv
			c.out[i*cols+j] = T(float64(gamma[j]) * inv * (float64(dy[i*cols+j]) - (sum+hat*along)/float64(rows)))
		}
	}
}

func batchNormDGamma[T float](c call[T]) {
	rows, cols := c.ins[0][0], c.ins[0][1]
	x, stats, dy := c.in[0], c.in[1], c.in[2]
	for j := range cols {
		inv := 1 / math.Sqrt(float64(stats[StatsVar*cols+j])+BatchNormEps)
		sum := 0.0
		for i := range rows {
			sum += float64(dy[i*cols+j]) * (float64(x[i*cols+j]) - float64(stats[StatsMean*cols+j])) * inv
		}
		c.out[j] = T(sum)
	}
}
