package generative

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// affine is the denoiser D(x; σ) = keep(σ)·x + give(σ): exact for a Gaussian.
type affine struct {
	keep, give func(sigma float64) float64
}

// gaussian is the exact denoiser of N(mean, deviation²); with it the sampler must produce that
// distribution.
func gaussian(mean, deviation float64) affine {
	keep := func(sigma float64) float64 { return deviation * deviation / (deviation*deviation + sigma*sigma) }
	return affine{keep, func(sigma float64) float64 { return mean * (1 - keep(sigma)) }}
}

// live is an affine denoiser in a graph, with coefficients that follow σ.
type live struct {
	affine
	k, b *op.Tensor
}

func (d live) Denoise(g *op.Graph, x *op.Node) *op.Node {
	return g.ColAdd(g.ColScale(x, g.Bind(d.k)), g.Bind(d.b))
}

// samplerOf prepares a sampler whose evaluations are compiled from a denoiser. sigmas receives the
// noise levels of the evaluations.
func samplerOf(t *testing.T, knobs GenKnobs, rows, width int, a affine, sigmas *[]float64) *sampler {
	t.Helper()
	memory := newChunk(rows, width, 0)
	s := newSampler(Default(), knobs, memory)
	s.noise = rng.New(5, "sampler test")
	d := live{a, op.NewTensor("keep", width), op.NewTensor("give", width)}
	s.at = func(_ int, sigma float64, _ place) {
		*sigmas = append(*sigmas, sigma)
		set(d.k, a.keep(sigma))
		set(d.b, a.give(sigma))
	}
	for p := range s.programs {
		var spec plan.Spec
		g, err := op.Build("step", func(g *op.Graph) { spec = memory.build(g, part(p), d, s.noise) })
		if err != nil {
			t.Fatal(err)
		}
		if s.programs[p], err = plan.Compile(g, spec, newDevice(t)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func sampleWith(t *testing.T, knobs GenKnobs, rows, width int, a affine) (s *sampler, sigmas []float64) {
	t.Helper()
	s = samplerOf(t, knobs, rows, width, a, &sigmas)
	s.start()
	for n := 0; !s.done(); n++ {
		if s.made() != n {
			t.Fatalf("made %d evaluations, want %d", s.made(), n)
		}
		if err := s.advance(); err != nil {
			t.Fatal(err)
		}
	}
	return s, sigmas
}

// heun is Algorithm 2 of Karras et al. 2022 again, number by number in plain Go; the programs are
// compared with it bit for bit.
func heun(s *sampler, a affine, size int) []float32 {
	x, hat, slope := make([]float32, size), make([]float32, size), make([]float32, size)
	s.noise.FillNormal(x, noiseOccasion(s.generation, -1), s.chunk.items.First)
	for i := range x {
		x[i] *= float32(s.levels[0])
	}
	denoise := func(v float32, sigma float64) float32 {
		kept := float32(a.keep(sigma)) * v
		return kept + float32(a.give(sigma))
	}
	for i, sigma := range s.levels[:len(s.levels)-1] {
		raised, next := sigma*(1+churn(s.config, sigma, s.sChurn, len(s.levels)-1)), s.levels[i+1]
		noise := make([]float32, size)
		if raised > sigma {
			s.noise.FillNormal(noise, noiseOccasion(s.generation, i), s.chunk.items.First)
		}
		for k, v := range x {
			added := float32(math.Sqrt(raised*raised-sigma*sigma)*s.config.SNoise) * noise[k]
			hat[k] = v + added
			slope[k] = (hat[k] - denoise(hat[k], raised)) * float32(1/raised)
			moved := float32(next-raised) * slope[k]
			x[k] = hat[k] + moved
			if next > 0 {
				end := (x[k] - denoise(x[k], next)) * float32(1/next)
				moved = float32((next-raised)/2) * (slope[k] + end)
				x[k] = hat[k] + moved
			}
		}
	}
	return x
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
	const rows, width = 2_000, 10
	for _, c := range []struct {
		steps     int
		churn     float64
		tolerance float64 // five standard errors and the discretisation error
	}{{32, 0, 0.012}, {128, 0, 0.01}, {128, 80, 0.015}} {
		t.Run(fmt.Sprint(c.steps, " levels, churn ", c.churn), func(t *testing.T) {
			s, _ := sampleWith(t, GenKnobs{Steps: c.steps, SChurn: c.churn}, rows, width, gaussian(0.5, 0.3))
			mean, deviation := moments(s.chunk.x.Data)
			near(t, "mean", mean, 0.5, c.tolerance)
			near(t, "deviation", deviation, 0.3, c.tolerance)
			if !slices.Equal(s.chunk.x.Data, heun(s, gaussian(0.5, 0.3), rows*width)) {
				t.Error("the programs' samples are not those of Algorithm 2 in plain Go")
			}
		})
	}
}

// The noise depends on the sample: a chunk that begins later continues where the previous one
// ended.
func TestChunksGoOn(t *testing.T) {
	knobs := GenKnobs{Steps: 8, SChurn: 80}
	whole, _ := sampleWith(t, knobs, 7, 3, gaussian(0, 1))
	var sigmas []float64
	s := samplerOf(t, knobs, 4, 3, gaussian(0, 1), &sigmas)
	s.chunk.begin(3)
	for s.start(); !s.done(); {
		if err := s.advance(); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(s.chunk.x.Data, whole.chunk.x.Data[9:]) {
		t.Error("samples 3 to 6 by themselves are not those of a chunk of seven")
	}
}

// A level costs two evaluations, and the last level one. The predictor evaluates at σ̂, the
// corrector at the next level.
func TestSamplerEvaluations(t *testing.T) {
	s, sigmas := sampleWith(t, GenKnobs{Steps: 128, SChurn: 80}, 2, 2, gaussian(0, 1))
	if len(sigmas) != 255 || s.calls() != 255 {
		t.Fatalf("%d evaluations of %d calls, want 255", len(sigmas), s.calls())
	}
	for i, sigma := range sigmas {
		want := s.levels[(i+1)/2]
		if i%2 == 0 {
			want *= 1 + churn(s.config, want, 80, 128)
		}
		near(t, "σ", sigma, want, 1e-12)
	}
	if !slices.Equal(sigmas, s.sigmas()) {
		t.Error("the sampler foretells other noise levels than it evaluates at")
	}
}

// The test makes one Heun step by hand: σ from 2 to 1 for x = 3 and D = x/2.
func TestHeunStepByHand(t *testing.T) {
	half := affine{func(float64) float64 { return 0.5 }, func(float64) float64 { return 0 }}
	var sigmas []float64
	s := samplerOf(t, GenKnobs{Steps: 2}, 1, 1, half, &sigmas)
	s.levels = []float64{2, 1, 0}
	s.chunk.x.Data[0] = 3
	// d = (3−1.5)/2 = 0.75; Euler 3−0.75 = 2.25; d' = (2.25−1.125)/1 = 1.125;
	// x = 3 − (0.75+1.125)/2 = 2.0625; then the last Euler step lands on D = 1.03125.
	for _, want := range []float32{2.25, 2.0625, 1.03125} {
		if err := s.advance(); err != nil {
			t.Fatal(err)
		}
		if s.chunk.x.Data[0] != want {
			t.Fatalf("x is %v, want %v", s.chunk.x.Data[0], want)
		}
	}
	if !s.done() {
		t.Error("the sampler is not done after both levels")
	}
}

// twoEstimates answers 2 with a condition and 1 without, and counts both.
type twoEstimates struct {
	one, two      *op.Tensor
	with, without int
}

func newTwoEstimates() *twoEstimates {
	d := &twoEstimates{one: op.NewTensor("one", 1, 1), two: op.NewTensor("two", 1, 1)}
	set(d.one, 1)
	set(d.two, 2)
	return d
}

func (d *twoEstimates) With(g *op.Graph, _ *op.Node) *op.Node {
	d.with++
	return g.Bind(d.two)
}

func (d *twoEstimates) Without(g *op.Graph, _ *op.Node) *op.Node {
	d.without++
	return g.Bind(d.one)
}

// mixed returns the estimate of a denoiser.
func mixed(d Denoiser) (float32, error) {
	dev, err := cpu.New(cpu.Options{Threads: 1})
	if err != nil {
		return 0, err
	}
	defer dev.Close()
	var out *op.Node
	g, err := op.Build("mixture", func(g *op.Graph) { out = g.Scale(d.Denoise(g, g.Input("x", 1, 1)), 1) })
	if err != nil {
		return 0, err
	}
	p, err := plan.Compile(g, plan.Spec{Outputs: []*op.Node{out}}, dev)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	err = p.Run(0)
	return p.Data(out)[0], err
}

func TestGuidance(t *testing.T) {
	for _, c := range []struct {
		omega              float64
		predicts, corrects float32 // the corrector "conditional", and "auto" at 32 levels
		correctsFully      float32 // "full", and "auto" at 31 levels
		with, without      int
	}{
		{0, 1, 1, 1, 0, 3},
		{1, 2, 2, 2, 3, 0},
		{2, 3, 2, 3, 3, 2},
		{0.5, 1.5, 2, 1.5, 3, 2},
	} {
		d, omega := newTwoEstimates(), op.NewTensor("ω", 1)
		set(omega, c.omega)
		estimates := func(what string, b blend, want float32) {
			got, err := mixed(b.of(d, omega))
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("ω = %g: the %s estimates %v, want %v", c.omega, what, got, want)
			}
		}
		at := func(corrector string, levels int) [2]blend {
			return Config{Conditional: true, Corrector: corrector}.blends(GenKnobs{Steps: levels, Guidance: c.omega})
		}
		estimates("predictor", at(CorrectorFull, 32)[prediction], c.predicts)
		estimates("corrector conditional", at(CorrectorConditional, 31)[correction], c.corrects)
		estimates("corrector full", at(CorrectorFull, 32)[correction], c.correctsFully)
		if at(CorrectorAuto, 31) != at(CorrectorFull, 31) || at(CorrectorAuto, 32) != at(CorrectorConditional, 32) {
			t.Errorf("ω = %g: auto is %v at 31 levels and %v at 32, want full and conditional", c.omega, at(CorrectorAuto, 31), at(CorrectorAuto, 32))
		}
		if d.with != c.with || d.without != c.without {
			t.Errorf("ω = %g: %d conditional, %d unconditional estimates; want %d %d", c.omega, d.with, d.without, c.with, c.without)
		}
	}
}

// ExampleGuided extrapolates from the unconditional estimate, 1, through the conditional one, 2.
func ExampleGuided() {
	omega := op.NewTensor("ω", 1)
	for _, strength := range []float64{0, 1, 2} {
		set(omega, strength)
		estimate, err := mixed(Guided(newTwoEstimates(), omega))
		if err != nil {
			panic(err)
		}
		fmt.Println(strength, estimate)
	}
	// Output:
	// 0 1
	// 1 2
	// 2 3
}
