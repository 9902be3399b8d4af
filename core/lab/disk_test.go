package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// Whatever keeps the disk from taking a line, training pauses, says what the fault is, and goes on
// by itself, and no line is lost or out of order. Only a lack of room is called one.
func TestADiskThatFailsLosesNothing(t *testing.T) {
	const again = ": training tries again every 5s"
	for fault, then := range map[syscall.Errno]string{
		syscall.ENOSPC: ": training waits for room", syscall.EDQUOT: ": training waits for room",
		syscall.EBADF: again, syscall.EIO: again, syscall.EROFS: again, syscall.EACCES: again, syscall.ESTALE: again, syscall.EFBIG: again,
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			folder := &memoryFolder{}
			w.on("evaluate episodes 1", func() { folder.fault.Store(uint64(fault)) })
			l := w.lab(t, w.config(), folder)
			r := w.start(t, t.Context(), l, folder)
			synctest.Wait()
			s := l.Snapshot()
			if want := "write journal memory: " + fault.Error() + then; s.State != event.PausedState || s.Err != want {
				t.Errorf("%s: %q, want %q", s.State, s.Err, want)
			}
			l.Send(event.Resume{}) // nothing has changed
			synctest.Wait()
			if s := l.Snapshot(); s.State != event.PausedState {
				t.Errorf("%v: with that disk it is %s", fault, s.State)
			}
			folder.fault.Store(0)
			if err := <-r.ended; err != nil {
				t.Fatal(err)
			}
			twin := newWorld()
			_, undisturbed := play(t, twin, twin.config())
			if folder.canonical(t) != undisturbed.canonical(t) {
				t.Errorf("%v: the journal is\n%s\nwant\n%s", fault, folder.canonical(t), undisturbed.canonical(t))
			}
			for want, n := range map[string]int{`"type":"pause"`: 2, `"reason":"write journal memory: ` + fault.Error(): 2, `"type":"resume"`: 2} {
				if got := strings.Count(folder.journal.String(), want); got != n {
					t.Errorf("%v: %d lines with %s, want %d", fault, got, want, n)
				}
			}
		})
	}
}

// When the fault of a disk changes, the pause shows the present one. A pause that a user asked for
// outlasts it.
func TestADisksFaultsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		folder := &memoryFolder{}
		w.on("evaluate episodes 1", func() { folder.fault.Store(uint64(syscall.EIO)) })
		l := w.lab(t, w.config(), folder)
		r := w.start(t, t.Context(), l, folder)
		time.Sleep(diskEvery)
		folder.fault.Store(uint64(syscall.ENOSPC))
		time.Sleep(2 * diskEvery)
		if s := l.Snapshot(); !strings.HasSuffix(s.Err, "waits for room") {
			t.Errorf("%q", s.Err)
		}
		folder.fault.Store(0)
		time.Sleep(2 * diskEvery)
		if err := <-r.ended; err != nil {
			t.Fatal(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		folder := &memoryFolder{}
		var l *Lab
		w.on("evaluate episodes 1", func() {
			folder.fault.Store(uint64(syscall.EIO))
			l.Send(event.Pause{By: "ana"})
		})
		l = w.lab(t, w.config(), folder)
		r := w.start(t, t.Context(), l, folder)
		synctest.Wait()
		if s := l.Snapshot(); s.State != event.PausedState || s.Err != "write journal memory: input/output error" {
			t.Errorf("%s: %q", s.State, s.Err)
		}
		folder.fault.Store(0)
		time.Sleep(time.Minute)
		if s := l.Snapshot(); s.State != event.PausedState || s.Err != "" {
			t.Errorf("the disk is well again and her pause is over: %s, %q", s.State, s.Err)
		}
		l.Send(event.Resume{By: "ana"})
		if err := <-r.ended; err != nil {
			t.Fatal(err)
		}
	})
}

// A run that is paused or parked while it waits for the disk stays so when the disk is well again, also
// without a device to give back.
func TestAPauseWhileTheDiskIsWaitedFor(t *testing.T) {
	for name, command := range map[string]event.Command{"pause": event.Pause{By: "ana"}, "park": event.Park{By: "ana"}} {
		t.Run(name, func(t *testing.T) { pauseWhileTheDiskIsWaitedFor(t, command) })
	}
}

