package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// scriptedRun is the part of a lab that progress sees.
type scriptedRun struct {
	snapshot *event.Snapshot
	events   []event.Event
}

func (r *scriptedRun) Snapshot() *event.Snapshot { return r.snapshot }
func (r *scriptedRun) Events(from int) []event.Event {
	return r.events[min(from, len(r.events)):]
}

func (r *scriptedRun) add(step int, body any) {
	r.events = append(r.events, event.Event{Index: len(r.events), Step: step, Member: event.NoMember, Body: body})
}

func TestPlainProgress(t *testing.T) {
	loss := run.Float(0.25)
	r := &scriptedRun{snapshot: &event.Snapshot{
		Step: 2500, Steps: 10000, Phase: knob.Fit, PhaseDone: 30, PhaseTotal: 3000,
		StepsPerSec: 99.6, UpdatesPerSec: 801.2, ETA: 75 * time.Second,
	}}
	r.add(0, event.Start{})
	r.add(1000, event.Evaluated{ReturnMean: 12.34, ReturnStd: 1.5, Episodes: 10})
	r.add(1000, event.Dormant{Ratio: 0.0625})
	r.events[2].Member = 0 // the only member, which is not worth mentioning
	r.add(1000, event.Episode{Return: 3, Length: 1000})
	r.add(2500, event.Refit{Loss: &loss, Steps: 3000, Generated: 20000, Obs: event.RefitObs{Seconds: 6.04}})
	r.add(2500, event.Refit{Loss: &loss, Steps: 500, Generated: 996, Obs: event.RefitObs{Seconds: 2},
		Ensemble: &event.Ensemble{HeldOut: []run.Float{3, 1, 2}, Constant: 4, Elites: []int{1, 2}}, Rollouts: &event.Rollouts{Dropped: 4}})
	var out bytes.Buffer
	p := NewProgress(&out)
	begin := time.Unix(1000, 0)
	p.Tick(r, begin)
	p.Tick(r, begin.Add(time.Second)) // too early for a second line
	r.add(3000, event.KnobChanged{ID: 1, Knob: "guidance", From: knob.Number(2), To: knob.Number(3), Now: true, Hint: "no effect yet"})
	r.add(3001, event.InForce{ID: 1, Knob: "guidance"})
	r.add(3001, event.InForce{ID: 2, Knob: "top_fraction", Share: 0.2048})
	r.add(3101, event.Whole{ID: 2, Knob: "top_fraction"})
	r.add(3001, event.Refused{Knob: "ratio", Value: "7", Reason: "out of range"})
	r.add(3001, event.Paused{})
	p.Tick(r, begin.Add(31*time.Second)) // the snapshot is older than the events
	r.snapshot.Step = 3001
	p.Tick(r, begin.Add(31*time.Second))
	want := `step 1000: return 12.3 ± 1.5 over 10 episodes
step 1000: dormant 6.2 %
step 2500: refit in 6.0 s: 3000 generator steps, loss 0.25, 20000 transitions
step 2500: refit in 2.0 s: 500 generator steps, loss 0.25, model error 0.375, 996 transitions, 4 dropped because they were not finite
step 2500/10000 25%  fit 30/3000  100 steps/s  801 updates/s  eta 1:15
step 3000: change 1: guidance 2 → 3 now (no effect yet)
step 3001: change 1: guidance in force
step 3001: change 2: top_fraction in force in 20 % of D_syn
step 3101: change 2: top_fraction in force in all of D_syn
step 3001: refused ratio=7: out of range
step 3001: paused
step 3001/10000 30%  fit 30/3000  100 steps/s  801 updates/s  eta 1:15
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// A dream has no rate of steps; its line says how long the phase goes on.
func TestStatusLineOfADream(t *testing.T) {
	for want, s := range map[string]event.Snapshot{
		"generation 1  F learns 12/3000  25s to go": {Phase: knob.Score, Warming: true, PhaseDone: 12, PhaseTotal: 3000, PhaseETA: 25 * time.Second},
		"generation 3  fit 8/2500":                  {Step: 3, Phase: knob.Fit, PhaseDone: 8, PhaseTotal: 2500},
	} {
		s.Dreams, s.Steps = true, 1_000_000
		if got := statusLine(&s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// On a terminal one line is rewritten and never exceeds the terminal's width; events push it down.
func TestRewrittenProgress(t *testing.T) {
	r := &scriptedRun{snapshot: &event.Snapshot{Step: 5, Steps: 10, Phase: knob.Collect, StepsPerSec: 100}}
	var out bytes.Buffer
	p := NewProgress(&out)
	p.screen, p.size = p.w, func() (columns, rows int) { return 16, 24 }
	p.Tick(r, time.Unix(0, 0))
	r.add(6, event.Noted{Text: "hello"})
	p.Tick(r, time.Unix(0, 1)) // the snapshot is older than the note
	r.snapshot.Step = 6
	p.Tick(r, time.Unix(0, 2))
	want := "\r\x1b[Kstep 5/10 50%  " + "\r\x1b[Kstep 6: note: hello\n" + "\r\x1b[Kstep 6/10 60%  "
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// A block of lines is never higher or wider than the terminal is at that moment, since what leaves
// the screen cannot be removed. The summary stays.
func TestABlockFitsTheTerminal(t *testing.T) {
	lines := []string{"one", "two", "three", "four", "five", "3 of 5 done"}
	for _, c := range []struct {
		columns, rows int
		want          string
	}{
		{80, 24, "one\ntwo\nthree\nfour\nfive\n3 of 5 done\n"},
		{5, 8, "one\ntwo\nthre\nfour\nfive\n3 of\n"},
		{80, 7, "one\ntwo\nthree\nand 2 more\n3 of 5 done\n"},
		{80, 2, "and 5 more\n3 of 5 done\n"},
		{0, 0, "one\ntwo\nthree\nfour\nfive\n3 of 5 done\n"},
	} {
		var out bytes.Buffer
		p := NewProgress(&out)
		p.screen, p.size = p.w, func() (columns, rows int) { return 80, 24 }
		p.RewriteAll([]string{"before"})
		out.Reset()
		p.size = func() (columns, rows int) { return c.columns, c.rows }
		p.RewriteAll(lines)
		if want := "\r\x1b[1A\x1b[J" + c.want; out.String() != want || p.block != strings.Count(c.want, "\n") {
			t.Errorf("%dx%d: %d lines: %q, want %q", c.columns, c.rows, p.block, out.String(), want)
		}
	}
}

func TestCohortNamesItsMembers(t *testing.T) {
	e := event.Event{Step: 7, Member: 1, Body: event.Noted{Text: "x"}}
	if got, want := eventLine(e, 2), "step 7 member 1: note: x"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestClock(t *testing.T) {
	for d, want := range map[time.Duration]string{
		400 * time.Millisecond: "0s", 59 * time.Second: "59s", 60 * time.Second: "1:00",
		3599*time.Second + 600*time.Millisecond: "1:00:00", 26*time.Hour + 3*time.Second: "26:00:03",
	} {
		if got := Clock(d); got != want {
			t.Errorf("clock(%v) = %q, want %q", d, got, want)
		}
	}
}
