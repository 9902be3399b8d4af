package generative

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/version"
)

// A checkpoint is little-endian. It holds the header, the size of chunks, then the arrays and
// tensors of each part that the header names. Programs are not saved: they follow from Config.
const diffusionMagic = 0x334d4644_52474750 // "PGGRDFM3"

// header holds everything of fixed size. Knobs are stored as 8-byte numbers.
type header struct {
	Magic, Width                       uint64
	Served, Fit, Generation            uint8
	Rows, Refit, FitStep, FitSteps     uint64
	LR, PUncond                        float64
	Occasion, First, Samples, GenSteps uint64
	Guidance, TopFraction, SChurn      float64
	Level                              uint64
	Correcting                         uint8
}

// writeHeader writes a header and the size of chunks if that is smaller than the configured one.
func writeHeader(w io.Writer, h header, chunk, full int) error {
	smaller := uint64(0)
	if chunk < full {
		smaller = uint64(chunk)
	}
	return errors.Join(binary.Write(w, binary.LittleEndian, h), binary.Write(w, binary.LittleEndian, smaller))
}

// readHeader reads what writeHeader wrote for vectors of that width, and returns the size of
// chunks.
func readHeader(r io.Reader, magic uint64, width, full int) (h header, chunk int, err error) {
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		return h, 0, err
	}
	if h.Magic != magic {
		return h, 0, version.ErrOther
	}
	var smaller uint64
	if err := binary.Read(r, binary.LittleEndian, &smaller); err != nil {
		return h, 0, err
	}
	switch {
	case int(h.Width) != width:
		return h, 0, fmt.Errorf("the checkpoint's vectors have %d dimensions, this generator's %d", h.Width, width)
	case smaller == 0:
		return h, full, nil
	case h.Generation != 0 && smaller > uint64(full):
		return h, 0, fmt.Errorf("a generation in chunks of %d is under way, more than generator.chunk: set that to at least %d", smaller, smaller)
	}
	return h, int(min(smaller, uint64(full))), nil
}

// header describes the fit or the generation under way.
func (d *Diffusion) header() header {
	h := header{Magic: diffusionMagic, Width: uint64(d.layout.width())}
	if d.serving != nil {
		h.Served = 1
	}
	if f := d.fit; f != nil {
		f.describe(&h)
	}
	if g := d.generation; g != nil {
		h.Generation, h.Occasion, h.First = 1, g.occasion, uint64(g.first)
		g.knobs.describe(&h)
		h.Level = uint64(g.sampler.level)
		if g.sampler.correcting {
			h.Correcting = 1
		}
	}
	return h
}

