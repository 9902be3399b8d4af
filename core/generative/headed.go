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

// Model is a Generator with the further methods that a run uses; Diffusion and VAE are Models.
type Model interface {
	Generator
	// Prepare compiles what a generation with these knobs will need, and returns the size
	// of its chunks.
	Prepare(knobs GenKnobs) (chunk int, err error)
	// Parameters is the number of trained weights.
	Parameters() int
}

// ModelOf returns g as a Model. A Generator that is no Model has nothing to prepare and no
// weights.
func ModelOf(g Generator, chunk int) Model {
	if m, is := g.(Model); is {
		return m
	}
	return weightless{g, chunk}
}

type weightless struct {
	Generator
	chunk int
}

func (w weightless) Prepare(GenKnobs) (chunk int, err error) { return w.chunk, nil }
func (w weightless) Parameters() int                         { return 0 }

// Headed is a generator with heads: regressions that label its rows. The heads are fitted
// in step with the generator: for each of its gradient steps they make one, on a batch of
// their own. Prompts and guidance concern the generator alone: the heads read the rows
// that it generated. A Headed belongs to one goroutine.
type Headed struct {
	Model
	config  HeadConfig
	own     Config // of the generator
	layout  headLayout
	scratch bool // whether a fit starts from fresh weights
	stream  rng.Stream
	device  device.Device

	heads     []*head // in the order in which they label
	step      *plan.Program
	optimiser *plan.Adam
	rate      *op.Tensor

	fit     *headFit
	data    *ondevice.Data // of a fit; nil: the host samples its batches
	tried   *headFit       // the last one whose data the device was asked to take
	sampled bool           // the device has sampled batches, and has had them in its memory since then
	served  bool
	ranges  realRanges // of the served fit
	rules   rules
}

// headFit is a fit under way.
type headFit struct {
	rows   Rows
	noise  *noisy // nil: steps learn rows as they are
	knobs  FitKnobs
	refit  uint64
	step   int
	ranges realRanges
}

// WithHeads puts heads on a generator that was made with these Deps. The heads use its
// optimiser, Init and terminals.
func WithHeads(g Generator, h HeadConfig, deps Deps) (*Headed, error) {
	c, shape := deps.Config, deps.Shape
	if err := h.Validate(); err != nil {
		return nil, err
	}
	if !h.Enabled() {
		return nil, errors.New("generator: no heads to put on it")
	}
	h = h.filled()
	l := headLayout{layout: newLayout(c, shape, deps.Turning...), turning: make([]bool, shape.Obs)}
	for _, j := range deps.Turning {
		if j < 0 || j >= shape.Obs {
			return nil, fmt.Errorf("generator: coordinate %d of %d is an angle without limits", j, shape.Obs)
		}
		l.turning[j] = true
	}
	d := &Headed{
		Model: ModelOf(g, c.Chunk), config: h, own: c, layout: l, scratch: c.Init != InitPrevious, device: deps.Device,
		stream: rng.New(deps.Seed, "generator heads"), rate: op.NewTensor("heads rate", 1),
		ranges: newRealRanges(h, l), rules: newRules(l, deps),
	}
	before := l.observed() + l.act
	d.heads = []*head{
		newHead("head.change", h, before, l.obs, l.before, l.change, d.stream.Sub("change")),
		newHead("head.outcome", h, before+l.observed(), l.outcomes(), l.both, l.outcome, d.stream.Sub("outcome")),
	}
	if err := d.compile(c); err != nil {
		d.closeHeads()
		return nil, fmt.Errorf("generator: heads: %w", err)
	}
	return d, nil
}

func (d *Headed) compile(c Config) error {
	var loss *op.Node
	var params []*op.Tensor
	g, err := op.Build("heads fit", func(g *op.Graph) {
		var losses []*op.Node
		for i, h := range d.heads {
			losses = append(losses, h.draw(g, fmt.Sprintf("head%d", i), d.config.Batch))
		}
		loss = g.AddScalars(losses...)
	})
	if err != nil {
		return err
	}
	for _, h := range d.heads {
		params = append(params, h.model.Params()...)
		if err := plan.Push(d.device, append(h.model.Params(), h.serving.Params()...)...); err != nil {
			return err
		}
		if err := h.compile("head labels", d.device); err != nil {
			return err
		}
	}
	d.optimiser = plan.NewAdam(params, plan.AdamConfig{Beta1: c.Beta1, Beta2: c.Beta2, Eps: c.Epsilon, WeightDecay: c.WeightDecay, ClipNorm: c.ClipNorm}, d.rate)
	d.step, err = plan.Compile(g, plan.Spec{Loss: loss, Optimiser: d.optimiser}, d.device)
	return err
}

