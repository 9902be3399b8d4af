package op

import (
	"errors"
	"math"

	"gorgonia.org/tensor"
)

// Exp is eˣ.
func (g *Graph) Exp(x *Node) *Node { return g.apply(Exp, Attr{}, x) }

// Log is ln x.
func (g *Graph) Log(x *Node) *Node { return g.apply(Log, Attr{}, x) }

// Square is x².
func (g *Graph) Square(x *Node) *Node { return g.apply(Square, Attr{}, x) }

// Sqrt is √x; its gradient at 0 is infinite.
func (g *Graph) Sqrt(x *Node) *Node { return g.apply(Sqrt, Attr{}, x) }

// Softplus is ln(1+eˣ).
func (g *Graph) Softplus(x *Node) *Node { return g.apply(Softplus, Attr{}, x) }

// Sigmoid is 1/(1+e⁻ˣ).
func (g *Graph) Sigmoid(x *Node) *Node { return g.apply(Sigmoid, Attr{}, x) }

// SignedSqrt is sign(x)·√|x|. It turns a normal number into a factor of a noisy layer's noise
// (Fortunato et al. 2018, equation 11). It has no derivative.
func (g *Graph) SignedSqrt(x *Node) *Node { return g.apply(SignedSqrt, Attr{}, x) }

// Clamp limits x to [lo, hi]. Its gradient passes unchanged inside, bounds included, and is zero
// outside.
func (g *Graph) Clamp(x *Node, lo, hi float64) *Node {
	return g.apply(Clamp, Attr{F: [3]float64{lo, hi}}, x)
}

// Minimum is the smaller of two elements; where they are equal, the gradient goes to a. If either
// is NaN, so is the result.
func (g *Graph) Minimum(a, b *Node) *Node { return g.apply(Minimum, Attr{}, a, b) }

// Maximum is the larger of two elements; where they are equal, the gradient goes to a. If either is
// NaN, so is the result.
func (g *Graph) Maximum(a, b *Node) *Node { return g.apply(Maximum, Attr{}, a, b) }

// Div is a/b.
func (g *Graph) Div(a, b *Node) *Node { return g.apply(Div, Attr{}, a, b) }

func init() {
	exponentials()
	curves()
	choices()
}

// function registers an elementwise function whose derivative is composed of other operations.
func function(kind Kind, name string, f func(x float64) float64, grad func(d derivation) *Node) {
	r := rule{name: name, wrt: []bool{false}, shape: first, do32: unary[float32](f), do64: unary[float64](f)}
	if grad != nil {
		r.wrt = []bool{true}
		r.grad = func(d derivation) []*Node { return []*Node{grad(d)} }
	}
	rules[kind] = r
}

func exponentials() {
	function(Exp, "Exp", math.Exp, func(d derivation) *Node { return d.apply(Mul, Attr{}, d.dout, d.out) })
	function(Log, "Log", math.Log, func(d derivation) *Node { return d.apply(Div, Attr{}, d.dout, d.in[0]) })
	function(Square, "Square", func(x float64) float64 { return x * x }, func(d derivation) *Node {
		return d.apply(Mul, Attr{}, d.dout, d.apply(Scale, Attr{F: [3]float64{2}}, d.in[0]))
	})
	function(Sqrt, "Sqrt", math.Sqrt, func(d derivation) *Node {
		return d.apply(Div, Attr{}, d.dout, d.apply(Scale, Attr{F: [3]float64{2}}, d.out))
	})
	function(SignedSqrt, "SignedSqrt", func(x float64) float64 {
		return math.Copysign(math.Sqrt(math.Abs(x)), x)
	}, nil)
}

func curves() {
	result := func(d derivation) *Node { return d.out }
	operand := func(d derivation) *Node { return d.in[0] }
	activation(Softplus, SoftplusGrad, "Softplus", operand, softplus,
		func(dy, x float64) float64 { return dy * sigmoid(x) })
	activation(Sigmoid, SigmoidGrad, "Sigmoid", result, sigmoid,
		func(dy, y float64) float64 { return dy * y * (1 - y) })
}

func choices() {
	rules[Clamp] = rule{name: "Clamp", wrt: []bool{true}, do32: clamp[float32], do64: clamp[float64],
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if !(a.F[0] <= a.F[1]) {
				return nil, errors.New("the lower bound is above the upper one")
			}
			return in[0].Clone(), nil
		},
		grad: func(d derivation) []*Node { return []*Node{d.apply(ClampGrad, d.attr, d.dout, d.in[0])} }}
	rules[ClampGrad] = rule{name: "ClampGrad", shape: sameShape, do32: clampGrad[float32], do64: clampGrad[float64]}
	extreme(Minimum, "Minimum", func(a, b float64) float64 { return min(a, b) }, func(a, b *Node) (less, more *Node) { return a, b })
	extreme(Maximum, "Maximum", func(a, b float64) float64 { return max(a, b) }, func(a, b *Node) (less, more *Node) { return b, a })
	rules[Keep] = rule{name: "Keep", shape: sameShape, do32: keep[float32], do64: keep[float64]}
	div := func(a, b float64) float64 { return a / b }
	rules[Div] = rule{name: "Div", wrt: []bool{true, true}, shape: sameShape,
		do32: binary[float32](div), do64: binary[float64](div),
		grad: func(d derivation) []*Node {
			da := d.apply(Div, Attr{}, d.dout, d.in[1])
			return []*Node{da, d.apply(Scale, Attr{F: [3]float64{-1}}, d.apply(Mul, Attr{}, da, d.out))}
		}}
}

// Keep's constant. Keep is dy where a ≤ b (KeepNotAbove) or a < b (KeepBelow), and zero elsewhere.
const (
	KeepNotAbove = iota
	KeepBelow
)

// extreme registers the minimum or the maximum; order says which of the two operands must be the
// smaller one for a to be the result.
func extreme(kind Kind, name string, f func(a, b float64) float64, order func(a, b *Node) (less, more *Node)) {
	rules[kind] = rule{name: name, wrt: []bool{true, true}, shape: sameShape,
		do32: binary[float32](f), do64: binary[float64](f),
		grad: func(d derivation) []*Node {
			less, more := order(d.in[0], d.in[1])
			toA := d.apply(Keep, Attr{I: [2]int{KeepNotAbove}}, d.dout, less, more)
			return []*Node{toA, d.apply(Keep, Attr{I: [2]int{KeepBelow}}, d.dout, more, less)}
		}}
}

func clamp[T float](c call[T]) {
	lo, hi := T(c.a.F[0]), T(c.a.F[1])
	for i, x := range c.in[0] {
		c.out[i] = min(max(x, lo), hi)
	}
}

func clampGrad[T float](c call[T]) {
	lo, hi := T(c.a.F[0]), T(c.a.F[1])
	for i, x := range c.in[1] {
		if x >= lo && x <= hi {
			c.out[i] = c.in[0][i]
		}
	}
}

func keep[T float](c call[T]) {
	for i, a := range c.in[1] {
		if b := c.in[2][i]; a < b || a == b && c.a.I[0] == KeepNotAbove {
			c.out[i] = c.in[0][i]
		}
	}
}
