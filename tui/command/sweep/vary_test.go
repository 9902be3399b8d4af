package sweep

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/sweep"
	"pgrlab/presets"
	"pgrlab/tui/testing/commandtest"
)

// Every combination of values is a job for each seed, with the values in its configuration. A knob
// is not varied with a method that does not use it, and a line says so.
func TestEveryCombinationIsAJob(t *testing.T) {
	var said bytes.Buffer
	f := sweepFlags{
		tasks: []string{"cheetah-run"}, methods: []string{"sac", "pgr-curiosity"}, seeds: "0-1", scale: "demo", set: []string{"buffer=20k"},
		vary: []string{"ω=1,3", "agent.hidden=[32],[16,8]"}, device: "cpu", changed: func(string) bool { return false },
	}
	jobs, docs, err := f.expand(commandtest.Deps(), &said)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, j := range jobs {
		c, err := presets.Decode("job.toml", docs[i])
		if err != nil || j.Index != i || c.Seed != j.Seed || c.Buffer != 20_000 || c.Method != j.Method {
			t.Fatalf("%+v, %v: %+v", j, err, c)
		}
		if wide := strings.Contains(j.Variant, "[32]"); !slices.Equal(c.Agent.Hidden, map[bool][]int{true: {32}, false: {16, 8}}[wide]) {
			t.Errorf("%s has hidden layers %v", j.Name(), c.Agent.Hidden)
		}
		if three := strings.Contains(j.Variant, "guidance=3"); j.Method != "sac" && (c.Knobs.Guidance == 3) != three {
			t.Errorf("%s has guidance %v", j.Name(), c.Knobs.Guidance)
		}
		got = append(got, j.Name())
	}
	want := []string{
		"0000-cheetah-run-sac-s0-agent.hidden=32", "0001-cheetah-run-sac-s1-agent.hidden=32",
		"0002-cheetah-run-sac-s0-agent.hidden=16_8", "0003-cheetah-run-sac-s1-agent.hidden=16_8",
		"0004-cheetah-run-pgr-curiosity-s0-agent.hidden=32_guidance=1", "0005-cheetah-run-pgr-curiosity-s1-agent.hidden=32_guidance=1",
		"0006-cheetah-run-pgr-curiosity-s0-agent.hidden=32_guidance=3", "0007-cheetah-run-pgr-curiosity-s1-agent.hidden=32_guidance=3",
		"0008-cheetah-run-pgr-curiosity-s0-agent.hidden=16_8_guidance=1", "0009-cheetah-run-pgr-curiosity-s1-agent.hidden=16_8_guidance=1",
		"0010-cheetah-run-pgr-curiosity-s0-agent.hidden=16_8_guidance=3", "0011-cheetah-run-pgr-curiosity-s1-agent.hidden=16_8_guidance=3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("jobs:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if said.String() != "sac agent.hidden=[32] on cheetah-run has no use for guidance: not varied there\nsac agent.hidden=[16,8] on cheetah-run has no use for guidance: not varied there\n" {
		t.Errorf("said: %q", said.String())
	}
	dir := t.TempDir()
	for range 2 { // once made, once found again
		if _, err := sweep.Create(dir, jobs, docs); err != nil {
			t.Fatal(err)
		}
	}
	g, err := sweep.Open(dir)
	if err != nil || g.Version != 2 || !slices.Equal(g.Jobs, jobs) {
		t.Errorf("%+v, %v", g, err)
	}
	said.Reset()
	f.methods, f.vary = []string{"sac", "redq-curiosity"}, []string{"bonus=0.1,0.5", "bonus.function=none,curiosity"}
	if jobs, _, err = f.expand(commandtest.Deps(), &said); err != nil || len(jobs) != 2*2*(1+2) || strings.Count(said.String(), "bonus.function=none on cheetah-run has no use for bonus: not varied there\n") != 2 {
		t.Errorf("%d jobs, %v, said %q", len(jobs), err, said.String())
	}
	said.Reset()
	f.methods, f.vary = []string{"sac", "synther"}, []string{"generator.width=8,16", "guidance=1,3"}
	if jobs, _, err = f.expand(commandtest.Deps(), &said); err != nil || len(jobs) != 2*(1+2) ||
		!strings.HasPrefix(said.String(), "sac on cheetah-run has no use for generator.width and guidance: not varied there\n") {
		t.Errorf("%d jobs, %v, said %q", len(jobs), err, said.String())
	}
	f.methods, f.vary = []string{"synther"}, []string{"generator.vector=transition", "generator.head.kind=none,transition", "generator.head.lr=0.001,0.002"}
	if jobs, _, err = f.expand(commandtest.Deps(), &said); err != nil || len(jobs) != 2*(1+2) {
		t.Errorf("a key that one value of another has no use for: %d jobs, %v, said %q", len(jobs), err, said.String())
	}
	f.methods, f.vary = []string{"sac", "redq-curiosity"}, nil
	if jobs, docs, err = f.expand(commandtest.Deps(), &said); err != nil || len(jobs) != 4 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	if g, err := sweep.Create(t.TempDir(), jobs, docs); err != nil || g.Version != 1 {
		t.Errorf("a grid without variants: %+v, %v", g, err)
	}
}
