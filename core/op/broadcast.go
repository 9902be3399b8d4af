package op

import (
	"errors"
	"fmt"

	"gorgonia.org/tensor"
)

// ColScale multiplies column j of x [B,C] by s[j], with s [C]; for x [N,B,C], s is [N,C]. A layer
// with factorised noise (Fortunato et al. 2018, equation 10) is x·μ + ColScale(ColScale(x,
// f(ε_in))·σ, f(ε_out)) + μ_b + σ_b⊙f(ε_out).
func (g *Graph) ColScale(x, s *Node) *Node { return g.apply(ColScale, Attr{}, x, s) }

// ColAdd adds b[j] to column j of x; b is [C], or [N,C] for x [N,B,C].
func (g *Graph) ColAdd(x, b *Node) *Node { return g.apply(ColAdd, Attr{}, x, b) }

// AddColumns adds b [B,c] or [N,B,c] to the columns of a, [B,C] or [N,B,C], from column from on.
func (g *Graph) AddColumns(a, b *Node, from int) *Node {
	return g.apply(AddColumns, Attr{I: [2]int{from}}, a, b)
}

// Members repeats x n times along a new leading dimension; its gradient is the sum over that
// dimension.
func (g *Graph) Members(x *Node, n int) *Node {
	return g.apply(Members, Attr{I: [2]int{n}}, x)
}

// SumMembers is the sum over the leading dimension of x [N,C] or [N,B,C].
func (g *Graph) SumMembers(x *Node) *Node { return g.apply(SumMembers, Attr{}, x) }

// SplitColumns cuts the columns of x [B,N·C] into n members, [N,B,C]: member i gets columns i·C to
// (i+1)·C. With it a block-linear layer (Hafner et al. 2025, Nature; danijar/dreamerv3
// embodied/jax/nets.py BlockLinear) is a Linear with members. JoinMembers is its inverse and its
// gradient.
func (g *Graph) SplitColumns(x *Node, n int) *Node {
	return g.apply(SplitColumns, Attr{I: [2]int{n, 1}}, x)
}

// JoinMembers puts the members of x [N,B,C] side by side, [B,N·C]; SplitColumns is its inverse and
// its gradient.
func (g *Graph) JoinMembers(x *Node) *Node { return g.JoinPlaces(x, 1) }

// JoinPlaces puts the members of x [N,B,P·C] side by side at each of P places, [B,P·N·C]: at a place the
// first member's C columns come first, then the second's. If members are images of C channels in NHWC
// order, the result is one image of their channels (Hafner et al. 2025, Nature; danijar/dreamerv3
// dreamerv3/rssm.py Decoder).
func (g *Graph) JoinPlaces(x *Node, places int) *Node {
	return g.apply(JoinMembers, Attr{I: [2]int{0, places}}, x)
}

// SumColumns is the sum over the columns of x [B,C] or [N,B,C], as [B,1] or [N,B,1].
func (g *Graph) SumColumns(x *Node) *Node {
	return g.apply(SumColumns, Attr{F: [3]float64{1}}, x)
}

// MeanColumns is the mean over the columns of x [B,C] or [N,B,C], as [B,1] or [N,B,1].
func (g *Graph) MeanColumns(x *Node) *Node {
	if x.Dims() == 0 {
		g.fail("MeanColumns", errMatrix)
	}
	return g.apply(SumColumns, Attr{F: [3]float64{1 / float64(x.Shape()[x.Dims()-1])}}, x)
}

// SpreadColumns repeats the one column of x cols times.
func (g *Graph) SpreadColumns(x *Node, cols int) *Node {
	return g.apply(SpreadColumns, Attr{F: [3]float64{1}, I: [2]int{cols}}, x)
}

// Sum is the sum over all elements, divided by norm, as a scalar.
func (g *Graph) Sum(x *Node, norm float64) *Node {
	return g.apply(Sum, Attr{F: [3]float64{norm}}, x)
}

// Mean is the mean over all elements, as a scalar.
func (g *Graph) Mean(x *Node) *Node { return g.Sum(x, float64(x.Shape().TotalSize())) }

func init() {
	columnRules()
	addColumnsRule()
	memberRules()
	splitRules()
	reductionRules()
}

