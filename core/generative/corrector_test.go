package generative

import (
	"math"
	"testing"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// labelled is the exact denoiser of a mixture of two Gaussians in two dimensions: label 1, a third of
// all, around (m, m), and label 0 around (−m, −m), with the same deviation. What is asked for is
// label 1. With k = deviation²/(deviation²+σ²),
//
//	D_c = m + k(x − m),  D_∅ = p D_c + (1−p)(−m + k(x + m))
//
// where p is the probability of label 1 given the noisy x.
type labelled struct {
	mean, deviation float64
	k, to, away     *op.Tensor // [2], k and m(1−k) and −m(1−k)
	logit, prior    *op.Tensor // of label 1
}

func newLabelled(mean, deviation float64) labelled {
	l := labelled{mean, deviation, op.NewTensor("k", 2), op.NewTensor("to", 2), op.NewTensor("away", 2), op.NewTensor("logit", 2, 2), op.NewTensor("prior", 2)}
	set(l.prior, math.Log(0.5))
	return l
}

// at sets the noise level.
func (l labelled) at(sigma float64) {
	variance := l.deviation*l.deviation + sigma*sigma
	k := l.deviation * l.deviation / variance
	set(l.k, k)
	set(l.to, l.mean*(1-k))
	set(l.away, -l.mean*(1-k))
	set(l.logit, 2*l.mean/variance)
}

func (l labelled) With(g *op.Graph, x *op.Node) *op.Node {
	return g.ColAdd(g.ColScale(x, g.Bind(l.k)), g.Bind(l.to))
}

func (l labelled) Without(g *op.Graph, x *op.Node) *op.Node {
	kept := g.ColScale(x, g.Bind(l.k))
	one, other := g.ColAdd(kept, g.Bind(l.to)), g.ColAdd(kept, g.Bind(l.away))
	p := g.Sigmoid(g.Linear(x, g.Bind(l.logit), g.Bind(l.prior))) // the same in both columns
	return g.Add(other, g.Mul(p, g.Sub(one, other)))
}

// share generates with the exact denoiser, as Config and knobs say, and returns the mean probability
// of label 1 among the samples.
func (l labelled) share(t *testing.T, c Config, knobs GenKnobs) (share float64) {
	t.Helper()
	const rows = 2000
	memory := newChunk(rows, 2, 0)
	set(memory.omega, knobs.Guidance)
	s := newSampler(c, knobs, memory)
	s.noise, s.at = rng.New(5, "corrector test"), func(_ int, sigma float64, _ place) { l.at(sigma) }
	for p, mixing := range c.blends(knobs) {
		var spec plan.Spec
		g, err := op.Build("step", func(g *op.Graph) { spec = memory.build(g, part(p), mixing.of(l, memory.omega), s.noise) })
		if err != nil {
			t.Fatal(err)
		}
		if s.programs[p], err = plan.Compile(g, spec, newDevice(t)); err != nil {
			t.Fatal(err)
		}
		defer s.programs[p].Close()
	}
	for s.start(); !s.done(); {
		if err := s.advance(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range rows {
		x := memory.x.Data[2*i:]
		share += 1 / (1 + 2*math.Exp(-2*l.mean*float64(x[0]+x[1])/(l.deviation*l.deviation))) / rows
	}
	return share
}

// shares are the shares at several strengths.
func (l labelled) shares(t *testing.T, c Config, levels int, omegas ...float64) (all []float64) {
	t.Helper()
	for _, omega := range omegas {
		all = append(all, l.share(t, c, GenKnobs{Steps: levels, Guidance: omega}))
	}
	t.Logf("%d levels, corrector %s: share of the label at ω = %g: %.3f", levels, c.Corrector, omegas, all)
	return all
}

// The denoiser is exact, so that only the sampler is tested. A stronger ω gives more of what is asked
// for, and below 32 levels no less than at 32, where the corrector is that of the released code. With
// many levels the shares are 0.338 at ω = 0 and 0.836 at ω = 1.
func TestGuidanceActsAtAnyNumberOfLevels(t *testing.T) {
	c, l := Default(), newLabelled(0.25, 0.25)
	c.Corrector, c.SigmaMax = CorrectorAuto, 20
	omegas := []float64{0, 1, 1.5, 2, 3}
	at32 := l.shares(t, c, 32, omegas...)
	for _, levels := range []int{64, 32, 31, 16, LeastGuided} {
		shares := l.shares(t, c, levels, omegas...)
		for i := 1; i < len(shares); i++ {
			if !(shares[i] > shares[i-1]+0.005) {
				t.Errorf("%d levels: ω = %g has a share of %.3f, ω = %g %.3f: want more", levels, omegas[i], shares[i], omegas[i-1], shares[i-1])
			}
		}
		if levels < 32 && !(shares[3] > at32[3]) {
			t.Errorf("%d levels: ω = 2 has a share of %.3f, want more than at 32 levels, %.3f", levels, shares[3], at32[3])
		}
	}
}

// Below LeastGuided a stronger ω may lead away from what is asked for, whatever the corrector; from
// there on it does not if every estimate is guided. With the released corrector ω has no effect there.
func TestFewLevelsCannotBeGuided(t *testing.T) {
	c, l := Default(), newLabelled(0.25, 0.25)
	for _, c.SigmaMax = range []float64{20, 80} {
		c.Corrector = CorrectorFull
		for _, levels := range []int{4, 5} {
			if shares := l.shares(t, c, levels, 2, 5); shares[1] > shares[0] {
				t.Errorf("%d levels: guidance acts: %.3f", levels, shares)
			}
		}
		if shares := l.shares(t, c, LeastGuided, 1, 2, 5); !(shares[1] > shares[0]+0.03 && shares[2] > shares[1]+0.03) {
			t.Errorf("%d levels: guidance does not act: %.3f", LeastGuided, shares)
		}
		c.Corrector = CorrectorConditional
		if shares := l.shares(t, c, LeastGuided, 1, 3); shares[1] > shares[0]+0.03 {
			t.Errorf("%d levels: an unguided corrector leaves guidance: %.3f", LeastGuided, shares)
		}
	}
}

// A generation takes so many estimates for each transition.
func TestEstimatesOfATransition(t *testing.T) {
	for _, e := range []struct {
		corrector     string
		levels        int
		omega         float64
		unconditional bool
		want          int
	}{
		{CorrectorConditional, 16, 2, false, 2*16 + 15}, {CorrectorFull, 16, 2, false, 4*16 - 2}, {CorrectorAuto, 31, 2, false, 4*31 - 2},
		{CorrectorAuto, 32, 2, false, 2*32 + 31}, {CorrectorAuto, 16, 1, false, 31}, {CorrectorAuto, 16, 0, false, 31}, {CorrectorAuto, 16, 2, true, 31},
	} {
		c := Config{Conditional: !e.unconditional, Corrector: e.corrector}
		if got := c.Estimates(GenKnobs{Steps: e.levels, Guidance: e.omega}); got != e.want {
			t.Errorf("%+v: %d estimates", e, got)
		}
	}
}