func pauseWhileTheDiskIsWaitedFor(t *testing.T, command event.Command) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		folder := &memoryFolder{}
		w.on("evaluate episodes 1", func() { folder.fault.Store(uint64(syscall.ENOSPC)) })
		l := w.lab(t, w.config(), folder)
		r := w.start(t, t.Context(), l, folder)
		synctest.Wait()
		if s := l.Snapshot(); s.State != event.PausedState || !s.Passing {
			t.Errorf("%s, for the disk %v", s.State, s.Passing)
		}
		l.Send(command)
		synctest.Wait()
		if s := l.Snapshot(); s.State != event.PausedState || s.Passing {
			t.Errorf("paused by her: %s, for the disk %v", s.State, s.Passing)
		}
		folder.fault.Store(0)
		time.Sleep(10 * diskEvery)
		if s := l.Snapshot(); s.State != event.PausedState || s.Err != "" {
			t.Errorf("the disk is well again: %s, %q", s.State, s.Err)
		}
		l.Send(event.Resume{By: "ana"})
		if err := <-r.ended; err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(folder.journal.String(), `"type":"pause"`); n != 2 {
			t.Errorf("%d lines of pauses", n)
		}
	})
}

// A disk that takes lines again is found out however often a screen asks for something meanwhile.
func TestADiskIsTriedWhileCommandsCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		folder := &memoryFolder{}
		w.on("evaluate episodes 1", func() { folder.fault.Store(uint64(syscall.ENOSPC)) })
		l := w.lab(t, w.config(), folder)
		r := w.start(t, t.Context(), l, folder)
		synctest.Wait()
		if s := l.Snapshot(); s.State != event.PausedState {
			t.Fatalf("with a full disk it is %s", s.State)
		}
		folder.fault.Store(0)
		begin := time.Now()
		for {
			select {
			case err := <-r.ended:
				if took := time.Since(begin); err != nil || took > 2*diskEvery {
					t.Errorf("%v, after %s", err, took)
				}
				return
			case <-time.After(diskEvery / 10):
				l.Send(event.Watch{})
			}
			if time.Since(begin) > 10*diskEvery {
				t.Fatal("it still waits for the disk")
			}
		}
	})
}

// A run without a watching user waits for room as long as it takes, and for a broken disk ten
// minutes.
func TestADiskThatStaysAsItIs(t *testing.T) {
	for fault, ends := range map[syscall.Errno]bool{syscall.ENOSPC: false, syscall.EIO: true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			folder := &memoryFolder{}
			folder.fault.Store(uint64(fault))
			begin := time.Now()
			l, err := newLab(w.config(), w.task(), folder, w.parts(), "cpu test, 2 threads", time.Now)
			if err != nil {
				t.Fatal(err)
			}
			l.OnFault(FaultFail)
			ctx, cancel := context.WithCancel(t.Context())
			r := w.start(t, ctx, l, folder)
			time.Sleep(diskPatience - time.Second)
			if s := l.Snapshot(); s.State != event.PausedState || s.Step != 0 {
				t.Errorf("%v: %s at step %d", fault, s.State, s.Step)
			}
			if n := len(l.Events(0)); n != 2 {
				t.Errorf("%v: %d events", fault, n)
			}
			if !ends {
				time.Sleep(time.Hour)
				cancel()
			}
			err = <-r.ended
			if !errors.Is(err, fault) || strings.Contains(err.Error(), "full") || !strings.HasSuffix(err.Error(), "lines, 3, are lost") {
				t.Errorf("%v", err)
			}
			if took := time.Since(begin); ends && took > diskPatience+diskEvery {
				t.Errorf("%v: it waited for %s", fault, took)
			}
			cancel()
		})
	}
}

// If a checkpoint cannot be written for another reason than room, the run says so and training goes
// on: the checkpoint before is whole. The next one is written.
func TestACheckpointThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	folder := created(t, dir)
	in := filepath.Join(dir, run.CheckpointsName)
	if err := os.WriteFile(in, nil, 0o644); err != nil { // a file where the folder should be
		t.Fatal(err)
	}
	w := newWorld()
	l := w.lab(t, w.config(), folder)
	save := func() { l.Send(event.Checkpoint{By: "test"}) }
	written := func() {
		l.x.checkpoints.settle()
	}
	w.on("evaluate episodes 1", save)
	w.on("evaluate episodes 2", func() {
		written()
		os.Remove(in)
		save()
	})
	w.on("start generate 1, guidance 2", func() { written(); save() })
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	var said []string
	saved, _ := bodies[event.Checkpointed](l)
	for _, c := range saved {
		said = append(said, c.Obs.Error)
	}
	if len(said) != 4 || !strings.HasSuffix(said[0], "not a directory") || said[1] != "" || said[2] != "" || said[3] != "" {
		t.Errorf("%q", said)
	}
	twin := newWorld()
	if _, undisturbed := play(t, twin, twin.config()); journalOf(t, dir) != undisturbed.canonical(t) {
		line, a, b, _, _ := run.Diff(strings.NewReader(journalOf(t, dir)), strings.NewReader(undisturbed.canonical(t)))
		t.Errorf("line %d is\n%s\nwant\n%s", line, a, b)
	}
	again, found, err := restored(t, w.config(), dir)
	if err != nil {
		t.Fatal(found, err)
	}
	again.Close()
	if len(found) > 1 {
		t.Errorf("%q", found)
	}
}