// Close releases the compiled programs.
func (d *Headed) Close() error {
	d.closeHeads()
	return d.Model.Close()
}

func (d *Headed) closeHeads() {
	d.dropData()
	if d.step != nil {
		d.step.Close()
	}
	for _, h := range d.heads {
		if h.labels != nil {
			h.labels.Close()
		}
	}
}

// Parameters is the number of trained weights, including those of the heads.
func (d *Headed) Parameters() int {
	return d.Model.Parameters() + d.weights()
}

func (d *Headed) weights() (n int) {
	for _, p := range d.params() {
		n += len(p.Data)
	}
	return n
}

// params returns the weights under fit.
func (d *Headed) params() (all []*op.Tensor) {
	for _, h := range d.heads {
		all = append(all, h.model.Params()...)
	}
	return all
}

// Cancel abandons the fit or the generation under way.
func (d *Headed) Cancel() {
	d.fit = nil
	d.dropData() // which fails only with the device
	d.Model.Cancel()
}

// StartFit begins a fit of the generator and of its heads.
func (d *Headed) StartFit(real Rows, scores []float32, knobs FitKnobs, refit uint64) error {
	if err := d.Model.StartFit(real, scores, knobs, refit); err != nil {
		return err
	}
	if err := d.start(real, knobs, refit); err != nil {
		d.Model.Cancel()
		return fmt.Errorf("fit heads: %w", err)
	}
	return nil
}

func (d *Headed) start(real Rows, knobs FitKnobs, refit uint64) error {
	f := &headFit{rows: real, knobs: knobs, refit: refit, ranges: newRealRanges(d.config, d.layout)}
	f.ranges.take(d.layout, real)
	for i, h := range d.heads {
		if err := h.fit(real); err != nil {
			return err
		}
		first := h.serving
		if d.scratch || !d.served {
			fresh := newHead("fresh", d.config, h.in, h.out, h.read, h.want, d.stream.Sub(fmt.Sprintf("refit %d of head %d", refit, i)))
			first = fresh.model
		}
		if err := plan.Copy(d.device, h.model.Params(), first.Params()); err != nil {
			return err
		}
	}
	if err := d.optimiser.Reset(); err != nil {
		return err
	}
	d.fit = f
	d.disturb(real)
	return nil
}

// disturb makes the steps of the fit learn with noise, as those of the generator.
func (d *Headed) disturb(real Rows) {
	shape := replay.Shape{Obs: d.layout.obs, Act: d.layout.act}
	if d.fit.noise = newNoisy(d.own, shape, real, d.stream); d.fit.noise != nil {
		d.fit.rows = d.fit.noise
	}
}

// FitSteps makes up to n gradient steps of the generator, and as many of its heads. If the
// generator ends its fit early, the heads make the rest of their steps at once, because they
// are served together and the heads' learning rate comes down at the end. The loss is the
// generator's. A generator without weights ends its fit with the heads, whose loss it is then.
func (d *Headed) FitSteps(n int) (loss float64, done bool, err error) {
	own, err := d.headSteps(n)
	if err != nil {
		return 0, false, err
	}
	weightless := d.Parameters() == d.weights()
	if f := d.fit; f != nil && f.step < f.knobs.Steps && weightless {
		return own, false, nil
	}
	loss, done, err = d.Model.FitSteps(n)
	if err != nil || !done {
		return loss, done, err
	}
	if weightless {
		loss = own
	} else if _, err := d.headSteps(maxSteps); err != nil {
		return 0, false, err
	}
	for _, h := range d.heads {
		if err := h.serve(d.device); err != nil {
			return 0, false, fmt.Errorf("fit heads: %w", err)
		}
	}
	d.served, d.ranges, d.fit = true, d.fit.ranges, nil
	if err := d.dropData(); err != nil {
		return 0, false, fmt.Errorf("fit heads: %w", err)
	}
	return loss, done, nil
}

