package generative

import (
	"fmt"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// fitGraph is one gradient step as a graph, without its optimiser.
type fitGraph struct {
	graph        *op.Graph
	batch        fitBatch
	noise, level *op.Node // N(0,1) [B,D] and [B,1]
	loss         *op.Node
}

// fitBatch is the data of a gradient step.
type fitBatch struct {
	x               *op.Tensor // normalised vectors [B,D]
	condition, keep *op.Tensor // [B,1]; nil in an unconditional network
}

// buildFit builds the loss of the package documentation: the mean of (F − target)².
func buildFit(n *network, within *frame, width int) (fitGraph, error) {
	c, f := n.config, fitGraph{}
	f.batch.x = op.NewTensor("x", c.Batch, width)
	if c.Conditional {
		f.batch.condition, f.batch.keep = op.NewTensor("condition", c.Batch, 1), op.NewTensor("keep", c.Batch, 1)
	}
	var err error
	f.graph, err = op.Build("denoiser fit", func(g *op.Graph) {
		f.noise = g.Input("noise", c.Batch, width)
		f.level = g.Input("level", c.Batch, 1)
		var condition, keep *op.Node
		if c.Conditional {
			condition, keep = g.Bind(f.batch.condition), g.Bind(f.batch.keep)
		}
		noised := g.EDMNoised(within.entered(g, g.Bind(f.batch.x)), f.noise, f.level, g.Bind(within.spread), c.PMean, c.PStd)
		in := g.Slice(noised, 0, width)
		target := g.Slice(noised, width, 2*width)
		t := g.Slice(noised, 2*width, 2*width+1)
		out := n.Apply(g, in, t, condition, keep)
		f.loss = g.SquaredError(out, target, float64(c.Batch*width))
	})
	return f, err
}

// fitProgram is the compiled gradient step of one network.
type fitProgram struct {
	fitGraph
	frame     *frame
	step      *plan.Program
	average   *plan.Program // average += rate·(model − average)
	optimiser *plan.Adam
	rate      *op.Tensor // learning rate, [1]
	blend     *op.Tensor // 1 − EMA decay, [1]
	sampled   bool       // the device has sampled batches, and has had x and condition in its memory since then
}

func compileFit(model, average *network, width int, s rng.Stream, dev device.Device) (*fitProgram, error) {
	within := newFrame(model.config, "fit", width)
	built, err := buildFit(model, within, width)
	if err != nil {
		return nil, err
	}
	c, params := model.config, model.Params()
	p := &fitProgram{fitGraph: built, frame: within, rate: op.NewTensor("generator rate", 1), blend: op.NewTensor("generator blend", 1)}
	p.optimiser = plan.NewAdam(params, plan.AdamConfig{
		Beta1: c.Beta1, Beta2: c.Beta2, Eps: c.Epsilon, WeightDecay: c.WeightDecay, ClipNorm: c.ClipNorm,
	}, p.rate)
	p.step, err = plan.Compile(p.graph, plan.Spec{
		Loss: p.loss, Optimiser: p.optimiser,
		Fills: []plan.Fill{
			{Node: p.noise, Stream: s.Sub("noise"), Dist: plan.Normal},
			{Node: p.level, Stream: s.Sub("level"), Dist: plan.Normal},
		},
	}, dev)
	if err != nil {
		return nil, err
	}
	if p.average, err = plan.Compile(nil, plan.Spec{Lerps: plan.Follow(average.Params(), params, p.blend)}, dev); err != nil {
		p.step.Close()
		return nil, err
	}
	return p, nil
}

func (p *fitProgram) close() {
	p.step.Close()
	p.average.Close()
}

func fill(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}

// finite says whether every element is a finite number.
func finite(x []float32) bool {
	for _, v := range x {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}

// notFinite is the error of a program that has made a transition, of that number in its generation,
// that is not finite.
func notFinite(program string, sample int) error {
	return &plan.NotFinite{Program: program, Step: -1, Op: "input", Tensor: fmt.Sprintf("transition %d", sample), Value: math.NaN()}
}
