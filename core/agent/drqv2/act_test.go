package drqv2

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/rng"
)

func act(t *testing.T, x *Agent, stacks [][][]byte, mode agent.Mode, step uint64) []float32 {
	t.Helper()
	a := &agent.Acting{Copies: len(stacks), Stacks: stacks, Actions: make([]float32, len(stacks)*x.config.Act), Episodes: make([]uint64, len(stacks)), Mode: mode, Step: step}
	if err := x.Act(a); err != nil {
		t.Fatal(err)
	}
	return a.Actions
}

// The action is the mean plus σ(t)·ε, clipped by nothing but the action's bounds; t counts the env
// steps made before.
func TestExploringAddsNoise(t *testing.T) {
	c := small()
	c.NoiseClip, c.NoiseSteps = 0, 10
	x := newAgent(t, c, newDevice(t, 1))
	stacks := newFilm(c, 60).stacks(c, 50) // more than one call acts on
	mean := act(t, x, stacks, agent.Mean, 1)
	if !slices.Equal(mean, act(t, x, stacks, agent.Sample, 7)) || !slices.Equal(mean, act(t, x, stacks, agent.Mean, 2)) {
		t.Error("the mean is another one at another step, or sampled")
	}
	bounds := 0
	for step, sigma := range map[uint64]float64{1: 1, 6: 0.55, 11: 0.1, 500: 0.1} {
		noise, got := make([]float32, len(mean)), act(t, x, stacks, agent.Explore, step)
		rng.New(1, "drqv2").Sub("act").FillNormal(noise, step, 0)
		for i := range got {
			want := float64(mean[i]) + sigma*float64(noise[i])
			if want > 1 || want < -1 {
				bounds++
				want = math.Copysign(1-1e-6, want)
			}
			if !(math.Abs(float64(got[i])-want) <= 1e-5) || got[i] >= 1 || got[i] <= -1 {
				t.Fatalf("env step %d: action %v around %v with noise %v, want %v", step, got[i], mean[i], noise[i], want)
			}
		}
	}
	if bounds == 0 {
		t.Error("no action met its bounds")
	}
}

// An action does not depend on the other copies.
func TestCopiesActAsOneDoes(t *testing.T) {
	c := small()
	x := newAgent(t, c, newDevice(t, 2))
	stacks := newFilm(c, 60).stacks(c, 37)
	all := act(t, x, stacks, agent.Mean, 1)
	for i, stack := range stacks {
		for j, v := range act(t, x, [][][]byte{stack}, agent.Mean, 1) {
			if !(math.Abs(float64(v-all[i*c.Act+j])) <= 1e-6) {
				t.Fatalf("copy %d does %v beside others, %v alone", i, all[i*c.Act+j], v)
			}
		}
	}
}

func TestActingOnWhatDoesNotFit(t *testing.T) {
	c := small()
	x := newAgent(t, c, newDevice(t, 1))
	stacks := newFilm(c, 5).stacks(c, 2)
	for name, a := range map[string]agent.Acting{
		"no stacks":        {Copies: 2, Actions: make([]float32, 4)},
		"few actions":      {Copies: 2, Stacks: stacks, Actions: make([]float32, 3)},
		"a memory":         {Copies: 2, Stacks: stacks, Actions: make([]float32, 4), State: make([]float32, 2)},
		"a stack too high": {Copies: 1, Stacks: [][][]byte{append(stacks[0], stacks[1]...)}, Actions: make([]float32, 2)},
	} {
		if x.Act(&a) == nil {
			t.Errorf("%s is let pass", name)
		}
	}
}

// The activations belong to the layers by which the policy acts.
func TestActivationsAreThePolicys(t *testing.T) {
	c := small()
	x := newAgent(t, c, newDevice(t, 1))
	stacks := newFilm(c, 60).stacks(c, 21)
	layers, err := x.Activations(agent.Looks{Rows: len(stacks), Stacks: stacks})
	if err != nil {
		t.Fatal(err)
	}
	if len(layers) != 3 || !layers[2].Output || layers[0].Post == nil || layers[2].Post != nil {
		t.Fatalf("layers %+v", layers)
	}
	mean := act(t, x, stacks, agent.Mean, 1)
	for i, v := range layers[2].Pre {
		if got := math.Tanh(float64(v)); !(math.Abs(got-float64(mean[i])) <= 1e-5) {
			t.Fatalf("number %d: the output layer says %v, the policy does %v", i, got, mean[i])
		}
	}
	for _, l := range layers[:2] {
		if l.Rows != 21 || len(l.Pre) != 21*8 {
			t.Fatalf("%s has %d rows of %d numbers", l.Name, l.Rows, len(l.Pre))
		}
		for i, v := range l.Post {
			if v != max(0, l.Pre[i]) {
				t.Fatalf("%s: %v after an activation of %v", l.Name, v, l.Pre[i])
			}
		}
	}
	if _, err := x.Activations(agent.Looks{}); err == nil {
		t.Error("layers of no stacks")
	}
}
