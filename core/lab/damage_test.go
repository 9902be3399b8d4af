package lab

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// hands are changes that a user makes during a run.
var hands = []event.Command{
	event.Note{Text: "it stumbles", By: "ana"},
	event.SetKnob{Knob: "ratio", Value: "0.75", By: "ana"},
	event.Note{Text: "more of it: r=.75!", By: "ana"},
	event.SetKnob{Knob: "guidance", Value: "4", At: &knob.Position{Step: 40, Phase: knob.Fit, I: 3}, By: "ana"},
}

// diskRun plays a scripted run in a folder on disk until it is stopped at step, or to its end if
// step is 0. It asks for checkpoints at several places, and makes changes by hand after the last of
// them.
func diskRun(t *testing.T, c config.Config, dir string, step int, byHand ...event.Command) {
	t.Helper()
	folder := created(t, dir)
	w := newWorld()
	l := w.lab(t, c, folder)
	save := func() { l.Send(event.Checkpoint{By: "test"}) }
	written := func() { // the scripted world is quicker than a disk
		l.x.checkpoints.settle()
	}
	for _, call := range []string{"step", "evaluation step", "fit to 8", "generate 3"} {
		w.on(call, written)
	}
	w.on("evaluate episodes 1", save)
	w.on("fit to 6", save)
	w.on("generate 2", save)
	w.on("evaluate episodes 2", func() {
		for _, c := range byHand {
			l.Send(c)
		}
	})
	if step > 0 {
		w.on("act", func() {
			if l.x.Step == step {
				panic("the power fails")
			}
		})
	}
	if err := l.Run(context.Background()); (err != nil) != (step > 0) {
		t.Fatal(err)
	}
}

// steered plays a run of w in a folder on disk until it is stopped at step, or to its end if step is
// 0. Its checkpoint is at step 15; asks are sent in the env steps that they are listed under.
func steered(t *testing.T, w *world, c config.Config, dir string, step int, asks map[int][]event.Command) {
	t.Helper()
	folder := created(t, dir)
	l, sent := w.lab(t, c, folder), map[int]bool{}
	w.on("evaluate episodes 1", func() { l.Send(event.Checkpoint{By: "test"}) })
	w.on("evaluation step", func() { l.x.checkpoints.settle() })
	w.on("act", func() {
		if l.x.Step == step {
			panic("the power fails")
		}
		for _, c := range asks[l.x.Step] {
			if !sent[l.x.Step] {
				l.Send(c)
			}
		}
		sent[l.x.Step] = true
	})
	if err := l.Run(context.Background()); (err != nil) != (step > 0) {
		t.Fatal(err)
	}
}

// restored returns a lab that resumes the run in dir.
func restored(t *testing.T, c config.Config, dir string) (*Lab, []string, error) {
	t.Helper()
	return restoredAs(t, c, dir, Resumption{Saving: Saving{Every: time.Hour}})
}

func restoredAs(t *testing.T, c config.Config, dir string, how Resumption) (*Lab, []string, error) {
	t.Helper()
	folder, err := run.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	w := newWorld()
	l, said, err := restore(c, w.task(), folder, w.parts(), "cpu test, 2 threads", clock(), how)
	if err != nil {
		folder.Close()
	}
	return l, said, err
}

func journalOf(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, run.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	return canonical(t, text)
}

