package op

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Node is a node of Gorgonia's graph.
type Node = gorgonia.Node

// Graph builds one program: its inputs, its parameters and one loss.
type Graph struct {
	Name string

	expr   *gorgonia.ExprGraph
	of     tensor.Dtype
	names  map[string]bool
	bound  map[*Tensor]*Node
	memory map[*Node]*Tensor
	loss   *Node
}

// Error says what was wrong with an operation while a graph was being built.
type Error struct {
	Graph, Op, Caller string
	Err               error
}

func (e *Error) Error() string {
	return fmt.Sprintf("graph %s: %s at %s: %v", e.Graph, e.Op, e.Caller, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// building serialises every use of Gorgonia's graph code, which caches hashes in package-level
// nodes without a lock.
var building sync.Mutex

// Build makes a graph. An operation whose operands do not fit panics inside f with an *Error, which
// Build returns.
func Build(name string, f func(g *Graph)) (*Graph, error) {
	return build(name, tensor.Float32, f)
}

// Build64 makes the same graph in float64 on copies of the tensors' current numbers, so that the
// TapeMachine can serve as an oracle. Plans run float32 only.
func Build64(name string, f func(g *Graph)) (*Graph, error) {
	return build(name, tensor.Float64, f)
}

func build(name string, of tensor.Dtype, f func(g *Graph)) (g *Graph, err error) {
	building.Lock()
	defer building.Unlock()
	defer func() {
		if r := recover(); r != nil {
			e, ours := r.(*Error)
			if !ours {
				panic(r)
			}
			g, err = nil, e
		}
	}()
	g = &Graph{
		Name: name, expr: gorgonia.NewGraph(gorgonia.WithGraphName(name)), of: of,
		names: map[string]bool{}, bound: map[*Tensor]*Node{}, memory: map[*Node]*Tensor{},
	}
	f(g)
	return g, nil
}

// Input returns a node that the host or a fill of the plan writes before each run. It receives no
// gradient. The name must be new in the graph: Gorgonia silently merges inputs of equal name and
// shape.
func (g *Graph) Input(name string, shape ...int) *Node {
	return g.add(NewTensor(name, shape...))
}

// Bind returns the node of a tensor. Graphs that bind the same tensor share its memory; binding it
// twice in one graph gives the same node.
func (g *Graph) Bind(t *Tensor) *Node {
	if n, ok := g.bound[t]; ok {
		return n
	}
	n := g.add(t)
	g.bound[t] = n
	return n
}

// Binds says whether a tensor is part of the graph.
func (g *Graph) Binds(t *Tensor) bool { return g.bound[t] != nil }

func (g *Graph) add(t *Tensor) *Node {
	if g.names[t.Name] {
		g.fail("input", fmt.Errorf("two inputs are named %q", t.Name))
	}
	g.names[t.Name] = true
	with := []gorgonia.NodeConsOpt{gorgonia.WithShape(t.Shape...), gorgonia.WithName(t.Name)}
	switch {
	case t.dense == nil: // an empty tensor: plans run it, Gorgonia's machines do not
	case g.of == tensor.Float64:
		wide := make([]float64, len(t.Data))
		for i, v := range t.Data {
			wide[i] = float64(v)
		}
		with = append(with, gorgonia.WithValue(tensor.New(tensor.WithShape(t.Shape...), tensor.WithBacking(wide))))
	default:
		with = append(with, gorgonia.WithValue(t.dense))
	}
	n := gorgonia.NewTensor(g.expr, g.of, len(t.Shape), with...)
	g.memory[n] = t
	return n
}

// Tensor returns the memory of an input or a bound node, and nil for other nodes.
func (g *Graph) Tensor(n *Node) *Tensor { return g.memory[n] }

// Expr returns Gorgonia's graph, for its TapeMachine and its Graphviz output.
func (g *Graph) Expr() *gorgonia.ExprGraph { return g.expr }

// Grad differentiates the loss with respect to bound tensors. It may be called once per graph.
func (g *Graph) Grad(loss *Node, wrt ...*Tensor) (grads []*Node, err error) {
	if g.loss != nil {
		return nil, fmt.Errorf("graph %s: grad: it has a loss already; build one graph for each loss", g.Name)
	}
	g.loss = loss
	nodes := make([]*Node, len(wrt))
	for i, t := range wrt {
		n, ok := g.bound[t]
		if !ok {
			return nil, fmt.Errorf("graph %s: grad: %s is not part of the graph", g.Name, t.Name)
		}
		nodes[i] = n
	}
	building.Lock()
	defer building.Unlock()
	// Gorgonia panics where an operation on the path has no derivative.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("graph %s: grad: %v", g.Name, r)
		}
	}()
	grads, err = gorgonia.Grad(loss, nodes...)
	if err != nil {
		return nil, fmt.Errorf("graph %s: grad: %w", g.Name, err)
	}
	return grads, nil
}

