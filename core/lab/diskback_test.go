package lab

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/run"
)

// refusingFolder is a run folder whose disk refuses one line, the first of a type at a step.
type refusingFolder struct {
	*run.Folder
	kind    string
	step    int
	refuses func() // is called when it has refused
	done    bool
}

func (f *refusingFolder) Append(l run.Line) error {
	if !f.done && l.Type == f.kind && l.Step == f.step {
		f.done = true
		f.refuses()
		return fmt.Errorf("write journal: %w", syscall.ENOSPC)
	}
	return f.Folder.Append(l)
}

// refusing is a lab in a folder whose disk refuses the line of the first evaluation.
func (w *world) refusing(t *testing.T, c config.Config, dir string, refuses func(l *Lab)) *Lab {
	t.Helper()
	folder := createdWith(t, dir, docOf(c))
	l := w.lab(t, c, folder)
	l.x.journal.folder = &refusingFolder{Folder: folder, kind: event.TypeEvaluated, step: c.Evaluation.Every, refuses: func() { refuses(l) }}
	return l
}

// A run that is stopped when the disk has just got room again, and has not been tried yet, is saved
// where it stops.
func TestARunThatIsStoppedWhenTheDiskHasRoomIsSaved(t *testing.T) {
	w, dir := newWorld(), filepath.Join(t.TempDir(), "run")
	l := w.refusing(t, w.config(), dir, func(l *Lab) { l.Send(event.Stop{}) })
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := run.Checkpoints(dir)
	if err != nil || len(all) == 0 || all[0].Step != 15 {
		t.Errorf("it was stopped at step 15 and has %d checkpoints: %+v (%v)", len(all), all, err)
	}
}

// A checkpoint that is to be kept is one of its own step also if the disk refuses a line just before it.
func TestAKeptCheckpointWaitsForTheDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		c := w.config()
		c.Evaluation.KeepEvery = 15
		l := w.refusing(t, c, dir, func(*Lab) {})
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	keptAt(t, dir, "15", "30", "45", "60/score:0")
}

// A checkpoint that is to be kept is one of its own step also if the disk has no room for the checkpoint
// itself: training waits for it there.
func TestAKeptCheckpointThatFindsNoRoomIsWrittenWhereItWasDue(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		c := w.config()
		c.Evaluation.KeepEvery = 15
		folder := createdWith(t, dir, docOf(c))
		l := w.lab(t, c, folder)
		k, refused := &l.x.checkpoints, 0
		copyTo := k.copyTo
		k.copyTo = func(c *run.Capture, totals []uint64) error {
			if k.place.Step == 15 && refused == 0 {
				refused++
				c.Shared = append(c.Shared, run.Shared{Slot: "refused", Name: "refused", File: "refused", Write: func(io.Writer) error { return syscall.ENOSPC }})
			}
			return copyTo(c, totals)
		}
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if refused != 1 {
			t.Errorf("the disk refused %d checkpoints", refused)
		}
	})
	keptAt(t, dir, "15", "30", "45", "60/score:0")
}

// A checkpoint that finds no room writes the disk full, and is tried again where there is more room than there was,
// and else a few times an hour.
func TestACheckpointWithoutRoomIsNotWrittenAllTheTime(t *testing.T) {
	dir, tries := filepath.Join(t.TempDir(), "run"), 0
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		c := w.config()
		c.Evaluation.KeepEvery = 15
		l := w.lab(t, c, createdWith(t, dir, docOf(c)))
		l.x.now = time.Now
		began, k := time.Now(), &l.x.checkpoints
		k.room = func(string) int64 { return 1 << 20 }
		copyTo := k.copyTo
		k.copyTo = func(c *run.Capture, totals []uint64) error {
			if time.Since(began) < time.Hour {
				tries++
				c.Shared = append(c.Shared, run.Shared{Slot: "refused", Name: "refused", File: "refused", Write: func(io.Writer) error { return syscall.ENOSPC }})
			}
			return copyTo(c, totals)
		}
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if tries < 2 || tries > 12 {
		t.Errorf("%d tries in an hour", tries)
	}
}

// keptAt checks that the checkpoints that stay on the disk are those at these positions.
func keptAt(t *testing.T, dir string, want ...string) {
	t.Helper()
	all, err := run.Checkpoints(dir)
	var kept []string
	for _, f := range all {
		if f.Kept {
			kept = append(kept, f.Position)
		}
	}
	slices.Sort(kept)
	if err != nil || !slices.Equal(kept, want) {
		t.Errorf("kept are %v, want %v (%v)", kept, want, err)
	}
}
