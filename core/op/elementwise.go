package op

import (
	"fmt"
	"math"

	"gorgonia.org/tensor"
)

// ReLU is max(z,0).
func (g *Graph) ReLU(z *Node) *Node { return g.apply(ReLU, Attr{}, z) }

// Tanh is the hyperbolic tangent.
func (g *Graph) Tanh(z *Node) *Node { return g.apply(Tanh, Attr{}, z) }

// SiLU is z·σ(z), also called Swish (Ramachandran et al. 2017).
func (g *Graph) SiLU(z *Node) *Node { return g.apply(SiLU, Attr{}, z) }

// Mish is z·tanh(ln(1+eᶻ)) (Misra 2019).
func (g *Graph) Mish(z *Node) *Node { return g.apply(Mish, Attr{}, z) }

// ELU is z above zero and eᶻ−1 below (Clevert et al. 2016).
func (g *Graph) ELU(z *Node) *Node { return g.apply(ELU, Attr{}, z) }

// LeakyReLU is z above zero and slope·z below, for slopes from 0 to 1 (Maas et al. 2013). It is
// composed of other operations.
func (g *Graph) LeakyReLU(z *Node, slope float64) *Node { return g.Maximum(z, g.Scale(z, slope)) }

// Add is a + b.
func (g *Graph) Add(a, b *Node) *Node { return g.apply(Add, Attr{}, a, b) }

// Sub is a − b.
func (g *Graph) Sub(a, b *Node) *Node { return g.apply(Sub, Attr{}, a, b) }

// Mul is the elementwise product a·b.
func (g *Graph) Mul(a, b *Node) *Node { return g.apply(Mul, Attr{}, a, b) }

// Scale is c·x for a constant c.
func (g *Graph) Scale(x *Node, c float64) *Node { return g.apply(Scale, Attr{F: [3]float64{c}}, x) }

// Shift is x + c for a constant c.
func (g *Graph) Shift(x *Node, c float64) *Node { return g.apply(Shift, Attr{F: [3]float64{c}}, x) }

// RowScale multiplies row i of x [B,C] or [N,B,C] by s[i]; s is [B,1] for all members or [N,B,1].
// The gradient reaches x only.
func (g *Graph) RowScale(x, s *Node) *Node { return g.apply(RowScale, Attr{}, x, s) }

// StopGradient is x; no gradient flows through it.
func (g *Graph) StopGradient(x *Node) *Node { return g.apply(StopGradient, Attr{}, x) }

// Concat joins its operands column by column, side by side.
func (g *Graph) Concat(parts ...*Node) *Node {
	if len(parts) == 0 {
		g.fail("Concat", fmt.Errorf("nothing to put together"))
	}
	return g.apply(Concat, Attr{I: [2]int{len(parts)}}, parts...)
}

// Slice is columns lo to hi (exclusive) of x.
func (g *Graph) Slice(x *Node, lo, hi int) *Node {
	return g.apply(Slice, Attr{I: [2]int{lo, hi}}, x)
}

// unary makes a rule's implementation from a function of one number.
func unary[T float](f func(z float64) float64) func(call[T]) {
	return func(c call[T]) {
		for i, z := range c.in[0] {
			c.out[i] = T(f(float64(z)))
		}
	}
}

// binary makes a rule's implementation from a function of two numbers.
func binary[T float](f func(a, b float64) float64) func(call[T]) {
	return func(c call[T]) {
		for i, a := range c.in[0] {
			c.out[i] = T(f(float64(a), float64(c.in[1][i])))
		}
	}
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// softplus is ln(1+eᶻ) without overflow.
func softplus(z float64) float64 { return math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }

// activation registers f and its gradient. of chooses what the gradient reads:
// the result y = f(z), or z.
func activation(kind, gradKind Kind, name string, of func(d derivation) *Node, f func(z float64) float64, grad func(dy, of float64) float64) {
	rules[kind] = rule{
		name: name, wrt: []bool{true}, shape: first, do32: unary[float32](f), do64: unary[float64](f),
		grad: func(d derivation) []*Node { return []*Node{d.apply(gradKind, Attr{}, d.dout, of(d))} },
	}
	rules[gradKind] = rule{name: name + "Grad", shape: sameShape, do32: binary[float32](grad), do64: binary[float64](grad)}
}

func init() {
	result := func(d derivation) *Node { return d.out }
	operand := func(d derivation) *Node { return d.in[0] }
	activation(ReLU, ReLUGrad, "ReLU", result,
		func(z float64) float64 { return max(z, 0) },
		func(dy, y float64) float64 {
			if y > 0 {
				return dy
			}
			return 0
		})
	activation(Tanh, TanhGrad, "Tanh", result, math.Tanh,
		func(dy, y float64) float64 { return dy * (1 - y*y) })
	activation(SiLU, SiLUGrad, "SiLU", operand,
		func(z float64) float64 { return z * sigmoid(z) },
		func(dy, z float64) float64 { s := sigmoid(z); return dy * s * (1 + z*(1-s)) })
	activation(Mish, MishGrad, "Mish", operand,
		func(z float64) float64 { return z * math.Tanh(softplus(z)) },
		func(dy, z float64) float64 {
			t := math.Tanh(softplus(z))
			return dy * (t + z*(1-t*t)*sigmoid(z))
		})
	activation(ELU, ELUGrad, "ELU", operand,
		func(z float64) float64 {
			if z > 0 {
				return z
			}
			return math.Expm1(z)
		},
		func(dy, z float64) float64 {
			if z > 0 {
				return dy
			}
			return dy * math.Exp(z)
		})
	arithmetic()
	columns()
}

func arithmetic() {
	add := func(a, b float64) float64 { return a + b }
	sub := func(a, b float64) float64 { return a - b }
	mul := func(a, b float64) float64 { return a * b }
	rules[Add] = rule{name: "Add", wrt: []bool{true, true}, shape: sameShape,
		do32: binary[float32](add), do64: binary[float64](add),
		grad: func(d derivation) []*Node { return []*Node{d.dout, d.dout} }}
	rules[Sub] = rule{name: "Sub", wrt: []bool{true, true}, shape: sameShape,
		do32: binary[float32](sub), do64: binary[float64](sub),
		grad: func(d derivation) []*Node {
			return []*Node{d.dout, d.apply(Scale, Attr{F: [3]float64{-1}}, d.dout)}
		}}
	rules[Mul] = rule{name: "Mul", wrt: []bool{true, true}, shape: sameShape,
		do32: binary[float32](mul), do64: binary[float64](mul),
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(Mul, Attr{}, d.dout, d.in[1]), d.apply(Mul, Attr{}, d.dout, d.in[0])}
		}}
	rules[Scale] = rule{name: "Scale", wrt: []bool{true}, shape: first, do32: scale[float32], do64: scale[float64],
		grad: func(d derivation) []*Node { return []*Node{d.apply(Scale, d.attr, d.dout)} }}
	rules[Shift] = rule{name: "Shift", wrt: []bool{true}, shape: first, do32: shift[float32], do64: shift[float64],
		grad: func(d derivation) []*Node { return []*Node{d.dout} }}
	rules[RowScale] = rule{name: "RowScale", wrt: []bool{true, false},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			return in[0].Clone(), each(matrix(in[0]), rowsOf("s", in[1], in[0]))
		},
		do32: rowScale[float32], do64: rowScale[float64],
		grad: func(d derivation) []*Node { return []*Node{d.apply(RowScale, Attr{}, d.dout, d.in[1]), nil} }}
	rules[StopGradient] = rule{name: "StopGradient", wrt: []bool{false}, shape: first,
		do32: func(c call[float32]) { copy(c.out, c.in[0]) }, do64: func(c call[float64]) { copy(c.out, c.in[0]) }}
}