// headSteps makes up to n gradient steps of the heads, and returns their mean loss.
func (d *Headed) headSteps(n int) (loss float64, err error) {
	f := d.fit
	if f == nil {
		return 0, nil
	}
	steps := min(n, f.knobs.Steps-f.step)
	for left := steps; left > 0; {
		made, sum, err := d.headSome(f, left)
		if err != nil {
			return 0, fmt.Errorf("fit heads: step %d: %w", f.step, err)
		}
		left, loss = left-made, loss+sum
	}
	return loss / float64(max(1, steps)), nil
}

func (d *Headed) headStep(f *headFit) error {
	at := occasion(f.refit, f.step)
	if err := d.draw(f, at); err != nil {
		return err
	}
	d.rate.Data[0] = d.rateOf(f, f.step)
	if err := d.step.Run(at); err != nil {
		return err
	}
	f.step++
	return nil
}

// rateOf is the learning rate of a gradient step.
func (d *Headed) rateOf(f *headFit, step int) float32 {
	return float32(cosine(d.config.LR, step, f.knobs.Steps))
}

// draw fills the batch of one step, on the device if it has the data.
func (d *Headed) draw(f *headFit, at uint64) error {
	if d.data != nil {
		return d.data.Sample(at)
	}
	draw := d.stream.Sub("rows").At(at)
	for i := range d.config.Batch {
		f.noise.learn(at, i, d.config.Batch)
		row := f.rows.Row(draw.IntN(f.rows.Len()))
		for _, h := range d.heads {
			h.batch(i, row)
		}
	}
	if !d.sampled {
		return nil
	}
	for _, h := range d.heads {
		if err := plan.Push(d.device, h.x, h.y); err != nil {
			return err
		}
	}
	return nil
}

// GenerateSlice makes one slice of the generator and labels the rows that it finished.
func (d *Headed) GenerateSlice() (rows []float32, done, total int, err error) {
	return d.labelled(d.Model.GenerateSlice())
}

// Sketch begins a small generation beside all others and labels its rows; see
// Generator.Sketch.
func (d *Headed) Sketch(knobs GenKnobs, occasion uint64) (next func() (rows []float32, done, total int, err error), err error) {
	inner, err := d.Model.Sketch(knobs, occasion)
	if err != nil {
		return nil, err
	}
	return func() ([]float32, int, int, error) { return d.labelled(inner()) }, nil
}

func (d *Headed) labelled(rows []float32, done, total int, err error) ([]float32, int, int, error) {
	if err != nil {
		return nil, 0, 0, err
	}
	return rows, done, total, d.Label(rows)
}

// Label sets s' of rows, if there is a head for it, and then their r and d, by the networks of the last
// complete fit.
func (d *Headed) Label(rows []float32) error {
	piece := headRows * d.layout.row()
	for first := 0; first < len(rows); first += piece {
		if err := d.label(rows[first:min(first+piece, len(rows))]); err != nil {
			return fmt.Errorf("label generated rows: %w", err)
		}
	}
	return nil
}

// label labels up to headRows rows.
func (d *Headed) label(rows []float32) error {
	l, width := d.layout, d.layout.row()
	for row := rows; len(row) > 0; row = row[width:] {
		d.rules.straighten(row[:l.obs])
	}
	for _, h := range d.heads[:len(d.heads)-1] {
		err := h.label(rows, width, func(row []float32, change []float64) {
			for j, v := range change {
				row[l.reward()+1+j] = float32(d.ranges.state(j, float64(row[j])+v))
			}
			d.rules.straighten(row[l.reward()+1 : l.terminal()])
		})
		if err != nil {
			return err
		}
	}
	return d.heads[len(d.heads)-1].label(rows, width, func(row []float32, outcome []float64) {
		row[l.reward()] = float32(d.ranges.reward.bound(outcome[0]))
		switch {
		case d.rules.ends != nil:
			row[l.terminal()] = d.rules.end(l, row)
		case l.terminals:
			row[l.terminal()] = float32(outcome[1])
			l.end(row)
		}
	})
}
