package generative

import (
	"errors"
	"fmt"
	"io"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// header begins a checkpoint and holds everything of fixed size; the arrays and tensors of each part that it
// names follow. Knobs are stored as 8-byte numbers. Programs are not saved: they follow from Config.
type header struct {
	Width, Chunk                       uint64 // Chunk: rows of one, if that is fewer than configured; else 0
	Served, Fit, Generation            bool
	Rows, Refit, FitStep, FitSteps     uint64
	LR, PUncond                        float64
	Occasion, First, Samples, GenSteps uint64
	Guidance, TopFraction, SChurn      float64
	Level                              uint64
	Correcting                         bool
}

// newHeader describes what is served, and a fit under way.
func newHeader(width, chunk, full int, served *serving, f *fit) header {
	h := header{Width: uint64(width), Served: served != nil, Fit: f != nil}
	if chunk < full {
		h.Chunk = uint64(chunk)
	}
	if f != nil {
		h.Rows, h.Refit, h.FitStep, h.FitSteps = uint64(f.rows.Len()), f.refit, uint64(f.step), uint64(f.knobs.Steps)
		h.LR, h.PUncond = f.knobs.LR, f.knobs.PUncond
	}
	return h
}

// readHeader reads a header for vectors of that width, and returns the size of chunks.
func readHeader(r io.Reader, width, full int) (h header, chunk int, err error) {
	if err := plan.LoadAll(r, &h); err != nil {
		return h, 0, err
	}
	switch {
	case int(h.Width) != width:
		return h, 0, fmt.Errorf("the checkpoint's vectors have %d dimensions, this generator's %d", h.Width, width)
	case h.Chunk == 0:
		return h, full, nil
	case h.Generation && h.Chunk > uint64(full):
		return h, 0, fmt.Errorf("a generation in chunks of %d is under way, more than generator.chunk: set that to at least %d", h.Chunk, h.Chunk)
	}
	return h, int(min(h.Chunk, uint64(full))), nil
}

// networks are the tensors in a checkpoint: of the network that is served, and of one being fitted.
type networks struct {
	served, fitted plan.Tensors
	optimiser      *plan.Adam
}

// save writes what load reads.
func (n networks) save(w io.Writer, h header, s *serving, f *fit) error {
	parts := []any{h}
	if s != nil {
		parts = append(parts, s, n.served)
	}
	if f != nil {
		parts = append(parts, f.serving, n.fitted, n.optimiser)
	}
	return plan.SaveAll(w, parts...)
}

// load reads what the header names: what is served, and a fit under way to real, whose noise is not set.
func (n networks) load(r io.Reader, h header, c Config, width int, real Rows) (s *serving, f *fit, err error) {
	if h.Served {
		served, err := loadServing(r, c, width)
		if err == nil {
			err = n.served.Load(r)
		}
		if err != nil {
			return nil, nil, err
		}
		s = &served
	}
	if !h.Fit {
		return s, nil, nil
	}
	if real == nil || uint64(real.Len()) != h.Rows {
		return nil, nil, fmt.Errorf("a fit to %d real transitions was under way, and they are not given", h.Rows)
	}
	f = &fit{rows: real, refit: h.Refit, step: int(h.FitStep), knobs: FitKnobs{Steps: int(h.FitSteps), LR: h.LR, PUncond: h.PUncond}}
	if err := f.knobs.validate(); err != nil {
		return nil, nil, err
	}
	if f.step < 0 || f.step > f.knobs.Steps {
		return nil, nil, fmt.Errorf("step %d of a fit of %d", f.step, f.knobs.Steps)
	}
	if f.serving, err = loadServing(r, c, width); err != nil {
		return nil, nil, err
	}
	if f.conditions != nil && len(f.conditions) != real.Len() {
		return nil, nil, fmt.Errorf("%d conditions of %d transitions", len(f.conditions), real.Len())
	}
	return s, f, plan.LoadAll(r, n.fitted, n.optimiser)
}

func (d *Diffusion) networks() networks {
	dev := d.calls.device
	return networks{plan.Tensors{Device: dev, Of: d.served.State()}, plan.Tensors{Device: dev, Of: paramsOf(d.model, d.average)}, d.program.optimiser}
}

// Save writes the state, even in the middle of a fit or of a generation. The state
// does not include the real transitions of a fit.
func (d *Diffusion) Save(w io.Writer) error {
	h := newHeader(d.layout.width(), d.chunk, d.config.Chunk, d.serving, d.fit)
	g := d.generation
	if g != nil {
		h.generates(g.knobs, g.occasion, g.first)
		h.Level, h.Correcting = uint64(g.sampler.level), g.sampler.correcting
	}
	err := d.networks().save(w, h, d.serving, d.fit)
	if err == nil && g != nil {
		err = g.sampler.state(d.calls.device).Save(w)
	}
	return err
}

// Load reads what Save wrote for the same Config and shape; d then continues
// bit for bit. real must hold the transitions that a fit under way began with.
// After an error d must not be used any further.
func (d *Diffusion) Load(r io.Reader, real Rows) error {
	h, chunk, err := readHeader(r, d.layout.width(), d.config.Chunk)
	if err != nil {
		return err
	}
	d.generation, d.chunk = nil, chunk
	if d.serving, d.fit, err = d.networks().load(r, h, d.config, d.layout.width(), d.layout.vectors(real)); err != nil {
		return err
	}
	if d.fit != nil {
		d.fit.disturb(d.config, d.layout, real, d.stream)
		if err := d.program.frame.set(d.calls.device, d.fit.normaliser.coordinates); err != nil {
			return err
		}
	}
	if h.Generation {
		return d.loadGeneration(r, h)
	}
	return nil
}

// generates writes a generation under way into the header; header.knobs reads its knobs.
func (h *header) generates(k GenKnobs, occasion uint64, first int) {
	h.Generation, h.Occasion, h.First = true, occasion, uint64(first)
	h.Samples, h.GenSteps = uint64(k.Samples), uint64(k.Steps)
	h.Guidance, h.TopFraction, h.SChurn = k.Guidance, k.TopFraction, k.SChurn
}

func (h header) knobs() GenKnobs {
	return GenKnobs{Samples: int(h.Samples), Steps: int(h.GenSteps), Guidance: h.Guidance, TopFraction: h.TopFraction, SChurn: h.SChurn}
}

func (d *Diffusion) loadGeneration(r io.Reader, h header) error {
	knobs := h.knobs()
	if err := knobs.validate(); err != nil {
		return err
	}
	if d.serving == nil || h.Level >= h.GenSteps || h.First >= h.Samples {
		return errors.New("the generation under way does not fit the rest")
	}
	g, err := d.newGeneration(knobs, h.Occasion)
	if err != nil {
		return err
	}
	g.first = int(h.First)
	if err := d.address(g); err != nil {
		return err
	}
	g.sampler.level, g.sampler.correcting = int(h.Level), h.Correcting
	d.generation = g
	return g.sampler.state(d.calls.device).Load(r)
}

// state is the tensors that a sample needs to continue.
func (s *sampler) state(dev device.Device) plan.Tensors {
	return plan.Tensors{Device: dev, Of: []*op.Tensor{s.chunk.x, s.chunk.hat, s.chunk.slope}}
}

// newNormaliser returns a normaliser with room for the arrays of a checkpoint.
func newNormaliser(c Config, width int) normaliser {
	n := normaliser{centre: make([]float64, width), scale: make([]float64, width)}
	n.coordinates.spread = make([]float64, width)
	if c.Preconditioning == PreconditioningCovariance {
		n.coordinates.mean, n.coordinates.basis = make([]float64, width), make([]float64, width*width)
	}
	return n
}

// parts returns the arrays of n; an array that n does not have is empty.
func (n normaliser) parts() []any {
	c := n.coordinates
	return []any{n.centre, n.scale, c.spread, c.mean, c.basis}
}

// Save writes the normaliser, the lowest and highest score, the number of conditions
// (−1 without conditions), and the conditions.
func (s serving) Save(w io.Writer) error {
	return plan.SaveAll(w, append(s.normaliser.parts(), s.low, s.high, count(s.conditions), s.conditions)...)
}

// loadServing reads what Save wrote.
func loadServing(r io.Reader, c Config, width int) (s serving, err error) {
	s.normaliser = newNormaliser(c, width)
	var n int64
	if err := plan.LoadAll(r, append(s.normaliser.parts(), &s.low, &s.high, &n)...); err != nil {
		return s, err
	}
	s.conditions, err = loadScores(r, n)
	return s, err
}

// count is how many scores, or conditions, there are; −1: none were given.
func count(scores []float32) int64 {
	if scores == nil {
		return -1
	}
	return int64(len(scores))
}

// loadScores reads so many scores. Memory grows with the data, whatever n claims.
func loadScores(r io.Reader, n int64) ([]float32, error) {
	if n < 0 {
		return nil, nil
	}
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("%d scores", n)
	}
	all := []float32{}
	for len(all) < int(n) {
		block := make([]float32, min(int(n)-len(all), 1<<16))
		if err := plan.LoadAll(r, block); err != nil {
			return nil, err
		}
		all = append(all, block...)
	}
	return all, nil
}
