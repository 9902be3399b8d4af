package lab

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/testing/tiny"
)

// taken packs runs of a configuration and makes run folders of them elsewhere.
func taken(t *testing.T, c config.Config, dirs ...string) (there string) {
	t.Helper()
	var all []*run.Packing
	for _, dir := range dirs {
		p, said, err := run.Prepare(dir, filepath.Base(dir), checkpoint.Limit(&c))
		if err != nil || len(said) > 0 {
			t.Fatal(said, err)
		}
		ck, err := p.Load()
		if err != nil {
			t.Fatal(err)
		}
		recipes, err := checkpoint.Recipes(&c, ck)
		if err != nil {
			t.Fatal(err)
		}
		for name, recipe := range recipes {
			p.Replace(name, checkpoint.RebuildSuffix, recipe)
		}
		all = append(all, p)
	}
	var file bytes.Buffer
	if err := run.Pack(&file, "test", all, func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	there = t.TempDir()
	limit := func(*run.Packed) (run.Limit, error) { return checkpoint.Limit(&c), nil }
	if _, err := run.Unpack(&file, there, limit, func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	return there
}

// A run that was packed, and unpacked elsewhere, goes on to the same journal as one that never was:
// between two env steps, in a fit, in a generation, with members, with D_syn or its recipe, and with what
// was changed and planned after its checkpoint.
func TestAPackedRunGoesOn(t *testing.T) {
	for _, members := range []int{1, 2} {
		c := newWorld().config()
		c.Members, c.Steps = members, 61
		_, undisturbed := play(t, newWorld(), c)
		for _, at := range []knob.Position{knob.After(25), knob.At(40, knob.Fit, 4), knob.At(60, knob.Generate, 1)} {
			for name, stop := range map[string]func(*Lab){
				"lean": func(l *Lab) { leanRun(t, l, at) },
				"whole": func(l *Lab) {
					stopAt(l, at)
					if err := l.Run(context.Background()); err != nil {
						t.Fatal(err)
					}
				},
			} {
				dir := filepath.Join(t.TempDir(), "run")
				folder := created(t, dir)
				stop(newWorld().lab(t, c, folder))
				dir = filepath.Join(taken(t, c, dir), "run")
				recipes, _ := filepath.Glob(filepath.Join(dir, run.DataName, "synthetic-recipe-*"))
				if has := len(recipes) > 0; has != (name == "lean" || at == knob.After(25)) {
					t.Errorf("%s from %s: recipes %q", name, at, recipes)
				}
				if got := goneOn(t, c, dir); got != undisturbed.canonical(t) {
					t.Errorf("%s from %s the journal is\n%s\nwant\n%s", name, at, got, undisturbed.canonical(t))
				}
			}
		}
	}
	c := newWorld().config()
	c.Schedule = busySchedule
	whole, broken := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "broken")
	diskRun(t, c, whole, 0, hands...)
	diskRun(t, c, broken, 38, hands...)
	if got := goneOn(t, c, filepath.Join(taken(t, c, broken), "broken")); got != journalOf(t, whole) {
		t.Errorf("the journal is\n%s\nwant\n%s", got, journalOf(t, whole))
	}
}

// goneOn resumes a run to its end and returns its canonical journal.
func goneOn(t *testing.T, c config.Config, dir string) string {
	t.Helper()
	l, said, err := restored(t, c, dir)
	if err != nil {
		t.Fatal(said, err)
	}
	for _, text := range said {
		if strings.Contains(text, "cannot be used") || strings.Contains(text, "recipe") {
			t.Error(text)
		}
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return journalOf(t, dir)
}

// A run and its fork go into one file together, and both go on.
func TestAForkIsPackedWithItsParent(t *testing.T) {
	c := newWorld().config()
	top := t.TempDir()
	parent, fork := filepath.Join(top, "parent"), filepath.Join(top, "fork")
	steered(t, newWorld(), c, parent, 17, map[int][]event.Command{16: {event.Checkpoint{}}})
	found, err := run.Checkpoints(parent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := checkpoint.Fork(c, []byte("seed = 7\n"), found[0], []string{"guidance=3"}, fork); err != nil {
		t.Fatal(err)
	}
	there := taken(t, c, parent, fork)
	for _, name := range []string{"parent", "fork"} {
		if here, got := goneOn(t, c, filepath.Join(top, name)), goneOn(t, c, filepath.Join(there, name)); got != here {
			t.Errorf("%s: the journal is\n%s\nwant\n%s", name, got, here)
		}
	}
}

// A run from frames is packed with its log of frames, and with the recipe of a D_syn of latents.
func TestARunOfFramesIsPacked(t *testing.T) {
	for name, c := range map[string]config.Config{"frames": pixelsOnDisk(), "latents": tiny.Latents()} {
		whole, broken := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "broken")
		playPixels(t, c, whole, func(*Lab) {})
		steps, until := 0, max(1, c.Environment.Copies)*16
		playPixels(t, c, broken, func(l *Lab) {
			if steps++; steps == until {
				l.Send(event.Stop{})
			}
		})
		dir := filepath.Join(taken(t, inEnvSteps(c), broken), "broken")
		framesOnDisk(t, dir)
		if recipes, _ := filepath.Glob(filepath.Join(dir, run.DataName, "synthetic-recipe-*")); len(recipes) == 0 && name == "latents" {
			t.Error("no recipe")
		}
		if journalOf(t, dir) == journalOf(t, whole) {
			t.Fatal("it was packed at its end")
		}
		l, said, err := restoredPixels(t, c, dir)
		if err != nil || strings.Contains(strings.Join(said, " "), "recipe") {
			t.Fatal(said, err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := journalOf(t, dir); got != journalOf(t, whole) {
			t.Errorf("%s: the journal is\n%s\nwant\n%s", name, got, journalOf(t, whole))
		}
	}
}