// apply adds an operation to the graph of its children.
func (g *Graph) apply(kind Kind, attr Attr, children ...*Node) *Node {
	n, err := apply(kind, attr, g.of, children...)
	if err != nil {
		g.fail(rules[kind].name, err)
	}
	return n
}

var errMerged = errors.New("gorgonia merged it with another operation of the same 32-bit hash; rename an input")

// apply wraps ApplyOp. It checks shapes before Gorgonia sees them, and checks that the node that
// comes back has the requested children, because Gorgonia takes nodes with equal hashes for equal.
func apply(kind Kind, attr Attr, of tensor.Dtype, children ...*Node) (*Node, error) {
	o := &Op{Kind: kind, Attr: attr, of: of}
	shapes := make([]tensor.Shape, len(children))
	for i, c := range children {
		shapes[i] = c.Shape()
		o.in = append(o.in, c.Dims())
	}
	out, err := o.infer(shapes)
	if err != nil {
		return nil, err
	}
	o.out = out.Dims()
	// A fresh slice: Gorgonia keeps the one it is given.
	n, err := gorgonia.ApplyOp(o, append([]*Node(nil), children...)...)
	if err != nil {
		return nil, err
	}
	return n, checkChildren(n, children)
}

func checkChildren(n *Node, want []*Node) error {
	if !slices.Equal(Children(n), want) {
		return errMerged
	}
	return nil
}

// Children returns the operands of a node in order. It reads Gorgonia's own field, because
// ExprGraph.From answers from an index that goes stale.
func Children(n *Node) []*Node {
	field := reflect.ValueOf(n).Elem().FieldByName("children")
	out := make([]*Node, field.Len())
	for i := range out {
		out[i] = (*Node)(unsafe.Pointer(field.Index(i).Pointer()))
	}
	return out
}

func (g *Graph) fail(what string, err error) {
	panic(&Error{Graph: g.Name, Op: what, Caller: caller(), Err: err})
}

// caller returns the first line outside this package, which is where the graph is built.
func caller() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "pgrlab/core/op.") || strings.HasSuffix(f.File, "_test.go") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "unknown"
		}
	}
}

// Adds reports whether n is Gorgonia's own addition of two tensors of one shape,
// which Grad inserts where a node has several users.
func Adds(n *Node) bool {
	o := n.Op()
	return o != nil && reflect.TypeOf(o) == additionType && o.String() == "+ false"
}

var additionType = func() reflect.Type {
	g := gorgonia.NewGraph()
	a := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(2), gorgonia.WithName("a"))
	b := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(2), gorgonia.WithName("b"))
	return reflect.TypeOf(gorgonia.Must(gorgonia.Add(a, b)).Op())
}()

// Constant returns the value of a constant scalar, such as the one that Grad
// starts from.
func Constant(n *Node) (float64, bool) {
	if n.Op() == nil || n.Op().Arity() != 0 {
		return 0, false
	}
	switch v := n.Value().(type) {
	case *gorgonia.F32:
		return float64(*v), true
	case *gorgonia.F64:
		return float64(*v), true
	}
	return 0, false
}
