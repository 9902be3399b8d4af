package tui

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/tui/history"
)

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
	s := newScreen(t, 160, 45, func(o *Options) { o.Replay = true })
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
	s.contains(t, "DONE", "▲1 r 0.5→0.75", "10th to 90th percentile", "med 0.600 p90 0.840", "med 0.550 p90 0.810", "medians so far of real")
	want, got := live.History.Curve(history.CurveReturn, 0).Samples, s.History.Curve(history.CurveReturn, 0).Samples
	if len(want) != len(got) || want[len(want)-1].Y != got[len(got)-1].Y {
		t.Errorf("%d evaluations of %d, the last %v of %v", len(got), len(want), got[len(got)-1], want[len(want)-1])
	}
	s.contains(t, "back and forth")
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
	s.typeLine("ratio 0.1")
	s.contains(t, "this is a replay")
}
