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

// The command line of a card makes the same configuration again.
func TestTheCommandLineOfACardMakesTheRunAgain(t *testing.T) {
	c, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*config.Config){
		"nothing":  func(*config.Config) {},
		"knobs":    func(c *config.Config) { c.Knobs.Ratio, c.Knobs.Relevance, c.Steps = 0.25, "td", 5000 },
		"schedule": func(c *config.Config) { c.Schedule = []string{"100:guidance=3!", "200:ratio=0.75"} },
	} {
		want := c
		want.Seed, want.Device = 3, "cpu"
		change(&want)
		from, differences, err := origin(want)
		if err != nil {
			t.Fatal(err)
		}
		line, ok := commandLine(want, from, differences)
		if !ok {
			t.Errorf("%s: there is no command line", name)
		}
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
	c.Agent.Hidden = []int{8}
	if from, differences, err := origin(c); err != nil {
		t.Error(err)
	} else if line, ok := commandLine(c, from, differences); ok {
		t.Errorf("no flag sets agent.hidden, but there is %s", line)
	}
}
