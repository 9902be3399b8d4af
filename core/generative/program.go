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
	graph           *op.Graph
	x               *op.Node // normalised vectors [B,D]
	condition, keep *op.Node // [B,1]; nil in an unconditional network
	noise, level    *op.Node // N(0,1) [B,D] and [B,1]
	loss            *op.Node
}

// drawFit draws the loss of package doc: the mean of (F − target)².
func drawFit(n *network, within *frame, width int) (fitGraph, error) {
	c, f := n.config, fitGraph{}
	var err error
	f.graph, err = op.Build("denoiser fit", func(g *op.Graph) {
		f.x = g.Input("x", c.Batch, width)
		f.noise = g.Input("noise", c.Batch, width)
		f.level = g.Input("level", c.Batch, 1)
		if c.Conditional {
			f.condition = g.Input("condition", c.Batch, 1)
			f.keep = g.Input("keep", c.Batch, 1)
		}
		noised := g.EDMNoised(within.entered(g, f.x), f.noise, f.level, g.Bind(within.spread), c.PMean, c.PStd)
		in := g.Slice(noised, 0, width)
		target := g.Slice(noised, width, 2*width)
		t := g.Slice(noised, 2*width, 2*width+1)
		out := n.apply(g, in, t, f.condition, f.keep)
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
}

func compileFit(model, average *network, width int, s rng.Stream, dev device.Device) (*fitProgram, error) {
	within := newFrame(model.config, "fit", width)
	drawn, err := drawFit(model, within, width)
	if err != nil {
		return nil, err
	}
	c, params := model.config, model.params()
	p := &fitProgram{fitGraph: drawn, frame: within, rate: op.NewTensor("generator rate", 1), blend: op.NewTensor("generator blend", 1)}
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
	var lerps []plan.Lerp
	for i, averaged := range average.params() {
		lerps = append(lerps, plan.Lerp{Dst: averaged, Src: params[i], Rate: p.blend})
	}
	if p.average, err = plan.Compile(nil, plan.Spec{Lerps: lerps}, dev); err != nil {
		p.step.Close()
		return nil, err
	}
	return p, nil
}

func (p *fitProgram) close() {
	p.step.Close()
	p.average.Close()
}

// callProgram estimates the clean vectors behind a fixed number of rows, all at
// one noise level.
type callProgram struct {
	program         *plan.Program
	x, t            *op.Node // [R,D], [R,1]
	condition, keep *op.Node // [R,1]; nil in an unconditional network
	out             *op.Node // D(x; σ) [R,D]
}

// calls evaluates the served network; it keeps one program for each number of
// rows.
type calls struct {
	network         *network
	width           int
	device          device.Device
	frame           *frame
	in, skip, scale *op.Tensor // c_in, c_skip and c_out of each coordinate, [D]
	programs        map[int]*callProgram
}

func newCalls(n *network, width int, dev device.Device) *calls {
	return &calls{
		network: n, width: width, device: dev, frame: newFrame(n.config, "served", width),
		in: op.NewTensor("c_in", width), skip: op.NewTensor("c_skip", width), scale: op.NewTensor("c_out", width),
		programs: map[int]*callProgram{},
	}
}

// compile draws D(x; σ) = c_skip·x + c_out·F(c_in·x, ln σ/4) (Karras et al. 2022,
// equation 7), kept within [-1,1] where the normaliser bounds the data.
func (c *calls) compile(rows int) (*callProgram, error) {
	p, n := &callProgram{}, c.network
	var f *op.Node // must be finite before it is clamped
	g, err := op.Build(fmt.Sprintf("denoiser call of %d rows", rows), func(g *op.Graph) {
		p.x, p.t = g.Input("x", rows, c.width), g.Input("t", rows, 1)
		if n.config.Conditional {
			p.condition, p.keep = g.Input("condition", rows, 1), g.Input("keep", rows, 1)
		}
		f = n.apply(g, g.ColScale(p.x, g.Bind(c.in)), p.t, p.condition, p.keep)
		p.out = g.Add(g.ColScale(p.x, g.Bind(c.skip)), g.ColScale(f, g.Bind(c.scale)))
		if n.config.clampsEstimates() {
			p.out = c.frame.clamped(g, p.out)
		}
	})
	if err != nil {
		return nil, err
	}
	p.program, err = plan.Compile(g, plan.Spec{Outputs: []*op.Node{p.out}, Finite: []*op.Node{f}}, c.device)
	return p, err
}

func (c *calls) of(rows int) (*callProgram, error) {
	if p, ok := c.programs[rows]; ok {
		return p, nil
	}
	p, err := c.compile(rows)
	if err != nil {
		return nil, err
	}
	c.programs[rows] = p
	return p, nil
}

// keep closes the programs that a generation in chunks of rows does not use.
func (c *calls) keep(rows int) {
	for r, p := range c.programs {
		if r != rows && r != 2*rows {
			p.program.Close()
			delete(c.programs, r)
		}
	}
}

// prompted is the served network as a ConditionalDenoiser of one chunk: row i of
// a call has prompt i.
type prompted struct {
	calls       *calls
	coordinates coordinates
	prompts     []float32 // one for each row
}

// With estimates with the prompts.
func (d *prompted) With(dst, x []float32, sigma float64) error {
	return d.estimate(x, sigma, half{dst, 1})
}

// Without estimates with the null condition.
func (d *prompted) Without(dst, x []float32, sigma float64) error {
	return d.estimate(x, sigma, half{dst, 0})
}

// Both estimates with and without in one call of twice the rows.
func (d *prompted) Both(with, without, x []float32, sigma float64) error {
	return d.estimate(x, sigma, half{with, 1}, half{without, 0})
}

// half is a part of a network call: where its estimate goes, and whether its rows
// keep their condition (1) or not (0).
type half struct {
	dst  []float32
	keep float32
}

// estimate runs the network once on x for each half.
func (d *prompted) estimate(x []float32, sigma float64, halves ...half) error {
	rows := len(d.prompts)
	p, err := d.calls.of(rows * len(halves))
	if err != nil {
		return err
	}
	for j, spread := range d.coordinates.spread {
		skip, scale, in := precondition(sigma, spread)
		d.calls.skip.Data[j], d.calls.scale.Data[j], d.calls.in.Data[j] = float32(skip), float32(scale), float32(in)
	}
	xs := p.program.Data(p.x)
	for k, h := range halves {
		copy(xs[k*len(x):], x)
		if p.condition != nil {
			copy(p.program.Data(p.condition)[k*rows:], d.prompts)
			fill(p.program.Data(p.keep)[k*rows:(k+1)*rows], h.keep)
		}
	}
	fill(p.program.Data(p.t), float32(noiseInput(sigma)))
	if err := p.program.Run(0); err != nil {
		return err
	}
	out := p.program.Data(p.out)
	for k, h := range halves {
		copy(h.dst, out[k*len(x):(k+1)*len(x)])
	}
	return nil
}

func fill(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}

// finite says whether every element is a number.
func finite(x []float32) bool {
	for _, v := range x {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}
