package generative

import (
	"errors"
	"io"

	"pgrlab/core/plan"
)

func (v *VAE) networks() networks {
	return networks{plan.Tensors{Device: v.device, Of: v.served.params()}, plan.Tensors{Device: v.device, Of: v.model.params()}, v.program.optimiser}
}

// Save writes the state, even in the middle of a fit or of a generation. The state
// does not include the real transitions of a fit.
func (v *VAE) Save(w io.Writer) error {
	h := newHeader(v.layout.width(), v.chunk, v.config.Chunk, v.serving, v.fit)
	if g := v.generation; g != nil {
		h.generates(g.knobs, g.occasion, g.first)
	}
	return v.networks().save(w, h, v.serving, v.fit)
}

// Load reads what Save wrote for the same configuration and shape; v then continues
// bit for bit. real must hold the transitions that a fit under way began with. After an
// error v must not be used any further.
func (v *VAE) Load(r io.Reader, real Rows) error {
	h, chunk, err := readHeader(r, v.layout.width(), v.config.Chunk)
	if err != nil {
		return err
	}
	v.generation, v.chunk = nil, chunk
	if v.serving, v.fit, err = v.networks().load(r, h, v.config, v.layout.width(), v.layout.vectors(real)); err != nil {
		return err
	}
	if v.fit != nil {
		v.fit.disturb(v.config, v.layout, real, v.stream)
	}
	if !h.Generation {
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