// A run whose state cannot be copied at its end was not saved, and does not end as if it had been: one
// that is stopped, and one that has made its steps.
func TestAnEndThatIsNotSavedIsAFailure(t *testing.T) {
	for _, stops := range []bool{true, false} {
		w := newWorld()
		folder := createdWith(t, filepath.Join(t.TempDir(), "run"), docOf(w.config()))
		l := w.lab(t, w.config(), folder)
		l.x.checkpoints.copyTo = func(*run.Capture, []uint64) error { return errors.New("the agent does not come off its device") }
		if stops {
			w.on("evaluate episodes 1", func() { l.Send(event.Stop{}) })
		}
		err := l.Run(t.Context())
		if s := l.Snapshot(); err == nil || !strings.Contains(err.Error(), "the agent does not come off its device") || s.State != event.FailedState {
			t.Errorf("stopped %v: it ends %s with %v", stops, s.State, err)
		}
		if done, _ := bodies[event.Done](l); len(done) > 0 {
			t.Errorf("stopped %v: the journal says done", stops)
		}
	}
}

// A note that comes when the run has just ended is not written, and its author is notified.
func TestANoteThatComesTooLateIsRefused(t *testing.T) {
	w := newWorld()
	l := w.lab(t, w.config(), nil)
	if err := l.Send(event.Note{Text: "a pity", By: "ana"}); err != nil {
		t.Fatal(err)
	}
	l.Close()
	refused, _ := bodies[event.Refused](l)
	if len(refused) != 1 || refused[0].Knob != "note" || refused[0].Value != "a pity" || refused[0].Reason != event.ErrEnded.Error() {
		t.Errorf("%+v", refused)
	}
}

// What a limit on the disk costs is reported with the checkpoint at which it changes, and once: first that
// the limit is exceeded, then that only the latest checkpoint is left. Training does not notice.
func TestALimitOnTheDiskIsReported(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	folder := created(t, dir)
	w := newWorld()
	l := w.lab(t, w.config(), folder)
	l.Saving(Saving{Every: time.Hour, Disk: 1})
	save := func() { l.x.checkpoints.settle(); l.Send(event.Checkpoint{By: "test"}) }
	for _, at := range []string{"evaluate episodes 1", "evaluate episodes 2", "start generate 1, guidance 2"} {
		w.on(at, save)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	saved, _ := bodies[event.Checkpointed](l)
	for i, want := range []string{"the limit of 0.0 MiB is exceeded", "only the latest checkpoint stays", "", ""} {
		if i >= len(saved) {
			t.Fatalf("%d checkpoints", len(saved))
		}
		if said := saved[i].Obs.Limited; (said == "") != (want == "") || !strings.Contains(said, want) {
			t.Errorf("checkpoint %d: %q, want %q", i, said, want)
		}
	}
	twin := newWorld()
	if _, undisturbed := play(t, twin, twin.config()); journalOf(t, dir) != undisturbed.canonical(t) {
		t.Error("the journal is another one")
	}
}

// takenFolder is a run folder that another process takes over.
type takenFolder struct {
	*memoryFolder
	lost atomic.Bool
}

func (f *takenFolder) err() error {
	if f.lost.Load() {
		return fmt.Errorf("write journal memory: %w: pgrlab 7 on elsewhere", run.ErrLost)
	}
	return nil
}

func (f *takenFolder) Append(l run.Line) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.memoryFolder.Append(l)
}

func (f *takenFolder) Save(name string, write func(io.Writer) error) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.memoryFolder.Save(name, write)
}

func (f *takenFolder) Sync() error { return f.err() }

// A run whose folder another process has taken over ends, whether a user watches it or not. It does
// not wait, and says which process has the folder.
func TestARunThatLosesItsFolderEnds(t *testing.T) {
	for _, fault := range []Fault{FaultPause, FaultFail} {
		w := newWorld()
		folder := &takenFolder{memoryFolder: &memoryFolder{}}
		var size int
		w.on("evaluate episodes 1", func() { size = folder.journal.Len(); folder.lost.Store(true) })
		l := w.lab(t, w.config(), folder)
		l.OnFault(fault)
		err := l.Run(t.Context())
		if !errors.Is(err, run.ErrLost) || !strings.HasSuffix(err.Error(), "another pgrlab writes there now: pgrlab 7 on elsewhere") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
		if s := l.Snapshot(); s.State != event.FailedState || s.Step > 16 {
			t.Errorf("%s at step %d", s.State, s.Step)
		}
		if folder.journal.Len() != size || len(folder.files) > 0 {
			t.Errorf("%d bytes were written after %d, and %d files", folder.journal.Len()-size, size, len(folder.files))
		}
	}
}
