package generative

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

var _ = register(Spec{
	Kind: "resample", Doc: "control that repeats real transitions, those of high F if F is given, to show what generating adds",
	Source:   "our control; with F it is prioritized replay without a model",
	Settings: DefaultResample(),
	Check: func(c Config) error {
		if c.Init == InitPrevious {
			return fmt.Errorf("generator.init is %q, but a resample has no weights: want %q", c.Init, InitScratch)
		}
		return nil
	},
	New: func(d Deps) (Generator, error) {
		return NewResample(d.Config, d.Settings.(ResampleConfig), d.Shape, d.Seed)
	},
})

// ResampleConfig holds the settings of a Resample, the table generator.resample.
type ResampleConfig struct {
	Rows int `toml:"rows"` // most transitions that a fit keeps; it chooses randomly if there are more
}

// DefaultResample keeps all of D_real at the scales demo and short.
func DefaultResample() ResampleConfig { return ResampleConfig{Rows: 40_960} }

// Validate says in one line what is wrong, or returns nil.
func (c ResampleConfig) Validate() error {
	if c.Rows < 1 || c.Rows > 1<<24 {
		return fmt.Errorf("generator: resample.rows is %d, want 1 to %d", c.Rows, 1<<24)
	}
	return nil
}

// Memory covers the rows that serve, the rows of a fit, and pieces under way.
func (c ResampleConfig) Memory(shared Config, width int) float64 {
	return 4 * (2*float64(c.Rows)*float64(width+3) + 3*float64(shared.Chunk)*float64(width+1))
}

// Resample is the control for generators. Its D_syn holds real transitions, drawn with
// replacement from those of the last fit: uniformly or, if the fit had scores, among the
// most relevant share of them. The rows are what a perfect model of the data would make,
// and contain nothing new. So the difference to a diffusion shows what generating is
// worth, and the difference between the two ways of drawing shows what F is worth. A
// Resample uses the knobs Samples and TopFraction; there is no guidance.
type Resample struct {
	config ResampleConfig
	chunk  int
	width  int
	stream rng.Stream

	fit, serving *pool      // nil: none
	generation   *redrawing // nil: none under way
}

// pool is what a fit keeps: rows [n,width] and their scores, sorted by falling F; scores
// is nil for a fit without scores.
type pool struct {
	rows   []float32
	scores []float32
}

// redrawing is a generation under way.
type redrawing struct {
	from     *pool
	stream   rng.Stream
	knobs    GenKnobs
	occasion uint64
	first    int // samples made
	out      []float32
}

// NewResample returns a Resample of transitions of that shape.
func NewResample(c Config, own ResampleConfig, shape replay.Shape, seed uint64) (*Resample, error) {
	if err := errors.Join(c.Validate(), own.Validate()); err != nil {
		return nil, err
	}
	if err := shape.Validate(); err != nil {
		return nil, fmt.Errorf("generator: %w", err)
	}
	return &Resample{config: own, chunk: c.Chunk, width: shape.Width(), stream: rng.New(seed, "resample")}, nil
}

// StartFit chooses and keeps rows. It uses none of the knobs.
func (g *Resample) StartFit(real Rows, scores []float32, _ FitKnobs, refit uint64) error {
	switch n := real.Len(); {
	case g.fit != nil || g.generation != nil:
		return fmt.Errorf("fit: %w", errBusy)
	case n == 0:
		return errors.New("fit: there are no transitions")
	case scores != nil && len(scores) != n:
		return fmt.Errorf("fit: %d scores for %d transitions", len(scores), n)
	default:
		if scores != nil {
			if _, _, err := extremes(scores, ConditionFilled); err != nil {
				return fmt.Errorf("fit: %w", err)
			}
		}
		from := g.stream.Sub("kept").At(refit)
		g.fit = keep(real, scores, chosen(n, g.config.Rows, from.IntN))
		return nil
	}
}

// chosen returns the indices of min(n, most) of n rows in rising order, each with equal
// probability (Knuth 1997, algorithm S).
func chosen(n, most int, intN func(int) int) []int {
	kept := make([]int, 0, min(n, most))
	for i := range n {
		if left := min(n, most) - len(kept); left > 0 && intN(n-i) < left {
			kept = append(kept, i)
		}
	}
	return kept
}

