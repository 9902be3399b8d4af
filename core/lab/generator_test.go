package lab

import (
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/event"
	"pgrlab/core/generative"
)

// earlyGenerator ends its fits after a few steps, and notes what it generates.
type earlyGenerator struct {
	worldGenerator
	enough int
	made   *[][]float32
}

func (g *earlyGenerator) FitSteps(n int) (float64, bool, error) {
	if g.steps >= g.enough {
		panic("a fit that has ended was asked to go on")
	}
	loss, _, err := g.worldGenerator.FitSteps(min(n, g.enough-g.steps))
	return loss, g.steps == g.enough, err
}

func (g *earlyGenerator) GenerateSlice() ([]float32, int, int, error) {
	rows, done, total, err := g.worldGenerator.GenerateSlice()
	if len(rows) > 0 && g.made != nil {
		*g.made = append(*g.made, slices.Clone(rows))
	}
	return rows, done, total, err
}

// If the fit of one agent of a cohort ends early, the phase goes on until all fits have ended, and
// every line says how many steps its own fit had. The run goes on from every border.
func TestFitsMayEndEarly(t *testing.T) {
	begin := func(r record) *Lab {
		w := newWorld()
		c := w.config()
		c.Members = 2
		p := w.parts()
		p.Generator = func(_ agent.Policy, seed uint64) (generative.Generator, error) {
			return &earlyGenerator{worldGenerator: worldGenerator{w: w}, enough: map[uint64]int{c.Seed: 4, c.Seed + 1: 8}[seed]}, nil
		}
		l, err := newLab(c, w.task(), r, p, "cpu test, 2 threads", clock())
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := begin(&memoryFolder{})
	if err := l.x.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	fits := 0
	for _, e := range l.Events(0) {
		r, is := e.Body.(event.Refit)
		if !is {
			continue
		}
		fits++
		if want := 4 + 4*e.Member; r.Steps != want || r.Loss == nil {
			t.Errorf("agent %d: a fit of %d steps with loss %v, want %d steps", e.Member, r.Steps, r.Loss, want)
		}
	}
	l.Close()
	if fits < 4 {
		t.Errorf("%d fits", fits)
	}
	resumeEverywhere(t, 1, begin)
}

// With retain, D_syn holds the newest generations, the oldest of them first.
func TestGenerationsAreRetained(t *testing.T) {
	var made [][]float32
	begin := func(r record) *Lab {
		w := newWorld()
		c := w.config()
		c.Generator.Retain, c.Knobs.RefitEvery = 3, 11
		p := w.parts()
		p.Generator = func(agent.Policy, uint64) (generative.Generator, error) {
			return &earlyGenerator{worldGenerator: worldGenerator{w: w}, enough: c.Knobs.GeneratorSteps, made: &made}, nil
		}
		l, err := newLab(c, w.task(), r, p, "cpu test, 2 threads", clock())
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := begin(&memoryFolder{})
	if err := l.x.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(made) < 4 {
		t.Fatalf("%d generations", len(made))
	}
	var got []float32
	syn := l.x.first().Synthetic
	for _, slot := range syn.Oldest(0, syn.Len()) {
		got = append(got, syn.Row(slot)...)
	}
	if want := slices.Concat(made[len(made)-3:]...); !slices.Equal(got, want) {
		t.Errorf("D_syn holds %d numbers, want the %d of the last three generations", len(got), len(want))
	}
	l.Close()
	resumeEverywhere(t, 1, begin)
}
