package config

import (
	"strings"
	"testing"

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
		if c.Steps = 120; !strings.Contains(c.TooShort(), "after 120 steps") {
			t.Errorf("120 steps: %q", c.TooShort())
		}
		if c.Steps = 124; c.TooShort() != "" {
			t.Errorf("124 steps: %q", c.TooShort())
		}
	}
	if c.Bonus.Function = "rnd"; c.TooShort() != "" {
		t.Errorf("without one that learns in rounds: %q", c.TooShort())
	}
}
