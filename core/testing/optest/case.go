package optest

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// Shape is the size of a case: N members (0: no leading dimension), B rows, C
// columns.
type Shape struct{ N, B, C int }

func (s Shape) String() string { return fmt.Sprintf("%d×%d×%d", s.N, s.B, s.C) }

// Case is one operation, or one way to use it.
type Case struct {
	Name string
	// Build builds the operation on operands obtained from b.
	Build func(b *Builder) *op.Node
	// Flat is for operations without a leading ensemble dimension.
	Flat bool
	// Rows is the smallest number of rows; 0 stands for 1.
	Rows int
	// Empty says that a batch without rows is legal.
	Empty bool
	// Tolerance is the largest error of a device, as a share of a tensor's largest
	// magnitude; 0 stands for 1e-5.
	Tolerance float64
}

// Fits reports whether the case can be built at a shape.
func (c Case) Fits(s Shape) bool {
	return s.B >= max(1, c.Rows) && (s.N == 0 || !c.Flat) || s.B == 0 && c.Empty && (s.N == 0 || !c.Flat)
}

// Corners lists the shapes at which implementations tend to break: one of everything, one
// column, tails of vectors, ensembles.
var Corners = []Shape{{0, 1, 1}, {0, 2, 1}, {0, 6, 1}, {0, 1, 6}, {0, 5, 3}, {0, 7, 8}, {1, 4, 3}, {3, 5, 1}, {2, 1, 4}, {3, 4, 7}}

// Random returns n shapes of at most b rows and c columns.
func Random(seed uint64, n, b, c int) []Shape {
	r := rand.New(rand.NewPCG(seed, 1))
	shapes := make([]Shape, n)
	for i := range shapes {
		shapes[i] = Shape{r.IntN(4), 1 + r.IntN(b), 1 + r.IntN(c)}
	}
	return shapes
}

// Instance is a case at a shape, with its operands.
type Instance struct {
	Case
	Shape
	// Wrt lists the operands that receive a gradient.
	Wrt []*op.Tensor

	tensors map[string]*op.Tensor
}

// At returns an instance; its operands are made when it is first built.
func (c Case) At(s Shape) *Instance {
	return &Instance{Case: c, Shape: s, tensors: map[string]*op.Tensor{}}
}

// Builder builds an instance into a graph.
type Builder struct {
	*op.Graph
	*Instance
}

// Build builds the instance: the operation's result, and a loss with a different slope in
// each element of the result. The loss is nil if nothing receives a gradient.
func (i *Instance) Build(g *op.Graph) (loss, out *op.Node) {
	d := &Builder{g, i}
	out = i.Case.Build(d)
	switch {
	case len(i.Wrt) == 0:
		return nil, out
	case out.Shape().IsScalar():
		return out, out
	case out.Dims() == 1:
		return g.Sum(g.Mul(out, d.Given("slopes", Normal, out.Shape()...)), 3), out
	}
	return g.SquaredError(out, d.Given("loss target", Normal, out.Shape()...), 3), out
}

// Of makes an element of an operand from a standard normal number.
type Of func(z float64) float64

// The kinds of elements of operands.
var (
	Normal   Of = func(z float64) float64 { return z / 2 }
	Positive Of = func(z float64) float64 { return math.Exp(z / 2) }
	Unit     Of = func(z float64) float64 { return min(math.Erfc(-z/math.Sqrt2)/2, 1-0x1p-24) } // U[0,1)
	Bit      Of = func(z float64) float64 { return math.Round(Unit(z)) }
)

// Below makes whole numbers from 0 to n−1.
func Below(n int) Of { return func(z float64) float64 { return math.Floor(Unit(z) * float64(n)) } }

// Wide makes normal numbers multiplied by scale.
func Wide(scale float64) Of { return func(z float64) float64 { return scale * z } }

// Param is an operand that receives a gradient.
func (d *Builder) Param(name string, of Of, shape ...int) *op.Node {
	t := d.tensor(name, of, shape)
	if !slices.Contains(d.Wrt, t) {
		d.Wrt = append(d.Wrt, t)
	}
	return d.Bind(t)
}

// Given is an operand that receives none.
func (d *Builder) Given(name string, of Of, shape ...int) *op.Node {
	return d.Bind(d.tensor(name, of, shape))
}

// Ascending is an operand [n] in ascending order that receives no gradient.
func (d *Builder) Ascending(name string, of Of, n int) *op.Node {
	t := d.tensor(name, of, []int{n})
	slices.Sort(t.Data)
	return d.Bind(t)
}

func (d *Builder) tensor(name string, of Of, shape []int) *op.Tensor {
	if t, ok := d.tensors[name]; ok {
		return t
	}
	t := op.NewTensor(name, shape...)
	h := fnv.New64a()
	fmt.Fprint(h, d.Case.Name, d.Shape)
	rng.New(h.Sum64(), name).FillNormal(t.Data, 0, 0)
	for i, z := range t.Data {
		t.Data[i] = float32(of(float64(z)))
	}
	d.tensors[name] = t
	return t
}

// Rows is the shape [B,cols], or [N,B,cols].
func (d *Builder) Rows(cols int) []int { return d.Lead(d.B, cols) }

// Lead is a shape with the number of members in front, if there are members.
func (d *Builder) Lead(shape ...int) []int {
	if d.N == 0 {
		return shape
	}
	return append([]int{d.N}, shape...)
}

// X is the operand x [B,C] or [N,B,C], normal and differentiated.
func (d *Builder) X() *op.Node { return d.Param("x", Normal, d.Rows(d.C)...) }
