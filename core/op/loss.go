package op

import (
	"errors"

	"gorgonia.org/tensor"
)

// SquaredError is Σ(p−t)²/norm as a scalar. p is [B,C] or [N,B,C]; all members share a t without
// members. The gradient reaches p only. With norm = B the loss is the sum over critics of their
// mean squared errors.
func (g *Graph) SquaredError(p, t *Node, norm float64) *Node {
	return g.apply(SquaredError, Attr{F: [3]float64{norm}}, p, t)
}

// WeightedSquaredError is Σ w(p−t)²/norm with a weight for each row: w is [B,1], or [N,B,1] with
// separate weights for each member.
func (g *Graph) WeightedSquaredError(p, t, w *Node, norm float64) *Node {
	return g.apply(WeightedSquaredError, Attr{F: [3]float64{norm}}, p, t, w)
}

// AddScalars adds losses.
func (g *Graph) AddScalars(losses ...*Node) *Node {
	sum := losses[0]
	for _, l := range losses[1:] {
		sum = g.apply(AddScalars, Attr{}, sum, l)
	}
	return sum
}

// RowMeanSquare is the mean of (a−b)² over columns, as [B,1] or [N,B,1]. It has no derivative.
func (g *Graph) RowMeanSquare(a, b *Node) *Node { return g.apply(RowMeanSquare, Attr{}, a, b) }

func errorShape(a Attr, in []tensor.Shape) (tensor.Shape, error) {
	p, t := in[0], in[1]
	if a.F[0] <= 0 {
		return nil, errors.New("the norm must be positive")
	}
	if len(p) < 2 || !(p.Eq(t) || len(p) == 3 && p[1:].Eq(t)) {
		return nil, errors.New("t must have the shape of p, or of one member of p")
	}
	return tensor.ScalarShape(), nil
}

func init() {
	rules[SquaredError] = rule{name: "SquaredError", wrt: []bool{true, false}, shape: errorShape,
		do32: squaredError[float32], do64: squaredError[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(SquaredErrorGrad, d.attr, d.in[0], d.in[1], d.dout), nil}
		}}
	rules[SquaredErrorGrad] = rule{name: "SquaredErrorGrad", shape: first,
		do32: squaredErrorGrad[float32], do64: squaredErrorGrad[float64]}
	rules[WeightedSquaredError] = rule{name: "WeightedSquaredError", wrt: []bool{true, false, false},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			s, err := errorShape(a, in[:2])
			return s, each(err, rowsOf("w", in[2], in[0]))
		},
		do32: squaredError[float32], do64: squaredError[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(WeightedSquaredErrorGrad, d.attr, d.in[0], d.in[1], d.in[2], d.dout), nil, nil}
		}}
	rules[WeightedSquaredErrorGrad] = rule{name: "WeightedSquaredErrorGrad", shape: first,
		do32: squaredErrorGrad[float32], do64: squaredErrorGrad[float64]}
	rules[AddScalars] = rule{name: "AddScalars", wrt: []bool{true, true},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			if !in[0].IsScalar() || !in[1].IsScalar() {
				return nil, errors.New("want two losses")
			}
			return tensor.ScalarShape(), nil
		},
		do32: func(c call[float32]) { c.out[0] = c.in[0][0] + c.in[1][0] },
		do64: func(c call[float64]) { c.out[0] = c.in[0][0] + c.in[1][0] },
		grad: func(d derivation) []*Node { return []*Node{d.dout, d.dout} }}
	rules[RowMeanSquare] = rule{name: "RowMeanSquare",
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			if err := matrix(in[0]); err != nil {
				return nil, err
			}
			_, err := sameShape(Attr{}, in)
			return withColumns(in[0], 1), err
		}, do32: rowMeanSquare[float32], do64: rowMeanSquare[float64]}
}

// squaredError serves both losses: the third operand, if any, weighs the rows.
func squaredError[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	sum := 0.0
	for i, p := range c.in[0] {
		d := float64(p - c.in[1][i%len(c.in[1])])
		if len(c.in) == 3 {
			d *= d * float64(c.in[2][i/cols%len(c.in[2])])
		} else {
			d *= d
		}
		sum += d
	}
	c.out[0] = T(sum / c.a.F[0])
}

func squaredErrorGrad[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	dloss := c.in[len(c.in)-1][0]
	for i, p := range c.in[0] {
		c.out[i] = 2 * dloss * (p - c.in[1][i%len(c.in[1])]) / T(c.a.F[0])
		if len(c.in) == 4 {
			c.out[i] *= c.in[2][i/cols%len(c.in[2])]
		}
	}
}

func rowMeanSquare[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	for i := range c.out {
		sum := 0.0
		for j := range cols {
			d := float64(c.in[0][i*cols+j] - c.in[1][i*cols+j])
			sum += d * d
		}
		c.out[i] = T(sum / float64(cols))
	}
}
