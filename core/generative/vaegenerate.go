package generative

import (
	"errors"
	"fmt"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// decoding is a generation of a VAE under way; a chunk is one network call.
type decoding struct {
	knobs    GenKnobs
	occasion uint64
	stream   rng.Stream
	prompts  []float32 // the conditions to sample from; nil: without condition
	rows     int       // of a chunk
	first    int       // samples in finished chunks
	out      []float32
}

// decoder is the served decoder, compiled for a fixed number of rows.
type decoder struct {
	*plan.Program
	z, condition, out *op.Node // [R,L], [R,1] or nil, [R,D]
}

func (v *VAE) newDecoder(rows int) (*decoder, error) {
	d := &decoder{}
	g, err := op.Build(fmt.Sprintf("vae decoder of %d rows", rows), func(g *op.Graph) {
		d.z = g.Input("z", rows, v.sizes.Latent)
		if v.config.Conditional {
			d.condition = g.Input("condition", rows, 1)
		}
		d.out = v.served.decode(g, d.z, d.condition)
	})
	if err != nil {
		return nil, err
	}
	d.Program, err = plan.Compile(g, plan.Spec{Outputs: []*op.Node{d.out}}, v.device)
	return d, err
}

// StartGenerate begins a generation with the network of the last complete fit. It uses
// the knobs Samples and TopFraction. The same occasion gives the same random numbers.
func (v *VAE) StartGenerate(knobs GenKnobs, occasion uint64) error {
	if v.fit != nil || v.generation != nil {
		return fmt.Errorf("generate: %w", errBusy)
	}
	g, err := v.newDecoding(knobs, occasion, v.stream)
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	v.generation = g
	return v.decoders.Drop(func(rows int) bool { return rows != g.rows })
}

func (v *VAE) newDecoding(knobs GenKnobs, occasion uint64, s rng.Stream) (*decoding, error) {
	if v.serving == nil {
		return nil, errors.New("no fit is complete yet")
	}
	if err := knobs.validate(); err != nil {
		return nil, err
	}
	g := &decoding{knobs: knobs, occasion: occasion, stream: s, rows: min(v.chunk, knobs.Samples)}
	if v.serving.conditions != nil {
		g.prompts = prompts(v.serving.conditions, knobs.TopFraction)
	}
	g.out = make([]float32, g.rows*v.layout.row())
	return g, nil
}

// GenerateSlice decodes one chunk. It returns its transitions as rows of the replay
// buffer [s, a, r, s', d] that are valid until the next call, and the number of
// chunks made and needed; the generation is complete when they are equal. If a transition is
// not finite, the error wraps a *plan.NotFinite, and the caller should cancel the generation.
func (v *VAE) GenerateSlice() (rows []float32, done, total int, err error) {
	g := v.generation
	if g == nil {
		return nil, 0, 0, errors.New("generate: no generation is under way")
	}
	if rows, done, total, err = v.decode(g); err != nil {
		return nil, 0, 0, fmt.Errorf("generate: %w", err)
	}
	if done == total {
		v.generation = nil
	}
	return rows, done, total, nil
}

// decode makes the next chunk. The random numbers of prompts and z belong to the sample,
// not to the chunk.
func (v *VAE) decode(g *decoding) (rows []float32, done, total int, err error) {
	d, err := v.decoders.Of(g.rows)
	if err != nil {
		return nil, 0, 0, err
	}
	latent, width, row := v.sizes.Latent, v.layout.width(), v.layout.row()
	g.stream.Sub("z").FillNormal(d.Data(d.z), g.occasion, uint64(g.first*latent))
	if d.condition != nil {
		condition, s := d.Data(d.condition), g.stream.Sub("prompts")
		for i := range condition {
			condition[i] = 0
			if g.prompts != nil {
				condition[i] = prompt(g.prompts, s, g.occasion, g.first+i)
			}
		}
	}
	if err := d.Run(0); err != nil {
		return nil, 0, 0, err
	}
	made, limits := d.Data(d.out), (*normaliser)(nil)
	if v.config.Normaliser == NormaliserMinMax {
		limits = &v.serving.normaliser
	}
	count := min(g.rows, g.knobs.Samples-g.first)
	for i := range count {
		x, out := made[i*width:(i+1)*width], g.out[i*row:(i+1)*row]
		if !finite(x) {
			return nil, 0, 0, notFinite("vae decoder", g.first+i)
		}
		if limits != nil {
			clamp(x)
		}
		v.serving.normaliser.restore(out[:width], x)
		v.layout.finish(out, limits)
	}
	g.first += g.rows
	total = (g.knobs.Samples + g.rows - 1) / g.rows
	return g.out[:count*row], g.first / g.rows, total, nil
}

// PromptScores returns the scores that the first n samples of a generation are prompted
// with; see Diffusion.PromptScores.
func (v *VAE) PromptScores(knobs GenKnobs, occasion uint64, n int) []float32 {
	return v.serving.asked(v.config, knobs, v.stream.Sub("prompts"), occasion, n)
}

// Sketch begins a small generation beside all others; see Diffusion.Sketch.
func (v *VAE) Sketch(knobs GenKnobs, occasion uint64) (next func() (rows []float32, done, total int, err error), err error) {
	g, err := v.newDecoding(knobs, occasion, v.stream.Sub("sketch"))
	if err != nil {
		return nil, fmt.Errorf("sketch: %w", err)
	}
	return func() ([]float32, int, int, error) { return v.decode(g) }, nil
}
