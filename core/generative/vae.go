package generative

import (
	"fmt"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

var _ = register(Spec{
	Kind: "vae", Doc: "variational autoencoder with F as an additional input",
	Source:   "Kingma and Welling 2014, Sohn et al. 2015; Wang et al. 2025, appendix",
	Settings: DefaultVAE(), Learns: true,
	Check: func(c Config) error {
		if c.Init == InitPrevious {
			return fmt.Errorf("generator.init is %q, but a vae starts every refit from fresh weights: want %q", c.Init, InitScratch)
		}
		return nil
	},
	New: func(d Deps) (Generator, error) {
		return NewVAE(d.Config, d.Settings.(VAEConfig), d.Shape, d.Device, d.Seed, d.Turning...)
	},
})

// VAE is a generator of transitions that is a variational autoencoder (Kingma and
// Welling 2014; the conditional form is by Sohn et al. 2015): the weaker generator of
// the paper's appendix. A fit minimises
//
//	(½|x − x̂|² + β·KL(N(μ, σ²) ‖ N(0, 1)))/D,  z = μ + σ·ε, x̂ = decoder(z, c)
//
// over normalised vectors x, with the batches, optimiser and schedule of a Diffusion.
// The weights at the end of a fit serve generations, which decode z ~ N(0, 1) with the
// conditions of relevant transitions as prompts. There is neither guidance nor a null
// condition: a fit without scores has the condition 0 everywhere. A VAE belongs to one
// goroutine.
type VAE struct {
	config Config
	sizes  VAEConfig
	layout layout
	stream rng.Stream
	device device.Device
	chunk  int // as in Diffusion

	model, served *vaeNetwork
	program       vaeFit
	decoders      plan.ByRows[*decoder] // of the served network

	fit *fit // nil: none under way
	lastFit
	generation *decoding // nil: none under way
}

// NewVAE builds the networks and compiles the gradient step for transitions of that
// shape. It uses the settings of c for the vector, batches, optimiser, chunks and
// activation.
func NewVAE(c Config, sizes VAEConfig, shape replay.Shape, dev device.Device, seed uint64, turning ...int) (*VAE, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := sizes.Validate(); err != nil {
		return nil, err
	}
	if err := shape.Validate(); err != nil {
		return nil, fmt.Errorf("generator: %w", err)
	}
	c.Preconditioning = PreconditioningScalar // there is no diffusion noise to precondition
	v := &VAE{config: c, chunk: c.Chunk, sizes: sizes, layout: newLayout(c, shape, turning...), stream: rng.New(seed, "vae"), device: dev}
	v.decoders.Compile = v.newDecoder
	v.model, v.served = v.network("model", "initial"), v.network("served", "initial")
	var err error
	if v.program, err = v.compileFit(); err != nil {
		return nil, fmt.Errorf("generator: %w", err)
	}
	if err := plan.Push(dev, append(v.model.params(), v.served.params()...)...); err != nil {
		return nil, fmt.Errorf("generator: %w", err)
	}
	return v, nil
}

// network returns a network with initial weights from that stream.
func (v *VAE) network(name, stream string) *vaeNetwork {
	return newVAENetwork(v.config, v.sizes, name, v.layout.width(), v.stream.Sub(stream))
}

// Close releases the compiled programs.
func (v *VAE) Close() error {
	return plan.Close(v.program.step, &v.decoders)
}

// Parameters is the number of trained weights.
func (v *VAE) Parameters() int { return weightsIn(v.model.params()) }

// Cancel abandons the fit or the generation under way, if any. The generator of the
// last complete fit stays.
func (v *VAE) Cancel() { v.fit, v.generation = nil, nil }

// vaeFit is the compiled gradient step.
type vaeFit struct {
	step         *plan.Program
	x, condition *op.Node // [B,D], [B,1]; condition is nil in an unconditional network
	optimiser    *plan.Adam
	rate         *op.Tensor
}

func (v *VAE) compileFit() (vaeFit, error) {
	f := vaeFit{rate: op.NewTensor("vae rate", 1)}
	c, width := v.config, v.layout.width()
	var noise, loss *op.Node
	g, err := op.Build("vae fit", func(g *op.Graph) {
		f.x, noise = g.Input("x", c.Batch, width), g.Input("noise", c.Batch, v.sizes.Latent)
		if c.Conditional {
			f.condition = g.Input("condition", c.Batch, 1)
		}
		posterior := v.model.encode(g, f.x, f.condition)
		out := v.model.decode(g, v.model.sample(g, posterior, noise), f.condition)
		rows := float64(c.Batch * width)
		loss = g.AddScalars(g.SquaredError(out, f.x, 2*rows), g.GaussianKL(posterior, rows/v.sizes.Beta))
	})
	if err != nil {
		return f, err
	}
	f.optimiser = plan.NewAdam(v.model.params(), plan.AdamConfig{
		Beta1: c.Beta1, Beta2: c.Beta2, Eps: c.Epsilon, WeightDecay: c.WeightDecay, ClipNorm: c.ClipNorm,
	}, f.rate)
	f.step, err = plan.Compile(g, plan.Spec{
		Loss: loss, Optimiser: f.optimiser,
		Fills: []plan.Fill{{Node: noise, Stream: v.stream.Sub("fit").Sub("noise"), Dist: plan.Normal}},
	}, v.device)
	return f, err
}

// StartFit begins to fit a new network to the real transitions; see
// Diffusion.StartFit. PUncond has no effect.
func (v *VAE) StartFit(real Rows, scores []float32, knobs FitKnobs, refit uint64) error {
	if v.fit != nil || v.generation != nil {
		return fmt.Errorf("fit model: %w", errBusy)
	}
	f, err := newFit(v.config, v.layout, real, scores, knobs, refit)
	if err != nil {
		return fmt.Errorf("fit model: %w", err)
	}
	f.disturb(v.config, v.layout, real, v.stream)
	if err := plan.Copy(v.device, v.model.params(), v.network("fresh", fmt.Sprintf("refit %d", refit)).params()); err != nil {
		return fmt.Errorf("fit model: %w", err)
	}
	if err := v.program.optimiser.Reset(); err != nil {
		return fmt.Errorf("fit model: %w", err)
	}
	v.fit = f
	return nil
}

// FitSteps makes up to n gradient steps. It returns their mean loss and whether the
// fit is complete; a complete fit's network becomes the served one.
func (v *VAE) FitSteps(n int) (loss float64, done bool, err error) {
	f := v.fit
	loss, done, err = f.steps(n, func(f *fit, _ int) (int, float64, error) {
		loss, err := v.fitStep(f)
		return 1, loss, err
	})
	if err != nil || !done {
		return loss, false, err
	}
	if err := plan.Copy(v.device, v.served.params(), v.model.params()); err != nil {
		return 0, false, fmt.Errorf("fit model: %w", err)
	}
	served := f.serving
	v.serving = &served
	v.fit = nil
	return loss, true, nil
}

func (v *VAE) fitStep(f *fit) (float64, error) {
	p, at := v.program, occasion(f.refit, f.step)
	rows, width := v.stream.Sub("rows").At(at), v.layout.width()
	x := p.step.Data(p.x)
	var condition []float32
	if p.condition != nil {
		condition = p.step.Data(p.condition)
	}
	for i := range v.config.Batch {
		row := rows.IntN(f.rows.Len())
		f.noise.learn(at, i, v.config.Batch)
		f.normaliser.normalise(x[i*width:(i+1)*width], f.rows.Row(row))
		switch {
		case condition == nil:
		case f.conditions == nil:
			condition[i] = 0
		default:
			condition[i] = f.conditions[row]
		}
	}
	p.rate.Data[0] = float32(cosine(f.knobs.LR, f.step, f.knobs.Steps))
	if err := p.step.Run(at); err != nil {
		return 0, err
	}
	loss := p.step.Loss()
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, fmt.Errorf("loss is %g", loss)
	}
	f.step++
	return loss, nil
}