func scale[T float](c call[T]) {
	for i, x := range c.in[0] {
		c.out[i] = T(c.a.F[0]) * x
	}
}

func shift[T float](c call[T]) {
	for i, x := range c.in[0] {
		c.out[i] = x + T(c.a.F[0])
	}
}

func rowScale[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	for i, x := range c.in[0] {
		c.out[i] = x * c.in[1][i/cols%len(c.in[1])]
	}
}

func columns() {
	rules[Concat] = rule{name: "Concat", wrt: []bool{true}, shape: concatShape, do32: concat[float32], do64: concat[float64],
		grad: func(d derivation) []*Node {
			grads, lo := make([]*Node, len(d.in)), 0
			for i, x := range d.in {
				hi := lo + x.Shape()[x.Dims()-1]
				grads[i] = d.apply(Slice, Attr{I: [2]int{lo, hi}}, d.dout)
				lo = hi
			}
			return grads
		}}
	rules[Slice] = rule{name: "Slice", wrt: []bool{true}, shape: sliceShape, do32: slice[float32], do64: slice[float64],
		grad: func(d derivation) []*Node {
			x := d.in[0].Shape()
			return []*Node{d.apply(Pad, Attr{I: [2]int{d.attr.I[0], x[len(x)-1]}}, d.dout)}
		}}
	rules[Pad] = rule{name: "Pad",
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			s := in[0].Clone()
			s[len(s)-1] = a.I[1]
			return s, nil
		}, do32: pad[float32], do64: pad[float64]}
}

func concatShape(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
	out := in[0].Clone()
	if len(out) < 2 {
		return nil, errMatrix
	}
	for _, s := range in[1:] {
		if len(s) != len(out) || !s[:len(s)-1].Eq(out[:len(out)-1]) {
			return nil, fmt.Errorf("the rows must be equal")
		}
		out[len(out)-1] += s[len(s)-1]
	}
	return out, nil
}

func sliceShape(a Attr, in []tensor.Shape) (tensor.Shape, error) {
	s := in[0].Clone()
	lo, hi := a.I[0], a.I[1]
	if len(s) < 2 || lo < 0 || hi <= lo || hi > s[len(s)-1] {
		return nil, fmt.Errorf("there are no columns %d to %d", lo, hi)
	}
	s[len(s)-1] = hi - lo
	return s, nil
}

func concat[T float](c call[T]) {
	width, lo := c.shape[len(c.shape)-1], 0
	for p, x := range c.in {
		s := c.ins[p]
		cols := s[len(s)-1]
		for i := 0; i*cols < len(x); i++ {
			copy(c.out[i*width+lo:], x[i*cols:(i+1)*cols])
		}
		lo += cols
	}
}

func slice[T float](c call[T]) {
	s := c.ins[0]
	width, lo, cols := s[len(s)-1], c.a.I[0], c.a.I[1]-c.a.I[0]
	for i := 0; i*cols < len(c.out); i++ {
		copy(c.out[i*cols:(i+1)*cols], c.in[0][i*width+lo:])
	}
}

func pad[T float](c call[T]) {
	s := c.ins[0]
	cols, lo, width := s[len(s)-1], c.a.I[0], c.a.I[1]
	for i := 0; i*cols < len(c.in[0]); i++ {
		copy(c.out[i*width+lo:], c.in[0][i*cols:(i+1)*cols])
	}
}
