package generative

import (
	"errors"
	"io"

	"pgrlab/core/plan"
)

// vaeMagic begins the checkpoint of a VAE: the header and the size of chunks, as
// in a Diffusion's, then the parts that the header names.
const vaeMagic = 0x32454156_52474750 // "PGGRVAE2"

// Save writes the state, even in the middle of a fit or of a generation. The state
// does not include the real transitions of a fit.
func (v *VAE) Save(w io.Writer) error {
	h := header{Magic: vaeMagic, Width: uint64(v.layout.width())}
	if v.serving != nil {
		h.Served = 1
	}
	if f := v.fit; f != nil {
		f.describe(&h)
	}
	if g := v.generation; g != nil {
		h.Generation, h.Occasion, h.First = 1, g.occasion, uint64(g.first)
		g.knobs.describe(&h)
	}
	if err := writeHeader(w, h, v.chunk, v.config.Chunk); err != nil {
		return err
	}
	if s := v.serving; s != nil {
		if err := s.save(w); err != nil {
			return err
		}
		if err := plan.Save(v.device, w, v.served.params()); err != nil {
			return err
		}
	}
	if f := v.fit; f != nil {
		return f.save(v.device, w, v.model.params(), v.program.optimiser)
	}
	return nil
}

// Load reads what Save wrote for the same configuration and shape; v then continues
// bit for bit. real must hold the transitions that a fit under way began with. After an
// error v must not be used any further.
func (v *VAE) Load(r io.Reader, real Rows) error {
	h, chunk, err := readHeader(r, vaeMagic, v.layout.width(), v.config.Chunk)
	if err != nil {
		return err
	}
	v.serving, v.fit, v.generation, v.chunk = nil, nil, nil, chunk
	if h.Served != 0 {
		s, err := loadServing(r, v.config, v.layout.width())
		if err != nil {
			return err
		}
		if err := plan.Load(v.device, r, v.served.params()); err != nil {
			return err
		}
		v.serving = &s
	}
	if h.Fit != 0 {
		if v.fit, err = loadFit(v.device, r, h, v.layout.vectors(real), v.config, v.layout.width(), v.model.params(), v.program.optimiser); err != nil {
			return err
		}
		v.fit.disturb(v.config, v.layout, real, v.stream)
	}
	if h.Generation == 0 {
		return nil
	}
	g, err := v.newDecoding(h.knobs(), h.Occasion, v.stream)
	if err != nil {
		return err
	}
	if h.First >= h.Samples || int(h.First)%g.rows != 0 {
		return errors.New("the generation under way does not fit the rest")
	}
	g.first = int(h.First)
	v.generation = g
	return nil
}
