package generative

import (
	"errors"
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/generative/ondevice"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

var _ = register(Spec{
	Kind: "diffusion", Doc: "diffusion model with classifier-free guidance",
	Source:   "Karras et al. 2022, Ho and Salimans 2021; Lu et al. 2023",
	Denoises: true, Learns: true,
	New: func(d Deps) (Generator, error) {
		return New(d.Config, d.Shape, d.Device, d.Seed, d.Turning...)
	},
})

// Diffusion is a generator of transitions. Each refit trains a network; the average
// of its weights serves generations once the fit is complete, so an abandoned fit
// leaves the generator of the previous fit in place. A Diffusion belongs to one
// goroutine.
type Diffusion struct {
	config Config
	layout layout
	stream rng.Stream
	chunk  int // rows of a chunk: config.Chunk, or fewer if Prepare found too little memory

	model   *network // being trained
	average *network // its exponential moving average
	served  *network // the average of the last complete fit
	program *fitProgram
	calls   *calls

	sketches *calls // for Sketch; nil before the first sketch

	fit   *fit           // nil: none under way
	data  *ondevice.Data // of a fit; nil: the host samples its batches
	tried *fit           // the last one whose data the device was asked to take
	lastFit
	generation *generation // nil: none under way
	made       int         // network calls of the newest slice of a generation
}

// lastFit is the result of the last complete fit.
type lastFit struct {
	serving *serving // nil: no fit is complete yet
}

// Fitted says whether a fit is complete, so that StartGenerate can work.
func (f lastFit) Fitted() bool { return f.serving != nil }

// weightsIn counts the numbers in tensors.
func weightsIn(all []*op.Tensor) (n int) {
	for _, t := range all {
		n += len(t.Data)
	}
	return n
}

// serving holds what belongs to a fitted network besides its weights.
type serving struct {
	normaliser normaliser
	conditions []float32 // of every real transition of that fit; nil: fitted without
	low, high  float64   // scores that map to −1 and, apart from the slack, to 1
}

// New builds the networks and compiles the gradient step for transitions of that
// shape. The generator's random numbers come from streams of seed. turning lists the
// coordinates of an observation that are angles without limits.
func New(c Config, shape replay.Shape, dev device.Device, seed uint64, turning ...int) (*Diffusion, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if shape.Obs < 1 || shape.Act < 1 {
		return nil, fmt.Errorf("generator: shape %+v has no observation or no action", shape)
	}
	d := &Diffusion{config: c, chunk: c.Chunk, layout: newLayout(c, shape, turning...), stream: rng.New(seed, "generator")}
	width := d.layout.width()
	d.model = drawNetwork(c, "model", width, d.stream.Sub("initial"), dev)
	d.average = likeNetwork(d.model, "average", width, d.stream.Sub("initial"))
	d.served = likeNetwork(d.model, "served", width, d.stream.Sub("initial"))
	d.calls = newCalls(d.served, width, d.stream.Sub("sampler noise"), dev)
	var err error
	if d.program, err = compileFit(d.model, d.average, width, d.stream.Sub("fit"), dev); err != nil {
		return nil, fmt.Errorf("generator: %w", err)
	}
	if err := plan.Push(dev, paramsOf(d.model, d.average, d.served)...); err != nil {
		return nil, fmt.Errorf("generator: %w", err)
	}
	return d, nil
}

// Close releases the compiled programs.
func (d *Diffusion) Close() error {
	err := d.dropData()
	d.program.close()
	return errors.Join(err, plan.Close(d.calls, d.sketches))
}

// Parameters is the number of trained weights.
func (d *Diffusion) Parameters() int { return weightsIn(d.model.Params()) }

// Cancel abandons the fit or the generation under way, if any. The generator of the
// last complete fit stays.
func (d *Diffusion) Cancel() {
	d.fit, d.generation = nil, nil
	d.dropData() // which fails only with the device
}

var errBusy = errors.New("a fit or a generation is under way")

// StartFit begins to fit a network to the real transitions. It takes the statistics of
// the normaliser, turns the scores into conditions (one raw score for each transition;
// nil for a fit without conditions), and starts from fresh weights (or, by Config.Init,
// those of the served generator, whose axes the new ones follow) with a fresh optimiser.
// refit numbers the fit within the run: the same number gives the same random numbers.
// real must not change until the fit is complete.
func (d *Diffusion) StartFit(real Rows, scores []float32, knobs FitKnobs, refit uint64) error {
	if d.fit != nil || d.generation != nil {
		return fmt.Errorf("fit model: %w", errBusy)
	}
	f, err := newFit(d.config, d.layout, real, scores, knobs, refit)
	if err != nil {
		return fmt.Errorf("fit model: %w", err)
	}
	f.disturb(d.config, d.layout, real, d.stream)
	first := d.served
	if d.config.Init == InitPrevious && d.serving != nil {
		f.normaliser.coordinates.follow(d.serving.normaliser.coordinates)
	} else {
		first = drawNetwork(d.config, "fresh", d.layout.width(), d.stream.Sub(fmt.Sprintf("refit %d", refit)), d.calls.device)
	}
	if err := d.startProgram(first, f.normaliser.coordinates); err != nil {
		return fmt.Errorf("fit model: %w", err)
	}
	d.fit = f
	return nil
}

// startProgram resets the program to the weights of first.
func (d *Diffusion) startProgram(first *network, at coordinates) error {
	dev := d.calls.device
	for _, n := range []*network{d.model, d.average} {
		if err := plan.Copy(dev, n.State(), first.State()); err != nil {
			return err
		}
	}
	if err := d.program.optimiser.Reset(); err != nil {
		return err
	}
	return d.program.frame.set(dev, at)
}

// newFit returns a fit with its statistics, before its first step.
func newFit(c Config, l layout, real Rows, scores []float32, knobs FitKnobs, refit uint64) (*fit, error) {
	if err := knobs.validate(); err != nil {
		return nil, err
	}
	real = l.vectors(real)
	f := &fit{rows: real, knobs: knobs, refit: refit}
	var err error
	if f.normaliser, err = fitNormaliser(c, real, l); err != nil || scores == nil {
		return f, err
	}
	if !c.Conditional {
		return nil, errors.New("scores for a generator without a condition input")
	}
	if len(scores) != real.Len() {
		return nil, fmt.Errorf("%d scores for %d transitions", len(scores), real.Len())
	}
	if f.conditions, err = conditions(scores, c.ConditionRange); err != nil {
		return nil, err
	}
	f.low, f.high, err = extremes(scores, c.ConditionRange)
	return f, err
}

// FitSteps makes up to n gradient steps. It returns their mean loss and whether
// the fit is complete; a complete fit's network becomes the served one. If a loss or
// a gradient is not finite, the step changes nothing, the error wraps a
// *plan.NotFinite, and the caller should cancel the fit.
func (d *Diffusion) FitSteps(n int) (loss float64, done bool, err error) {
	f := d.fit
	loss, done, err = f.steps(n, d.fitSome)
	if err != nil || !done {
		return loss, false, err
	}
	if err := plan.Copy(d.calls.device, d.served.State(), d.average.State()); err != nil {
		return 0, false, fmt.Errorf("fit model: %w", err)
	}
	served := f.serving
	d.serving = &served
	d.fit = nil
	if err := d.dropData(); err != nil {
		return 0, false, fmt.Errorf("fit model: %w", err)
	}
	return loss, true, nil
}

// occasion is the index of the random numbers of one step of a refit, or of one
// sample or level of a generation.
func occasion(major uint64, minor int) uint64 { return major<<32 | uint64(uint32(minor)) }

// fitStep makes one gradient step.
func (d *Diffusion) fitStep(f *fit) (float64, error) {
	p, c := d.program, d.config
	at := occasion(f.refit, f.step)
	if err := d.draw(f, at); err != nil {
		return 0, err
	}
	p.rate.Data[0] = d.rateOf(f, f.step)
	if err := p.step.Run(at); err != nil {
		return 0, err
	}
	loss := p.step.Loss()
	f.step++
	if !emaDue(c, f.step) {
		return loss, nil
	}
	p.blend.Data[0] = float32(1 - emaDecay(c, f.step))
	return loss, p.average.Run(0)
}

// rateOf is the learning rate of a gradient step.
func (d *Diffusion) rateOf(f *fit, step int) float32 {
	return float32(cosine(f.knobs.LR, step, f.knobs.Steps))
}

// draw fills the batch of one step, on the device if it has the data.
func (d *Diffusion) draw(f *fit, at uint64) error {
	b := &d.program.batch
	if b.keep != nil {
		d.keep(b.keep.Data, f, at)
	}
	if d.data != nil {
		return d.data.Sample(at)
	}
	d.gather(f, at)
	if !d.program.sampled {
		return nil
	}
	if b.condition == nil {
		return plan.Push(d.calls.device, b.x)
	}
	return plan.Push(d.calls.device, b.x, b.condition)
}

// keep writes which conditions of a batch are kept; none is if the fit is without conditions.
func (d *Diffusion) keep(keep []float32, f *fit, at uint64) {
	if f.conditions == nil {
		clear(keep)
		return
	}
	d.stream.Sub("keep").FillUniform(keep, at, 0)
	for i, u := range keep {
		keep[i] = kept(u, f.knobs.PUncond)
	}
}

// gather writes the rows of a batch, sampled uniformly with replacement, and their conditions.
func (d *Diffusion) gather(f *fit, at uint64) {
	b, width := &d.program.batch, d.layout.width()
	rows := d.stream.Sub("rows").At(at)
	for i := range d.config.Batch {
		row := rows.IntN(f.rows.Len())
		f.noise.learn(at, i, d.config.Batch)
		f.normaliser.normalise(b.x.Data[i*width:(i+1)*width], f.rows.Row(row))
		if b.condition != nil {
			b.condition.Data[i] = f.condition(row)
		}
	}
}

// kept turns a uniform number into a Bernoulli(1 − pUncond) one.
func kept(u float32, pUncond float64) float32 {
	if float64(u) < pUncond {
		return 0
	}
	return 1
}

// paramsOf lists the state of several networks, for saving.
func paramsOf(networks ...*network) []*op.Tensor {
	var all []*op.Tensor
	for _, n := range networks {
		all = append(all, n.State()...)
	}
	return all
}
