package generative

import (
	"errors"

	"pgrlab/core/device"
)

// minChunk is the smallest chunk to which Prepare shrinks a larger one: a smaller
// call has too little work for a GPU.
const minChunk = 256

// Prepare compiles what a generation with these knobs will need. If the device lacks
// the memory for a chunk of Config.Chunk transitions, chunks become smaller, down to
// 256. This changes when samples are made, but not the samples. Prepare returns the
// size of the chunks, or a *device.OutOfMemory.
func (d *Diffusion) Prepare(knobs GenKnobs) (chunk int, err error) {
	if d.generation != nil {
		return d.chunk, nil // it has its programs
	}
	err = shrink(&d.chunk, func(chunk int) error {
		_, err := d.calls.prepare(d.config, knobs, min(chunk, knobs.Samples))
		return err
	})
	return d.chunk, err
}

// Prepare compiles the decoder for a generation with these knobs; see Diffusion.Prepare.
func (v *VAE) Prepare(knobs GenKnobs) (chunk int, err error) {
	if v.generation != nil {
		return v.chunk, nil
	}
	err = shrink(&v.chunk, func(chunk int) error {
		_, err := v.decoders.Of(min(chunk, knobs.Samples))
		return err
	})
	return v.chunk, err
}

// shrink halves chunk until there is memory for it.
func shrink(chunk *int, compile func(chunk int) error) error {
	for {
		err := compile(*chunk)
		var full *device.OutOfMemory
		if err == nil || !errors.As(err, &full) || *chunk/2 < minChunk {
			return err
		}
		*chunk /= 2
	}
}

// prepare compiles both evaluations of a Heun step, and what comes before, for chunks with that number of rows.
func (c *calls) prepare(config Config, knobs GenKnobs, rows int) (*chunk, error) {
	memory, err := c.of(rows)
	if err != nil {
		return nil, err
	}
	blends := config.blends(knobs)
	if blends != unprompted {
		if _, err := c.programs.Of(evaluation{part: asking}); err != nil {
			return nil, err
		}
	}
	for p, mixing := range blends {
		if _, err := c.programs.Of(evaluation{part(p), mixing}); err != nil {
			return nil, err
		}
	}
	return memory, nil
}
