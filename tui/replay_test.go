package tui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgrlab/core/lab"
	"pgrlab/core/run"
)

// journal writes the fake's events as a run folder has them.
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
		if s, ok := body.(lab.Start); ok {
			s.Obs.Time = e.Wall.UTC().Format(time.RFC3339)
			body = s
		}
		if e.Type == lab.TypeRefused || e.Type == lab.TypePreviewed {
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
	events, err := ReadJournal(dir)
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
	s.contains(t, "DONE", "▲1 r 0.5→0.75")
	want, got := live.history.curve(curveReturn, 0).samples, s.history.curve(curveReturn, 0).samples
	if len(want) != len(got) || want[len(want)-1].y != got[len(got)-1].y {
		t.Errorf("%d evaluations of %d, the last %v of %v", len(got), len(want), got[len(got)-1], want[len(want)-1])
	}
	s.contains(t, "back and forth")
	s.press("<")
	if strings.Contains(s.View(), "back and forth") {
		t.Error("a hint stays after its use")
	}
	s.press("<", "<", "<", "<", "<", "<", "<", "<", "<", "<", "<")
	if n := len(s.history.curve(curveReturn, 0).samples); n >= 20 {
		t.Errorf("after winding back %d evaluations stay", n)
	}
	s.press("right")
	s.contains(t, "this is a replay")
	s.typeLine("ratio 0.1")
	s.contains(t, "this is a replay")
}

func newPickerScreen(t *testing.T, w, h int) *screen {
	t.Helper()
	s := newScreen(t, w, h, func(o *Options) {
		o.Picker = &Picker{
			Presets: []Item{{"demo", "something to see within minutes"}}, Tasks: []Item{{"cheetah-run", "run"}, {"reacher-hard", "reach"}},
			Methods: []Item{{"sac", "real data only"}, {"pgr-td", "F is the TD error"}}, Scales: []Item{{"cpu", "an hour or two"}},
			Devices: []Item{{"cpu", "avx2 kernels"}},
			Resolve: func(p Picks) (lab.Config, error) {
				c := fakeConfig()
				if p.Task != "" {
					c.Task = p.Task
				}
				if p.Method == "sac" {
					return c, fmt.Errorf("sac does not go with that")
				}
				return c, nil
			},
			Open: func(p Picks) (Options, error) {
				c := fakeConfig()
				c.Task, c.Seed = p.Task, p.Seed
				return Options{Config: c, Folder: "runs/picked", Start: func() (Lab, error) { return newFake(), nil }}, nil
			},
		}
	})
	return s
}

func TestPickerStartsWhatWasPicked(t *testing.T) {
	s := newPickerScreen(t, 80, 24)
	s.contains(t, "▸ preset", "demo", "pgr-curiosity on cheetah-run")
	s.press("down", "right", "right")
	s.contains(t, "reacher-hard")
	s.press("down", "right")
	s.contains(t, "✗ sac does not go with that")
	if _, cmd := s.Update(keyMsg("enter")); cmd != nil {
		t.Fatal("what does not resolve was opened")
	}
	s.press("right", "down", "down", "4", "2")
	_, cmd := s.Update(keyMsg("enter"))
	s.contains(t, "opening")
	_, cmd = s.Update(cmd())
	s.contains(t, "STARTING", "reacher-hard")
	s.Update(cmd())
	if s.options.Config.Seed != 42 || s.lab == nil {
		t.Errorf("seed %d, lab %v", s.options.Config.Seed, s.lab)
	}
}

// An answer is found by a part of its name, and the seed is typed.
func TestPickerSearch(t *testing.T) {
	s := newPickerScreen(t, 80, 24)
	s.press("down", "/", "h", "a", "r", "d")
	s.contains(t, "task: hard", "▸ reacher-hard")
	s.press("enter")
	if p := s.picker.picks(); p.Task != "reacher-hard" {
		t.Errorf("took %q", p.Task)
	}
	s.press("/", "enter") // nothing typed: as it was
	if p := s.picker.picks(); p.Task != "reacher-hard" {
		t.Errorf("took %q", p.Task)
	}
	s.press("/", "z", "q", "enter")
	s.contains(t, `no task has "zq" in its name`)
	s.press("down", "down", "down", "/", "1", "7", "enter")
	s.contains(t, "17")
	s.press("/", "x", "enter")
	s.contains(t, `"x" is no seed`)
	if s.picker.seed != 17 {
		t.Errorf("seed %d", s.picker.seed)
	}
	s.press("/", "esc", "?")
	s.contains(t, "KEYS on this screen", "type a part of an answer")
}

// An earlier run can be looked at, or gone on with.
func TestPickerResumesAnEarlierRun(t *testing.T) {
	var opened []Picks
	s := newScreen(t, 80, 24, func(o *Options) {
		o.Picker = &Picker{
			Presets: []Item{{"demo", "something to see within minutes"}},
			Resolve: func(Picks) (lab.Config, error) { return fakeConfig(), nil },
			Recent: func() []Recent {
				return []Recent{{Dir: "runs/first", What: "sac on cheetah-run", Step: 7000, Return: 3}}
			},
			Open: func(p Picks) (Options, error) {
				opened = append(opened, p)
				return Options{}, fmt.Errorf("it has made all its steps")
			},
		}
	})
	s.press("r")
	if len(opened) > 0 {
		t.Fatalf("r opened %+v before a run was chosen", opened)
	}
	s.press("up", "right")
	s.contains(t, "sac on cheetah-run", "goes on with it where it was saved last")
	_, cmd := s.Update(keyMsg("r"))
	s.Update(cmd())
	s.contains(t, "it has made all its steps")
	_, cmd = s.Update(keyMsg("enter"))
	s.Update(cmd())
	want := []Picks{{Preset: "demo", Reopen: "runs/first", Resume: true}, {Preset: "demo", Reopen: "runs/first"}}
	if len(opened) != 2 || opened[0] != want[0] || opened[1] != want[1] {
		t.Errorf("opened %+v", opened)
	}
}