func columnRules() {
	shape := func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
		return in[0].Clone(), each(matrix(in[0]), columnsOf("the second operand", in[1], in[0]))
	}
	rules[ColScale] = rule{name: "ColScale", wrt: []bool{true, true}, shape: shape,
		do32: byColumn(func(x, s float32) float32 { return x * s }), do64: byColumn(func(x, s float64) float64 { return x * s }),
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(ColScale, Attr{}, d.dout, d.in[1]), d.apply(ColSum, Attr{}, d.apply(Mul, Attr{}, d.dout, d.in[0]))}
		}}
	rules[ColAdd] = rule{name: "ColAdd", wrt: []bool{true, true}, shape: shape,
		do32: byColumn(func(x, s float32) float32 { return x + s }), do64: byColumn(func(x, s float64) float64 { return x + s }),
		grad: func(d derivation) []*Node { return []*Node{d.dout, d.apply(ColSum, Attr{}, d.dout)} }}
}

func addColumnsRule() {
	rules[AddColumns] = rule{name: "AddColumns", wrt: []bool{true, true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			x, y := in[0], in[1]
			last := len(x) - 1
			if matrix(x) != nil || len(y) != len(x) || !y[:last].Eq(x[:last]) || a.I[0] < 0 || a.I[0]+y[last] > x[last] {
				return nil, fmt.Errorf("want [B,C] or [N,B,C], and as many rows of columns that end there, from column %d on", a.I[0])
			}
			return x.Clone(), nil
		}, do32: addColumns[float32], do64: addColumns[float64],
		grad: func(d derivation) []*Node {
			b := d.in[1].Shape()
			from := d.attr.I[0]
			return []*Node{d.dout, d.apply(Slice, Attr{I: [2]int{from, from + b[len(b)-1]}}, d.dout)}
		}}
}

func addColumns[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	_, _, narrow := dims(c.ins[1])
	copy(c.out, c.in[0])
	for i, x := range c.in[1] {
		c.out[i/narrow*cols+c.a.I[0]+i%narrow] += x
	}
}

// byColumn combines each element with the number that its member has for the element's column.
func byColumn[T float](f func(x, s T) T) func(c call[T]) {
	return func(c call[T]) {
		_, rows, cols := dims(c.ins[0])
		for i, x := range c.in[0] {
			c.out[i] = f(x, c.in[1][i/(rows*cols)*cols+i%cols])
		}
	}
}

func memberRules() {
	rules[Members] = rule{name: "Members", wrt: []bool{true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if len(in[0]) != 1 && len(in[0]) != 2 || a.I[0] < 1 {
				return nil, errors.New("want [C] or [B,C], and at least one member")
			}
			return append(tensor.Shape{a.I[0]}, in[0]...), nil
		}, do32: members[float32], do64: members[float64],
		grad: func(d derivation) []*Node { return []*Node{d.apply(SumMembers, Attr{}, d.dout)} }}
	rules[SumMembers] = rule{name: "SumMembers", wrt: []bool{true},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			if len(in[0]) < 2 {
				return nil, errors.New("want members, [N,C] or [N,B,C]")
			}
			return in[0][1:].Clone(), nil
		}, do32: sumMembers[float32], do64: sumMembers[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(Members, Attr{I: [2]int{d.in[0].Shape()[0]}}, d.dout)}
		}}
}

// splitRules makes the rules of members and columns side by side; I[1] is the number of places.
func splitRules() {
	rules[SplitColumns] = rule{name: "SplitColumns", wrt: []bool{true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			n, places := a.I[0], a.I[1]
			if len(in[0]) != 2 || n < 1 || places < 1 || in[0][1]%(n*places) != 0 {
				return nil, errors.New("want [B,C] with columns that the members can share evenly")
			}
			return tensor.Shape{n, in[0][0], in[0][1] / n}, nil
		}, do32: splitColumns[float32], do64: splitColumns[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(JoinMembers, Attr{I: [2]int{0, d.attr.I[1]}}, d.dout)}
		}}
	rules[JoinMembers] = rule{name: "JoinMembers", wrt: []bool{true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if places := a.I[1]; len(in[0]) != 3 || places < 1 || in[0][2]%places != 0 {
				return nil, errors.New("want members, [N,B,C], with columns that the places can share evenly")
			}
			return tensor.Shape{in[0][1], in[0][0] * in[0][2]}, nil
		}, do32: joinMembers[float32], do64: joinMembers[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(SplitColumns, Attr{I: [2]int{d.in[0].Shape()[0], d.attr.I[1]}}, d.dout)}
		}}
}

