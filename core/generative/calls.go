package generative

import (
	"errors"
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/generative/mlp"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// calls evaluates the served network for a sampler. It keeps the memory of one
// chunk, and one program for each kind of evaluation that generations with chunks
// of that size have needed.
type calls struct {
	network *mlp.Separated
	config  Config
	width   int
	device  device.Device
	noise   rng.Stream // of the sampler
	frame   *frame
	spread  []float64 // σ_d of each coordinate

	in, skip, scale *op.Tensor // c_in, c_skip and c_out of each coordinate, [D]
	levels          *levels    // nil before the first generation

	chunk    *chunk
	programs plan.Cache[evaluation, *plan.Program]
	several  plan.Cache[pair, *several] // of programs; nil: the device makes evaluations one by one
}

func newCalls(n *network, width int, noise rng.Stream, dev device.Device) *calls {
	c := &calls{
		network: mlp.NewSeparated(n.Network), config: n.config, width: width, device: dev, noise: noise, frame: newFrame(n.config, "served", width),
		in: op.NewTensor("c_in", width), skip: op.NewTensor("c_skip", width), scale: op.NewTensor("c_out", width),
	}
	c.programs.Compile, c.several.Compile = c.compile, c.newSeveral
	return c
}

// serve takes the served network as it is now, with its coordinates.
func (c *calls) serve(at coordinates) error {
	c.spread = at.spread
	if err := c.network.Set(c.device); err != nil {
		return err
	}
	return c.frame.set(c.device, at)
}

// embed makes what evaluations at these noise levels have in common with every sample, of the network
// that is served now.
func (c *calls) embed(sigmas []float64) error {
	if err := c.ready(); err != nil {
		return err
	}
	return c.levels.embed(sigmas)
}

// ready compiles what does not depend on the rows of a chunk.
func (c *calls) ready() (err error) {
	if c.levels == nil {
		c.levels, err = newLevels(c.network, c.device)
	}
	return err
}

// at sets the noise level of an evaluation of a sample, one of those that were embedded.
func (c *calls) at(evaluation int, sigma float64, to place) {
	c.levels.at(evaluation, to)
	skips, scales, ins := to(c.skip), to(c.scale), to(c.in)
	for j, spread := range c.spread {
		skip, scale, in := precondition(sigma, spread)
		skips[j], scales[j], ins[j] = float32(skip), float32(scale), float32(in)
	}
}

// of returns the memory of a chunk with that number of rows.
func (c *calls) of(rows int) (*chunk, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	if c.chunk == nil || c.chunk.rows != rows {
		c.drop()
		c.chunk = newChunk(rows, c.width, c.network.Prompts())
	}
	return c.chunk, nil
}

// prompt makes of the chunk's prompts what evaluations with these blends need.
func (c *calls) prompt(blends [2]blend) error {
	if blends == unprompted {
		return nil
	}
	p, err := c.programs.Of(evaluation{part: asking})
	if err != nil {
		return err
	}
	return p.Run(0)
}

// compile compiles an evaluation for the present chunk.
func (c *calls) compile(e evaluation) (*plan.Program, error) {
	if e.part == asking {
		return plan.Build("prompts", c.device, func(g *op.Graph) plan.Spec {
			return plan.Spec{Lerps: []plan.Lerp{{Dst: c.chunk.prompted, Node: c.network.Prompted(g, g.Bind(c.chunk.prompts))}}}
		})
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
	return plan.Compile(g, spec, c.device)
}

// drop closes the programs of the chunk.
func (c *calls) drop() error {
	c.chunk = nil
	return plan.Close(&c.several, &c.programs)
}

// Close closes all programs; it does nothing with nil calls.
func (c *calls) Close() error {
	if c == nil {
		return nil
	}
	return errors.Join(c.drop(), c.levels.Close())
}

// estimates builds the estimates of the served network for the rows of a chunk into
// one graph. That under prompts begins with what the one under the null condition begins with.
type estimates struct {
	calls  *calls
	level  []*op.Node
	null   *op.Node   // [R,W]
	finite []*op.Node // outputs that must be finite before they are clamped
}

// With builds the estimate under the prompts of the rows.
func (e *estimates) With(g *op.Graph, x *op.Node) *op.Node {
	e.begin(g, x)
	return e.estimate(g, x, e.calls.network.Asked(g, e.null, g.Bind(e.calls.chunk.prompted), e.level))
}

// Without builds the estimate under the null condition.
func (e *estimates) Without(g *op.Graph, x *op.Node) *op.Node {
	e.begin(g, x)
	return e.estimate(g, x, e.null)
}

func (e *estimates) begin(g *op.Graph, x *op.Node) {
	if e.null == nil {
		e.level = e.calls.levels.bind(g)
		e.null = e.calls.network.Null(g, g.ColScale(x, g.Bind(e.calls.in)), e.level)
	}
}

// estimate builds D(x; σ) = c_skip·x + c_out·F(c_in·x, ln σ/4) (Karras et al. 2022,
// equation 7), clamped to [-1,1] if the configuration clamps estimates.
func (e *estimates) estimate(g *op.Graph, x, h *op.Node) *op.Node {
	c := e.calls
	f := c.network.Rest(g, h)
	e.finite = append(e.finite, f)
	d := g.Add(g.ColScale(x, g.Bind(c.skip)), g.ColScale(f, g.Bind(c.scale)))
	if c.config.clamps() {
		d = c.frame.clamped(g, d)
	}
	return d
}
