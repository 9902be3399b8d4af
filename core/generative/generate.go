package generative

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// generation is a generation under way: one chunk of samples after the other.
type generation struct {
	knobs    GenKnobs
	occasion uint64
	prompts  []float32 // the conditions to draw from; nil: without condition

	first   int // samples in finished chunks
	rows    int // samples of a chunk; the last chunk may not need all of its own
	sampler *sampler
	chunk   *prompted
	out     []float32
}

// progress counts network calls.
func (g *generation) progress() (done, total int) {
	per := g.sampler.calls()
	chunks := (g.knobs.Samples + g.rows - 1) / g.rows
	return g.first/g.rows*per + g.sampler.made(), chunks * per
}

// StartGenerate begins a generation with the network of the last complete fit.
// occasion numbers the generation within the run: the same number draws the same
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
	d.generation = d.newGeneration(knobs, occasion)
	d.startChunk(d.generation)
	return nil
}

// newGeneration allocates a generation; its first chunk has not begun.
func (d *Diffusion) newGeneration(knobs GenKnobs, occasion uint64) *generation {
	g := &generation{knobs: knobs, occasion: occasion, rows: min(d.config.Chunk, knobs.Samples)}
	if d.serving.conditions != nil {
		g.prompts = prompts(d.serving.conditions, knobs.TopFraction)
	}
	g.sampler = newSampler(d.config, knobs, g.rows*d.layout.width())
	g.chunk = &prompted{calls: d.calls, coordinates: d.serving.normaliser.coordinates, prompts: make([]float32, g.rows)}
	d.calls.frame.set(d.serving.normaliser.coordinates)
	omega := knobs.Guidance
	if g.prompts == nil {
		omega = 0
	}
	g.sampler.predictor = Guided(g.chunk, omega)
	g.sampler.corrector = corrector(g.chunk, d.config.Corrector, omega)
	noise := d.stream.Sub("sampler noise")
	g.sampler.noise = func(dst []float32, level int) {
		noise.FillNormal(dst, noiseOccasion(occasion, level), uint64(g.first*d.layout.width()))
	}
	g.out = make([]float32, g.rows*d.layout.row())
	d.calls.keep(g.rows)
	return g
}

// noiseOccasion indexes the noise of one level; level −1 is the start.
func noiseOccasion(generation uint64, level int) uint64 { return occasion(generation, level+1) }

// clampsEstimates says whether every estimate is kept within [-1,1].
func (c Config) clampsEstimates() bool {
	return c.Normaliser == NormaliserMinMax && (c.Clamp == ClampAuto || c.Clamp == "")
}

// clampsSamples says whether finished samples and their actions are.
func (c Config) clampsSamples() bool {
	return c.Normaliser == NormaliserMinMax && c.Clamp != ClampNone
}

// startChunk draws the prompts and the initial noise of the next chunk. Both
// belong to the sample, not to the chunk.
func (d *Diffusion) startChunk(g *generation) {
	d.drawPrompts(g)
	g.sampler.start()
}

func (d *Diffusion) drawPrompts(g *generation) {
	if g.prompts == nil {
		return
	}
	s := d.promptStream()
	for i := range g.chunk.prompts {
		g.chunk.prompts[i] = prompt(g.prompts, s, g.occasion, g.first+i)
	}
}

func (d *Diffusion) promptStream() rng.Stream { return d.stream.Sub("prompts") }

// GenerateSlice makes one network call. It returns the transitions that this call
// finished, as rows of the replay buffer [s, a, r, s', d] that are valid until the
// next call, and the number of calls made and needed; the generation is complete
// when they are equal. Where the network's estimate is not finite the error wraps
// a *plan.NotFinite, and the generation had better be cancelled.
func (d *Diffusion) GenerateSlice() (rows []float32, done, total int, err error) {
	g := d.generation
	if g == nil {
		return nil, 0, 0, errors.New("generate: no generation is under way")
	}
	if err := g.sampler.advance(); err != nil {
		return nil, 0, 0, fmt.Errorf("generate: sample %d, level %d: %w", g.first, g.sampler.level, err)
	}
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
	d.startChunk(g)
	return rows, done, total, nil
}

// finishChunk turns the sampler's vectors into transitions.
func (d *Diffusion) finishChunk(g *generation) ([]float32, error) {
	width, row := d.layout.width(), d.layout.row()
	vector := make([]float32, width)
	count := min(g.rows, g.knobs.Samples-g.first)
	for i := range count {
		x := g.sampler.x[i*width : (i+1)*width]
		if !finite(x) {
			return nil, &plan.NotFinite{Program: "sampler", Step: -1, Op: "input", Tensor: fmt.Sprintf("transition %d", g.first+i), Value: math.NaN()}
		}
		out := g.out[i*row : (i+1)*row]
		d.serving.normaliser.coordinates.leave(vector, x)
		if d.config.clampsSamples() {
			clamp(vector)
		}
		d.serving.normaliser.restore(out[:width], vector)
		d.layout.finish(out, d.config.clampsSamples())
	}
	return g.out[:count*row], nil
}
