package offline_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/inspect"
	"pgrlab/core/offline"
	"pgrlab/core/run"
	"pgrlab/core/testing/tiny"
	"pgrlab/core/whatif"
)

// Another generator is asked for with the knobs that were in force at the checkpoint, not those with
// which the run began, except for those that are set.
func TestAnotherGeneratorHasTheKnobsOfTheCheckpoint(t *testing.T) {
	dev := tiny.Device(t)
	c := tiny.Config()
	c.Schedule = []string{"10:relevance=rnd", "12:top_fraction=0.5", "12:guidance=3", "12:generator_steps=6"}
	saved, task := savedOf(t, c, dev)
	other := offline.OtherGenerator{Generator: c.Generator, Set: map[string]string{"sampler_steps": "2"}}
	p := smallWhatIf()
	p.Repeats = 1
	table, _, err := offline.WhatIf(t.Context(), saved, task, dev, offline.WhatIfRequest{Plan: p, Other: &other, Progress: func(whatif.Progress) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if p := table.Plan; !slices.Equal(p.Relevance, []string{"rnd"}) || !slices.Contains(p.Guidance, 3) || !slices.Equal(p.TopFraction, []float64{0.5}) || p.Sampling.Steps != 2 {
		t.Errorf("%+v", p)
	}
	for text, want := range map[string]int{"": 6, "5": 5} {
		if other.Set = nil; text != "" {
			other.Set = map[string]string{"generator_steps": text}
		}
		r := offline.RefitRequest{OtherGenerator: other, OfflineRefit: inspect.OfflineRefit{Guidances: []float64{0}, Rows: 20, HeldOut: 0.25}}
		found, err := refitted(t, t.Context(), []offline.Run{saved}, task, r)
		if err != nil {
			t.Fatal(err)
		}
		if found[0].Steps != want || found[0].Relevance != "rnd" {
			t.Errorf("%d steps with relevance %s, want %d with rnd", found[0].Steps, found[0].Relevance, want)
		}
	}
}

// Whether the agent learns from a bonus is decided at the checkpoint.
func TestWhatIfOfABonusThatChanged(t *testing.T) {
	dev := tiny.Device(t)
	for _, change := range []struct {
		from float64
		to   string
		want string
	}{{0, "12:bonus=0.1", "learns from a bonus"}, {0.1, "12:bonus=0", ""}} {
		c := tiny.Config()
		c.Bonus.Function, c.Bonus.Scale, c.Knobs.Bonus, c.Schedule = "curiosity", "paper", change.from, []string{change.to}
		saved, task := savedOf(t, c, dev)
		p := smallWhatIf()
		p.Repeats, p.Guidance = 1, []float64{2}
		_, _, err := offline.WhatIf(t.Context(), saved, task, dev, offline.WhatIfRequest{Plan: p, Progress: func(whatif.Progress) error { return nil }})
		if (err == nil) != (change.want == "") || err != nil && !strings.Contains(err.Error(), change.want) {
			t.Errorf("bonus %g, then %s: %v, want %q", change.from, change.to, err, change.want)
		}
	}
}

// Latents of different encoders have no plane in common, nor have latents and states.
func TestLatentsAreNotComparedBetweenRuns(t *testing.T) {
	states, latents := offline.Run{Config: tiny.Config(), Dir: "states"}, offline.Run{Config: tiny.Latents(), Dir: "latents"}
	for _, runs := range [][2]offline.Run{{states, latents}, {latents, states}, {latents, latents}} {
		if _, err := offline.Together(runs, tiny.Task(), nil, 10, false); err == nil || !strings.Contains(err.Error(), "of latents are latents") {
			t.Errorf("%s and %s: %v", runs[0].Dir, runs[1].Dir, err)
		}
	}
}

// A config.toml that was changed by hand is not what a checkpoint was trained with: its numbers would be
// those of another run.
func TestARunWhoseConfigWasChangedIsNotExamined(t *testing.T) {
	dev := tiny.Device(t)
	saved, task := savedOf(t, tiny.Config(), dev)
	if err := os.WriteFile(filepath.Join(saved.Dir, run.ConfigName), []byte("# mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := saved.RealBuffer(task, 0); !errors.Is(err, run.ErrOtherConfig) {
		t.Errorf("%v", err)
	}
}
