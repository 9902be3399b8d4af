package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/run/files"
	"pgrlab/core/testing/cut"
	"pgrlab/core/testing/racing"
)

// scheduled is a run whose changes are all planned in advance, so that its journal does not depend
// on which lines survive a power cut.
func scheduled() config.Config {
	c := newWorld().config()
	c.Schedule = busySchedule
	return c
}

// savedRun plays a run in dir to its end, with checkpoints, and marks on the tape each checkpoint
// that was reported to be on disk.
func savedRun(t *testing.T, l *Lab, w *world, tape *cut.Tape) {
	t.Helper()
	save := func() { l.Send(event.Checkpoint{By: "test"}) }
	written := func() { // the scripted world is quicker than a disk
		l.x.checkpoints.settle()
		if k := &l.x.checkpoints; tape != nil && k.path != "" && k.failed == "" {
			tape.Promise(k.saved.String())
		}
	}
	for _, call := range []string{"step", "evaluation step", "fit to 8", "generate 3"} {
		w.on(call, written)
	}
	for _, call := range []string{"evaluate episodes 1", "fit to 6", "generate 2", "evaluate episodes 2", "act"} {
		w.on(call, save)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// goesOn checks what is found in dir after a cut of a run in the scripted world: see ranOn.
func goesOn(t *testing.T, c config.Config, dir, want, where string, promised []string) (refused bool) {
	t.Helper()
	l, said, err := restored(t, c, dir)
	return ranOn(t, l, said, err, dir, want, where, promised)
}

// ranOn checks the lab that was restored from dir after a cut. Either it goes on from the last
// promised checkpoint or a later one and its journal becomes want, or, if nothing was promised, it
// is refused in one line.
func ranOn(t *testing.T, l *Lab, said []string, err error, dir, want, where string, promised []string) (refused bool) {
	t.Helper()
	if err != nil {
		if len(promised) > 0 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: refused, and the checkpoint at %q was promised: %v", where, promised, err)
		}
		return true
	}
	if len(promised) > 0 {
		var last knob.Position
		if err := last.UnmarshalText([]byte(promised[len(promised)-1])); err != nil {
			t.Fatal(err)
		}
		if at := l.Snapshot().Position; at.Before(last) {
			t.Errorf("%s: it goes on at %s, and %s was saved: said %q", where, at, last, said)
		}
	}
	if err := l.Run(context.Background()); err != nil {
		t.Errorf("%s: %v", where, err)
	} else if got := journalOf(t, dir); got != want {
		t.Errorf("%s: said %q; the journal is\n%s\nwant\n%s", where, said, got, want)
	}
	return false
}

var outcomes = []cut.Outcome{cut.Killed, cut.Torn, cut.Lost, cut.Names, cut.Contents, cut.Some}

// cuts calls see with every folder that a cut can leave: at every place of the tape with
// PGRLAB_SOAK, otherwise at some of the places where something is put on the disk.
func cuts(t *testing.T, tape *cut.Tape, nth int, see func(root, where string, promised []string)) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	top := t.TempDir()
	places, every := cut.Boundaries, nth
	if os.Getenv("PGRLAB_SOAK") != "" {
		places, every = cut.Everywhere, 1
	}
	made, found := 0, 0
	tape.Each(places, func(c cut.Cut) {
		for _, o := range outcomes {
			if found++; found%every != 0 {
				continue
			}
			root := filepath.Join(top, fmt.Sprint(made))
			if err := c.Make(root, o, r); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(root); err == nil {
				made++
				for _, dir := range []string{"run", "runs/run"} {
					if _, err := run.Changed(filepath.Join(root, dir)); err != nil {
						t.Errorf("%s before change %d, %s: taken for edited: %v", o, c.Before, c.What, err)
					}
				}
				see(root, fmt.Sprintf("%s before change %d, %s", o, c.Before, c.What), c.Promised)
				os.RemoveAll(root)
			}
		}
	})
	if made < 20 {
		t.Errorf("only %d cuts", made)
	}
	t.Logf("%d of %d cuts", made, found)
}

// If a run is killed or loses power at any time, from its first file to its last line, the files
// that are left continue to the same journal, from the last checkpoint that was reported.
func TestASavedRunOutlivesItsPower(t *testing.T) {
	racing.Skip(t)
	c, root := scheduled(), t.TempDir()
	whole := filepath.Join(t.TempDir(), "whole")
	w := newWorld()
	folder := created(t, whole)
	savedRun(t, w.lab(t, c, folder), w, nil)
	want := journalOf(t, whole)
	tape, stop, err := cut.Record(root)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	w = newWorld()
	folder = created(t, filepath.Join(root, "runs", "run"))
	savedRun(t, w.lab(t, c, folder), w, tape)
	stop()
	refused, gone := 0, 0
	cuts(t, tape, 37, func(root, where string, promised []string) {
		if goesOn(t, c, filepath.Join(root, "runs", "run"), want, where, promised) {
			refused++
		}
		gone++
	})
	if refused == gone {
		t.Error("nothing goes on")
	}
}

