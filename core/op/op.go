package op

import (
	"fmt"
	"hash"
	"hash/fnv"

	"pgrlab/core/window"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Kind names an operation; rules describes each kind.
type Kind int

// The operations, each with its operands. A gradient's operands are what the derivative of the
// earlier operation needs.
const (
	Linear                   Kind = iota // x w b
	LinearAt                             // x w b members
	LinearDX                             // dz w
	LinearDW                             // x dz
	ColSum                               // dz
	ReLU                                 // z
	Tanh                                 // z
	SiLU                                 // z
	Mish                                 // z
	ELU                                  // z
	ReLUGrad                             // dy y
	TanhGrad                             // dy y
	SiLUGrad                             // dy z
	MishGrad                             // dy z
	ELUGrad                              // dy z
	Add                                  // a b
	Sub                                  // a b
	Mul                                  // a b
	Scale                                // x
	Shift                                // x
	RowScale                             // x s
	Concat                               // a b …
	Slice                                // x
	Pad                                  // x
	StopGradient                         // x
	TanhGaussian                         // h eps
	TanhGaussianGrad                     // h eps out dout
	MinMembers                           // q
	MeanMembers                          // q
	BroadcastMembers                     // dy
	TDTarget                             // r d q logp gamma alpha
	SquaredError                         // p t
	SquaredErrorGrad                     // p t dloss
	WeightedSquaredError                 // p t w
	WeightedSquaredErrorGrad             // p t w dloss
	EntropyLoss                          // logp q alpha
	EntropyGradLogp                      // logp alpha dloss
	EntropyGradQ                         // q dloss
	AddScalars                           // a b
	BatchStats                           // x
	BatchNorm                            // x gamma beta stats
	BatchNormDX                          // x gamma stats dy
	BatchNormDGamma                      // x stats dy
	BatchNormEval                        // x gamma beta running
	Fourier                              // t w
	EDMNoised                            // x n z spread
	RowMeanSquare                        // a b
	Exp                                  // x
	Log                                  // x
	Square                               // x
	Sqrt                                 // x
	Softplus                             // x
	SoftplusGrad                         // dy x
	Sigmoid                              // x
	SigmoidGrad                          // dy y
	SignedSqrt                           // x
	Clamp                                // x
	ClampGrad                            // dy x
	Minimum                              // a b
	Maximum                              // a b
	Div                                  // a b
	Keep                                 // dy a b
	ColScale                             // x s
	ColAdd                               // x b
	AddColumns                           // a b
	Members                              // x
	SumMembers                           // x
	SplitColumns                         // x
	JoinMembers                          // x
	SumColumns                           // x
	SpreadColumns                        // dy
	Sum                                  // x
	SumGrad                              // x dsum
	BCE                                  // z t [w]
	BCEGrad                              // z t [w] dloss
	GaussianKL                           // h
	GaussianKLGrad                       // h dloss
	Gather                               // x index
	GatherGrad                           // x index dout
	LayerNorm                            // x gamma beta
	LayerNormDX                          // x gamma dy
	LayerNormDGamma                      // x dy
	RMSNorm                              // x gamma
	RMSNormDX                            // x gamma dy
	RMSNormDGamma                        // x dy
	MinMembersGrad                       // q out dout
	LogSumExp                            // x
	LogSumExpGrad                        // x out dout
	Softmax                              // x
	SoftmaxGrad                          // y dy
	GroupSoftmax                         // x
	GroupSoftmaxGrad                     // y dy
	GroupSample                          // p u
	CrossEntropy                         // z t [w]
	CrossEntropyGrad                     // z t [w] dloss
	GatedUpdate                          // y h
	GatedUpdateGrad                      // y h dout
	GatedUpdateKeep                      // y dout
	TwoHotAt                             // x bins
	BinMean                              // z bins
	Conv                                 // x w b
	ConvDX                               // dz w
	ConvDW                               // x dz
	ConvDB                               // dz
	MaxPool                              // x
	MaxPoolGrad                          // x dy
	Upsample                             // x
	UpsampleGrad                         // dy
	FromBytes                            // x
	kinds
)

func (k Kind) String() string { return rules[k].name }

// Attr holds the constants of an operation; its rule says which ones it uses.
//
// Gorgonia merges operations that it takes for equal into one node, so whatever distinguishes two
// of them must be in Attr or in their operands.
type Attr struct {
	F      [3]float64
	I      [2]int
	Window window.Geometry
}

// Op is one of our operations in Gorgonia's graph.
type Op struct {
	Kind Kind
	Attr Attr

	of  tensor.Dtype
	in  []int // dimensions of the operands
	out int   // dimensions of the result
}

// rules is filled by the init functions beside each family's implementation.
var rules [kinds]rule

// rule describes a kind completely.
type rule struct {
	name string
	wrt  []bool // which operands receive a gradient; nil: none
	// shape returns the result's shape, or what is wrong with the operands'.
	shape func(a Attr, in []tensor.Shape) (tensor.Shape, error)
	do32  func(c call[float32])
	do64  func(c call[float64])
	// grad builds the derivative for each operand, nil for an operand without one.
	grad func(d derivation) []*Node
}

// call is one evaluation by the reference implementation. out is zeroed.
type call[T float] struct {
	a     Attr
	out   []T
	shape tensor.Shape
	in    [][]T
	ins   []tensor.Shape
}

type float interface{ ~float32 | ~float64 }

var _ gorgonia.SDOp = (*Op)(nil)

// Arity returns the number of operands.
func (o *Op) Arity() int { return len(o.in) }

// Type builds a new function type at each call, because Gorgonia returns it to a pool.
func (o *Op) Type() hm.Type {
	types := make([]hm.Type, 0, len(o.in)+1)
	for _, d := range append(append([]int(nil), o.in...), o.out) {
		if d == 0 {
			types = append(types, o.of)
		} else {
			types = append(types, gorgonia.TensorType{Dims: d, Of: o.of})
		}
	}
	return hm.NewFnType(types...)
}

// InferShape returns the shape of the result.
func (o *Op) InferShape(sizers ...gorgonia.DimSizer) (tensor.Shape, error) {
	shapes := make([]tensor.Shape, len(sizers))
	for i, s := range sizers {
		shape, ok := s.(tensor.Shape)
		if !ok {
			return nil, fmt.Errorf("operand %d is a %T, want a shape", i, s)
		}
		shapes[i] = shape
	}
	return o.infer(shapes)
}

func (o *Op) infer(shapes []tensor.Shape) (tensor.Shape, error) {
	for _, s := range shapes {
		if len(s) > 3 {
			return nil, fmt.Errorf("want at most members, rows and columns: operands are %v", shapes)
		}
	}
	s, err := rules[o.Kind].shape(o.Attr, shapes)
	if err != nil {
		return nil, fmt.Errorf("%w: operands are %v", err, shapes)
	}
	return s, nil
}

// Do is the reference implementation.
func (o *Op) Do(values ...gorgonia.Value) (gorgonia.Value, error) {
	r := rules[o.Kind]
	shapes := make([]tensor.Shape, len(values))
	for i, v := range values {
		shapes[i] = v.Shape()
	}
	shape, err := o.infer(shapes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	if o.of == tensor.Float64 {
		return run(r.do64, o.Attr, shape, values, shapes)
	}
	return run(r.do32, o.Attr, shape, values, shapes)
}

func run[T float](do func(call[T]), a Attr, shape tensor.Shape, values []gorgonia.Value, shapes []tensor.Shape) (gorgonia.Value, error) {
	c := call[T]{a: a, out: make([]T, shape.TotalSize()), shape: shape, ins: shapes}
	for _, v := range values {
		d, err := elements[T](v)
		if err != nil {
			return nil, err
		}
		c.in = append(c.in, d)
	}
	do(c)
	if shape.IsScalar() {
		return scalar(c.out[0]), nil
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(c.out)), nil
}

func scalar(x any) gorgonia.Value {
	if v, ok := x.(float64); ok {
		return gorgonia.NewF64(v)
	}
	return gorgonia.NewF32(x.(float32))
}

func elements[T float](v gorgonia.Value) ([]T, error) {
	switch x := v.Data().(type) {
	case []T:
		return x, nil
	case T:
		return []T{x}, nil
	}
	return nil, fmt.Errorf("operand holds %T", v.Data())
}

// ReturnsPtr, CallsExtern and OverwritesInput tell Gorgonia that results occupy new memory.
func (o *Op) ReturnsPtr() bool     { return false }
func (o *Op) CallsExtern() bool    { return false }
func (o *Op) OverwritesInput() int { return -1 }

// WriteHash writes everything that distinguishes two operations.
func (o *Op) WriteHash(h hash.Hash) { fmt.Fprintf(h, "pgrlab/%d/%v/%v/%v", o.Kind, o.Attr, o.in, o.of) }

// Hashcode returns the 32-bit hash that Gorgonia compares.
func (o *Op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

func (o *Op) String() string {
	if o.Attr == (Attr{}) {
		return rules[o.Kind].name
	}
	return fmt.Sprintf("%s%v", rules[o.Kind].name, o.Attr)
}

// DiffWRT says which operands receive a gradient. Gorgonia panics on an answer of the wrong length,
// so gradients answer too.
func (o *Op) DiffWRT(n int) []bool {
	out := make([]bool, n)
	wrt := rules[o.Kind].wrt
	if len(wrt) == 1 && n > 1 { // one answer for any number of operands
		for i := range out {
			out[i] = wrt[0]
		}
		return out
	}
	copy(out, wrt)
	return out
}

// derivation holds what a rule needs to build a derivative.
type derivation struct {
	attr Attr
	of   tensor.Dtype
	in   []*Node
	out  *Node
	dout *Node
}

// apply adds an operation of the derivative. Shapes that passed the forward rule cannot cause an
// error; if one occurs nevertheless, SymDiff catches the panic.
func (d derivation) apply(kind Kind, attr Attr, children ...*Node) *Node {
	n, err := apply(kind, attr, d.of, children...)
	if err != nil {
		panic(&Error{Op: rules[kind].name, Caller: "gradient", Err: err})
	}
	return n
}

// SymDiff builds the derivative of the operation.
func (o *Op) SymDiff(in gorgonia.Nodes, out, dout *Node) (grads gorgonia.Nodes, err error) {
	r := rules[o.Kind]
	if r.grad == nil {
		return nil, fmt.Errorf("%s has no derivative", r.name)
	}
	defer func() {
		if p := recover(); p != nil {
			e, ours := p.(*Error)
			if !ours {
				panic(p)
			}
			err = e
		}
	}()
	return r.grad(derivation{attr: o.Attr, of: o.of, in: in, out: out, dout: dout}), nil
}
