package replica

import (
	"math"
	"testing"

	"pgrlab/core/generative"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/tiny"
)

// F of the generator's own models is small where they have learned and large elsewhere, and falls there
// once data have come and the generator is fitted again. It never exceeds ln N.
func TestFOfTheModelsFallsWhereDataCame(t *testing.T) {
	const members = 5
	c := tiny.Config()
	c.Generator.Kind, c.Generator.Init, c.Generator.Batch, c.Knobs.Relevance = "ensemble", generative.InitScratch, 64, "ensemble"
	c.Generator.Kinds = generative.Kinds{"ensemble": generative.EnsembleConfig{
		Members: members, Elites: members, Width: 32, Layers: 2, Patience: 50, Target: generative.TargetDelta, TargetScale: generative.ScaleEach,
	}}
	p, err := NewParts(&c, tiny.Task(), tiny.Device(t))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Generator(nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	f, err := p.Relevance("ensemble", nil, nil, g, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer f.State.Close()
	left, right := curved(-1, 400, "left"), curved(1, 400, "right")
	fit := func(refit uint64, data ...*replay.Ring) (known, novel float64) {
		real := replay.NewRing(p.Shape, 800)
		for _, d := range data {
			for i := range d.Len() {
				real.AddFrom(d, i)
			}
		}
		if err := g.StartFit(real, nil, generative.FitKnobs{Steps: 400, LR: 3e-3}, refit); err != nil {
			t.Fatal(err)
		}
		for done := false; !done; {
			if _, done, err = g.FitSteps(50); err != nil {
				t.Fatal(err)
			}
		}
		mean := func(of *replay.Ring) (mean float64) {
			b, scores := replay.NewBatch(p.Shape, of.Len()), make([]float32, of.Len())
			of.GatherRange(b, 0, of.Len())
			if err := f.Score(scores, b, b.Size); err != nil {
				t.Fatal(err)
			}
			for _, u := range scores {
				if mean += float64(u) / float64(len(scores)); float64(u) > math.Log(members)+1e-4 {
					t.Fatalf("F is %v, more than ln %d", u, members)
				}
			}
			return mean
		}
		return mean(curved(-1, 300, "more of the left")), mean(curved(1, 300, "more of the right"))
	}
	if f.Known() {
		t.Error("F is known before the first fit")
	}
	known, novel := fit(1, left)
	after, came := fit(2, left, right)
	t.Logf("F of the known half %.4f, of the other %.4f; with data of both %.4f and %.4f", known, novel, after, came)
	if !f.Known() || novel < 5*known || came > novel/5 {
		t.Errorf("F of the known half %.4f, of the other %.4f; with data of both %.4f and %.4f", known, novel, after, came)
	}
}

// curved are transitions of one side of the origin, whose changes are curves of s and a with a little
// noise.
func curved(side float32, n int, name string) *replay.Ring {
	ring := replay.NewRing(replay.Shape{Obs: tiny.Obs, Act: tiny.Act}, n)
	for i := range n {
		r := rng.New(8, name).At(uint64(i))
		x, y, a := side*(0.1+r.Float32()), 2*r.Float32()-1, 2*r.Float32()-1
		next := []float32{x + 0.3*float32(math.Sin(3*float64(x))) + 0.2*a + float32(0.01*r.Norm()), y + 0.3*x*a + float32(0.01*r.Norm())}
		ring.Add(replay.Transition{Obs: []float32{x, y}, Act: []float32{a}, Reward: x, Next: next})
	}
	return ring
}