// The same holds for a run that is resumed, whose journal is truncated and whose checkpoint is
// written again.
func TestAResumeOutlivesItsPower(t *testing.T) {
	racing.Skip(t)
	c, root := scheduled(), t.TempDir()
	whole, broken := filepath.Join(t.TempDir(), "whole"), filepath.Join(root, "run")
	diskRun(t, c, whole, 0)
	diskRun(t, c, broken, 38)
	want := journalOf(t, whole)
	found, err := run.Checkpoints(broken)
	if err != nil || len(found) < 2 {
		t.Fatal(found, err)
	}
	for _, at := range []*knob.Position{nil, new(knob.Position)} {
		if at != nil {
			if err := at.UnmarshalText([]byte(found[len(found)-1].Position)); err != nil { // the first checkpoint
				t.Fatal(err)
			}
		}
		tape, stop, err := cut.Record(root)
		if err != nil {
			t.Fatal(err)
		}
		tape.Promise(found[0].Position)
		l, _, err := restoredAs(t, c, broken, Resumption{At: at})
		if err != nil {
			stop()
			t.Fatal(err)
		}
		l.Close()
		stop()
		cuts(t, tape, 3, func(root, where string, promised []string) {
			if at != nil { // checkpoints saved after it are set aside
				promised = []string{at.String()}
			}
			goesOn(t, c, filepath.Join(root, "run"), want, where, promised)
		})
	}
}

// forked returns a parent with a checkpoint to fork from, and the journal that the fork has to end
// with. top holds parent and forks.
func forked(t *testing.T) (c config.Config, top string, from run.Found, set []string, want string) {
	t.Helper()
	c, top = scheduled(), t.TempDir()
	parent := filepath.Join(top, "parent")
	diskRun(t, c, parent, 38)
	found, err := run.Checkpoints(parent)
	if err != nil || len(found) < 2 {
		t.Fatal(found, err)
	}
	from, set = found[1], []string{"guidance=5", "ratio=0.75"}
	twin := filepath.Join(t.TempDir(), "twin")
	if said, err := checkpoint.Fork(c, []byte("seed = 8\n"), from, set, twin); err != nil || said != "" {
		t.Fatal(said, err)
	}
	l, _, err := restored(t, c, twin)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return c, top, from, set, journalOf(t, twin)
}

