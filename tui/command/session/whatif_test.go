package session

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/pane"
)

// beside returns the what-if of a run with a checkpoint, computed by a shell script; asked receives
// the arguments of its process.
func beside(t *testing.T, script string) (w *whatIf, asked *[]string) {
	t.Helper()
	config, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := presets.Encode(config)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := run.Create(filepath.Join(t.TempDir(), "run"), doc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	asked = &[]string{}
	s := &session{config: config, folder: folder, begin: func(args ...string) *exec.Cmd {
		*asked = args
		return exec.Command("sh", "-c", script)
	}}
	w = newWhatIf(s)
	w.task.EpisodeSteps = 1000
	if w.Begin(); w.State().Under || w.State().Err == nil || !strings.Contains(w.State().Err.Error(), "has no checkpoint that can be read") {
		t.Fatalf("without a checkpoint: %+v", w.State())
	}
	if _, _, err := folder.WriteCheckpoint(&run.Checkpoint{Header: run.Header{Program: "test", Step: 4000, Position: "4000", Journal: run.EmptyMark()}}); err != nil {
		t.Fatal(err)
	}
	return w, asked
}

// settled returns the state of a what-if after its process has ended.
func settled(w *whatIf) *pane.WhatIfState {
	w.followed.Wait()
	return w.State()
}

// The process reports its progress, and then its table.
func TestWhatIfIsComputedByAProcess(t *testing.T) {
	w, asked := beside(t, `echo '{"doing":"real only","done":1,"total":4}' >&2; echo '{"real":4000,"findings":[]}'`)
	if p, updates, _ := w.Plan(); updates < 2*p.Updates*p.Repeats || len(p.Guidance) != 1 {
		t.Errorf("%+v takes %d updates", p, updates)
	}
	w.Begin()
	s := settled(w)
	if s.Err != nil || s.Table == nil || s.Table.Real != 4000 || s.Of != 4000 || s.Progress.Doing != "real only" {
		t.Errorf("%+v", s)
	}
	for _, want := range []string{w.dir() + "@4000", "--what-if", "--until-eof"} {
		if !slices.Contains(*asked, want) {
			t.Errorf("asked for %q, without %s", *asked, want)
		}
	}
}

// The last words of a process that fails are the reason why there is no table; the previous result
// stays.
func TestWhatIfThatFails(t *testing.T) {
	w, _ := beside(t, `echo '{"doing":"real only","done":1,"total":4}' >&2; echo 'pgrlab: analyse a: what if: no luck' >&2; exit 1`)
	before := &pane.WhatIfState{Table: nil, Of: 3000}
	w.state = before
	w.Begin()
	s := settled(w)
	if s.Err == nil || s.Err.Error() != "analyse a: what if: no luck" || s.Of != 3000 {
		t.Errorf("%+v", s)
	}
	silent, _ := beside(t, "exit 3")
	silent.Begin()
	if s := settled(silent); s.Err == nil || !strings.Contains(s.Err.Error(), "exit status 3") {
		t.Errorf("%+v", s)
	}
}

// The plan is smaller where the run is too slow for the usual one; at any speed it has two repeats at
// least, without which no interval exists.
func TestAWhatIfBesideASlowRunIsSmaller(t *testing.T) {
	w, _ := beside(t, "")
	before := 1 << 30
	for i, c := range []struct {
		speed   float64
		smaller bool
	}{{0, false}, {1e6, false}, {250, true}, {1, true}} {
		w.speed = func() float64 { return c.speed }
		p, updates, usual := w.Plan()
		if updates < usual != c.smaller || p.Repeats < 2 || c.smaller && updates > before {
			t.Errorf("%d: at %g updates/s %+v takes %d updates, after %d; the usual one %d", i, c.speed, p, updates, before, usual)
		}
		before = updates
	}
}

// A what-if that holds the run asks for a pause that passes, and ends that pause, and no other, once
// it is over or stopped.
func TestAWhatIfHoldsItsRun(t *testing.T) {
	for name, end := range map[string]func(w *whatIf){"stopped": (*whatIf).Stop, "over": func(w *whatIf) { w.input.Close() }} {
		t.Run(name, func(t *testing.T) {
			w, _ := beside(t, "cat >&2; echo '{}'") // runs until its input ends
			var sent []event.Command
			w.send = func(c event.Command) error { sent = append(sent, c); return nil }
			if err := w.Hold(); err == nil || sent != nil {
				t.Errorf("without a what-if: %v, sent %v", err, sent)
			}
			w.Begin()
			if err := w.Hold(); err != nil || !w.State().Held {
				t.Fatalf("%v, %+v", err, w.State())
			}
			end(w)
			w.followed.Wait()
			want := []event.Command{event.Pause{By: whatIfSender, Passing: true}, event.Resume{By: whatIfSender, Of: whatIfSender}}
			if !slices.Equal(sent, want) || w.State().Held {
				t.Errorf("sent %+v, want %+v", sent, want)
			}
		})
	}
}

// The share of a core is that of the last seconds, and unknown where processor time is.
func TestAWhatIfsShareOfACore(t *testing.T) {
	w, _ := beside(t, "cat >&2")
	used := map[int]time.Duration{}
	w.spent = func(pid int) time.Duration { return used[pid] }
	w.Begin()
	begun, pid := w.timed, w.pid
	for _, c := range []struct {
		after, used time.Duration
		want        float64
	}{{time.Second, time.Second, -1}, {coreEvery, coreEvery / 4, 0.25}, {coreEvery + time.Second, coreEvery, 0.25}, {3 * coreEvery, 9 * coreEvery / 4, 1}, {4 * coreEvery, -1, -1}} {
		used[pid] = c.used
		w.mu.Lock()
		w.measure(begun.Add(c.after))
		w.mu.Unlock()
		if got := w.state.Core; got != c.want {
			t.Errorf("after %s, %s used: %g, want %g", c.after, c.used, got, c.want)
		}
	}
	w.Stop()
	w.followed.Wait()
}

// The output of a what-if that was stopped is ignored, and a second what-if does not begin beside a
// running one.
func TestWhatIfIsStopped(t *testing.T) {
	w, asked := beside(t, `cat >&2; echo '{"real":1}'`) // runs until its input ends
	w.Begin()
	*asked = nil
	w.Begin()
	if !w.State().Under || *asked != nil {
		t.Fatalf("%+v, a second one was asked for %q", w.State(), *asked)
	}
	w.Stop()
	if s := w.State(); s.Under || s.Err != nil {
		t.Errorf("%+v", s)
	}
	w.followed.Wait() // the process has ended, because its input has
	if s := w.State(); s.Under || s.Table != nil || s.Err != nil {
		t.Errorf("%+v", s)
	}
	if said := w.end(); said != nil {
		t.Errorf("%q", said)
	}
	w.Begin()
	if said := w.end(); len(said) != 1 || w.State().Under {
		t.Errorf("%q, %+v", said, w.State())
	}
	w.followed.Wait()
}
