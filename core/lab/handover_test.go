package lab

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/testing/racing"
)

// relay plays a run to its end. Each process hands it over to the next one at a slice that r draws;
// relay returns how many times.
func relay(t *testing.T, c config.Config, dir string, r *rand.Rand) (handed int) {
	t.Helper()
	folder := created(t, dir)
	w := newWorld()
	l := w.lab(t, c, folder)
	for {
		left := 1 + r.IntN(40)
		leave := func() {
			if left--; left == 0 {
				l.Send(event.HandOver{Ref: "leave", By: "test"})
			}
		}
		for _, call := range []string{"step", "evaluation step", "fit to 2", "fit to 4", "fit to 8", "generate 1", "generate 2", "score curiosity 20"} {
			w.on(call, leave)
		}
		err := l.Run(context.Background())
		if err == nil {
			return handed
		}
		if !errors.Is(err, ErrHandedOver) {
			t.Fatal(err)
		}
		if s := l.Snapshot(); !s.HandedOver || s.State == event.Finished {
			t.Errorf("a run that was handed over is %s, %v", s.State, s.HandedOver)
		}
		handed++
		if folder, err = run.Open(dir); err != nil {
			t.Fatal(err)
		}
		w = newWorld()
		var said []string
		l, said, err = restore(c, w.task(), folder, w.parts(), "cpu test, 2 threads", clock(), Resumption{Saving: Saving{Every: time.Hour}})
		if err != nil || len(said) > 0 {
			t.Fatalf("%v: %q", err, said)
		}
	}
}

// Wherever a run is handed over, its journal is that of an uninterrupted run, and no line was
// written twice.
func TestARunIsHandedOver(t *testing.T) {
	c := newWorld().config()
	c.Schedule = busySchedule
	whole := filepath.Join(t.TempDir(), "whole")
	diskRun(t, c, whole, 0)
	want := journalOf(t, whole)
	total, seeds := 0, uint64(racing.Few(12, 4))
	for seed := range seeds {
		dir := filepath.Join(t.TempDir(), "relay")
		handed := relay(t, c, dir, rand.New(rand.NewPCG(seed, 3)))
		total += handed
		if got := journalOf(t, dir); got != want {
			line, a, b, _, _ := run.Diff(strings.NewReader(want), strings.NewReader(got))
			t.Errorf("seed %d, handed over %d times: line %d is\n%s\nwant\n%s", seed, handed, line, b, a)
		}
		if tails, _ := filepath.Glob(filepath.Join(dir, "events.tail-*")); len(tails) > 0 {
			t.Errorf("seed %d: lines after the checkpoint: %v", seed, tails)
		}
		text, err := os.ReadFile(filepath.Join(dir, run.JournalName))
		if err != nil || strings.Count(string(text), `"reason":"hand over"`) != handed || strings.Contains(string(text), "interrupted") {
			t.Errorf("seed %d: %v:\n%s", seed, err, text)
		}
	}
	if total < 20*int(seeds)/12 {
		t.Errorf("handed over %d times: this proves little", total)
	}
}

// A run that cannot be saved is not handed over. It says why and goes on.
func TestARunThatCannotBeSavedStays(t *testing.T) {
	c := newWorld().config()
	whole := filepath.Join(t.TempDir(), "whole")
	diskRun(t, c, whole, 0)
	dir := filepath.Join(t.TempDir(), "stays")
	folder := created(t, dir)
	checkpoints := filepath.Join(dir, run.CheckpointsName)
	if err := os.WriteFile(checkpoints, nil, 0o644); err != nil { // no folder can be made there
		t.Fatal(err)
	}
	w := newWorld()
	l := w.lab(t, c, folder)
	w.on("fit to 4", func() {
		if l.x.Step == 20 {
			l.Send(event.HandOver{Ref: "leave", By: "test"})
		}
	})
	w.on("generate 2", func() { os.Remove(checkpoints) })
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	refused, _ := bodies[event.Refused](l)
	if len(refused) == 0 || refused[0].Ref != "leave" || refused[0].Knob != event.HandedOver || refused[0].Reason != "write checkpoint: not a directory" {
		t.Errorf("%+v", refused)
	}
	if got, want := journalOf(t, dir), journalOf(t, whole); got != want {
		t.Errorf("the journal is\n%s\nwant\n%s", got, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, run.JournalName))
	left, back := strings.Index(string(text), `"type":"detached"`), strings.Index(string(text), `"type":"attached"`)
	if err != nil || left < 0 || back < left {
		t.Errorf("%v: the journal says that another process has the run", err)
	}
}

// A disk that does not take lines is known before one says that the run goes elsewhere.
func TestARunWithABacklogIsNotHandedOver(t *testing.T) {
	c := newWorld().config()
	folder := createdWith(t, filepath.Join(t.TempDir(), "run"), docOf(c))
	l := newWorld().lab(t, c, folder)
	defer l.Close()
	k := &l.x.checkpoints
	k.journal.backlog = []run.Line{{Type: event.TypeNote, Member: run.NoMember, Body: event.Noted{Text: "waits"}}}
	if err := k.handOver("ana"); err == nil || !strings.Contains(err.Error(), "the disk does not take the journal") || len(l.Events(0)) > 0 {
		t.Errorf("%v; events %+v", err, l.Events(0))
	}
}
