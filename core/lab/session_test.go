package lab

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgrlab/core/event"
	"pgrlab/core/policy"
	"pgrlab/core/run"
)

// running is a lab whose training goroutine is at work.
type running struct {
	*Lab
	folder *memoryFolder
	ended  chan error
}

func (w *world) start(t *testing.T, ctx context.Context, l *Lab, folder *memoryFolder) running {
	t.Helper()
	r := running{l, folder, make(chan error, 1)}
	go func() { r.ended <- l.Run(ctx) }()
	return r
}

// A paused run waits idly: the synctest bubble sees its goroutine blocked.
func TestPauseWaitsBetweenTwoSlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		var l *Lab
		w.on("fit to 4", send(t, &l, event.Pause{By: "ana"}))
		w.on("fit to 8", send(t, &l, event.Resume{})) // it runs already
		folder := &memoryFolder{}
		c := w.config()
		c.Steps = 21
		l = w.lab(t, c, folder)
		r := w.start(t, t.Context(), l, folder)
		synctest.Wait()
		s := l.Snapshot()
		if s.State != event.PausedState || s.Position.String() != "20/fit:4" || s.PhaseTotal != 10 {
			t.Errorf("paused: %s at %s of %d", s.State, s.Position, s.PhaseTotal)
		}
		if want := []float64{0, 20}; !slices.Equal(s.Pose, want) {
			t.Errorf("pose %v, want %v: episode and step of the training environment", s.Pose, want)
		}
		// It obeys commands while it is paused.
		for _, c := range []event.Command{
			event.Pause{}, event.SetKnob{Knob: "guidance", Value: "3"}, event.Note{Text: "what now?", By: "ana"},
			event.Detach{By: "ana", Reason: "hung up"}, event.Attach{By: "bo"}, event.Resume{By: "ana"},
		} {
			if err := l.Send(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-r.ended; err != nil {
			t.Fatal(err)
		}
		if c := changesIn(l); len(c) != 1 || c[0].Position.String() != "20/fit:4" {
			t.Errorf("changes: %+v", c)
		}
		journal := folder.journal.String()
		for _, want := range []string{
			`{"type":"pause","step":20,"by":"ana","wall_s":`, `{"type":"resume","step":20,"by":"ana","wall_s":`,
			`{"type":"note","step":20,"text":"what now?","obs":{"by":"ana",`,
			`{"type":"detached","step":20,"by":"ana","reason":"hung up","wall_s":`, `{"type":"attached","step":20,"by":"bo","wall_s":`,
		} {
			if strings.Count(journal, want) != 1 {
				t.Errorf("%d lines %s", strings.Count(journal, want), want)
			}
		}
		if journal = folder.canonical(t); strings.Contains(journal, "pause") || strings.Contains(journal, "tached") || strings.Contains(journal, "ana") {
			t.Errorf("observed things in the canonical journal:\n%s", journal)
		}
	})
}

func TestStopSavesAndEnds(t *testing.T) {
	w := newWorld()
	var l *Lab
	w.on("fit to 4", func() {
		send(t, &l, event.Stop{})()
		send(t, &l, event.SetKnob{ID: "late", Knob: "guidance", Value: "3"})()
		send(t, &l, event.Undo{ID: 1, Ref: "later"})()
	})
	folder := &memoryFolder{}
	l = w.lab(t, w.config(), folder)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if done, _ := bodies[event.Done](l); len(done) != 1 || done[0].Steps != 20 {
		t.Errorf("done: %+v", done)
	}
	var saved bytes.Buffer
	if err := policy.Save(&saved, func(w io.Writer) error { _, err := io.WriteString(w, "policy after 60 updates"); return err }); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(folder.files[run.PolicyName], saved.Bytes()) || !folder.closed {
		t.Errorf("files %q, closed %v", folder.files, folder.closed)
	}
	if l.Snapshot().State != event.Finished {
		t.Errorf("state %s", l.Snapshot().State)
	}
	if refused, _ := bodies[event.Refused](l); len(refused) != 2 || refused[0].Ref != "late" || refused[1].Ref != "later" || refused[0].Reason != event.ErrEnded.Error() {
		t.Errorf("commands after the end: %+v", refused)
	}
	if err := l.Send(event.Pause{}); !errors.Is(err, event.ErrEnded) {
		t.Errorf("send after the end: %v", err)
	}
	l.Close() // a second Close is harmless
}

func TestTheContextInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		folder := &memoryFolder{}
		var l *Lab
		w.on("fit to 4", send(t, &l, event.Pause{}))
		l = w.lab(t, w.config(), folder)
		ctx, cancel := context.WithCancelCause(t.Context())
		r := w.start(t, ctx, l, folder)
		synctest.Wait()
		signal := errors.New("ended by terminated")
		cancel(signal)
		if err := <-r.ended; !errors.Is(err, ErrInterrupted) || !errors.Is(err, signal) {
			t.Errorf("%v", err)
		}
		if notes, _ := bodies[event.Noted](l); len(notes) != 1 || notes[0].Text != "interrupted after step 20" {
			t.Errorf("notes: %+v", notes)
		}
		if folder.files[run.PolicyName] == nil || l.Snapshot().State != event.Finished {
			t.Errorf("files %v, state %s", folder.files, l.Snapshot().State)
		}
	})
}

func TestAFullMailboxSaysSo(t *testing.T) {
	w := newWorld()
	l := w.lab(t, w.config(), nil)
	for range mailboxSize {
		send(t, &l, event.Note{Text: "again"})()
	}
	if err := l.Send(event.Note{}); !errors.Is(err, event.ErrBusy) {
		t.Errorf("%v", err)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if notes, _ := bodies[event.Noted](l); len(notes) != mailboxSize {
		t.Errorf("%d notes, want %d", len(notes), mailboxSize)
	}
}

// The screen and other readers read while training writes, under the race detector.
func TestReadersDoNotDisturb(t *testing.T) {
	w := newWorld()
	folder := &memoryFolder{}
	l := w.lab(t, w.config(), folder)
	done := make(chan int)
	stop := make(chan struct{})
	go func() {
		seen, last := 0, 0
		for {
			for _, e := range l.Events(seen) {
				if e.Index != seen {
					t.Errorf("event %d has index %d", seen, e.Index)
				}
				seen++
			}
			if s := l.Snapshot(); s.Step < last {
				t.Errorf("step %d after %d", s.Step, last)
			} else {
				last = s.Step
			}
			select {
			case <-stop:
				done <- last
				return
			default:
			}
		}
	}()
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	close(stop)
	if last := <-done; last > 60 {
		t.Errorf("step %d", last)
	}
	twin := newWorld()
	if _, alone := play(t, twin, twin.config()); folder.canonical(t) != alone.canonical(t) {
		t.Error("the journal depends on its readers")
	}
}