// Save writes the state, even in the middle of a fit or of a generation. The state
// does not include the real transitions of a fit.
func (d *Diffusion) Save(w io.Writer) error {
	if err := writeHeader(w, d.header(), d.chunk, d.config.Chunk); err != nil {
		return err
	}
	if s := d.serving; s != nil {
		if err := s.save(w); err != nil {
			return err
		}
		if err := plan.Save(d.calls.device, w, d.served.State()); err != nil {
			return err
		}
	}
	if f := d.fit; f != nil {
		if err := f.save(d.calls.device, w, paramsOf(d.model, d.average), d.program.optimiser); err != nil {
			return err
		}
	}
	if g := d.generation; g != nil {
		if err := plan.Fetch(d.calls.device, g.sampler.state()...); err != nil {
			return err
		}
		for _, x := range g.sampler.state() {
			if err := writeFloats(w, x.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// Load reads what Save wrote for the same Config and shape; d then continues
// bit for bit. real must hold the transitions that a fit under way began with.
// After an error d must not be used any further.
func (d *Diffusion) Load(r io.Reader, real Rows) error {
	h, chunk, err := readHeader(r, diffusionMagic, d.layout.width(), d.config.Chunk)
	if err != nil {
		return err
	}
	d.serving, d.fit, d.generation, d.chunk = nil, nil, nil, chunk
	if h.Served != 0 {
		s, err := loadServing(r, d.config, d.layout.width())
		if err != nil {
			return err
		}
		if err := plan.Load(d.calls.device, r, d.served.State()); err != nil {
			return err
		}
		d.serving = &s
	}
	if h.Fit != 0 {
		if d.fit, err = loadFit(d.calls.device, r, h, d.layout.vectors(real), d.config, d.layout.width(), paramsOf(d.model, d.average), d.program.optimiser); err != nil {
			return err
		}
		d.fit.disturb(d.config, d.layout, real, d.stream)
		if err := d.program.frame.set(d.calls.device, d.fit.normaliser.coordinates); err != nil {
			return err
		}
	}
	if h.Generation != 0 {
		return d.loadGeneration(r, h)
	}
	return nil
}

// loadFit reads a fit under way: its statistics, the tensors that it trains, and its
// optimiser.
func loadFit(dev device.Device, r io.Reader, h header, real Rows, c Config, width int, tensors []*op.Tensor, optimiser *plan.Adam) (*fit, error) {
	if real == nil || uint64(real.Len()) != h.Rows {
		return nil, fmt.Errorf("a fit to %d real transitions was under way, and they are not given", h.Rows)
	}
	f := &fit{rows: real, refit: h.Refit, step: int(h.FitStep), knobs: FitKnobs{Steps: int(h.FitSteps), LR: h.LR, PUncond: h.PUncond}}
	if err := f.knobs.validate(); err != nil {
		return nil, err
	}
	if f.step < 0 || f.step > f.knobs.Steps {
		return nil, fmt.Errorf("step %d of a fit of %d", f.step, f.knobs.Steps)
	}
	var err error
	if f.serving, err = loadServing(r, c, width); err != nil {
		return nil, err
	}
	if f.conditions != nil && len(f.conditions) != real.Len() {
		return nil, fmt.Errorf("%d conditions of %d transitions", len(f.conditions), real.Len())
	}
	if err := plan.Load(dev, r, tensors); err != nil {
		return nil, err
	}
	return f, optimiser.Load(r)
}

// save writes what loadFit reads.
func (f *fit) save(dev device.Device, w io.Writer, tensors []*op.Tensor, optimiser *plan.Adam) error {
	if err := f.serving.save(w); err != nil {
		return err
	}
	if err := plan.Save(dev, w, tensors); err != nil {
		return err
	}
	return optimiser.Save(w)
}

// describe writes the fit into the header.
func (f *fit) describe(h *header) {
	h.Fit, h.Rows, h.Refit = 1, uint64(f.rows.Len()), f.refit
	h.FitStep, h.FitSteps = uint64(f.step), uint64(f.knobs.Steps)
	h.LR, h.PUncond = f.knobs.LR, f.knobs.PUncond
}

// describe writes the knobs of a generation into the header; header.knobs reads them.
func (k GenKnobs) describe(h *header) {
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
	g.sampler.level, g.sampler.correcting = int(h.Level), h.Correcting != 0
	for _, x := range g.sampler.state() {
		if err := readFloats(r, x.Data); err != nil {
			return err
		}
	}
	d.generation = g
	return plan.Push(d.calls.device, g.sampler.state()...)
}

// state returns the tensors that a sample needs to continue.
func (s *sampler) state() []*op.Tensor {
	return []*op.Tensor{s.chunk.x, s.chunk.hat, s.chunk.slope}
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

// save writes the normaliser, the lowest and highest score, the number of conditions
// (−1 without conditions), the conditions, and as many scores if these are ranks.
func (s serving) save(w io.Writer) error {
	count := int64(len(s.conditions))
	if s.conditions == nil {
		count = -1
	}
	for _, part := range append(s.normaliser.parts(), s.low, s.high, count) {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return errors.Join(writeFloats(w, s.conditions), writeFloats(w, s.ranked))
}

// loadServing reads what save wrote.
func loadServing(r io.Reader, c Config, width int) (s serving, err error) {
	s.normaliser = newNormaliser(c, width)
	var count int64
	for _, part := range append(s.normaliser.parts(), &s.low, &s.high, &count) {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return s, err
		}
	}
	if count < 0 {
		return s, nil
	}
	if count > math.MaxInt32 {
		return s, fmt.Errorf("%d conditions", count)
	}
	if s.conditions, err = readScores(r, int(count)); err == nil && c.ConditionRange == ConditionRank {
		s.ranked, err = readScores(r, int(count))
	}
	return s, err
}

// readScores reads count numbers. Memory grows with the data, whatever count claims.
func readScores(r io.Reader, count int) ([]float32, error) {
	all := []float32{}
	for len(all) < count {
		block := make([]float32, min(count-len(all), 1<<16))
		if err := readFloats(r, block); err != nil {
			return nil, err
		}
		all = append(all, block...)
	}
	return all, nil
}

func writeFloats(w io.Writer, x []float32) error {
	b := bufio.NewWriter(w)
	var word [4]byte
	for _, v := range x {
		binary.LittleEndian.PutUint32(word[:], math.Float32bits(v))
		b.Write(word[:])
	}
	return b.Flush() // bufio remembers the first error
}

func readFloats(r io.Reader, x []float32) error {
	raw := make([]byte, 4*4096)
	for len(x) > 0 {
		n := min(len(x), 4096)
		if _, err := io.ReadFull(r, raw[:4*n]); err != nil {
			return err
		}
		for i := range n {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		x = x[n:]
	}
	return nil
}
