package report

import (
	"maps"
	"os"
	"path/filepath"
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
		line := commandLine("runs/a", want, from, differences)
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

// What a command needs that the settings do not say is in it: the random steps of a run on recorded data, the
// files of a task of files, and dream in place of train.
func TestACardsCommandIsWhole(t *testing.T) {
	c, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	data := config.Data{Files: []string{"/d.npz"}, SHA256: []string{"0"}, Rows: 9}
	for name, of := range map[string]struct {
		change        func(*config.Config)
		with, without string
	}{
		"data":  {func(c *config.Config) { c.Data = data }, " --data /d.npz --set start_steps=1000", "dream"},
		"files": {func(c *config.Config) { c.Task = "file:pole" }, " --task runs/a/task-pole.zip ", "file:pole"},
		"dream": {func(c *config.Config) {
			c.Data, c.Task, c.Steps, c.Agent.Learner = data, "data:d.npz", 1, config.LearnerNone
		}, "pgrlab dream /d.npz --once --preset demo --method ", "--task"},
	} {
		c := c
		of.change(&c)
		from, differences, err := origin(c)
		if err != nil {
			t.Fatal(err)
		}
		if line := commandLine("runs/a", c, from, differences); !strings.Contains(line, of.with) || strings.Contains(line, of.without) {
			t.Errorf("%s: %s", name, line)
		}
	}
}

// Only a folder with a card of this program is one whose files may go.
func TestWhichFoldersACardReplaces(t *testing.T) {
	for card, want := range map[string]struct{ replaces, refused bool }{"": {}, "# mine\n": {refused: true}, "# a\n\n" + ours + "\n": {replaces: true}} {
		dir := t.TempDir()
		if card != "" {
			if err := os.WriteFile(filepath.Join(dir, hubCard), []byte(card), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if replaces, err := replaceable(dir); replaces != want.replaces || (err != nil) != want.refused {
			t.Errorf("%q: replaces %v, %v", card, replaces, err)
		}
	}
}
