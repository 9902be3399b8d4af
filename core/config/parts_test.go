package config

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/knob"
	"pgrlab/core/relevance"
)

// A run that ends before the first round of its F, or of its bonus, gets a warning; one env step more is
// enough.
func TestRunsThatEndBeforeTheFirstRound(t *testing.T) {
	eco := relevance.DefaultECO()
	eco.History = 120
	c := Config{Relevance: relevance.Configs{}.With("eco", eco)}
	c.Generator.Kind, c.Environment.Copies = GeneratorNone, 4
	for _, use := range []func(c *Config){
		func(c *Config) { c.Bonus.Function = "eco" },
		func(c *Config) { c.Knobs.Relevance = "eco" },
	} {
		c := c
		use(&c)
		if c.Steps = 120; len(c.TooShort()) != 1 || !strings.Contains(c.TooShort()[0], "after 120 steps") {
			t.Errorf("120 steps: %q", c.TooShort())
		}
		if c.Steps = 124; c.TooShort() != nil {
			t.Errorf("124 steps: %q", c.TooShort())
		}
	}
	if c.Bonus.Function, c.Steps = "rnd", 120; c.TooShort() != nil {
		t.Errorf("without one that learns in rounds: %q", c.TooShort())
	}
}

// A run that ends before its first update, or with its first refit, gets a warning for each.
func TestRunsThatEndBeforeTheyLearnOrGenerate(t *testing.T) {
	c := Config{StartSteps: 1000, Knobs: knob.Settings{RefitEvery: 2500}}
	c.Generator.Kind = "diffusion"
	for _, of := range []struct {
		steps int
		want  []string
	}{
		{1000, []string{
			"no update is made: the first 1,000 steps are random (start_steps), and the run has 1,000",
			"no synthetic row is learned from: the first refit is at step 2,500 (refit_every), and the run has 1,000",
		}},
		{2500, []string{"no synthetic row is learned from: the first refit is at step 2,500 (refit_every), and the run has 2,500"}},
		{2501, nil},
	} {
		if c.Steps = of.steps; !slices.Equal(c.TooShort(), of.want) {
			t.Errorf("%d steps: %q, want %q", of.steps, c.TooShort(), of.want)
		}
	}
	if c.Generator.Kind, c.Steps = GeneratorNone, 1001; c.TooShort() != nil {
		t.Errorf("without a generator: %q", c.TooShort())
	}
}