func canonical(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := run.Canonical(bytes.NewReader(text), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Changes that were made or planned after the last checkpoint are made again. The lines written
// there are kept, and the screen has its history.
func TestResumeRepeatsWhatWasDoneAfterTheCheckpoint(t *testing.T) {
	c := newWorld().config()
	c.Schedule = busySchedule
	whole, broken := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "broken")
	diskRun(t, c, whole, 0, hands...)
	diskRun(t, c, broken, 38, hands...)
	for range 2 { // also when it is interrupted before anything new is written
		l, _, err := restored(t, c, broken)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	l, said, err := restored(t, c, broken)
	if err != nil {
		t.Fatal(err)
	}
	if starts, _ := bodies[event.Start](l); len(starts) != 1 {
		t.Errorf("the history has %d starts", len(starts))
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, want := journalOf(t, broken), journalOf(t, whole); got != want {
		t.Errorf("said %q; the journal is\n%s\nwant\n%s", said, got, want)
	}
	found := 0
	for _, k := range changesIn(l) {
		if k.Obs.By == "ana" && k.Knob == "ratio" {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d changes are hers: a run that was touched stays one", found)
	}
	notes, steps := bodies[event.Noted](l)
	if len(notes) != 2 || notes[0].Text != "it stumbles" || notes[1].Obs.By != "ana" || steps[0] != 30 {
		t.Errorf("her notes are %+v at %v", notes, steps)
	}
	if tails, _ := filepath.Glob(filepath.Join(broken, "events.tail-*.jsonl")); len(tails) == 0 {
		t.Error("what lay after the checkpoint is not kept")
	}
}

// A change by hand is made again also if a planned one, which was refused, would have had the same
// value.
func TestAChangeByHandIsNotThePlannedOne(t *testing.T) {
	c := newWorld().config()
	c.Schedule = []string{"20:guidance=4"}
	hers := func(value string) []event.Command {
		return []event.Command{event.SetKnob{Knob: "guidance", Value: value, By: "ana"}}
	}
	asks := map[int][]event.Command{10: hers("4"), 25: hers("1"), 28: hers("4")}
	whole, broken := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "broken")
	steered(t, newWorld(), c, whole, 0, asks)
	steered(t, newWorld(), c, broken, 35, asks)
	l, said, err := restored(t, c, broken)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, want := journalOf(t, broken), journalOf(t, whole); got != want || len(changesIn(l)) != 3 {
		t.Errorf("said %q; the journal is\n%s\nwant\n%s", said, got, want)
	}
}

// A finished run goes back to an earlier checkpoint, with or without the changes that were made
// after it. The rest is set aside, and none of it is lost.
func TestARunGoesBack(t *testing.T) {
	c := newWorld().config()
	c.Schedule = busySchedule
	whole := filepath.Join(t.TempDir(), "whole")
	diskRun(t, c, whole, 38, hands...)
	found, err := run.Checkpoints(whole)
	if err != nil || len(found) < 2 {
		t.Fatal(found, err)
	}
	first := found[len(found)-1]
	if err := run.Keep(first.Path, "this test"); err != nil {
		t.Fatal(err)
	}
	var early knob.Position
	if err := early.UnmarshalText([]byte(first.Position)); err != nil {
		t.Fatal(err)
	}
	early.I++ // or to before the changes
	complete, _, err := restored(t, c, whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := complete.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := journalOf(t, whole)
	for _, drop := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "back")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		l, said, err := restoredAs(t, c, dir, Resumption{DropTail: drop, At: &early})
		if err != nil {
			t.Fatal(said, err)
		}
		if p := l.Snapshot().Position; p.String() != first.Position {
			t.Errorf("it goes on at %s", p)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(said, "\n")
		if got := journalOf(t, dir); (got == want) == drop || strings.Contains(got, "stumbles") == drop {
			t.Errorf("dropped is %v: said %q; the journal is\n%s", drop, said, got)
		}
		if strings.Contains(text, "does again what was changed after it: 30/evaluate:0:ratio=0.75, ") == drop || !strings.Contains(text, "are in checkpoints/aside-1") {
			t.Errorf("said %q", said)
		}
		aside, _ := filepath.Glob(filepath.Join(dir, run.CheckpointsName, "aside-1", "*.ckpt"))
		if len(aside) == 0 {
			t.Error("nothing was set aside")
		}
		for _, path := range aside {
			h, err := headerOf(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range h.Data {
				if err := d.Verify(dir); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		}
		if tails, _ := filepath.Glob(filepath.Join(dir, "events.tail-*.jsonl")); len(tails) != 2 {
			t.Errorf("tails %q", tails)
		}
		again, said, err := restored(t, c, dir) // resumed again, with nothing in the folder that cannot be used
		if err != nil {
			t.Fatal(err)
		}
		again.Close()
		if strings.Contains(strings.Join(said, "\n"), "cannot be used") {
			t.Errorf("said %q", said)
		}
	}
	if _, _, err := restoredAs(t, c, whole, Resumption{At: &knob.Position{Step: 3}}); err == nil || !strings.Contains(err.Error(), "no checkpoint at or before 3/collect:0: there are those at ") {
		t.Errorf("%v", err)
	}
}

func TestAForeignAndANewerCheckpoint(t *testing.T) {
	c := newWorld().config()
	dir := filepath.Join(t.TempDir(), "run")
	diskRun(t, c, dir, 38)
	found, err := run.Checkpoints(dir)
	if err != nil || len(found) < 2 {
		t.Fatal(len(found), err)
	}
	text, err := os.ReadFile(found[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := run.ReadCheckpoint(bytes.NewReader(text), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	foreign.Config = "another"
	var b bytes.Buffer
	if _, err := foreign.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(found[0].Path, b.Bytes(), 0o644)
	l, said, err := restored(t, c, dir)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if len(said) == 0 || !strings.Contains(said[0], "it belongs to another run") {
		t.Errorf("said %q", said)
	}
	if _, err := os.Stat(found[0].Path); err != nil {
		t.Error("the foreign checkpoint is gone: ", err)
	}
}

// A later checkpoint that cannot be used is set aside where a run goes on from an earlier one.
func TestCheckpointsThatArePassedAreSetAside(t *testing.T) {
	c, dir := newWorld().config(), filepath.Join(t.TempDir(), "run")
	diskRun(t, c, dir, 38)
	found, err := run.Checkpoints(dir)
	if err == nil {
		err = os.Truncate(filepath.Join(dir, run.JournalName), found[0].Journal.Size-1)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := restored(t, c, dir)
	if err != nil {
		t.Fatal(err)
	}
	at := l.Snapshot().Position.String()
	l.Close()
	if now, err := run.Checkpoints(dir); err != nil || at == found[0].Position || now[0].Position != at {
		t.Errorf("the latest checkpoint is that at %s, and the run goes on from %s, %v", now[0].Position, at, err)
	}
}
