package generative

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/rng"
)

// gaussian is the exact denoiser of N(mean, deviation²): with it the sampler
// must produce that distribution.
type gaussian struct{ mean, deviation float64 }

func (g gaussian) Denoise(dst, x []float32, sigma float64) error {
	keep := g.deviation * g.deviation / (g.deviation*g.deviation + sigma*sigma)
	for i, v := range x {
		dst[i] = float32(g.mean + keep*(float64(v)-g.mean))
	}
	return nil
}

// counted counts the evaluations of a denoiser and remembers their σ.
type counted struct {
	Denoiser
	sigmas []float64
}

func (c *counted) Denoise(dst, x []float32, sigma float64) error {
	c.sigmas = append(c.sigmas, sigma)
	return c.Denoiser.Denoise(dst, x, sigma)
}

func sampleWith(t *testing.T, knobs GenKnobs, size int, predictor, corrector Denoiser) *sampler {
	t.Helper()
	s := newSampler(Default(), knobs, size)
	s.predictor, s.corrector = predictor, corrector
	stream := rng.New(5, "sampler test")
	s.noise = func(dst []float32, level int) { stream.FillNormal(dst, uint64(level+1), 0) }
	s.start()
	for n := 0; !s.done(); n++ {
		if s.made() != n {
			t.Fatalf("made %d evaluations, want %d", s.made(), n)
		}
		if err := s.advance(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func moments(x []float32) (mean, deviation float64) {
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	for _, v := range x {
		deviation += (float64(v) - mean) * (float64(v) - mean) / float64(len(x))
	}
	return mean, math.Sqrt(deviation)
}

func TestSamplerReproducesAGaussian(t *testing.T) {
	const n = 20_000
	for _, c := range []struct {
		steps     int
		churn     float64
		tolerance float64 // five standard errors, and the discretisation
	}{{32, 0, 0.012}, {128, 0, 0.01}, {128, 80, 0.015}} {
		t.Run(fmt.Sprint(c.steps, " levels, churn ", c.churn), func(t *testing.T) {
			s := sampleWith(t, GenKnobs{Steps: c.steps, SChurn: c.churn}, n, gaussian{0.5, 0.3}, gaussian{0.5, 0.3})
			mean, deviation := moments(s.x)
			near(t, "mean", mean, 0.5, c.tolerance)
			near(t, "deviation", deviation, 0.3, c.tolerance)
		})
	}
}

// A level costs two evaluations, the last one; the predictor sees σ̂, the
// corrector the next level.
func TestSamplerEvaluations(t *testing.T) {
	predictor, corrector := &counted{Denoiser: gaussian{0, 1}}, &counted{Denoiser: gaussian{0, 1}}
	s := sampleWith(t, GenKnobs{Steps: 128, SChurn: 80}, 4, predictor, corrector)
	if len(predictor.sigmas) != 128 || len(corrector.sigmas) != 127 || s.calls() != 255 {
		t.Fatalf("%d predictions and %d corrections of %d calls, want 128, 127 and 255", len(predictor.sigmas), len(corrector.sigmas), s.calls())
	}
	for i, sigma := range predictor.sigmas {
		near(t, "σ̂", sigma, s.levels[i]*(1+churn(s.config, s.levels[i], 80, 128)), 1e-12)
	}
	if !slices.Equal(corrector.sigmas, s.levels[1:128]) {
		t.Error("the corrector does not see the next levels")
	}
}

// One Heun step by hand: σ from 2 to 1 for x = 3 and D = x/2.
func TestHeunStepByHand(t *testing.T) {
	half := denoiserFunc(func(dst, x []float32, _ float64) error {
		for i, v := range x {
			dst[i] = v / 2
		}
		return nil
	})
	s := newSampler(Default(), GenKnobs{Steps: 2}, 1)
	s.levels = []float64{2, 1, 0}
	s.predictor, s.corrector = half, half
	s.x[0] = 3
	// d = (3−1.5)/2 = 0.75; Euler 3−0.75 = 2.25; d' = (2.25−1.125)/1 = 1.125;
	// x = 3 − (0.75+1.125)/2 = 2.0625; then the last Euler step lands on D = 1.03125.
	for _, want := range []float32{2.25, 2.0625, 1.03125} {
		if err := s.advance(); err != nil {
			t.Fatal(err)
		}
		if s.x[0] != want {
			t.Fatalf("x is %v, want %v", s.x[0], want)
		}
	}
	if !s.done() {
		t.Error("the sampler is not done after both levels")
	}
}

type denoiserFunc func(dst, x []float32, sigma float64) error

func (f denoiserFunc) Denoise(dst, x []float32, sigma float64) error { return f(dst, x, sigma) }

// twoEstimates answers 2 with a condition and 1 without, and counts.
type twoEstimates struct{ with, without, both int }

func (d *twoEstimates) With(dst, _ []float32, _ float64) error { d.with++; fill(dst, 2); return nil }
func (d *twoEstimates) Without(dst, _ []float32, _ float64) error {
	d.without++
	fill(dst, 1)
	return nil
}
func (d *twoEstimates) Both(with, without, _ []float32, _ float64) error {
	d.both++
	fill(with, 2)
	fill(without, 1)
	return nil
}

func TestGuidance(t *testing.T) {
	for _, c := range []struct {
		omega               float64
		predicts, corrects  float32 // the corrector "conditional"
		correctsFully       float32
		with, without, both int
	}{
		{0, 1, 1, 1, 0, 3, 0},
		{1, 2, 2, 2, 3, 0, 0},
		{2, 3, 2, 3, 1, 0, 2},
		{0.5, 1.5, 2, 1.5, 1, 0, 2},
	} {
		d := &twoEstimates{}
		for name, want := range map[string]struct {
			denoiser Denoiser
			estimate float32
		}{
			"predictor":             {Guided(d, c.omega), c.predicts},
			"corrector conditional": {corrector(d, CorrectorConditional, c.omega), c.corrects},
			"corrector full":        {corrector(d, CorrectorFull, c.omega), c.correctsFully},
		} {
			got := make([]float32, 3)
			if err := want.denoiser.Denoise(got, make([]float32, 3), 1); err != nil {
				t.Fatal(err)
			}
			if got[0] != want.estimate || got[2] != want.estimate {
				t.Errorf("ω = %g: the %s estimates %v, want %v", c.omega, name, got, want.estimate)
			}
		}
		if d.with != c.with || d.without != c.without || d.both != c.both {
			t.Errorf("ω = %g: %d conditional, %d unconditional, %d double evaluations; want %d %d %d", c.omega, d.with, d.without, d.both, c.with, c.without, c.both)
		}
	}
}
