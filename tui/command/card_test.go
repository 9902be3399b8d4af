package command

import (
	"maps"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/presets"
)

func TestCard(t *testing.T) {
	t.Chdir(t.TempDir())
	folder(t, "runs/hand", "pgr-curiosity", 7, []float64{11, 99}, turned(1500, "ratio", 0.75, "driver"), turned(1600, "utd", 4.0, "schedule"),
		run.Line{Type: "note", Step: 1700, Member: run.NoMember, Body: map[string]any{"text": "now it hops"}},
		run.Line{Type: "done", Step: 2000, Member: run.NoMember, WallS: 83.4})
	status, stdout, stderr := command("card", "runs/hand")
	if status != StatusDone || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	for _, want := range []string{
		"# pgr-curiosity on cheetah-run, scale demo, seed 7: TOUCHED ×1\n",
		"--task cheetah-run --method pgr-curiosity --scale demo --seed 7 --schedule runs/hand\n",
		"| device and kernels | cpu go, 2 threads |", "| took | 1m23s |",
		"| 1500 | ratio | 0.5 | 0.75 | driver |", "- now it hops", "| 7 | 2 | 99.0 at 2,000 | 99.0 at 2,000 | 55.0 | – |",
		"paper 817 ± 36 at 100K; independent 411",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("it does not say %q:\n%s", want, stdout)
		}
	}
	for _, dir := range []string{"nowhere", "."} {
		if status, stdout, stderr := command("card", dir); status == StatusDone || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q, %q", dir, status, stdout, stderr)
		}
	}
}

// The command line of a card makes the same configuration again.
func TestTheCommandLineOfACardMakesTheRunAgain(t *testing.T) {
	c, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*lab.Config){
		"nothing":  func(*lab.Config) {},
		"knobs":    func(c *lab.Config) { c.Knobs.Ratio, c.Knobs.Relevance, c.Steps = 0.25, "td", 5000 },
		"schedule": func(c *lab.Config) { c.Schedule = []string{"100:guidance=3!", "200:ratio=0.75"} },
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
		var r runFlags
		train := &cobra.Command{}
		r.bind(train)
		if err := train.ParseFlags(strings.Fields(strings.ReplaceAll(line, "'", ""))[2:]); err != nil {
			t.Fatalf("%s: %s: %v", name, line, err)
		}
		got, _, err := r.configure(testDeps())
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