// sideBySide visits the columns of each member at each place of each row: where they are in [N,B,P·C]
// and in [B,P·N·C], and how many.
func sideBySide(split tensor.Shape, places int, visit func(apart, joined, width int)) {
	n, rows, cols := dims(split)
	width := cols / places
	for e := range n {
		for i := range rows {
			for p := range places {
				visit((e*rows+i)*cols+p*width, ((i*places+p)*n+e)*width, width)
			}
		}
	}
}

func splitColumns[T float](c call[T]) {
	sideBySide(c.shape, c.a.I[1], func(apart, joined, width int) {
		copy(c.out[apart:apart+width], c.in[0][joined:])
	})
}

func joinMembers[T float](c call[T]) {
	sideBySide(c.ins[0], c.a.I[1], func(apart, joined, width int) {
		copy(c.out[joined:joined+width], c.in[0][apart:])
	})
}

func members[T float](c call[T]) {
	for i := range c.out {
		c.out[i] = c.in[0][i%len(c.in[0])]
	}
}

func sumMembers[T float](c call[T]) {
	for i, x := range c.in[0] {
		c.out[i%len(c.out)] += x
	}
}

func reductionRules() {
	rules[SumColumns] = rule{name: "SumColumns", wrt: []bool{true},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			if err := matrix(in[0]); err != nil {
				return nil, err
			}
			return withColumns(in[0], 1), nil
		}, do32: sumColumns[float32], do64: sumColumns[float64],
		grad: func(d derivation) []*Node {
			x := d.in[0].Shape()
			return []*Node{d.apply(SpreadColumns, Attr{F: d.attr.F, I: [2]int{x[len(x)-1]}}, d.dout)}
		}}
	rules[SpreadColumns] = rule{name: "SpreadColumns", wrt: []bool{true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if matrix(in[0]) != nil || in[0][len(in[0])-1] != 1 || a.I[0] < 1 {
				return nil, errors.New("want one column, [B,1] or [N,B,1], and at least one of the result")
			}
			return withColumns(in[0], a.I[0]), nil
		}, do32: spreadColumns[float32], do64: spreadColumns[float64],
		grad: func(d derivation) []*Node { return []*Node{d.apply(SumColumns, Attr{F: d.attr.F}, d.dout)} }}
	rules[Sum] = rule{name: "Sum", wrt: []bool{true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if len(in[0]) == 0 {
				return nil, errors.New("want more than a scalar")
			}
			if !(a.F[0] > 0) {
				return nil, errors.New("the norm must be positive")
			}
			return tensor.ScalarShape(), nil
		}, do32: sum[float32], do64: sum[float64],
		grad: func(d derivation) []*Node { return []*Node{d.apply(SumGrad, d.attr, d.in[0], d.dout)} }}
	rules[SumGrad] = rule{name: "SumGrad", shape: first, do32: sumGrad[float32], do64: sumGrad[float64]}
}

func sumColumns[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	for i := range c.out {
		sum := 0.0
		for _, x := range c.in[0][i*cols : (i+1)*cols] {
			sum += float64(x)
		}
		c.out[i] = T(sum * c.a.F[0])
	}
}

func spreadColumns[T float](c call[T]) {
	for i := range c.out {
		c.out[i] = T(c.a.F[0]) * c.in[0][i/c.a.I[0]]
	}
}

func sum[T float](c call[T]) {
	sum := 0.0
	for _, x := range c.in[0] {
		sum += float64(x)
	}
	c.out[0] = T(sum / c.a.F[0])
}

func sumGrad[T float](c call[T]) {
	for i := range c.out {
		c.out[i] = c.in[1][0] / T(c.a.F[0])
	}
}
