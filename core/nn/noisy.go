package nn

import (
	"math"

	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// Noisy is an ensemble of fully connected layers whose weights are sampled around a mean, with a
// deviation that is learned like the mean (Fortunato et al., "Noisy networks for exploration", ICLR
// 2018):
//
//	w = μw + σw ⊙ εw,  b = μb + σb ⊙ εb
//
// The noise is factorised (equations 10 and 11 of the paper): εw[i,j] = f(εᵢ)·f(εⱼ) and εb[j] =
// f(εⱼ) with f(x) = sgn(x)√|x|, one ε for each input and each output.
type Noisy struct {
	Mean, Spread Linear // W [N,in,out], B [N,out]
}

// NewNoisy returns n independently initialised layers: μ ~ U(±1/√in), and all deviations are
// sigma/√in (§3.2 of the paper).
func NewNoisy(name string, n, in, out int, sigma float64, s rng.Stream) Noisy {
	mean := NewEnsemble(name, n, in, out, TorchDefault, s)
	spread := Linear{W: op.NewTensor(name+".sigma.w", n, in, out), B: op.NewTensor(name+".sigma.b", n, out)}
	for _, t := range spread.Params() {
		for i := range t.Data {
			t.Data[i] = float32(sigma / math.Sqrt(float64(in)))
		}
	}
	return Noisy{Mean: mean, Spread: spread}
}

// Params are the means, then the deviations.
func (l Noisy) Params() []*op.Tensor { return append(l.Mean.Params(), l.Spread.Params()...) }

// Noise holds the standard normal numbers of one sample of a layer; Bias holds the same numbers as
// Out.
type Noise struct {
	In   *op.Node // [N,in,1]
	Out  *op.Node // [N,1,out]
	Bias *op.Node // [N,out]
}

// Inputs adds the inputs of a Noise under a name that must be new in the graph.
func (l Noisy) Inputs(g *op.Graph, name string) Noise {
	n, in, out := l.Mean.W.Shape[0], l.Mean.W.Shape[1], l.Mean.W.Shape[2]
	return Noise{In: g.Input(name+".in", n, in, 1), Out: g.Input(name+".out", n, 1, out), Bias: g.Input(name+".bias", n, out)}
}

// Perturbed builds weights and biases for one sample of the noise. Perturbing weights once costs
// less than carrying noise through a batch of activations.
func (l Noisy) Perturbed(g *op.Graph, e Noise) (w, b *op.Node) {
	none := g.Input(e.Bias.Name()+".none", l.Mean.B.Shape...)
	outer := g.Linear(g.SignedSqrt(e.In), g.SignedSqrt(e.Out), none) // f(εᵢ)·f(εⱼ)
	w = g.Add(g.Bind(l.Mean.W), g.Mul(g.Bind(l.Spread.W), outer))
	b = g.Add(g.Bind(l.Mean.B), g.Mul(g.Bind(l.Spread.B), g.SignedSqrt(e.Bias)))
	return w, b
}
