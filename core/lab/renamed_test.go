package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/testing/racing"
)

// A run whose folder is renamed while it trains, and the one that begins under its name meanwhile,
// both keep their own checkpoints: interrupted or not, both end with the journals of runs that were
// left alone.
func TestTwoRunsThatHadOneName(t *testing.T) {
	racing.Skip(t)
	c := newWorld().config()
	c.Schedule = busySchedule
	other := c
	other.Schedule = c.Schedule[:1]
	root := t.TempDir()
	whole, wholeOther := filepath.Join(root, "whole"), filepath.Join(root, "other")
	diskRun(t, c, whole, 0)
	diskRun(t, other, wholeOther, 0)
	for _, place := range []string{"update", "evaluate episodes 1", "fit to 6", "generate 2"} {
		for _, cut := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), "run")
			old := dir + "-old"
			folder := created(t, dir)
			w := newWorld()
			l := w.lab(t, c, folder)
			renamed := 0 // the step
			w.on(place, func() {
				if renamed == 0 {
					renamed = l.x.Step
					if err := os.Rename(dir, old); err != nil {
						t.Fatal(err)
					}
					diskRun(t, other, dir, 17)
				}
				l.Send(event.Checkpoint{By: "test"})
			})
			w.on("step", func() { l.x.checkpoints.settle() })
			w.on("act", func() {
				if cut && renamed > 0 && l.x.Step == renamed+2 {
					panic("the power fails")
				}
			})
			if err := l.Run(context.Background()); (err != nil) != cut || renamed == 0 {
				t.Fatalf("%s: renamed at %d: %v", place, renamed, err)
			}
			if cut {
				goOnToTheEnd(t, c, old)
			}
			goOnToTheEnd(t, other, dir)
			for at, want := range map[string]string{old: whole, dir: wholeOther} {
				line, a, b, same, err := run.Diff(strings.NewReader(journalOf(t, want)), strings.NewReader(journalOf(t, at)))
				if !same || err != nil {
					t.Errorf("renamed in %s, cut: %v: line %d of %s is\n%s\nwant\n%s", place, cut, line, filepath.Base(at), b, a)
				}
			}
		}
	}
}

// goOnToTheEnd resumes a run that has a checkpoint.
func goOnToTheEnd(t *testing.T, c config.Config, dir string) {
	t.Helper()
	l, said, err := restored(t, c, dir)
	if err != nil || l.x.Step == 0 {
		t.Fatalf("resume %s: %v: %q", filepath.Base(dir), err, said)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// A run whose folder is removed ends, whether a person watches it or not, with one line that says
// why.
func TestARunWhoseFolderIsRemovedEnds(t *testing.T) {
	for _, fault := range []Fault{FaultPause, FaultFail} {
		for _, place := range []string{"act", "fit to 6", "evaluate episodes 1"} {
			dir := filepath.Join(t.TempDir(), "run")
			folder := created(t, dir)
			w := newWorld()
			l := w.lab(t, w.config(), folder)
			l.OnFault(fault)
			w.on(place, func() {
				os.RemoveAll(dir)
				l.Send(event.Checkpoint{By: "test"})
			})
			w.on("step", func() { l.x.checkpoints.settle() })
			err := l.Run(context.Background())
			if !errors.Is(err, run.ErrGone) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, %s: %v", fault, place, err)
			}
			if s := l.Snapshot(); s.State != event.FailedState || s.Step >= l.Config().Steps {
				t.Errorf("%v, %s: %s at step %d", fault, place, s.State, s.Step)
			}
			if _, err := os.Lstat(dir); err == nil {
				t.Errorf("%v, %s: the folder is there again", fault, place)
			}
		}
	}
}