func keep(real Rows, scores []float32, which []int) *pool {
	p := &pool{}
	if scores != nil {
		slices.SortStableFunc(which, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	}
	for _, i := range which {
		p.rows = append(p.rows, real.Row(i)...)
		if scores != nil {
			p.scores = append(p.scores, scores[i])
		}
	}
	return p
}

// FitSteps completes the fit: there is nothing to learn.
func (g *Resample) FitSteps(int) (loss float64, done bool, err error) {
	if g.fit == nil {
		return 0, false, errors.New("fit: none is under way")
	}
	g.serving, g.fit = g.fit, nil
	return 0, true, nil
}

// StartGenerate begins to draw from the rows of the last complete fit.
func (g *Resample) StartGenerate(knobs GenKnobs, occasion uint64) error {
	if g.fit != nil || g.generation != nil {
		return fmt.Errorf("generate: %w", errBusy)
	}
	made, err := g.redraw(knobs, occasion, g.stream)
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	g.generation = made
	return nil
}

func (g *Resample) redraw(knobs GenKnobs, occasion uint64, s rng.Stream) (*redrawing, error) {
	if g.serving == nil {
		return nil, errors.New("no fit is complete yet")
	}
	if err := knobs.validate(); err != nil {
		return nil, err
	}
	return &redrawing{from: g.serving, stream: s.Sub("drawn"), knobs: knobs, occasion: occasion}, nil
}

// GenerateSlice draws as many rows as a call of a network would make.
func (g *Resample) GenerateSlice() (rows []float32, done, total int, err error) {
	if g.generation == nil {
		return nil, 0, 0, errors.New("generate: none is under way")
	}
	rows, done, total = g.generation.slice(g.chunk, g.width)
	if done == total {
		g.generation = nil
	}
	return rows, done, total, nil
}

func (r *redrawing) slice(chunk, width int) (rows []float32, done, total int) {
	last := min(r.first+chunk, r.knobs.Samples)
	r.out = r.out[:0]
	for i := r.first; i < last; i++ {
		row := r.from.draw(r.knobs.TopFraction, width, r.stream, r.occasion, i)
		r.out = append(r.out, r.from.rows[row*width:(row+1)*width]...)
	}
	r.first = last
	return r.out, (last + chunk - 1) / chunk, (r.knobs.Samples + chunk - 1) / chunk
}

// draw returns the row that becomes sample i. The random numbers belong to the sample, not
// to a piece.
func (p *pool) draw(fraction float64, width int, s rng.Stream, generation uint64, i int) int {
	n := len(p.rows) / width
	if p.scores != nil {
		n = max(1, int(fraction*float64(n)))
	}
	return s.At(occasion(generation, i)).IntN(n)
}

// Cancel abandons the fit or the generation under way. The rows of the last complete fit stay.
func (g *Resample) Cancel() { g.fit, g.generation = nil, nil }

// PromptScores returns F of the rows that the first n samples of a generation repeat, nil
// without scores.
func (g *Resample) PromptScores(knobs GenKnobs, occasion uint64, n int) []float32 {
	if g.serving == nil || g.serving.scores == nil {
		return nil
	}
	out, drawn := make([]float32, n), g.stream.Sub("drawn")
	for i := range out {
		out[i] = g.serving.scores[g.serving.draw(knobs.TopFraction, g.width, drawn, occasion, i)]
	}
	return out
}

// Sketch draws rows beside a fit or a generation under way.
func (g *Resample) Sketch(knobs GenKnobs, occasion uint64) (next func() ([]float32, int, int, error), err error) {
	made, err := g.redraw(knobs, occasion, g.stream.Sub("sketch"))
	if err != nil {
		return nil, fmt.Errorf("sketch: %w", err)
	}
	return func() ([]float32, int, int, error) {
		if g.serving != made.from {
			return nil, 0, 0, errors.New("sketch: a fit has been completed since it began")
		}
		rows, done, total := made.slice(g.chunk, g.width)
		return rows, done, total, nil
	}, nil
}

// Close does nothing.
func (g *Resample) Close() error { return nil }
