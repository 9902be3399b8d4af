package generative

import "pgrlab/core/op"

// Denoiser builds the estimate D(x; σ) [R,D] of the clean vectors behind the noisy
// vectors x [R,D]. All rows share σ, which can change between runs of the graph.
type Denoiser interface {
	Denoise(g *op.Graph, x *op.Node) *op.Node
}

// ConditionalDenoiser builds estimates with and without the prompts of its rows.
type ConditionalDenoiser interface {
	With(g *op.Graph, x *op.Node) *op.Node
	Without(g *op.Graph, x *op.Node) *op.Node
}

// Guided returns classifier-free guidance over d,
//
//	D = D_∅ + ω(D_c − D_∅)
//
// (Ho and Salimans 2021), so that samplers need not know about guidance. The
// released code mixes the slopes (x − D)/σ, which is equivalent. The strength ω can
// change between runs of the graph: omega [D] holds it once for each column.
//
// If estimates are clamped, they are clamped before they are mixed, as in the
// released code: the blend may leave [-1,1] until the last step.
func Guided(d ConditionalDenoiser, omega *op.Tensor) Denoiser { return guided{d, omega} }

type guided struct {
	denoiser ConditionalDenoiser
	omega    *op.Tensor
}

func (d guided) Denoise(g *op.Graph, x *op.Node) *op.Node {
	without := d.denoiser.Without(g, x)
	apart := g.Sub(d.denoiser.With(g, x), without)
	return g.Add(without, g.ColScale(apart, g.Bind(d.omega)))
}

type conditioned struct{ denoiser ConditionalDenoiser }

func (d conditioned) Denoise(g *op.Graph, x *op.Node) *op.Node { return d.denoiser.With(g, x) }

type unconditioned struct{ denoiser ConditionalDenoiser }

func (d unconditioned) Denoise(g *op.Graph, x *op.Node) *op.Node { return d.denoiser.Without(g, x) }

// blend says which of the two estimates an evaluation needs: ω = 0 and ω = 1 need
// only one of them.
type blend int

const (
	withoutPrompt blend = iota
	withPrompt
	both
)

// blending returns the blend of a strength.
func blending(omega float64) blend {
	switch omega {
	case 0:
		return withoutPrompt
	case 1:
		return withPrompt
	}
	return both
}

// correcting returns the blend of the second evaluation of a Heun step.
func correcting(kind string, omega float64) blend {
	if kind == CorrectorConditional && omega != 0 {
		return withPrompt
	}
	return blending(omega)
}

// of builds the blend of the estimates of d.
func (m blend) of(d ConditionalDenoiser, omega *op.Tensor) Denoiser {
	switch m {
	case withoutPrompt:
		return unconditioned{d}
	case withPrompt:
		return conditioned{d}
	}
	return Guided(d, omega)
}
