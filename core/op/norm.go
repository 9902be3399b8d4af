package op

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/window"

	"gorgonia.org/tensor"
)

// BatchNormEps is added to the variance; it is PyTorch's default.
const BatchNormEps = 1e-5

// Rows of the tensor that BatchStats makes, and of running statistics.
const (
	StatsMean     = iota
	StatsVar          // biased; normalises the batch
	StatsUnbiased     // B/(B−1) times the biased one; running statistics average it
	StatsRows     int = iota
)

// BatchStats is the mean, the variance and the unbiased variance over the rows of x [B,C], as
// [3,C], or for each member of x [N,B,C], as [N,3,C]. It has no derivative of its own: the
// derivative of BatchNorm accounts for it.
func (g *Graph) BatchStats(x *Node) *Node { return g.apply(BatchStats, Attr{}, x) }

// BatchNorm is γ(x−mean)/√(var+1e-5) + β with the statistics of this batch (Ioffe and Szegedy
// 2015); gamma and beta are [C], or [N,C] if x has members. The gradient of x includes the
// dependence of the statistics on x.
func (g *Graph) BatchNorm(x, gamma, beta, stats *Node) *Node {
	return g.apply(BatchNorm, Attr{}, x, gamma, beta, stats)
}

// BatchNormEval is BatchNorm with running statistics [3,C]: their mean and their unbiased variance,
// as in PyTorch's eval mode. It has no derivative.
func (g *Graph) BatchNormEval(x, gamma, beta, running *Node) *Node {
	return g.apply(BatchNormEval, Attr{}, x, gamma, beta, running)
}

// ChannelStats is BatchStats of images, the rows of x [B, places·channels] in NHWC order. It
// returns the statistics of every channel over rows and places, [3,channels].
func (g *Graph) ChannelStats(x *Node, channels int) *Node {
	return g.apply(BatchStats, channelled(channels), x)
}

// ChannelNorm is BatchNorm of images, with a gamma and a beta for each channel.
func (g *Graph) ChannelNorm(x, gamma, beta, stats *Node) *Node {
	return g.apply(BatchNorm, channelled(gamma.Shape().TotalSize()), x, gamma, beta, stats)
}

// ChannelNormEval is BatchNormEval of images, with a gamma and a beta for each channel.
func (g *Graph) ChannelNormEval(x, gamma, beta, running *Node) *Node {
	return g.apply(BatchNormEval, channelled(gamma.Shape().TotalSize()), x, gamma, beta, running)
}

// channelled returns the constants of a batch norm of images.
func channelled(channels int) Attr { return Attr{I: [2]int{channels}} }

// byPlace returns the shape of x as a batch norm sees it; images have a row for each place.
func byPlace(a Attr, x tensor.Shape) (tensor.Shape, error) {
	channels := a.I[0]
	switch {
	case channels == 0:
		return x, matrix(x)
	case len(x) != 2 || channels < 1 || x[1]%channels != 0:
		return nil, fmt.Errorf("want images of %d channels without members, [B,places·channels]", channels)
	}
	return tensor.Shape{x[0] * x[1] / channels, channels}, nil
}

func normShape(a Attr, in []tensor.Shape) (tensor.Shape, error) {
	whole, gamma, beta, stats := in[0], in[1], in[2], in[3]
	x, err := byPlace(a, whole)
	if err != nil {
		return nil, err
	}
	err = each(columnsOf("gamma", gamma, x), columnsOf("beta", beta, x))
	if err == nil && !stats.Eq(statsShape(x)) {
		err = fmt.Errorf("statistics must be %v", statsShape(x))
	}
	return whole.Clone(), err
}

// betaSum is the sum of dy over rows, and for images over places too.
func betaSum(d derivation) *Node {
	channels := d.attr.I[0]
	if channels == 0 {
		return d.apply(ColSum, Attr{}, d.dout)
	}
	over := window.Geometry{Height: d.in[0].Shape()[1] / channels, Width: 1, Channels: channels, Kernel: 1, Stride: 1}
	return d.apply(ConvDB, Attr{Window: over}, d.dout)
}

// statsShape is the shape of the statistics of x.
func statsShape(x tensor.Shape) tensor.Shape {
	s := x.Clone()
	s[len(s)-2] = StatsRows
	return s
}

