package op

import (
	"errors"
	"math"

	"gorgonia.org/tensor"
)

// RMSNorm is γ·x/√(mean(x²)+eps) with the mean over each row (Zhang and Sennrich 2019). x is [B,C]
// with gamma [C], or x is [N,B,C] with gamma [N,C]. If x has a multiple of the columns of gamma, each
// group of so many adjacent columns is normalised by itself with the same gamma, such as the channels of
// each place of images in NHWC order. DreamerV3's eps is 1e-4 (Hafner et al. 2025, Nature;
// danijar/dreamerv3 embodied/jax/nets.py Norm).
func (g *Graph) RMSNorm(x, gamma *Node, eps float64) *Node {
	return g.apply(RMSNorm, Attr{F: [3]float64{eps}}, x, gamma)
}

func init() {
	rules[RMSNorm] = rule{name: "RMSNorm", wrt: []bool{true, true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if !(a.F[0] > 0) {
				return nil, errors.New("eps must be positive")
			}
			return in[0].Clone(), each(matrix(in[0]), groupsOf("gamma", in[1], in[0]))
		},
		do32: rmsNorm[float32], do64: rmsNorm[float64],
		grad: func(d derivation) []*Node {
			return []*Node{
				d.apply(RMSNormDX, d.attr, d.in[0], d.in[1], d.dout),
				d.apply(RMSNormDGamma, Attr{F: d.attr.F, I: [2]int{lastOf(d.in[1].Shape())}}, d.in[0], d.dout),
			}
		}}
	rules[RMSNormDX] = rule{name: "RMSNormDX", shape: first, do32: rmsNormDX[float32], do64: rmsNormDX[float64]}
	rules[RMSNormDGamma] = rule{name: "RMSNormDGamma",
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			x := in[0]
			return append(x[:len(x)-2].Clone(), a.I[0]), nil
		}, do32: rmsNormDGamma[float32], do64: rmsNormDGamma[float64]}
}

// scaled visits groups of x, as wide as gamma, with 1/√(mean(x²)+eps); column is the index at which the
// parameters of the group's member begin.
func scaled[T float](c call[T], gamma tensor.Shape, visit func(at, column int, group []T, inverse float64)) {
	_, rows, cols := dims(c.ins[0])
	width := lastOf(gamma)
	for at := 0; at < len(c.in[0]); at += width {
		group, square := c.in[0][at:at+width], 0.0
		for _, x := range group {
			square += float64(x) * float64(x)
		}
		visit(at, at/(rows*cols)*width, group, 1/math.Sqrt(square/float64(width)+c.a.F[0]))
	}
}

func rmsNorm[T float](c call[T]) {
	scaled(c, c.ins[1], func(at, column int, group []T, inverse float64) {
		for j, x := range group {
			c.out[at+j] = T(float64(x) * inverse * float64(c.in[1][column+j]))
		}
	})
}

// rmsNormDX is s·(g − x·s²·mean(g·x)) with g = γ·dy and s = 1/√(mean(x²)+ε).
func rmsNormDX[T float](c call[T]) {
	scaled(c, c.ins[1], func(at, column int, group []T, inverse float64) {
		along := 0.0
		for j, x := range group {
			along += float64(c.in[1][column+j]) * float64(c.in[2][at+j]) * float64(x)
		}
		along *= inverse * inverse / float64(len(group))
		for j, x := range group {
			g := float64(c.in[1][column+j]) * float64(c.in[2][at+j])
			c.out[at+j] = T((g - float64(x)*along) * inverse)
		}
	})
}

func rmsNormDGamma[T float](c call[T]) {
	scaled(c, c.shape, func(at, column int, group []T, inverse float64) {
		for j, x := range group {
			c.out[column+j] += T(float64(c.in[1][at+j]) * float64(x) * inverse)
		}
	})
}
