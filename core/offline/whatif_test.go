package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/generative"
	"pgrlab/core/lab"
	"pgrlab/core/offline"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/tiny"
	"pgrlab/core/whatif"
)

// savedOf plays a run of real parts in a folder of its own.
func savedOf(t *testing.T, c config.Config, dev device.Device) (offline.Run, task.Task) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	folder, err := run.Create(dir, []byte("seed = 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	world := tiny.Task()
	c.Agent.Gamma = 0.9 // an episode has the 44 steps that make a complete future
	l, err := lab.New(context.Background(), c, world, dev, folder)
	if err != nil {
		t.Fatal(err)
	}
	l.OnFault(lab.FaultFail)
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return offline.Run{Config: c, Dir: dir, Step: -1}, world
}

// synther is a run without relevance functions.
func synther() config.Config {
	c := tiny.Config()
	c.Method, c.Generator.Conditional, c.Knobs.Relevance = config.MethodSynthER, false, relevance.None
	c.Generator.Architecture = generative.ArchitectureSynthER
	return c
}

// withoutGenerator changes a run to plain SAC.
func withoutGenerator(c *config.Config) {
	c.Method, c.Generator.Kind, c.Generator.Conditional = config.MethodSAC, config.GeneratorNone, false
	c.Knobs.Relevance, c.Knobs.Ratio = relevance.None, 0
}

// contents returns all files of a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func smallWhatIf() whatif.Plan {
	p := whatif.Plan{Updates: 12, Episodes: 3, Repeats: 2}
	p.Sampling.Samples = 20
	return p
}

