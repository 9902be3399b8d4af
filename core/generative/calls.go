package generative

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// calls evaluates the served network for a sampler. It keeps the memory of one
// chunk and one program for each evaluation that generations of that many rows
// have needed.
type calls struct {
	network *network
	width   int
	device  device.Device
	noise   rng.Stream // of the sampler
	frame   *frame
	spread  []float64 // σ_d of each coordinate

	t               *op.Tensor // ln σ/4, [1,1]
	in, skip, scale *op.Tensor // c_in, c_skip and c_out of each coordinate, [D]

	chunk    *chunk
	programs map[evaluation]*plan.Program
}

func newCalls(n *network, width int, noise rng.Stream, dev device.Device) *calls {
	return &calls{
		network: n, width: width, device: dev, noise: noise, frame: newFrame(n.config, "served", width),
		t: op.NewTensor("c_noise", 1, 1), in: op.NewTensor("c_in", width), skip: op.NewTensor("c_skip", width), scale: op.NewTensor("c_out", width),
		programs: map[evaluation]*plan.Program{},
	}
}

// serve takes the coordinates of the served network.
func (c *calls) serve(at coordinates) error {
	c.spread = at.spread
	return c.frame.set(c.device, at)
}

// at sets the noise level that the next evaluations denoise.
func (c *calls) at(sigma float64) {
	for j, spread := range c.spread {
		skip, scale, in := precondition(sigma, spread)
		c.skip.Data[j], c.scale.Data[j], c.in.Data[j] = float32(skip), float32(scale), float32(in)
	}
	c.t.Data[0] = float32(noiseInput(sigma))
}

// of returns the memory of a chunk of so many rows.
func (c *calls) of(rows int) (*chunk, error) {
	if c.chunk == nil || c.chunk.rows != rows {
		c.close()
		c.chunk = newChunk(rows, c.width)
		return c.chunk, plan.Push(c.device, c.chunk.first)
	}
	return c.chunk, nil
}

// program compiles an evaluation of the present chunk when it is first asked for.
func (c *calls) program(e evaluation) (*plan.Program, error) {
	if p, ok := c.programs[e]; ok {
		return p, nil
	}
	var spec plan.Spec
	g, err := op.Build(fmt.Sprintf("denoiser call of %d rows", c.chunk.rows), func(g *op.Graph) {
		d := &estimates{calls: c}
		spec = c.chunk.build(g, e.part, e.blend.of(d, c.chunk.omega), c.noise)
		spec.Finite = d.finite
	})
	if err != nil {
		return nil, err
	}
	p, err := plan.Compile(g, spec, c.device)
	if err == nil {
		c.programs[e] = p
	}
	return p, err
}

// close ends the programs and forgets the chunk that they work on.
func (c *calls) close() {
	for e, p := range c.programs {
		p.Close()
		delete(c.programs, e)
	}
	c.chunk = nil
}

// estimates builds the estimates of the served network for the rows of a chunk,
// which share their noise level, into one graph: what the embedding of the time and
// the layer of x come to is the same in both. The embedding of the time, and for
// the null condition all that the blocks are told besides x, is one row that serves
// all.
type estimates struct {
	calls        *calls
	layer, timed *op.Node   // of x, [R,·]; of the noise level, [1,E]
	finite       []*op.Node // must be so before they are clamped
}

// With estimates with the prompts of the rows.
func (e *estimates) With(g *op.Graph, x *op.Node) *op.Node {
	n := e.calls.network
	e.share(g, x)
	return e.estimate(g, x, n.context(g, e.everywhere(g, e.timed), n.conditioned(g, g.Bind(e.calls.chunk.prompts))))
}

// Without estimates with the null condition.
func (e *estimates) Without(g *op.Graph, x *op.Node) *op.Node {
	n := e.calls.network
	e.share(g, x)
	var null *op.Node
	if n.config.Conditional {
		null = g.Bind(op.NewTensor("null condition", 1, n.config.Embedding))
	}
	return e.estimate(g, x, e.everywhere(g, n.context(g, e.timed, null)))
}

func (e *estimates) share(g *op.Graph, x *op.Node) {
	if e.layer == nil {
		c := e.calls
		e.layer = c.network.x.Apply(g, g.ColScale(x, g.Bind(c.in)))
		e.timed = c.network.timed(g, g.Bind(c.t))
	}
}

// everywhere repeats a single row for all of the chunk.
func (e *estimates) everywhere(g *op.Graph, row *op.Node) *op.Node {
	return g.Gather(row, g.Bind(e.calls.chunk.first))
}

// estimate builds D(x; σ) = c_skip·x + c_out·F(c_in·x, ln σ/4) (Karras et al. 2022,
// equation 7), kept within [-1,1] where the normaliser bounds the data.
func (e *estimates) estimate(g *op.Graph, x, context *op.Node) *op.Node {
	c := e.calls
	f := c.network.body(g, e.layer, context)
	e.finite = append(e.finite, f)
	d := g.Add(g.ColScale(x, g.Bind(c.skip)), g.ColScale(f, g.Bind(c.scale)))
	if c.network.config.clampsEstimates() {
		d = c.frame.clamped(g, d)
	}
	return d
}