func init() {
	rules[BatchStats] = rule{name: "BatchStats", wrt: []bool{false},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			x, err := byPlace(a, in[0])
			if err != nil && a.I[0] != 0 {
				return nil, err
			}
			if _, rows, _ := dims(x); err != nil || rows < 2 {
				return nil, errors.New("want at least two rows, [B,C] or [N,B,C]")
			}
			return statsShape(x), nil
		}, do32: batchStats[float32], do64: batchStats[float64]}
	rules[BatchNorm] = rule{name: "BatchNorm", wrt: []bool{true, true, true, false}, shape: normShape,
		do32: func(c call[float32]) { batchNorm(c, StatsVar) }, do64: func(c call[float64]) { batchNorm(c, StatsVar) },
		grad: func(d derivation) []*Node {
			x, gamma, stats := d.in[0], d.in[1], d.in[3]
			return []*Node{
				d.apply(BatchNormDX, d.attr, x, gamma, stats, d.dout),
				d.apply(BatchNormDGamma, d.attr, x, stats, d.dout),
				betaSum(d), nil,
			}
		}}
	rules[BatchNormEval] = rule{name: "BatchNormEval", shape: normShape,
		do32: func(c call[float32]) { batchNorm(c, StatsUnbiased) }, do64: func(c call[float64]) { batchNorm(c, StatsUnbiased) }}
	rules[BatchNormDX] = rule{name: "BatchNormDX", shape: first, do32: batchNormDX[float32], do64: batchNormDX[float64]}
	rules[BatchNormDGamma] = rule{name: "BatchNormDGamma",
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			x, err := byPlace(a, in[0])
			return append(x[:len(x)-2].Clone(), x[len(x)-1]), err
		},
		do32: batchNormDGamma[float32], do64: batchNormDGamma[float64]}
}

// columnwise calls visit for each column of each member, with the element of x at which the column
// begins and the indices of its numbers in [N,C] and in [N,3,C].
func columnwise[T float](c call[T], visit func(rows, cols, at, column, stats int)) {
	x, _ := byPlace(c.a, c.ins[0])
	n, rows, cols := dims(x)
	for e := range n {
		for j := range cols {
			visit(rows, cols, e*rows*cols+j, e*cols+j, e*StatsRows*cols+j)
		}
	}
}

func batchStats[T float](c call[T]) {
	columnwise(c, func(rows, cols, at, _, stats int) {
		sum, square := 0.0, 0.0
		for i := range rows {
			sum += float64(c.in[0][at+i*cols])
		}
		mean := sum / float64(rows)
		for i := range rows {
			d := float64(c.in[0][at+i*cols]) - mean
			square += d * d
		}
		c.out[stats+StatsMean*cols] = T(mean)
		c.out[stats+StatsVar*cols] = T(square / float64(rows))
		c.out[stats+StatsUnbiased*cols] = T(square / float64(rows-1))
	})
}

func batchNorm[T float](c call[T], variance int) {
	x, gamma, beta, running := c.in[0], c.in[1], c.in[2], c.in[3]
	columnwise(c, func(rows, cols, at, column, stats int) {
		scale := float64(gamma[column]) / math.Sqrt(float64(running[stats+variance*cols])+BatchNormEps)
		for i := range rows {
			c.out[at+i*cols] = T(float64(x[at+i*cols]-running[stats+StatsMean*cols])*scale + float64(beta[column]))
		}
	})
}

// batchNormDX is γ/√(v+ε) · (dy − mean(dy) − x̂·mean(dy·x̂)).
func batchNormDX[T float](c call[T]) {
	x, gamma, of, dy := c.in[0], c.in[1], c.in[2], c.in[3]
	columnwise(c, func(rows, cols, at, column, stats int) {
		inv := 1 / math.Sqrt(float64(of[stats+StatsVar*cols])+BatchNormEps)
		mean := float64(of[stats+StatsMean*cols])
		sum, along := 0.0, 0.0
		for i := range rows {
			g := float64(dy[at+i*cols])
			sum += g
			along += g * (float64(x[at+i*cols]) - mean) * inv
		}
		for i := range rows {
			hat := (float64(x[at+i*cols]) - mean) * inv
			c.out[at+i*cols] = T(float64(gamma[column]) * inv * (float64(dy[at+i*cols]) - (sum+hat*along)/float64(rows)))
		}
	})
}

func batchNormDGamma[T float](c call[T]) {
	x, of, dy := c.in[0], c.in[1], c.in[2]
	columnwise(c, func(rows, cols, at, column, stats int) {
		inv := 1 / math.Sqrt(float64(of[stats+StatsVar*cols])+BatchNormEps)
		sum := 0.0
		for i := range rows {
			sum += float64(dy[at+i*cols]) * (float64(x[at+i*cols]) - float64(of[stats+StatsMean*cols])) * inv
		}
		c.out[column] = T(sum)
	})
}
