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

// unprompted are the blends of a generation that reads no prompts.
var unprompted = [2]blend{withoutPrompt, withoutPrompt}

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

// FullBelow is the number of noise levels below which CorrectorAuto guides the corrector.
const FullBelow = 32

// LeastGuided is the number of noise levels below which guidance does not do what its strength
// says, whatever the corrector: a stronger one may lead away from what is asked for.
const LeastGuided = 8

// blends returns the blends of both evaluations of a Heun step, by part.
func (c Config) blends(k GenKnobs) [2]blend {
	omega := k.Guidance
	if !c.Conditional {
		omega = 0
	}
	guided := c.Corrector == CorrectorFull || c.Corrector == CorrectorAuto && k.Steps < FullBelow
	if guided || omega == 0 {
		return [2]blend{blending(omega), blending(omega)}
	}
	return [2]blend{blending(omega), withPrompt}
}

// Estimates is how many estimates of a denoiser a sample takes: one or two in every evaluation of
// the sampler. The time of a generation is about proportional to it.
func (c Config) Estimates(k GenKnobs) int {
	blends := c.blends(k)
	return k.Steps*blends[prediction].estimates() + (k.Steps-1)*blends[correction].estimates()
}

func (m blend) estimates() int {
	if m == both {
		return 2
	}
	return 1
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