// The analysis covers every relevance function, including those that the saved run has not learned.
// It leaves the run unchanged and gives the same table twice.
func TestWhatIfOfASavedRun(t *testing.T) {
	dev := cputest.New(t, cpu.Options{Threads: 1, Family: "go"})
	saved, task := savedOf(t, tiny.Config(), dev)
	before := contents(t, saved.Dir)
	p := smallWhatIf()
	p.Relevance = slices.DeleteFunc(relevance.Choices(), func(name string) bool { return name == relevance.None })
	p.Guidance = []float64{2}
	total := 0
	table := func() (*whatif.Table, string) {
		found, step, err := offline.WhatIf(t.Context(), saved, task, dev, offline.WhatIfRequest{Plan: p, Progress: func(at whatif.Progress) error {
			total = at.Total
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if step != 26 {
			t.Errorf("step %d, want 26", step)
		}
		text, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		return found, string(text)
	}
	found, first := table()
	if want := 1 + 2*(1+len(p.Relevance)); len(found.Arms) != want {
		t.Errorf("%d arms, want %d: %s", len(found.Arms), want, first)
	}
	if found.Plan.TopFraction[0] != 0.25 || found.Plan.Sampling.Steps != 3 || found.Real != 26 || found.NoOracle != "" {
		t.Errorf("%s", first)
	}
	for _, a := range found.Arms {
		if len(a.ValueError) != 2 || len(a.Return) != 2 || math.IsNaN(float64(a.ValueError[1])) || (a.MadeBy != "") != (a.D == 20) {
			t.Errorf("%+v", a)
		}
	}
	if said, err := offline.WhatIfUpdates(&saved.Config, saved.Config.Knobs, task, p); err != nil || said != total/1000 {
		t.Errorf("it takes %d thousandths of an update, %d updates were said: %v", total, said, err)
	}
	if _, again := table(); again != first {
		t.Errorf("first\n%s\nthen\n%s", first, again)
	}
	if after := contents(t, saved.Dir); len(after) != len(before) {
		t.Errorf("%d files, before %d", len(after), len(before))
	} else {
		for path, text := range before {
			if after[path] != text {
				t.Errorf("%s has changed", path)
			}
		}
	}
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	pieces := 0
	_, _, err := offline.WhatIf(ctx, saved, task, dev, offline.WhatIfRequest{Plan: p, Progress: func(whatif.Progress) error {
		if pieces++; pieces == 5 {
			stop(why)
		}
		return nil
	}})
	if !errors.Is(err, why) || pieces != 5 {
		t.Errorf("stopped in piece 5, it ended after %d: %v", pieces, err)
	}
}

// What a request leaves open is taken from the run, and runs without such an analysis are refused.
func TestWhatIfOfOtherRuns(t *testing.T) {
	dev := cputest.New(t, cpu.Options{Threads: 1, Family: "go"})
	asked := func(p whatif.Plan) offline.WhatIfRequest {
		return offline.WhatIfRequest{Plan: p, Progress: func(whatif.Progress) error { return nil }}
	}
	t.Run("synther", func(t *testing.T) {
		saved, task := savedOf(t, synther(), dev)
		p := smallWhatIf()
		found, _, err := offline.WhatIf(t.Context(), saved, task, dev, asked(p))
		if err != nil || len(found.Arms) != 3 || len(found.Findings) != 2 {
			t.Fatalf("%+v, %v", found, err)
		}
		p.Relevance, p.Guidance = []string{"curiosity"}, []float64{1} // the network has no condition
		if found, _, err = offline.WhatIf(t.Context(), saved, task, dev, asked(p)); err != nil || len(found.Arms) != 5 {
			t.Fatalf("%+v, %v", found, err)
		}
		task.New, task.Hidden = tiny.Task().New, "the clock"
		if found, _, err = offline.WhatIf(t.Context(), saved, task, dev, asked(p)); err != nil || len(found.Arms) != 3 || !strings.Contains(found.NoOracle, "the clock") {
			t.Fatalf("%+v, %v", found, err)
		}
	})
	t.Run("vae", func(t *testing.T) {
		c := tiny.Config()
		c.Method, c.Generator.Kind, c.Knobs.Relevance = "vae", "vae", "reward"
		saved, task := savedOf(t, c, dev)
		p := smallWhatIf()
		p.TopFraction = []float64{0.25, 1}
		found, _, err := offline.WhatIf(t.Context(), saved, task, dev, asked(p))
		if err != nil || len(found.Arms) != 7 {
			t.Fatalf("%+v, %v", found, err)
		}
		if cell := found.Findings[0].Cells[0]; !strings.Contains(cell, "k 0.25") { // the run's own
			t.Errorf("findings are about %q", cell)
		}
	})
	for name, change := range map[string]func(*config.Config){
		"has no generator": withoutGenerator,
		"by priority":      func(c *config.Config) { c.Replay.Priority = config.PriorityTD },
	} {
		c := tiny.Config()
		change(&c)
		if _, _, err := offline.WhatIf(t.Context(), offline.Run{Config: c}, tiny.Task(), dev, asked(smallWhatIf())); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := tiny.Config()
	c.Knobs.Ratio = 0
	saved, task := savedOf(t, c, dev)
	if _, _, err := offline.WhatIf(t.Context(), saved, task, dev, asked(smallWhatIf())); err == nil || !strings.Contains(err.Error(), "raise the ratio") {
		t.Errorf("with r = 0: %v", err)
	}
}

// All generators of a what-if are fitted to the same transitions with the same knobs: the run's own
// serves only at a checkpoint directly after a refit, and not if a later fit would have other knobs.
func TestWhatIfFitsToTheSameRows(t *testing.T) {
	dev := tiny.Device(t)
	for _, c := range []struct {
		schedule []string
		step     int
		fits     int // of two generators: unprioritized, and the run's F
	}{
		{nil, 24, 1},
		{nil, 26, 2}, // the last refit was at step 24
		{[]string{"24/generate:1:p_uncond=0.5"}, 24, 2},
		{[]string{"24/generate:1:guidance=3"}, 24, 1},
		{[]string{"13:relevance=rnd"}, 24, 1},
	} {
		made := tiny.Config()
		made.Evaluation.KeepEvery, made.Schedule = 12, c.schedule
		saved, task := savedOf(t, made, dev)
		saved.Step = c.step
		p, total := smallWhatIf(), 0
		p.Repeats, p.Guidance = 1, []float64{2}
		if _, _, err := offline.WhatIf(t.Context(), saved, task, dev, offline.WhatIfRequest{Plan: p, Progress: func(at whatif.Progress) error {
			total = at.Total / 1000
			return nil
		}}); err != nil {
			t.Fatal(err)
		}
		most, err := offline.WhatIfUpdates(&saved.Config, saved.Config.Knobs, task, p)
		if want := most - (2-c.fits)*3*saved.Config.Knobs.GeneratorSteps; err != nil || total != want {
			t.Errorf("%q, at step %d: it took %d updates, want %d for %d fits: %v", c.schedule, c.step, total, want, c.fits, err)
		}
	}
}

// A model that was chosen shortly before the checkpoint makes up for the updates that it missed
// before anything is scored with it, as it would at the run's next refit.
func TestWhatIfCatchesUp(t *testing.T) {
	dev := tiny.Device(t)
	c := tiny.Config()
	c.Knobs.Relevance, c.Schedule = "reward", []string{"25:relevance=curiosity"}
	saved, task := savedOf(t, c, dev)
	of := func(warmup int) (table, refit string) {
		icm := c.Relevance["curiosity"].(relevance.ICMConfig)
		icm.Warmup = warmup
		saved.Config.Relevance = relevance.Configs{"curiosity": icm, "rnd": c.Relevance["rnd"]}
		p := smallWhatIf()
		p.Repeats, p.Guidance = 1, []float64{2}
		found, _, err := offline.WhatIf(t.Context(), saved, task, dev, offline.WhatIfRequest{Plan: p, Progress: func(whatif.Progress) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		r := refitOf(c)
		r.HeldOut = 0.4
		all, err := refitted(t, t.Context(), []offline.Run{saved}, task, r)
		if err != nil {
			t.Fatal(err)
		}
		return asText(t, found.Arms), asText(t, all[0].Made)
	}
	table, refit := of(0)
	if warm, again := of(500); warm == table || again == refit {
		t.Errorf("the model owes updates, and they change nothing:\n%s\n%s", table, refit)
	}
}