// unfinished returns the names of forks below dir that were begun and not finished.
func unfinished(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if run.IsUnfinished(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// Wherever a fork is killed or loses power, there is a whole fork or none. What it left is never
// taken for a run, and the next fork removes it.
func TestAForkIsWholeOrNotThere(t *testing.T) {
	racing.Skip(t)
	c, top, from, set, want := forked(t)
	tape, stop, err := cut.Record(top)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := checkpoint.Fork(c, []byte("seed = 8\n"), from, set, filepath.Join(top, "child")); err != nil {
		stop()
		t.Fatal(err)
	}
	tape.Promise(from.Position)
	stop()
	there, left := 0, 0
	cuts(t, tape, 3, func(root, where string, promised []string) {
		child := filepath.Join(root, "child")
		if _, err := os.Stat(child); err == nil {
			there++
			goesOn(t, c, child, want, where, []string{from.Position})
		} else if len(promised) > 0 {
			t.Errorf("%s: the fork was made, and is not there", where)
		}
		before := unfinished(t, root)
		left += len(before)
		latest, err := run.Latest(root)
		if err != nil || filepath.Base(latest) != "parent" && filepath.Base(latest) != "child" {
			t.Errorf("%s: the latest run is %s, %v", where, latest, err)
		}
		again := from
		again.Path = filepath.Join(root, "parent", run.CheckpointsName, filepath.Base(from.Path))
		if _, err := checkpoint.Fork(c, []byte("seed = 8\n"), again, set, filepath.Join(root, "next")); err != nil {
			t.Errorf("%s: the next fork: %v", where, err)
		}
		if now := unfinished(t, root); len(now) > 0 {
			t.Errorf("%s: %q are left of %q", where, now, before)
		}
	})
	if there == 0 || left == 0 {
		t.Errorf("%d whole ones, %d that were begun: the cuts are not where they should be", there, left)
	}
}

// A disk that refuses any one operation of a fork leaves a whole fork or nothing, and the error is
// one line.
func TestAForkThatCannotBeMade(t *testing.T) {
	racing.Skip(t)
	c, top, from, set, want := forked(t)
	for n := 0; ; n++ {
		child, seen := filepath.Join(top, fmt.Sprintf("child-%d", n)), 0
		stop := files.Watch(func(files.Op) error {
			if seen++; seen == n+1 {
				return syscall.EIO
			}
			return nil
		})
		said, err := checkpoint.Fork(c, []byte("seed = 8\n"), from, set, child)
		stop()
		if seen <= n {
			if n < 20 {
				t.Errorf("a fork takes %d changes", n)
			}
			return
		}
		_, there := os.Stat(child)
		if err != nil && strings.Contains(err.Error(), "\n") || strings.Contains(said, "\n") {
			t.Errorf("change %d: %v, %q", n, err, said)
		}
		if err != nil && there == nil && !errors.Is(err, syscall.EIO) {
			t.Errorf("change %d: %v", n, err)
		}
		if err == nil && there != nil {
			t.Errorf("change %d: nothing was said, and nothing is there", n)
		}
		if there == nil {
			goesOn(t, c, child, want, fmt.Sprintf("change %d refused", n), []string{from.Position})
		}
	}
}

// A fork or a run whose checkpoints are gone is not started from the beginning.
func TestARunWithoutItsCheckpointsIsNotBegunAgain(t *testing.T) {
	c, top, from, set, _ := forked(t)
	child := filepath.Join(top, "child")
	if _, err := checkpoint.Fork(c, []byte("seed = 8\n"), from, set, child); err != nil {
		t.Fatal(err)
	}
	parent := filepath.Join(top, "parent")
	for dir, want := range map[string]string{
		child:  "it is a fork without the checkpoint that it began with: remove it and fork " + from.Path + " again",
		parent: "its journal lists checkpoints, and there is none: its config.toml, as --preset, begins it again in another folder",
	} {
		if err := os.RemoveAll(filepath.Join(dir, run.CheckpointsName)); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(filepath.Join(dir, run.JournalName))
		_, _, err := restored(t, c, dir)
		if err == nil || err.Error() != "resume "+dir+": "+want {
			t.Errorf("%v", err)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, run.JournalName)); string(after) != string(before) {
			t.Error("its journal was changed")
		}
	}
}

// The parent of a fork may be read-only. A note then says that the parent cannot be made to keep
// the checkpoint, and the fork goes on as usual.
func TestAForkOfAParentThatIsReadOnly(t *testing.T) {
	c, top, from, set, want := forked(t)
	parent, child := filepath.Join(top, "parent"), filepath.Join(top, "child")
	before := fmt.Sprint(filesOf(t, parent))
	stop := files.Watch(func(o files.Op) error {
		changed := o.Path
		if o.Kind == files.Linked {
			changed = o.To
		}
		if strings.HasPrefix(changed, parent+"/") {
			return syscall.EACCES
		}
		return nil
	})
	said, err := checkpoint.Fork(c, []byte("seed = 8\n"), from, set, child)
	stop()
	if err != nil || said != "keep checkpoint "+from.Path+": permission denied: the fork is whole without it" {
		t.Fatalf("%q, %v", said, err)
	}
	if after := fmt.Sprint(filesOf(t, parent)); after != before {
		t.Errorf("the parent is %s, was %s", after, before)
	}
	goesOn(t, c, child, want, "a fork", []string{from.Position})
}

// A run that was saved before its first step goes on.
func TestARunSavedAtItsBeginningGoesOn(t *testing.T) {
	c, dir := scheduled(), filepath.Join(t.TempDir(), "run")
	whole := filepath.Join(t.TempDir(), "whole")
	diskRun(t, c, whole, 0)
	folder := created(t, dir)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := newWorld().lab(t, c, folder).Run(ctx); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	found, err := run.Checkpoints(dir)
	if err != nil || len(found) != 1 || found[0].Step != 0 {
		t.Fatal(found, err)
	}
	l, said, err := restored(t, c, dir)
	if err != nil {
		t.Fatal(said, err)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, want := journalOf(t, dir), journalOf(t, whole); strings.ReplaceAll(got, `{"type":"note","step":0,"text":"interrupted after step 0"}`+"\n", "") != want {
		t.Errorf("the journal is\n%s\nwant\n%s", got, want)
	}
}
