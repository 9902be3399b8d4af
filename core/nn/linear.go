package nn

import (
	"math"
	"strconv"

	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// Init samples a layer's initial weights. in and out are the layer's fan-in and fan-out.
type Init func(w, b []float32, in, out int, s rng.Stream)

// XavierUniform samples weights from U(±√(6/(in+out))) and sets biases to zero
// (Glorot and Bengio 2010, equation 16).
func XavierUniform(w, b []float32, in, out int, s rng.Stream) {
	uniform(w, math.Sqrt(6/float64(in+out)), s.Sub("w"))
	clear(b)
}

// TorchDefault samples weights and biases from U(±1/√in), as torch.nn.Linear does.
func TorchDefault(w, b []float32, in, out int, s rng.Stream) {
	bound := 1 / math.Sqrt(float64(in))
	uniform(w, bound, s.Sub("w"))
	uniform(b, bound, s.Sub("b"))
}

func uniform(dst []float32, bound float64, s rng.Stream) {
	s.FillUniform(dst, 0, 0)
	for i, u := range dst {
		dst[i] = float32(bound) * (2*u - 1)
	}
}

// Linear is a fully connected layer, or an ensemble of them: W is [in,out] or
// [N,in,out], B [out] or [N,out].
type Linear struct {
	W, B *op.Tensor
}

// NewLinear returns a layer with initial weights.
func NewLinear(name string, in, out int, init Init, s rng.Stream) Linear {
	l := Linear{W: op.NewTensor(name+".w", in, out), B: op.NewTensor(name+".b", out)}
	init(l.W.Data, l.B.Data, in, out, s.Sub(name))
	return l
}

// NewEnsemble returns n independently initialised layers.
func NewEnsemble(name string, n, in, out int, init Init, s rng.Stream) Linear {
	l := Linear{W: op.NewTensor(name+".w", n, in, out), B: op.NewTensor(name+".b", n, out)}
	for e := range n {
		init(l.W.Data[e*in*out:(e+1)*in*out], l.B.Data[e*out:(e+1)*out], in, out, member(s.Sub(name), e))
	}
	return l
}

func member(s rng.Stream, e int) rng.Stream {
	return s.Sub(strconv.Itoa(e))
}

// Apply builds the layer.
func (l Linear) Apply(g *op.Graph, x *op.Node) *op.Node {
	return g.Linear(x, g.Bind(l.W), g.Bind(l.B))
}

// ApplyAt builds only the members of an ensemble whose indices are in members [M].
func (l Linear) ApplyAt(g *op.Graph, x, members *op.Node) *op.Node {
	return g.LinearAt(x, g.Bind(l.W), g.Bind(l.B), members)
}

// Params are the layer's weights and biases.
func (l Linear) Params() []*op.Tensor { return []*op.Tensor{l.W, l.B} }

// Activation builds a nonlinearity.
type Activation func(g *op.Graph, z *op.Node) *op.Node

// The activations that the methods use.
var (
	ReLU Activation = (*op.Graph).ReLU
	Tanh Activation = (*op.Graph).Tanh
	SiLU Activation = (*op.Graph).SiLU
	Mish Activation = (*op.Graph).Mish
	ELU  Activation = (*op.Graph).ELU
)

// MLP is a chain of layers with an activation between them and none after the last.
type MLP struct {
	Layers []Linear
	Act    Activation
}

// NewMLP returns a network of the given widths, input and output included.
func NewMLP(name string, sizes []int, init Init, act Activation, s rng.Stream) MLP {
	m := MLP{Act: act}
	for i := 1; i < len(sizes); i++ {
		m.Layers = append(m.Layers, NewLinear(layerName(name, i), sizes[i-1], sizes[i], init, s))
	}
	return m
}

// NewEnsembleMLP returns n networks of the given widths.
func NewEnsembleMLP(name string, n int, sizes []int, init Init, act Activation, s rng.Stream) MLP {
	m := MLP{Act: act}
	for i := 1; i < len(sizes); i++ {
		m.Layers = append(m.Layers, NewEnsemble(layerName(name, i), n, sizes[i-1], sizes[i], init, s))
	}
	return m
}

func layerName(name string, i int) string { return name + "." + strconv.Itoa(i) }

// Apply builds the network.
func (m MLP) Apply(g *op.Graph, x *op.Node) *op.Node {
	return m.chain(g, x, func(l Linear, x *op.Node) *op.Node { return l.Apply(g, x) })
}

// ApplyAt builds only the members of an ensemble whose indices are in members [M]; the result is
// [M,B,out].
func (m MLP) ApplyAt(g *op.Graph, x, members *op.Node) *op.Node {
	return m.chain(g, x, func(l Linear, x *op.Node) *op.Node { return l.ApplyAt(g, x, members) })
}

func (m MLP) chain(g *op.Graph, x *op.Node, apply func(l Linear, x *op.Node) *op.Node) *op.Node {
	for i, l := range m.Layers {
		if i > 0 {
			x = m.Act(g, x)
		}
		x = apply(l, x)
	}
	return x
}

// Params are the parameters of all layers.
func (m MLP) Params() []*op.Tensor {
	var all []*op.Tensor
	for _, l := range m.Layers {
		all = append(all, l.Params()...)
	}
	return all
}
