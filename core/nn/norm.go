package nn

import "pgrlab/core/op"

// LayerNorm normalises rows (Ba, Kiros and Hinton 2016): Gamma and Beta are [C], or
// [N,C] for an ensemble.
type LayerNorm struct {
	Gamma, Beta *op.Tensor
	Eps         float64
}

// NewLayerNorm returns the layer with the initial values of PyTorch's nn.LayerNorm: γ = 1, β = 0.
// PyTorch's eps is 1e-5, Flax's 1e-6.
func NewLayerNorm(name string, eps float64, shape ...int) LayerNorm {
	l := LayerNorm{Gamma: op.NewTensor(name+".gamma", shape...), Beta: op.NewTensor(name+".beta", shape...), Eps: eps}
	for i := range l.Gamma.Data {
		l.Gamma.Data[i] = 1
	}
	return l
}

// Apply builds the layer.
func (l LayerNorm) Apply(g *op.Graph, x *op.Node) *op.Node {
	return g.LayerNorm(x, g.Bind(l.Gamma), g.Bind(l.Beta), l.Eps)
}

// Params are γ and β.
func (l LayerNorm) Params() []*op.Tensor { return []*op.Tensor{l.Gamma, l.Beta} }

// RMSNorm divides rows by their root mean square and multiplies by Gamma [C] (Zhang and Sennrich 2019).
type RMSNorm struct {
	Gamma *op.Tensor
	Eps   float64
}

// NewRMSNorm returns the layer with γ = 1.
func NewRMSNorm(name string, eps float64, columns int) RMSNorm {
	l := RMSNorm{Gamma: op.NewTensor(name+".gamma", columns), Eps: eps}
	for i := range l.Gamma.Data {
		l.Gamma.Data[i] = 1
	}
	return l
}

// Apply builds the layer.
func (l RMSNorm) Apply(g *op.Graph, x *op.Node) *op.Node { return g.RMSNorm(x, g.Bind(l.Gamma), l.Eps) }
