package op

import (
	"errors"
	"math"

	"gorgonia.org/tensor"
)

// LayerNorm is γ(x−mean)/√(var+eps) + β with the mean and the biased variance of each row (Ba,
// Kiros and Hinton 2016). x is [B,C] with gamma and beta [C], or x is [N,B,C] with gamma and beta
// [N,C]. PyTorch's eps is 1e-5.
func (g *Graph) LayerNorm(x, gamma, beta *Node, eps float64) *Node {
	return g.apply(LayerNorm, Attr{F: [3]float64{eps}}, x, gamma, beta)
}

func init() {
	rules[LayerNorm] = rule{name: "LayerNorm", wrt: []bool{true, true, true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if !(a.F[0] > 0) {
				return nil, errors.New("eps must be positive")
			}
			return in[0].Clone(), each(matrix(in[0]), columnsOf("gamma", in[1], in[0]), columnsOf("beta", in[2], in[0]))
		},
		do32: layerNorm[float32], do64: layerNorm[float64],
		grad: func(d derivation) []*Node {
			return []*Node{
				d.apply(LayerNormDX, d.attr, d.in[0], d.in[1], d.dout),
				d.apply(LayerNormDGamma, d.attr, d.in[0], d.dout),
				d.apply(ColSum, Attr{}, d.dout),
			}
		}}
	rules[LayerNormDX] = rule{name: "LayerNormDX", shape: first, do32: layerNormDX[float32], do64: layerNormDX[float64]}
	rules[LayerNormDGamma] = rule{name: "LayerNormDGamma",
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			x := in[0]
			return append(x[:len(x)-2].Clone(), x[len(x)-1]), nil
		}, do32: layerNormDGamma[float32], do64: layerNormDGamma[float64]}
}

// moments returns the mean of a row and 1/√(var+eps).
func moments[T float](row []T, eps float64) (mean, inverse float64) {
	for _, x := range row {
		mean += float64(x)
	}
	mean /= float64(len(row))
	square := 0.0
	for _, x := range row {
		square += (float64(x) - mean) * (float64(x) - mean)
	}
	return mean, 1 / math.Sqrt(square/float64(len(row))+eps)
}

// normalised visits the rows of x with their moments; column is the index at which the parameters
// of the row's member begin.
func normalised[T float](c call[T], visit func(at, column int, row []T, mean, inverse float64)) {
	_, rows, cols := dims(c.ins[0])
	for at := 0; at < len(c.in[0]); at += cols {
		row := c.in[0][at : at+cols]
		mean, inverse := moments(row, c.a.F[0])
		visit(at, at/(rows*cols)*cols, row, mean, inverse)
	}
}

func layerNorm[T float](c call[T]) {
	normalised(c, func(at, column int, row []T, mean, inverse float64) {
		for j, x := range row {
			c.out[at+j] = T((float64(x)-mean)*inverse*float64(c.in[1][column+j]) + float64(c.in[2][column+j]))
		}
	})
}

// layerNormDX is (g − mean(g) − x̂·mean(g·x̂))/√(var+ε) with g = γ·dy.
func layerNormDX[T float](c call[T]) {
	normalised(c, func(at, column int, row []T, mean, inverse float64) {
		sum, along := 0.0, 0.0
		for j, x := range row {
			g := float64(c.in[1][column+j]) * float64(c.in[2][at+j])
			sum += g
			along += g * (float64(x) - mean) * inverse
		}
		n := float64(len(row))
		for j, x := range row {
			g := float64(c.in[1][column+j]) * float64(c.in[2][at+j])
			c.out[at+j] = T((g - sum/n - (float64(x)-mean)*inverse*along/n) * inverse)
		}
	})
}

func layerNormDGamma[T float](c call[T]) {
	normalised(c, func(at, column int, row []T, mean, inverse float64) {
		for j, x := range row {
			c.out[column+j] += T(float64(c.in[1][at+j]) * (float64(x) - mean) * inverse)
		}
	})
}
