package lab

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/generative"
)

// alone makes the roles that a run's gate needs, without a run.
func alone(folder *memoryFolder) (*gate, *[]event.Event) {
	var log []event.Event
	now := clock()
	p, m := &place{Step: 7}, cost.NewMeter(now, generative.Config{})
	g := &gate{common: common{place: p, meter: &m, now: now}, blamed: map[string]bool{}}
	g.journal = &journal{
		place: p, members: 1, now: now, start: now(), folder: folder,
		log: func(e event.Event) { log = append(log, e) }, refused: g.waitForDisk, written: func() {},
	}
	return g, &log
}

func types(log []event.Event) string {
	var all []string
	for _, e := range log {
		all = append(all, e.Type)
	}
	return strings.Join(all, " ")
}

// Training pauses once for a kind of fault, and again after it was resumed.
func TestAFaultClosesTheGateOnce(t *testing.T) {
	g, log := alone(&memoryFolder{})
	g.fault(faultLoss, "a loss", choices{})
	g.fault(faultLoss, "another loss", choices{})
	if g.pause == nil || g.pause.Reason != "a loss" || types(*log) != "pause" {
		t.Errorf("%+v after %s", g.pause, types(*log))
	}
	g.open("ana")
	if g.pause != nil || g.broken != nil {
		t.Errorf("open, but %+v, %v", g.pause, g.broken)
	}
	g.fault(faultLoss, "a third", choices{})
	if got := types(*log); got != "pause resume pause" {
		t.Errorf("lines %s", got)
	}
	g, _ = alone(&memoryFolder{})
	g.onFault.Store(int32(FaultFail))
	if g.fault(faultSimulation, "a crash", choices{": resume", ": begin again"}); g.pause != nil || g.broken == nil || g.broken.Error() != "a crash: begin again" {
		t.Errorf("where it is to fail: %+v, %v", g.pause, g.broken)
	}
}

// A pause that passes is ended by its sender, unless the run was paused or resumed since.
func TestAPauseThatPasses(t *testing.T) {
	lend, back := event.Pause{By: "what-if", Passing: true}, event.Resume{By: "what-if", Of: "what-if"}
	mine, resume := event.Pause{By: "ana"}, event.Resume{By: "ana"}
	for _, c := range []struct {
		name     string
		commands []event.Command
		by       string // who pauses at the end; "": the run trains
		passes   bool
	}{
		{"lent", []event.Command{lend}, "what-if", true},
		{"lent and over", []event.Command{lend, back}, "", false},
		{"over without one", []event.Command{back}, "", false},
		{"paused by hand before", []event.Command{mine, lend, back}, "ana", false},
		{"paused by hand meanwhile", []event.Command{lend, mine, back}, "ana", false},
		{"parked meanwhile", []event.Command{lend, event.Park{By: "ana"}, back}, "ana", false},
		{"resumed by hand", []event.Command{lend, resume}, "", false},
		{"resumed and paused by hand", []event.Command{lend, resume, mine, back}, "ana", false},
		{"lent twice", []event.Command{lend, resume, lend, back}, "", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			folder := &memoryFolder{}
			l := w.lab(t, w.config(), folder)
			w.on("evaluate episodes 1", func() {
				for _, command := range c.commands {
					if err := l.Send(command); err != nil {
						t.Error(err)
					}
				}
			})
			r := w.start(t, t.Context(), l, folder)
			synctest.Wait()
			by, s := "", l.Snapshot()
			if p := l.x.gate.pause; p != nil {
				by = p.By
			}
			if by != c.by || s.Passing != c.passes || (s.State == event.PausedState) != (by != "") {
				t.Errorf("%s: %s by %q, passing %v", c.name, s.State, by, s.Passing)
			}
			l.Send(resume) // an answer of ErrEnded will do
			if err := <-r.ended; err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A fault's pause ends, and the run with it, when the last screen goes of a run that no one watches then;
// a person's pause stays.
func TestAFaultOfAnUnwatchedRun(t *testing.T) {
	g, _ := alone(&memoryFolder{})
	g.fault(faultLoss, "a loss", choices{paused: ": resume", ended: ": begin again"})
	if g.pause == nil || g.pause.Reason != "a loss: resume" {
		t.Errorf("the pause says %+v", g.pause)
	}
	if g.left(); g.pause == nil || g.broken != nil {
		t.Errorf("someone watches still: %+v, %v", g.pause, g.broken)
	}
	g.onFault.Store(int32(FaultFail))
	if g.left(); g.pause != nil || g.broken == nil || g.broken.Error() != "a loss: begin again" {
		t.Errorf("no one watches: %+v, %v", g.pause, g.broken)
	}
	g, _ = alone(&memoryFolder{})
	g.onFault.Store(int32(FaultFail))
	g.wait(event.Paused{By: "ana"})
	if g.left(); g.pause == nil || g.broken != nil {
		t.Errorf("a person's: %+v, %v", g.pause, g.broken)
	}
}

// A disk that takes no line closes the gate. The lines keep their order, and a refused line is not
// tried again before the backlog is flushed.
func TestLinesWaitForTheDiskInTheirOrder(t *testing.T) {
	folder := &memoryFolder{}
	g, log := alone(folder)
	folder.fault.Store(uint64(syscall.ENOSPC))
	g.journal.emit(event.TypeNote, event.NoMember, event.Noted{Text: "first"})
	if g.pause == nil || g.disk == nil || !errors.Is(g.disk.err, syscall.ENOSPC) {
		t.Fatalf("%+v, %+v", g.pause, g.disk)
	}
	folder.fault.Store(0)
	g.journal.emit(event.TypeNote, event.NoMember, event.Noted{Text: "second"})
	if folder.journal.Len() > 0 {
		t.Errorf("a line went past those that wait: %s", &folder.journal)
	}
	g.open("room on the disk")
	text := folder.journal.String()
	last := -1
	for _, want := range []string{`"first"`, `"pause"`, `"second"`, `"resume"`} {
		at := strings.Index(text, want)
		if at <= last {
			t.Errorf("%s stands at %d, before what stands at %d:\n%s", want, at, last, text)
		}
		last = at
	}
	if types(*log) != "note pause note resume" || len(g.journal.backlog) > 0 {
		t.Errorf("lines %s, %d left", types(*log), len(g.journal.backlog))
	}
}

// failingDevice can be parked but not woken.
type failingDevice struct{ parks int }

func (d *failingDevice) Park() error { d.parks++; return nil }
func (d *failingDevice) Wake() error { return errors.New("taken") }

// A device that cannot be woken leaves the gate closed.
func TestAParkedRunStaysParkedWithoutItsDevice(t *testing.T) {
	g, _ := alone(&memoryFolder{})
	d := &failingDevice{}
	g.device = d
	g.park("ana")
	if !g.parked || d.parks != 1 || !errors.Is(g.absent(), errParked) {
		t.Fatalf("parked %v, %d times, absent: %v", g.parked, d.parks, g.absent())
	}
	if g.unpark() || !g.parked || g.pause == nil || g.pause.Reason != "still parked: taken" {
		t.Errorf("it goes on: %+v", g.pause)
	}
}
