package op

import (
	"errors"
	"math"

	"gorgonia.org/tensor"
)

// The losses of this file are Σ w·ℓ(p,t)/norm as a scalar. p is [B,C] or [N,B,C]; all members share
// a target without members. At most one w may be given; it weighs the rows and is [B,1], or [N,B,1]
// with separate weights for each member. The gradient reaches p only.

// BCE is the binary cross-entropy of logits z against targets t in [0,1], with ℓ = softplus(z) −
// t·z.
func (g *Graph) BCE(z, t *Node, norm float64, w ...*Node) *Node {
	return g.weighted(BCE, Attr{F: [3]float64{norm}}, z, t, w)
}

// CrossEntropy is the cross-entropy of the distribution softmax(z) over columns against target
// probabilities t, with ℓ = −t·ln softmax(z); the rows of t need not add up to one.
func (g *Graph) CrossEntropy(z, t *Node, norm float64, w ...*Node) *Node {
	return g.weighted(CrossEntropy, Attr{F: [3]float64{norm}}, z, t, w)
}

// GaussianKL is Σ KL(N(μ,σ²) ‖ N(0,1))/norm = ½Σ(μ² + σ² − ln σ² − 1)/norm for h = [μ | ln σ²],
// [B,2D] or [N,B,2D] (Kingma and Welling 2014, appendix B).
func (g *Graph) GaussianKL(h *Node, norm float64) *Node {
	return g.apply(GaussianKL, Attr{F: [3]float64{norm}}, h)
}

func (g *Graph) weighted(kind Kind, a Attr, p, t *Node, w []*Node) *Node {
	if len(w) > 1 {
		g.fail(rules[kind].name, errors.New("want one weight for a row"))
	}
	return g.apply(kind, a, append([]*Node{p, t}, w...)...)
}

func init() {
	rowLoss(BCE, BCEGrad, "BCE", bce, func(_ Attr, z, t float64) float64 { return sigmoid(z) - t })
	lossRules(CrossEntropy, CrossEntropyGrad, "CrossEntropy",
		rule{do32: crossEntropy[float32], do64: crossEntropy[float64]},
		rule{do32: crossEntropyGrad[float32], do64: crossEntropyGrad[float64]})
	rules[GaussianKL] = rule{name: "GaussianKL", wrt: []bool{true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if matrix(in[0]) != nil || in[0][len(in[0])-1]%2 != 0 || !(a.F[0] > 0) {
				return nil, errors.New("want [B,2D] or [N,B,2D] and a positive norm")
			}
			return tensor.ScalarShape(), nil
		}, do32: gaussianKL[float32], do64: gaussianKL[float64],
		grad: func(d derivation) []*Node { return []*Node{d.apply(GaussianKLGrad, d.attr, d.in[0], d.dout)} }}
	rules[GaussianKLGrad] = rule{name: "GaussianKLGrad", shape: first, do32: gaussianKLGrad[float32], do64: gaussianKLGrad[float64]}
}

// weightedShape is errorShape with an optional weight.
func weightedShape(a Attr, in []tensor.Shape) (tensor.Shape, error) {
	s, err := errorShape(a, in[:2])
	if err == nil && len(in) == 3 {
		err = rowsOf("w", in[2], in[0])
	}
	return s, err
}

// lossRules registers a loss and its gradient with the given implementations.
func lossRules(kind, gradKind Kind, name string, value, grad rule) {
	value.name, value.wrt, value.shape = name, []bool{true, false}, weightedShape
	value.grad = func(d derivation) []*Node {
		grads := make([]*Node, len(d.in))
		grads[0] = d.apply(gradKind, d.attr, append(append([]*Node(nil), d.in...), d.dout)...)
		return grads
	}
	grad.name, grad.shape = name+"Grad", first
	rules[kind], rules[gradKind] = value, grad
}

// rowLoss registers a loss that is a sum over elements.
func rowLoss(kind, gradKind Kind, name string, value, slope func(a Attr, p, t float64) float64) {
	lossRules(kind, gradKind, name,
		rule{do32: lossSum[float32](value), do64: lossSum[float64](value)},
		rule{do32: lossSlope[float32](slope), do64: lossSlope[float64](slope)})
}

// weight returns the weight of element i of p, read from operand 2 if there are n operands, else 1.
func weight[T float](c call[T], n, i int) float64 {
	if len(c.in) < n {
		return 1
	}
	_, _, cols := dims(c.ins[0])
	return float64(c.in[2][i/cols%len(c.in[2])])
}

func lossSum[T float](f func(a Attr, p, t float64) float64) func(c call[T]) {
	return func(c call[T]) {
		sum := 0.0
		for i, p := range c.in[0] {
			sum += weight(c, 3, i) * f(c.a, float64(p), float64(c.in[1][i%len(c.in[1])]))
		}
		c.out[0] = T(sum / c.a.F[0])
	}
}

func lossSlope[T float](f func(a Attr, p, t float64) float64) func(c call[T]) {
	return func(c call[T]) {
		dloss := float64(c.in[len(c.in)-1][0])
		for i, p := range c.in[0] {
			c.out[i] = T(dloss * weight(c, 4, i) * f(c.a, float64(p), float64(c.in[1][i%len(c.in[1])])) / c.a.F[0])
		}
	}
}

func bce(_ Attr, z, t float64) float64 { return softplus(z) - t*z }

func gaussianKL[T float](c call[T]) {
	_, _, width := dims(c.ins[0])
	sum := 0.0
	for i, x := range c.in[0] {
		if i%width < width/2 {
			sum += float64(x) * float64(x)
		} else {
			sum += math.Exp(float64(x)) - float64(x) - 1
		}
	}
	c.out[0] = T(sum / 2 / c.a.F[0])
}

func gaussianKLGrad[T float](c call[T]) {
	_, _, width := dims(c.ins[0])
	scale := float64(c.in[1][0]) / c.a.F[0]
	for i, x := range c.in[0] {
		if i%width < width/2 {
			c.out[i] = T(scale * float64(x))
		} else {
			c.out[i] = T(scale * (math.Exp(float64(x)) - 1) / 2)
		}
	}
}
