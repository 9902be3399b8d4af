package lab

import (
	"math"
	"strings"
	"testing"

	"pgrlab/core/knob"
	"pgrlab/core/relevance"
)

func TestConfigurationsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"":                                  func(c *Config) {},
		"members is 0, want at least 1":     func(c *Config) { c.Members = 0 },
		"agent.subset is 3 of 2 critics":    func(c *Config) { c.Agent.Subset = 3 },
		"it would never hold enough":        func(c *Config) { c.Buffer = 5 },
		`want "none"`:                       func(c *Config) { c.Generator.Conditional = false },
		"ratio: 2 is out of range":          func(c *Config) { c.Knobs.Ratio = 2 },
		"ratio 1 with hold=real":            func(c *Config) { c.Knobs.Ratio, c.Knobs.Hold = 1, knob.HoldReal },
		`generator.kind is "gan"`:           func(c *Config) { c.Generator.Kind = "gan" },
		"agent.gamma is NaN":                func(c *Config) { c.Agent.Gamma = math.NaN() },
		"curiosity.every is -1":             func(c *Config) { changeICM(c, func(i *relevance.ICMConfig) { i.Every = -1 }) },
		`schedule "20:guidence=1": unknown`: func(c *Config) { c.Schedule = []string{"20:guidence=1"} },
		`schedule "x"`:                      func(c *Config) { c.Schedule = []string{"x"} },
	} {
		c := newWorld().config()
		change(&c)
		err := c.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
