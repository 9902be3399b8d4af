package ppo

import (
	"math"
	"pgrlab/core/experience"
	"testing"

	"pgrlab/core/agent"
)

// Chances returns the policy's probabilities for the first copy, however often it is called, and V
// in units of rewards. Acting in another mode changes neither.
func TestChancesAreThoseOfTheNewestAct(t *testing.T) {
	c := small()
	c.RewardScale = 0.25
	x := newAgent(t, c, newDevice(t, 1))
	if chances, v := x.Chances(); chances != nil || !math.IsNaN(v) {
		t.Fatalf("before any act: %v, V %g", chances, v)
	}
	s := newSession(x)
	for x.updates < 30 { // until the policy has a preference
		s.unit(t)
	}
	s.done, s.total = 0, 0
	acts := func(mode agent.Mode, copied int) []float32 {
		obs := make([]float32, c.Copies*c.Shape.Obs)
		for i := range c.Copies {
			s.context(obs[i*c.Shape.Obs:(i+1)*c.Shape.Obs], i+copied, 3)
		}
		a := agent.Acting{Copies: c.Copies, Obs: obs, Actions: make([]float32, c.Copies*c.Shape.Act), Episodes: make([]uint64, c.Copies), Step: 3, Mode: mode}
		if err := x.Act(&a); err != nil {
			t.Fatal(err)
		}
		return obs[:c.Shape.Obs]
	}
	first := acts(agent.Explore, 0)
	acts(agent.Sample, 1)
	acts(agent.Mean, 2)
	layers, err := x.Activations(agent.Looks{Rows: 1, Numbers: first})
	if err != nil {
		t.Fatal(err)
	}
	logits, sum := layers[len(layers)-1].Pre, 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l))
	}
	x.Chances() // which changes nothing
	chances, v := x.Chances()
	for i, l := range logits {
		if want := math.Exp(float64(l)) / sum; !(math.Abs(float64(chances[i])-want) <= 1e-6) {
			t.Errorf("action %d has a chance of %g, want %g", i, chances[i], want)
		}
	}
	var want [1]float32
	if err := x.value(func(int) experience.Look { return experience.Look{Numbers: first} }, nil, nil, want[:]); err != nil {
		t.Fatal(err)
	}
	if d := math.Abs(v - float64(want[0])/c.RewardScale); d > 1e-5*math.Abs(v) {
		t.Errorf("V is %g, want %g", v, float64(want[0])/c.RewardScale)
	}
}
