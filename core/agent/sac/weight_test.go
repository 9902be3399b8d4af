package sac

import (
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/rng"
)

func weightedConfig() Config {
	c := small()
	c.Critics, c.Weighted = 3, true
	return c
}

// errors is |mean over critics of Q − y|.
func (r *sac64) errors(b batch64) (all []float64) {
	for i, s := range b.s {
		q := 0.0
		for _, net := range r.q {
			q += net.forward(join(s, b.a[i]))[0] / float64(len(r.q))
		}
		all = append(all, math.Abs(q-r.y[i]))
	}
	return all
}

// Importance weights change the critics' loss and leave the policy's and α's alone.
func TestWeightedUpdatesEqualTheReference(t *testing.T) {
	const size = 8
	s := newAgent(t, weightedConfig(), 3)
	r := sac64Of(s)
	live := agent.Rates{LRActor: 3e-3, LRCritic: 5e-3, Tau: 0.1}
	for step := range 3 {
		fill(t, s, size, uint64(step))
		batch, err := s.Batch(size)
		if err != nil {
			t.Fatal(err)
		}
		rng.New(1, "weights").FillUniform(batch.Weight, uint64(step), 0)
		b, reward, done := batchOf(t, s, size)
		r.weight = wide(batch.Weight)
		subset := subsetOf(s)
		got, _, err := s.Update(size, live, true)
		if err != nil {
			t.Fatal(err)
		}
		r.computeTarget(b, reward, done, subset)
		errors := r.errors(b) // with the critics before their step
		want := r.update(b, reward, done, subset, live, true)
		nearNumber(t, "critic loss", got.Critic, want.Critic, 1e-5)
		nearNumber(t, "actor loss", got.Actor, want.Actor, 1e-5)
		nearNumber(t, "α", got.AlphaValue, want.AlphaValue, 1e-6)
		checkAgainst(t, s, r, 1e-4)
		priorities := make([]float32, size)
		if err := s.Errors(priorities, size); err != nil {
			t.Fatal(err)
		}
		near(t, "errors", priorities, errors, 1e-4)
	}
	if err := s.Errors(make([]float32, 9), 9); err == nil {
		t.Error("errors of another batch size were given")
	}
	priorities := make([]float32, size)
	if n := testing.AllocsPerRun(20, func() {
		_, _, _ = s.Update(size, live, true)
		_ = s.Errors(priorities, size)
	}); n > 0 {
		t.Errorf("a weighted update allocates %v times", n)
	}
}

// With equal weights of 1 the numbers are those of the loss without weights, up to
// rounding.
func TestEqualWeightsChangeNothing(t *testing.T) {
	plain := weightedConfig()
	plain.Weighted = false
	a, b := newAgent(t, weightedConfig(), 1), newAgent(t, plain, 1)
	for i := range 5 {
		for _, s := range []*Agent{a, b} {
			fill(t, s, 8, uint64(i))
			batch, err := s.Batch(8)
			if err != nil {
				t.Fatal(err)
			}
			for i := range batch.Weight {
				batch.Weight[i] = 1
			}
			if _, _, err := s.Update(8, agent.DefaultRates, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	near(t, "parameters", flat(a.nets.state(), 0, 1), wide(flat(b.nets.state(), 0, 1)), 1e-6)
}
