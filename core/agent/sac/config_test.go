package sac

import (
	"math"
	"slices"
	"testing"
)

func TestConfigsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no observations":      func(c *Config) { c.Obs = 0 },
		"no layers":            func(c *Config) { c.Hidden = nil },
		"an empty layer":       func(c *Config) { c.Hidden = []int{16, 0} },
		"no critics":           func(c *Config) { c.Critics = 0 },
		"a subset above":       func(c *Config) { c.Subset = 3 },
		"gamma of one":         func(c *Config) { c.Gamma = 1 },
		"gamma not a number":   func(c *Config) { c.Gamma = math.NaN() },
		"no delay":             func(c *Config) { c.PolicyDelay = 0 },
		"a negative α":         func(c *Config) { c.InitialAlpha = -1 },
		"unknown policy_q":     func(c *Config) { c.PolicyQ = "max" },
		"unknown exploration":  func(c *Config) { c.Exploration = "luck" },
		"noise without a size": func(c *Config) { c.Exploration = ExploreNoisy },
		"one candidate":        func(c *Config) { c.Exploration, c.Candidates = ExploreBootstrap, 1 },
		"one head":             func(c *Config) { c.Exploration, c.Candidates, c.Critics, c.Subset = ExploreBootstrap, 10, 1, 1 },
	} {
		c := DefaultConfig(3, 1)
		change(&c)
		if _, err := New(c, nil, 1); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := DefaultConfig(3, 1).Validate(); err != nil {
		t.Errorf("the default is refused: %v", err)
	}
}

func TestHeadsAreInitialisedSeparately(t *testing.T) {
	c := DefaultConfig(4, 20)
	c.Hidden = []int{20}
	s := newAgent(t, c, 9)
	head := s.nets.policy.Layers[1]
	bound := math.Sqrt(6.0 / (20 + 20)) // one layer of 40 outputs would have √(6/60)
	largest := [2]float64{}
	for i, w := range head.W.Data {
		half := i % 40 / 20
		largest[half] = math.Max(largest[half], math.Abs(float64(w)))
	}
	for h, l := range largest {
		if l > bound || l < 0.95*bound {
			t.Errorf("head %d: largest weight %v, want just under %v", h, l, bound)
		}
	}
	for _, b := range head.B.Data {
		if b != 0 {
			t.Error("a bias is not zero")
		}
	}
	nets := s.nets
	if !slices.Equal(flat(nets.critics.params(), 0, 1), flat(nets.target.params(), 0, 1)) {
		t.Error("targets do not start as copies of the critics")
	}
	if slices.Equal(flat(nets.critics.params(), 0, 2), flat(nets.critics.params(), 1, 2)) {
		t.Error("two critics start with the same weights")
	}
}
