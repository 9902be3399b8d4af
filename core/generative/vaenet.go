package generative

import (
	"fmt"

	"pgrlab/core/generative/mlp"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// VAEConfig are the sizes of a variational autoencoder.
type VAEConfig struct {
	Latent        int     `toml:"-"`              // dimensions of z
	Width         int     `toml:"width"`          // of the residual trunks
	Bottleneck    int     `toml:"bottleneck"`     // inner width of a block
	EncoderBlocks int     `toml:"encoder_blocks"` // residual blocks of the encoder
	DecoderBlocks int     `toml:"decoder_blocks"` // residual blocks of the decoder
	Beta          float64 `toml:"beta"`           // β, weight of the KL divergence
}

// DefaultVAE has the sizes of the paper's appendix: latent 32, four and eight layers
// with a bottleneck of 128. The width follows from the numbers of parameters given
// there, 2.6 and 5.3 million. The paper does not give β; β = 1 is the bound on the
// likelihood.
func DefaultVAE() VAEConfig {
	return VAEConfig{Latent: 32, Width: 2560, Bottleneck: 128, EncoderBlocks: 4, DecoderBlocks: 8, Beta: 1}
}

// Validate says in one line what is wrong with c, or returns nil.
func (c VAEConfig) Validate() error {
	for _, least := range []struct {
		name  string
		value int
	}{
		{"latent", c.Latent}, {"width", c.Width}, {"bottleneck", c.Bottleneck},
		{"encoder_blocks", c.EncoderBlocks}, {"decoder_blocks", c.DecoderBlocks},
	} {
		if least.value < 1 {
			return fmt.Errorf("generator: vae.%s is %d, want at least 1", least.name, least.value)
		}
	}
	if !(c.Beta > 0) {
		return fmt.Errorf("generator: vae.beta is %g, want a positive number", c.Beta)
	}
	return nil
}

// trunk is a residual network: in → width, blocks h ← h + up(act(down(act(h)))), then
// act and width → out.
type trunk struct {
	act      string
	in, out  nn.Linear
	down, up []nn.Linear
}

func newTrunk(name string, c Config, sizes VAEConfig, in, blocks, out int, s rng.Stream) trunk {
	layer := func(part string, from, to int) nn.Linear {
		return nn.NewLinear(name+"."+part, from, to, nn.TorchDefault, s.Sub(part))
	}
	t := trunk{act: c.Activation, in: layer("in", in, sizes.Width), out: layer("out", sizes.Width, out)}
	for i := range blocks {
		t.down = append(t.down, layer(fmt.Sprintf("down%d", i), sizes.Width, sizes.Bottleneck))
		t.up = append(t.up, layer(fmt.Sprintf("up%d", i), sizes.Bottleneck, sizes.Width))
	}
	return t
}

func (t trunk) params() []*op.Tensor {
	params := append(t.in.Params(), t.out.Params()...)
	for i := range t.down {
		params = append(append(params, t.down[i].Params()...), t.up[i].Params()...)
	}
	return params
}

func (t trunk) apply(g *op.Graph, x *op.Node) *op.Node {
	act := mlp.Activation(t.act)
	h := t.in.Apply(g, x)
	for i := range t.down {
		h = g.Add(h, t.up[i].Apply(g, act(g, t.down[i].Apply(g, act(g, h)))))
	}
	return t.out.Apply(g, act(g, h))
}

// vaeNetwork is an encoder and a decoder. In a conditional network the condition is a
// further input of both.
type vaeNetwork struct {
	latent           int
	encoder, decoder trunk
}

func newVAENetwork(c Config, sizes VAEConfig, name string, width int, s rng.Stream) *vaeNetwork {
	condition := 0
	if c.Conditional {
		condition = 1
	}
	return &vaeNetwork{
		latent:  sizes.Latent,
		encoder: newTrunk(name+".encoder", c, sizes, width+condition, sizes.EncoderBlocks, 2*sizes.Latent, s.Sub("encoder")),
		decoder: newTrunk(name+".decoder", c, sizes, sizes.Latent+condition, sizes.DecoderBlocks, width, s.Sub("decoder")),
	}
}

// params returns the trained tensors, in a fixed order.
func (n *vaeNetwork) params() []*op.Tensor { return append(n.encoder.params(), n.decoder.params()...) }

// encode builds [μ | ln σ²] [B,2L] of normalised vectors x [B,D]; condition [B,1] is
// nil in an unconditional network.
func (n *vaeNetwork) encode(g *op.Graph, x, condition *op.Node) *op.Node {
	return n.encoder.apply(g, joined(g, x, condition))
}

// sample builds z = μ + σ·ε [B,L] for noise ε [B,L].
func (n *vaeNetwork) sample(g *op.Graph, posterior, noise *op.Node) *op.Node {
	mean, logVariance := g.Slice(posterior, 0, n.latent), g.Slice(posterior, n.latent, 2*n.latent)
	return g.Add(mean, g.Mul(g.Exp(g.Scale(logVariance, 0.5)), noise))
}

// decode builds x̂ [B,D].
func (n *vaeNetwork) decode(g *op.Graph, z, condition *op.Node) *op.Node {
	return n.decoder.apply(g, joined(g, z, condition))
}

func joined(g *op.Graph, x, condition *op.Node) *op.Node {
	if condition == nil {
		return x
	}
	return g.Concat(x, condition)
}
