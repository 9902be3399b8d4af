package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/testing/racing"
)

// leanRun plays c in a folder, saving only the recipe of each D_syn. It asks for a checkpoint at a
// position and ends the run there.
func leanRun(t *testing.T, l *Lab, at knob.Position) {
	t.Helper()
	l.Saving(Saving{Every: time.Hour, Lean: true})
	stopAt(l, at) // the end of the run takes the checkpoint
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if l.x.position != at {
		t.Fatalf("it ended at %s, not at %s", l.x.position, at)
	}
}

// A D_syn that is made again from its recipe equals the original: between two generations, in the
// middle of the next fit and in the middle of a generation.
func TestALeanRunGoesOn(t *testing.T) {
	for _, members := range []int{1, 2} {
		c := newWorld().config()
		c.Members, c.Steps = members, 61
		twin := newWorld()
		_, undisturbed := play(t, twin, c)
		for _, at := range []knob.Position{knob.After(25), knob.At(40, knob.Fit, 4), knob.At(40, knob.Generate, 2), knob.At(60, knob.Generate, 1)} {
			dir := filepath.Join(t.TempDir(), "run")
			folder := created(t, dir)
			leanRun(t, newWorld().lab(t, c, folder), at)
			var names []string
			files, _ := filepath.Glob(filepath.Join(dir, run.DataName, "*.zst"))
			for _, path := range files {
				name, _, _ := strings.Cut(filepath.Base(path), "-recipe-")
				names = append(names, name)
			}
			slices.Sort(names)
			want := slices.Repeat([]string{"synthetic"}, members)
			if at.Phase == knob.Generate {
				want = append(slices.Repeat([]string{"fresh"}, members), want...)
			}
			if !slices.Equal(names, want) && members == 1 { // those of two members may share a file
				t.Errorf("%s: data %q, want %q", at, files, want)
			}
			l, said, err := restored(t, c, dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range said {
				if strings.Contains(text, "recipe") {
					t.Errorf("%s: %s", at, text)
				}
			}
			if err := l.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := journalOf(t, dir); got != undisturbed.canonical(t) {
				t.Errorf("from %s the journal is\n%s\nwant\n%s", at, got, undisturbed.canonical(t))
			}
		}
	}
}

// pairsGenerator makes two calls in a slice, as a device that runs sequences does, and rows with each.
type pairsGenerator struct {
	worldGenerator
	made int
}

func (g *pairsGenerator) CallsMade() int { return g.made }

func (g *pairsGenerator) GenerateSlice() (rows []float32, done, total int, err error) {
	for g.made = 0; g.made < 2; g.made++ {
		if _, done, total, err = g.worldGenerator.GenerateSlice(); err != nil {
			return nil, 0, 0, err
		}
		for i := range 2 * g.w.shape().Width() {
			rows = append(rows, float32(blend(g.seed, float64(g.calls), float64(i))))
		}
	}
	return rows, done, total, nil
}

// Where a slice is several calls, as many are made again as had been made.
func TestALeanRunGoesOnBetweenSequences(t *testing.T) {
	c := newWorld().config()
	c.Steps, c.Knobs.SamplerSteps, c.Knobs.Samples = 61, 6, 12
	partsOf := func(w *world) parts {
		p := w.parts()
		p.Generator = func(agent.Policy, uint64) (generative.Generator, error) {
			return &pairsGenerator{worldGenerator: worldGenerator{w: w}}, nil
		}
		return p
	}
	begin := func(dir string) *Lab {
		folder := created(t, dir)
		w := newWorld()
		l, err := newLab(c, w.task(), folder, partsOf(w), "cpu test, 2 threads", clock())
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	whole, dir := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "run")
	if err := begin(whole).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	leanRun(t, begin(dir), knob.At(40, knob.Generate, 2))
	folder, err := run.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	l, _, err := restore(c, w.task(), folder, partsOf(w), "cpu test, 2 threads", clock(), Resumption{Saving: Saving{Every: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	if n := l.x.first().Synthesis.Fresh.Total(); n != 4 {
		t.Errorf("%d rows of the generation are made again, want 4", n)
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := journalOf(t, dir), journalOf(t, whole); got != want {
		t.Errorf("the journal is\n%s\nwant\n%s", got, want)
	}
}

// With the real generator the journal is the same, and the files on disk are much smaller.
func TestALeanCheckpointIsSmall(t *testing.T) {
	racing.Skip(t)
	dev := testDevice(t)
	c := realConfig()
	c.Knobs.Samples, c.Buffer = 5000, 5000
	begin := func(r record) *Lab {
		p, err := newParts(&c, newWorld().task(), dev)
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLab(c, newWorld().task(), r, p, dev.Name(), clock())
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	at := knob.After(c.Knobs.RefitEvery + 1)
	onDisk := func(lean bool) (dir string, data int64) {
		dir = filepath.Join(t.TempDir(), fmt.Sprint("lean-", lean))
		folder := created(t, dir)
		l := begin(folder)
		if lean {
			leanRun(t, l, at)
		} else {
			stopAt(l, at)
			if err := l.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		files, _ := filepath.Glob(filepath.Join(dir, run.DataName, "*.zst"))
		for _, path := range files {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			data += info.Size()
		}
		return dir, data
	}
	_, whole := onDisk(false)
	dir, lean := onDisk(true)
	t.Logf("D_syn of %d transitions: %d bytes, its recipe %d", c.Knobs.Samples, whole, lean)
	if lean*4 > whole {
		t.Errorf("the recipe has %d bytes, D_syn %d", lean, whole)
	}
	undisturbed := &memoryFolder{}
	if err := begin(undisturbed).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	goOn := func() (string, []string) {
		folder, err := run.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		p, err := newParts(&c, newWorld().task(), dev)
		if err != nil {
			t.Fatal(err)
		}
		var reports []string
		l, said, err := restore(c, newWorld().task(), folder, p, dev.Name(), clock(), Resumption{Say: func(text string) { reports = append(reports, text) }})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if len(reports) != 1 || reports[0] != "makes 5,000 synthetic transitions again: they were saved as their recipe" {
			t.Errorf("it says %q", reports)
		}
		return journalOf(t, dir), said
	}
	if got, _ := goOn(); got != undisturbed.canonical(t) {
		t.Errorf("the journal is\n%s\nwant\n%s", got, undisturbed.canonical(t))
	}
}

// If a D_syn is not reproduced exactly, the run says so.
func TestARecipeThatMakesSomethingElse(t *testing.T) {
	c := newWorld().config()
	dir := filepath.Join(t.TempDir(), "run")
	folder := created(t, dir)
	l := newWorld().lab(t, c, folder)
	x := l.x
	x.lab.Saving(Saving{Every: time.Hour, Lean: true})
	now := x.now
	x.now = func() time.Time {
		if m := x.first(); x.position == knob.After(25) && !x.inSlice {
			m.Synthesis.Spec.Knobs.Guidance++
			x.gate.stopping = true
		}
		return now()
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	again, said, err := restored(t, c, dir)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if !strings.Contains(strings.Join(said, "\n"), "D_syn made again from its recipe is not what it was") {
		t.Errorf("%q", said)
	}
}

// stopAt ends l at a position.
func stopAt(l *Lab, at knob.Position) {
	x, now := l.x, l.x.now
	x.now = func() time.Time {
		x.gate.stopping = x.gate.stopping || x.position == at && !x.inSlice
		return now()
	}
}
