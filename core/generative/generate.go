package generative

import (
	"errors"
	"fmt"

	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// generation is a generation under way. It makes one chunk of samples after another.
type generation struct {
	knobs    GenKnobs
	occasion uint64
	prompts  []float32 // the conditions to sample from; nil: without condition
	blends   [2]blend  // of the estimates, by part

	first   int // samples in finished chunks
	rows    int // samples of a chunk; the last chunk may need fewer
	sampler *sampler
	out     []float32
}

// progress counts network calls.
func (g *generation) progress() (done, total int) {
	per := g.sampler.calls()
	chunks := (g.knobs.Samples + g.rows - 1) / g.rows
	return g.first/g.rows*per + g.sampler.made(), chunks * per
}

// StartGenerate begins a generation with the network of the last complete fit.
// occasion numbers the generation within the run; the same number gives the same
// random numbers.
func (d *Diffusion) StartGenerate(knobs GenKnobs, occasion uint64) error {
	if d.fit != nil || d.generation != nil {
		return fmt.Errorf("generate: %w", errBusy)
	}
	if d.serving == nil {
		return errors.New("generate: no fit is complete yet")
	}
	if err := knobs.validate(); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	g, err := d.newGeneration(knobs, occasion)
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	if err := d.startChunk(g); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	d.generation = g
	return nil
}

// newGeneration prepares a generation; its first chunk has not begun.
func (d *Diffusion) newGeneration(knobs GenKnobs, occasion uint64) (*generation, error) {
	g := &generation{knobs: knobs, occasion: occasion, rows: min(d.chunk, knobs.Samples)}
	guided := knobs
	if d.serving.conditions == nil {
		guided.Guidance = 0
	} else {
		g.prompts = prompts(d.serving.conditions, knobs.TopFraction)
	}
	if err := d.calls.serve(d.serving.normaliser.coordinates); err != nil {
		return nil, err
	}
	memory, err := d.calls.of(g.rows)
	if err != nil {
		return nil, err
	}
	set(memory.omega, guided.Guidance)
	g.sampler = newSampler(d.config, knobs, memory)
	g.sampler.at, g.sampler.noise, g.sampler.generation = d.calls.at, d.calls.noise, occasion
	if err := d.calls.embed(g.sampler.sigmas()); err != nil {
		return nil, err
	}
	g.blends = d.config.blends(guided)
	for p, mixing := range g.blends {
		if g.sampler.programs[p], err = d.calls.programs.Of(evaluation{part(p), mixing}); err != nil {
			return nil, err
		}
	}
	if g.sampler.several, err = d.calls.several.Of(pair{{prediction, g.blends[prediction]}, {correction, g.blends[correction]}}); err != nil {
		return nil, err
	}
	g.out = make([]float32, g.rows*d.layout.row())
	return g, nil
}

// clamps says whether every estimate, and finished samples with their actions, are clamped to [-1,1]:
// if the normaliser maps the data to that range, as in the released code.
func (c Config) clamps() bool { return c.Normaliser == NormaliserMinMax }

// startChunk samples the prompts and the initial noise of the next chunk. The random
// numbers of both belong to the sample, not to the chunk.
func (d *Diffusion) startChunk(g *generation) error {
	if err := d.address(g); err != nil {
		return err
	}
	g.sampler.start()
	return plan.Push(d.calls.device, g.sampler.chunk.x)
}

// address sets which samples the chunk holds, and samples their prompts.
func (d *Diffusion) address(g *generation) error {
	memory := g.sampler.chunk
	memory.begin(g.first)
	if g.prompts == nil {
		return nil
	}
	s := d.promptStream()
	for i := range memory.prompts.Data {
		memory.prompts.Data[i] = prompt(g.prompts, s, g.occasion, g.first+i)
	}
	return d.calls.prompt(g.blends)
}

func (d *Diffusion) promptStream() rng.Stream { return d.stream.Sub("prompts") }

// GenerateSlice makes one network call, or several where the device makes them at once. It returns the transitions that they
// finished, as rows of the replay buffer [s, a, r, s', d] that are valid until the
// next call, and the number of calls made and needed; the generation is complete
// when they are equal. If the network's estimate is not finite, the error wraps
// a *plan.NotFinite, and the caller should cancel the generation.
func (d *Diffusion) GenerateSlice() (rows []float32, done, total int, err error) {
	g := d.generation
	if g == nil {
		return nil, 0, 0, errors.New("generate: no generation is under way")
	}
	before := g.sampler.made()
	if err := g.sampler.advance(); err != nil {
		return nil, 0, 0, fmt.Errorf("generate: sample %d, level %d: %w", g.first, g.sampler.level, err)
	}
	d.made = g.sampler.made() - before
	done, total = g.progress()
	if !g.sampler.done() {
		return nil, done, total, nil
	}
	if rows, err = d.finishChunk(g); err != nil {
		return nil, 0, 0, fmt.Errorf("generate: %w", err)
	}
	if done == total {
		d.generation = nil
		return rows, done, total, nil
	}
	g.first += g.rows
	if err := d.startChunk(g); err != nil {
		return nil, 0, 0, fmt.Errorf("generate: %w", err)
	}
	return rows, done, total, nil
}

// finishChunk turns the sampler's vectors into transitions.
func (d *Diffusion) finishChunk(g *generation) ([]float32, error) {
	width, row := d.layout.width(), d.layout.row()
	if err := plan.Fetch(d.calls.device, g.sampler.chunk.x); err != nil {
		return nil, err
	}
	vector := make([]float32, width)
	var limits *normaliser
	if d.config.clamps() {
		limits = &d.serving.normaliser
	}
	count := min(g.rows, g.knobs.Samples-g.first)
	for i := range count {
		x := g.sampler.chunk.x.Data[i*width : (i+1)*width]
		if !finite(x) {
			return nil, notFinite("sampler", g.first+i)
		}
		out := g.out[i*row : (i+1)*row]
		d.serving.normaliser.coordinates.leave(vector, x)
		if limits != nil {
			clamp(vector)
		}
		d.serving.normaliser.restore(out[:width], vector)
		d.layout.finish(out, limits)
	}
	return g.out[:count*row], nil
}
