package config

import (
	"strings"
	"testing"

	"pgrlab/core/relevance"
)

// A run that ends before the first round of its F, or of its bonus, is told so; one env step more is
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
		if c.Steps = 30; !strings.Contains(c.TooShort(), "after 30 env steps") {
			t.Errorf("30 steps: %q", c.TooShort())
		}
		if c.Steps = 31; c.TooShort() != "" {
			t.Errorf("31 steps: %q", c.TooShort())
		}
	}
	if c.Bonus.Function = "rnd"; c.TooShort() != "" {
		t.Errorf("without one that learns in rounds: %q", c.TooShort())
	}
}
