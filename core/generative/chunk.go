package generative

import (
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// chunk is the memory of a sampler and of its programs: the samples under way, and the
// numbers of the present level. A tensor of shape [D] holds the same number for each
// column.
type chunk struct {
	rows, width int

	x     *op.Tensor // [R,D], the sample at σ_level; while correcting, its Euler step to σ_{level+1}
	hat   *op.Tensor // [R,D], x̂, the sample with churn
	slope *op.Tensor // [R,D], d = (x̂ − D(x̂; σ̂))/σ̂
	noise *op.Tensor // [R,D], noise of the churn

	raise   *op.Tensor // [D], √(σ̂²−σ²)·S_noise
	inverse *op.Tensor // [D], 1/σ of the evaluation
	stride  *op.Tensor // [D], σ_{level+1} − σ̂; half of it while correcting
	omega   *op.Tensor // [D], ω

	prompts  *op.Tensor // [R,1], the condition of each row
	prompted *op.Tensor // [R,·], what the network makes of it

	items plan.Items // of the churn's noise
}

// newChunk returns a chunk for vectors of that width, and for a network that makes so many numbers of a
// prompt.
func newChunk(rows, width, prompts int) *chunk {
	matrix := func(name string) *op.Tensor { return op.NewTensor(name, rows, width) }
	vector := func(name string) *op.Tensor { return op.NewTensor(name, width) }
	return &chunk{
		rows: rows, width: width, x: matrix("x"), hat: matrix("x̂"), slope: matrix("slope"), noise: matrix("noise"),
		raise: vector("raise"), inverse: vector("1/σ"), stride: vector("stride"), omega: vector("ω"),
		prompts: op.NewTensor("prompts", rows, 1), prompted: op.NewTensor("prompted", rows, prompts),
	}
}

// begin makes the chunk hold the samples from first on.
func (c *chunk) begin(first int) { c.items.First = uint64(first * c.width) }

// part is one of the two evaluations of a Heun step, or what comes before the first one.
type part int

const (
	prediction part = iota
	correction
	asking // makes of the prompts what evaluations need
)

// evaluation identifies a program of a chunk: asking has no blend.
type evaluation struct {
	part  part
	blend blend
}

// build builds the graph of one evaluation of the denoiser and of the sampler's arithmetic around
// it. The state advances only if everything that must be finite is finite.
func (c *chunk) build(g *op.Graph, p part, d Denoiser, noise rng.Stream) plan.Spec {
	if p == correction {
		return c.buildCorrection(g, d)
	}
	return c.buildPrediction(g, d, noise)
}

// buildPrediction raises the noise to σ̂ and takes an Euler step to the next level.
func (c *chunk) buildPrediction(g *op.Graph, d Denoiser, noise rng.Stream) plan.Spec {
	churn := g.Bind(c.noise)
	hat := g.Add(g.Bind(c.x), g.ColScale(churn, g.Bind(c.raise)))
	slope := c.buildSlope(g, hat, d)
	next := g.Add(hat, g.ColScale(slope, g.Bind(c.stride)))
	return plan.Spec{
		Fills: []plan.Fill{{Node: churn, Stream: noise, Items: &c.items}},
		Lerps: []plan.Lerp{{Dst: c.hat, Node: hat}, {Dst: c.slope, Node: slope}, {Dst: c.x, Node: next}},
	}
}

// buildCorrection repeats the step with the mean of the slopes at both of its ends.
func (c *chunk) buildCorrection(g *op.Graph, d Denoiser) plan.Spec {
	slope := c.buildSlope(g, g.Bind(c.x), d)
	next := g.Add(g.Bind(c.hat), g.ColScale(g.Add(g.Bind(c.slope), slope), g.Bind(c.stride)))
	return plan.Spec{Lerps: []plan.Lerp{{Dst: c.x, Node: next}}}
}

// buildSlope builds (x − D(x; σ))/σ.
func (c *chunk) buildSlope(g *op.Graph, x *op.Node, d Denoiser) *op.Node {
	return g.ColScale(g.Sub(x, d.Denoise(g, x)), g.Bind(c.inverse))
}
