package lab

import (
	"math"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
)

func TestConfigurationsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*config.Config){
		"":                                  func(c *config.Config) {},
		"members is 0, want at least 1":     func(c *config.Config) { c.Members = 0 },
		"agent.subset is 3 of 2 critics":    func(c *config.Config) { c.Agent.Subset = 3 },
		"it would never hold enough":        func(c *config.Config) { c.Buffer = 5 },
		`want "none"`:                       func(c *config.Config) { c.Generator.Conditional = false },
		"ratio: 2 is out of range":          func(c *config.Config) { c.Knobs.Ratio = 2 },
		"ratio 1 with hold=real":            func(c *config.Config) { c.Knobs.Ratio, c.Knobs.Hold = 1, knob.HoldReal },
		`generator.kind is "gan"`:           func(c *config.Config) { c.Generator.Kind = "gan" },
		"agent.gamma is NaN":                func(c *config.Config) { c.Agent.Gamma = math.NaN() },
		"curiosity.every is -1":             func(c *config.Config) { changeICM(c, func(i *relevance.ICMConfig) { i.Every = -1 }) },
		`schedule "20:guidence=1": unknown`: func(c *config.Config) { c.Schedule = []string{"20:guidence=1"} },
		`schedule "x"`:                      func(c *config.Config) { c.Schedule = []string{"x"} },
	} {
		c := newWorld().config()
		change(&c)
		err := c.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
