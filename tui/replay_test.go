package tui

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// A journal without histograms, by an earlier version, shows what it has of F.
func TestReplayWithoutHistograms(t *testing.T) {
	live := running(t, 160, 45, 24_000)
	for i, e := range live.fake.events {
		if r, is := e.Body.(event.Refit); is {
			r.F = nil
			live.fake.events[i].Body = r
		}
	}
	s := newScreen(t, 160, 45, func(o *Options) { o.Replay = true })
	r, err := NewReplay(fakeConfig(), "x", live.fake.events, 60, func() time.Time { return s.clock })
	if err != nil {
		t.Fatal(err)
	}
	s.Update(started{lab: r})
	s.clock = s.clock.Add(time.Hour)
	s.Update(polled{})
	s.contains(t, "10th to 90th percentile", "med 0.600 p90 0.840", "med 0.550 p90 0.810", "real medians at evaluations")
}

// journalOf writes the fake's events as a run folder has them.
func journalOf(t *testing.T, f *fakeLab) string {
	t.Helper()
	dir := t.TempDir()
	folder, err := run.Create(filepath.Join(dir, "run"), []byte("x = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for _, e := range f.events {
		body := e.Body
		if s, ok := body.(event.Start); ok {
			s.Obs.Time = e.Wall.UTC().Format(time.RFC3339)
			body = s
		}
		if e.Type == event.TypeRefused || e.Type == event.TypePreviewed {
			continue
		}
		if err := folder.Append(run.Line{Type: e.Type, Step: e.Step, Member: e.Member, Body: body, WallS: e.Wall.Sub(f.start).Seconds()}); err != nil {
			t.Fatal(err)
		}
	}
	return folder.Dir()
}

func TestReplayShowsWhatTheRunShowed(t *testing.T) {
	live := running(t, 160, 45, 24_000)
	live.typeLine("ratio 0.75")
	live.fake.advance(6_000)
	live.Update(polled{})
	dir := journalOf(t, live.fake)
	events, err := history.ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(live.fake.events); len(events) != n {
		t.Fatalf("%d events of %d", len(events), n)
	}
	s := newScreen(t, 160, 45, func(o *Options) { o.Replay, o.Again = true, func() string { return "run again: make demo" } })
	r, err := NewReplay(fakeConfig(), dir, events, 60, func() time.Time { return s.clock })
	if err != nil {
		t.Fatal(err)
	}
	s.Update(started{lab: r})
	s.contains(t, "REPLAY ×60", "no evaluation yet")
	s.clock = s.clock.Add(2 * time.Second) // 120 s of the run: 12,000 of its steps
	s.Update(polled{})
	s.contains(t, "12,000/100,000")
	s.clock = s.clock.Add(time.Minute)
	s.Update(polled{})
	s.contains(t, "STOPPED", "▲1 r 0.5→0.75")
	for _, size := range [][2]int{{53, 8}, {58, 12}, {27, 3}, {36, 4}} {
		want, got := live.pane(pane.Scores).Body(size[0], size[1]), s.pane(pane.Scores).Body(size[0], size[1])
		if !slices.Equal(want, got) || !strings.Contains(strings.Join(got, ""), "med 0.250") {
			t.Errorf("F VALUES showed\n%s\nthe replay shows\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	}
	s.contains(t, "curiosity, scored at step 30,000", "med 0.620 p90 0.750", "real medians at evaluations")
	want, got := live.History.Curve(history.CurveReturn, 0).Samples, s.History.Curve(history.CurveReturn, 0).Samples
	if len(want) != len(got) || want[len(want)-1].Y != got[len(got)-1].Y {
		t.Errorf("%d evaluations of %d, the last %v of %v", len(got), len(want), got[len(got)-1], want[len(want)-1])
	}
	s.contains(t, "back and forth", "space play again")
	for id, says := range map[pane.ID]string{pane.System: "a replay is not measured", pane.Agent: "a journal holds no poses of the body"} {
		s.GoTo(id)
		s.contains(t, says)
	}
	s.GoTo(pane.Knobs)
	s.press("<")
	s.contains(t, "‖ PAUSED", "28,500/100,000") // it would be at the end again at once
	s.press(">", " ")
	s.contains(t, "● RUN", "no evaluation yet")
	s.clock = s.clock.Add(time.Minute)
	s.Update(polled{})
	s.press(" ")
	s.contains(t, "● RUN", "no evaluation yet")
	s.clock = s.clock.Add(time.Minute)
	s.Update(polled{})
	s.press("<")
	if strings.Contains(s.View(), "back and forth") {
		t.Error("a hint stays after its use")
	}
	s.press("<", "<", "<", "<", "<", "<", "<", "<", "<", "<", "<")
	if n := len(s.History.Curve(history.CurveReturn, 0).Samples); n >= 20 {
		t.Errorf("after winding back %d evaluations stay", n)
	}
	s.press("right")
	s.contains(t, "this is a replay")
	again, fork := "run again: make demo", "pgrlab fork runs/x --set KNOB=VALUE forks the run"
	for key, how := range map[string]string{"n": again, "f": fork, "F": fork, "z": again} {
		s.press("esc", key)
		if said := strings.TrimPrefix(s.message, "✗ "); s.entry != nil || said != "this is a replay: nothing can be changed; "+how {
			t.Errorf("%s: %q, and asks for a text: %v", key, said, s.entry != nil)
		}
	}
	for _, line := range []string{"ratio 0.1", "undo 1"} {
		s.typeLine(line)
		s.contains(t, "this is a replay")
	}
	if s.typeLine("stop"); !s.quit { // there is nothing to ask
		t.Errorf(":stop stays:\n%s", s.View())
	}
}

// replayOf replays events that a second separates; now is the time of the screen.
func replayOf(t *testing.T, c config.Config, speed float64, now *time.Time, events ...event.Event) *Replay {
	t.Helper()
	for i := range events {
		events[i].Index, events[i].Wall = i, now.Add(time.Duration(i)*time.Second)
	}
	r, err := NewReplay(c, "x", events, speed, func() time.Time { return *now })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A snapshot of a replay is about the first member and its first copy, and distinguishes generations from
// refits, which a generator without gradient steps has as well. Its updates are those of the learner.
func TestReplayCountsTheFirstMember(t *testing.T) {
	for kind, want := range map[string]int{"diffusion": 1, "resample": 2} {
		var events []event.Event
		for member := range 4 {
			loss := run.Float(4 + member)
			for _, body := range []any{event.Refit{Steps: 5}, event.Refit{}, event.Episode{}, event.Episode{Copy: 1}, event.Losses{Critic: &loss}} {
				events = append(events, event.Event{Step: 10_000, Member: member, Body: body})
			}
		}
		c := config.Config{Members: 4, Steps: 20_000, StartSteps: 1999, Knobs: knob.Settings{UTD: 10}}
		c.Generator.Kind, c.Agent.Learner = kind, "drqv2"
		now := time.Unix(1000, 0)
		r := replayOf(t, c, 1, &now, events...)
		r.Seek(1)
		if s := r.Snapshot(); s.Refits != want || s.Episode != 2 || s.Losses.Critic != 4 || s.Updates != 4001 {
			t.Errorf("%s: %d refits, episode %d, loss %v, %d updates; want %d, 2, 4, 4001", kind, s.Refits, s.Episode, s.Losses.Critic, s.Updates, want)
		}
	}
}

// Looking at the speed changes nothing; no speed is too small to be kept or so large that the
// replay never ends.
func TestReplaySpeed(t *testing.T) {
	now := time.Unix(1000, 0)
	r := replayOf(t, fakeConfig(), 0.01, &now, event.Event{}, event.Event{Step: 10})
	r.Send(event.Pause{})
	before := r.Snapshot()
	if got := replaySpeed(r); got != 0.01 || r.Snapshot() != before {
		t.Errorf("after a look the speed is %g, want 0.01, and the snapshot another one: %v", got, r.Snapshot() != before)
	}
	if slower, faster := r.Faster(0.5), r.Faster(2); slower != 0.01 || faster != 0.02 {
		t.Errorf("slower is %g, faster %g, want 0.01 and 0.02", slower, faster)
	}
	start := time.Unix(1000, 0)
	now = start
	r = replayOf(t, fakeConfig(), 1e6, &now, event.Event{}, event.Event{Step: 10})
	now = start.Add(3 * time.Hour)
	if s := r.Snapshot(); s.State != event.Finished || s.Step != 10 {
		t.Errorf("after three hours at 1e6: %v at step %d", s.State, s.Step)
	}
}

// A run that was stopped is not done; one that has made all its steps is, also if a saved state of it was
// analysed later.
func TestReplayOfAStoppedRun(t *testing.T) {
	for want, events := range map[string][]event.Event{
		"■ STOPPED": {{}, {Step: 2179}},
		"✓ DONE":    {{}, {Step: 100_000}, {Type: event.TypeDone, Step: 100_000}, {Type: event.TypeExamined, Step: 20_000}},
	} {
		s := newScreen(t, 160, 45, func(o *Options) { o.Replay, o.Again = true, func() string { return "run again: make demo" } })
		r := replayOf(t, fakeConfig(), 1, &s.clock, events...)
		r.Seek(1)
		s.Update(started{lab: r})
		s.contains(t, want)
	}
}
