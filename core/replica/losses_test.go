package replica

import (
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/relevance"
)

// What was measured without an update has a line too: nothing is lost by taking it.
func TestMeasurementsWithoutUpdates(t *testing.T) {
	var s LossSums
	if l, some := s.take(); some {
		t.Errorf("nothing was measured: %+v", l)
	}
	s.Bonus.add(2)
	if l, some := s.take(); !some || l.Bonus == nil || *l.Bonus != 2 || l.Critic != nil {
		t.Errorf("a bonus: %v, %+v", some, l)
	}
	s.addFamiliarity(relevance.Familiarity{Entries: 3, P90: 0.5})
	if l, some := s.take(); !some || l.Episodes == nil || *l.Episodes.P90 != 0.5 {
		t.Errorf("episodes: %v, %+v", some, l)
	}
	if l, some := s.take(); some {
		t.Errorf("all was taken: %+v", l)
	}
}

// What no update computed is missing, never zero.
func TestLossesThatNoUpdateComputes(t *testing.T) {
	var s LossSums
	losses := agent.NoLosses()
	losses.Critic = 2
	s.add(losses, false)
	if l, _ := s.take(); *l.Critic != 2 || l.Actor != nil || l.Alpha != nil || l.QMean != nil || l.Entropy != nil || l.Noise != nil {
		t.Errorf("%+v", l)
	}
	losses.Noise = 0.5
	s.add(losses, false)
	if l, _ := s.take(); l.Noise == nil || *l.Noise != 0.5 || s.Last().Noise != 0.5 {
		t.Errorf("noise: %+v", l)
	}
}

// The latest losses name the function that learned last; before one has there is no such loss.
func TestLatestLossOfAFunction(t *testing.T) {
	var s LossSums
	s.add(agent.Losses{}, true)
	if l := s.Last(); !math.IsNaN(l.Model) || l.Function != "" {
		t.Errorf("before any has learned: %+v", l)
	}
	s.addModel("curiosity", 2)
	s.addModel("rnd", 3)
	if l := s.Last(); l.Model != 3 || l.Function != "rnd" {
		t.Errorf("%+v", l)
	}
}
