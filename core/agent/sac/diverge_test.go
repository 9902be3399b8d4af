package sac

import (
	"errors"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// With a learning rate that is far too high, the agent keeps the weights of the last good update,
// and goes on once the numbers allow it.
func TestAnUpdateThatDivergesLeavesTheWeights(t *testing.T) {
	s := newAgent(t, small(), 3)
	fill(t, s, 8, 0)
	high := agent.Rates{LRActor: 3e-4, LRCritic: 1e20, Tau: 0.005}
	state := func() (all [][]float32) {
		for _, x := range append(append([]*op.Tensor{}, s.nets.critics.params()...), s.nets.target.params()...) {
			all = append(all, slices.Clone(x.Data))
		}
		return all
	}
	good := state()
	if _, _, err := s.Update(8, high, true); err != nil {
		t.Fatal(err)
	}
	before := state()
	_, _, err := s.Update(8, agent.DefaultRates, true)
	var where *plan.NotFinite
	if !errors.As(err, &where) {
		t.Fatalf("error %v, want one about a number that is not finite", err)
	}
	for i, x := range state() {
		if !slices.Equal(x, before[i]) {
			t.Fatal("weights were changed")
		}
	}
	if s.Updates() != 2 {
		t.Errorf("%d updates are counted, want 2", s.Updates())
	}
	for i, x := range append(append([]*op.Tensor{}, s.nets.critics.params()...), s.nets.target.params()...) {
		copy(x.Data, good[i])
	}
	if _, _, err := s.Update(8, agent.DefaultRates, true); err != nil {
		t.Errorf("with good weights again: %v", err)
	}
}
