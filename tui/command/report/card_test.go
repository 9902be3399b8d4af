package report

import (
	"maps"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"pgrlab/core/config"
	"pgrlab/presets"
	"pgrlab/tui/command/runflags"
	"pgrlab/tui/testing/commandtest"
)

// The command line on a card makes the same configuration again.
func TestTheCommandLineOfACardMakesTheRunAgain(t *testing.T) {
	c, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*config.Config){
		"nothing": func(*config.Config) {},
		"knobs":   func(c *config.Config) { c.Knobs.Ratio, c.Knobs.Relevance, c.Steps = 0.25, "td", 5000 },
		"keys": func(c *config.Config) {
			c.Generator.Width, c.Agent.Hidden, c.Generator.Activation, c.Bonus.Scale = 78, []int{8, 6}, "silu", "paper"
		},
		"lists":    func(c *config.Config) { c.Agent.Hidden, c.Buffer, c.Members = []int{8}, 50_000, 2 },
		"zeros":    func(c *config.Config) { c.Evaluation.Actions, c.Agent.InitialAlpha = "sample", 0 },
		"schedule": func(c *config.Config) { c.Schedule = []string{"100:guidance=3!", "200:ratio=0.75"} },
	} {
		want := c
		want.Seed, want.Device = 3, "cpu"
		change(&want)
		from, differences, err := origin(want)
		if err != nil {
			t.Fatal(err)
		}
		line := commandLine(want, from, differences)
		var r runflags.Flags
		train := &cobra.Command{}
		r.Bind(train)
		if err := train.ParseFlags(strings.Fields(strings.ReplaceAll(line, "'", ""))[2:]); err != nil {
			t.Fatalf("%s: %s: %v", name, line, err)
		}
		got, _, err := r.Configure(commandtest.Deps())
		if err != nil {
			t.Fatalf("%s: %s: %v", name, line, err)
		}
		a, errA := presets.Settings(want)
		b, errB := presets.Settings(got)
		if errA != nil || errB != nil || !maps.Equal(a, b) {
			t.Errorf("%s: %s makes\n%v\nnot\n%v", name, line, b, a)
		}
	}
}
