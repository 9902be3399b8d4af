package tui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/testing/racing"
	"pgrlab/presets"
	"pgrlab/tui/pane"
	"pgrlab/tui/picker"
)

func newPickerScreen(t *testing.T, w, h int) *screen {
	t.Helper()
	s := newScreen(t, w, h, func(o *Options) {
		o.Picker = &Picker{Choices: picker.Choices{
			Presets: []picker.Item{{Name: "demo", Doc: "something to see within minutes"}}, Tasks: []picker.Item{{Name: "cheetah-run", Doc: "run"}, {Name: "reacher-hard", Doc: "reach"}},
			Methods: []picker.Item{{Name: "sac", Doc: "real data only"}, {Name: "pgr-td", Doc: "F is the TD error"}}, Scales: []picker.Item{{Name: "cpu", Doc: "an hour or two"}},
			Devices: []picker.Item{{Name: "cpu", Doc: "avx2 kernels"}},
			Resolve: func(p picker.Picks) (config.Config, error) {
				c := fakeConfig()
				if p.Task != "" {
					c.Task = p.Task
				}
				if p.Steps > 0 {
					c.Steps = p.Steps
				}
				if p.Method == "sac" {
					return c, fmt.Errorf("sac does not go with that")
				}
				return c, nil
			},
			Try: func(_ context.Context, c config.Config) (picker.Forecast, error) {
				f := picker.Forecast{Free: 10e9}
				f.Units = cost.Units{Step: 0.08}
				f.Disk = cost.Disk{Checkpoint: 1e6, Generation: 10e6, Real: 13e6, Held: 13e6}
				return f, nil
			},
		},
			Open: func(p picker.Picks) (Options, error) {
				c := fakeConfig()
				c.Task, c.Seed = p.Task, p.Seed
				return Options{About: pane.About{Config: c, Folder: "runs/picked"}, Start: func() (pane.Lab, error) { return newFake(), nil }}, nil
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
	if s.options.Config.Seed != 42 || s.Lab == nil {
		t.Errorf("seed %d, lab %v", s.options.Config.Seed, s.Lab)
	}
}

// An answer is found by part of its name, and the seed is typed.
func TestPickerSearch(t *testing.T) {
	s := newPickerScreen(t, 80, 24)
	s.press("down", "/", "h", "a", "r", "d")
	s.contains(t, "task: hard", "▸ reacher-hard")
	s.press("enter")
	if p := s.picker.Picks(); p.Task != "reacher-hard" {
		t.Errorf("took %q", p.Task)
	}
	s.press("/", "enter") // nothing was typed, so nothing changes
	if p := s.picker.Picks(); p.Task != "reacher-hard" {
		t.Errorf("took %q", p.Task)
	}
	s.press("/", "z", "q", "enter")
	s.contains(t, `no answer has "zq" in its name`)
	s.press("down", "down", "down", "/", "1", "7", "enter")
	s.contains(t, "17")
	s.press("/", "x", "enter")
	s.contains(t, `"x" is no seed`)
	if s.picker.Seed != 17 {
		t.Errorf("seed %d", s.picker.Seed)
	}
	s.press("/", "esc", "?")
	s.contains(t, "KEYS on this screen", "type a part of an answer")
}

// The steps are the preset's until others are typed or selected; typing replaces the number that is
// shown.
func TestPickerSteps(t *testing.T) {
	racing.Skip(t)
	s := newPickerScreen(t, 80, 24)
	s.press("down", "down", "down", "down", "4", "2", "down")
	s.contains(t, "▸ steps", "100,000")
	if p := s.picker.Picks(); p.Steps != 0 || p.Seed != 42 {
		t.Errorf("picks %+v", p)
	}
	for _, c := range []struct {
		keys []string
		want int
	}{{[]string{"right"}, 200_000}, {[]string{"left"}, 100_000}, {[]string{"7", "5", "0"}, 750}, {[]string{"backspace"}, 75},
		{[]string{"up", "9", "down", "3", "1"}, 31}, {[]string{"/", "2", "0", "k", "enter"}, 20_000}, {[]string{"/", "x", "enter"}, 20_000}, {[]string{"/", "enter"}, 0}} {
		s.press(c.keys...)
		if s.picker.Steps != c.want {
			t.Errorf("%v gives %d steps, want %d", c.keys, s.picker.Steps, c.want)
		}
	}
	if s.picker.Seed != 9 {
		t.Errorf("the seed is %d: a digit typed on a new visit replaces it", s.picker.Seed)
	}
}

// Another preset brings its own task, method, scale and steps; an earlier run shows those that it
// was made with.
func TestPickerShowsWhatTheChoiceSays(t *testing.T) {
	s := newPickerScreen(t, 80, 24)
	s.picker.Presets = append(s.picker.Presets, picker.Item{Name: "other", Doc: "another one"})
	earlier := fakeConfig()
	earlier.Task, earlier.Method, earlier.Scale, earlier.Seed, earlier.Steps = "cartpole-swingup", "redq", "short", 77, 12_345
	s.picker.Recent = []picker.Recent{{Dir: "runs/first", What: "redq on cartpole-swingup", Config: earlier}, {Dir: "runs/old"}}
	s.press("down", "right", "right", "down", "down", "right", "down", "down", "5")
	if p := s.picker.Picks(); p.Task != "reacher-hard" || p.Scale != "cpu" || p.Steps != 5 {
		t.Fatalf("picks %+v", p)
	}
	s.picker.Row = picker.PickPreset
	s.press("right")
	if p := s.picker.Picks(); p.Preset != "other" || p.Task != "" || p.Method != "" || p.Scale != "" || p.Steps != 0 {
		t.Errorf("with another preset: %+v", p)
	}
	s.picker.Row = picker.PickRecent
	s.press("right")
	s.contains(t, "cartpole-swingup", "redq", "short", "77", "12,345")
	if strings.Contains(s.View(), "cheetah-run") {
		t.Errorf("the preset's task stands beside an earlier run:\n%s", s.View())
	}
	s.press("right") // an earlier run with an unreadable configuration
	if strings.Contains(s.View(), "cheetah-run") || strings.Contains(s.View(), "12,345") {
		t.Errorf("an unreadable run shows another's answers:\n%s", s.View())
	}
}

// An earlier run can be looked at or resumed.
func TestPickerResumesAnEarlierRun(t *testing.T) {
	var opened []picker.Picks
	s := newScreen(t, 80, 24, func(o *Options) {
		o.Picker = &Picker{Choices: picker.Choices{
			Presets: []picker.Item{{Name: "demo", Doc: "something to see within minutes"}},
			Resolve: func(picker.Picks) (config.Config, error) { return fakeConfig(), nil },
			Recent: func() []picker.Recent {
				return []picker.Recent{{Dir: "runs/first", What: "sac on cheetah-run", Step: 7000, Return: 3}}
			},
		},
			Open: func(p picker.Picks) (Options, error) {
				opened = append(opened, p)
				return Options{}, fmt.Errorf("it has made all its steps")
			},
		}
	})
	s.contains(t, "reading their journals")
	s.Update(s.readRecent()())
	s.contains(t, "1 to look at")
	s.press("r")
	if len(opened) > 0 {
		t.Fatalf("r opened %+v before a run was chosen", opened)
	}
	s.press("up", "right")
	s.contains(t, "sac on cheetah-run", "continues it where it was saved last")
	_, cmd := s.Update(keyMsg("r"))
	s.Update(cmd())
	s.contains(t, "it has made all its steps")
	_, cmd = s.Update(keyMsg("enter"))
	s.Update(cmd())
	want := []picker.Picks{{Preset: "demo", Reopen: "runs/first", Resume: true}, {Preset: "demo", Reopen: "runs/first"}}
	if len(opened) != 2 || opened[0] != want[0] || opened[1] != want[1] {
		t.Errorf("opened %+v", opened)
	}
}

// The picker measures what a run takes once a choice has rested under the cursor, once for all
// seeds, and gives up when the cursor moves on.
func TestPickerSaysWhatARunTakes(t *testing.T) {
	tried := 0
	s := newPickerScreen(t, 120, 30)
	try := s.picker.Try
	s.picker.Try = func(ctx context.Context, c config.Config) (picker.Forecast, error) {
		tried++
		return try(ctx, c)
	}
	passed := s.forecast()
	s.contains(t, "a short trial finds out")
	s.press("down", "right") // the preset's own task
	_, cmd := s.Update(keyMsg("right"))
	if msg := passed(); msg != nil || tried > 0 {
		t.Fatalf("a choice that was left was tried %d times: %v", tried, msg)
	}
	s.Update(cmd())
	s.contains(t, "takes about 2.2 hours on this machine, by a short trial", "writes about 54 MiB, checkpoints and D_syn included")
	s.press("down", "down", "down")
	if _, cmd := s.Update(keyMsg("7")); cmd != nil || tried != 1 {
		t.Errorf("another seed is tried again (%d)", tried)
	}
	s.contains(t, "takes about 2.2 hours")

	s.picker.Forecasts = picker.Forecasts{}
	s.picker.Try = func(context.Context, config.Config) (picker.Forecast, error) { panic("no such body") }
	s.Update(s.forecast()())
	s.contains(t, "panic: no such body", "before the first such run")

	s.picker.Forecasts = picker.Forecasts{}
	s.picker.Try = func(ctx context.Context, c config.Config) (picker.Forecast, error) {
		f, err := try(ctx, c)
		f.Free = 50 << 20
		return f, err
	}
	s.Update(s.forecast()())
	s.contains(t, "only 50 MiB are free")
	pending := s.forecast()
	s.Update(keyMsg("right"))
	if cmd := s.picker.Take(s.picker.Picks()); cmd == nil || pending != nil && pending() != nil || s.picker.Forecasts.Asked != "" {
		t.Error("a trial goes on while the run starts")
	}
}

// Below what a run takes, the picker shows the results of runs with exactly these settings, and
// those of other methods.
func TestPickerSaysWhatToExpect(t *testing.T) {
	short, err := presets.Resolve(presets.Choice{Task: "cheetah-run", Method: "redq", Scale: "short"})
	if err != nil {
		t.Fatal(err)
	}
	s := newScreen(t, 120, 40, func(o *Options) {
		o.Picker = &Picker{Choices: picker.Choices{
			Presets: []picker.Item{{Name: "demo"}}, Methods: []picker.Item{{Name: "redq"}, {Name: "per-td"}},
			Resolve: func(p picker.Picks) (config.Config, error) {
				c := short
				if p.Method == "per-td" {
					c.Method = p.Method
				}
				return c, nil
			},
		}}
	})
	s.contains(t, "expect 250 ± 89 over steps 16,000 to 20,000 (13 runs); synther 302 ± 91; sac 161 ± 33")
	s.press("down", "right", "right")
	s.contains(t, "no runs of these settings were measured; redq 250 ± 89; synther 302 ± 91; sac 161 ± 33")
}

// The observations of the agent can be chosen. For a run from pixels the picker says how many
// frames it has, how large they are, and how much memory they take.
func TestPickingPixels(t *testing.T) {
	var asked []picker.Picks
	s := newScreen(t, 160, 45, func(o *Options) {
		o.Picker = &Picker{Choices: picker.Choices{
			Presets: []picker.Item{{Name: "demo"}}, Methods: []picker.Item{{Name: "pgr-curiosity"}}, Tasks: []picker.Item{{Name: "cheetah-run"}},
			Observations: []picker.Item{{Name: "state", Doc: "numbers"}, {Name: "pixels", Doc: "frames of a camera"}},
			Resolve: func(p picker.Picks) (config.Config, error) {
				asked = append(asked, p)
				if p.Observation == "state" {
					return fakeConfig(), nil
				}
				return fakePixels(), nil
			},
			Try: func(context.Context, config.Config) (f picker.Forecast, err error) {
				f.Frames, f.Disk.Checkpoint = 2_117_000_000, 1000
				return f, nil
			},
		}}
	})
	s.Update(s.forecast()())
	s.contains(t, "100,000 env steps of 2 frames, 200,000 in all, at 84×84", "keeps 2.0 GiB of frames in memory")
	s.press("down", "down", "down", "right")
	s.contains(t, "20 updates a step", "numbers")
	s.press("right")
	if last := asked[len(asked)-1]; last.Observation != "pixels" {
		t.Fatalf("%+v is asked for", last)
	}
	s.contains(t, "frames of a camera", "200,000 in all")
	s.press("right")
	if last := asked[len(asked)-1]; last.Observation != "" {
		t.Errorf("%+v is asked for, not what the preset says", last)
	}
}

// An earlier run that was chosen on the first screen leads back there.
func TestAnEarlierRunLeadsBack(t *testing.T) {
	s := newPickerScreen(t, 100, 30)
	s.picker.Recent = []picker.Recent{{Dir: "runs/first", What: "redq on cartpole-swingup", Config: fakeConfig()}}
	s.options.Picker.Open = func(p picker.Picks) (Options, error) {
		return Options{About: pane.About{Config: fakeConfig(), Replay: true}, Start: func() (pane.Lab, error) {
			r, err := NewReplay(fakeConfig(), "runs/first", s.fake.Events(0), 60, s.Now)
			r.End()
			return r, err
		}}, nil
	}
	s.fake.advance(2000)
	o, err := s.options.Picker.Open(picker.Picks{})
	_, cmd := s.Update(picked{o, err})
	s.Update(cmd())
	s.contains(t, "■ STOPPED REPLAY ×60", "q to the runs")
	s.press("<")
	s.contains(t, "‖ PAUSED REPLAY")
	s.press("q")
	if o, err := s.outcome(func() bool { return false }, t.Context(), nil, io.Discard); !s.quit || o != FirstScreenRequested || err != nil {
		t.Errorf("q leads to %v, %v", o, err)
	}
}

// A question that is answered while an earlier run is chosen is about a new run; the device may be that
// of a resume.
func TestAnAnswerLeavesTheEarlierRun(t *testing.T) {
	for row, key := range map[int]string{1: "right", 2: "left", 3: "right", 5: "right", 6: "5"} {
		s := newPickerScreen(t, 80, 24)
		s.picker.Observations = []picker.Item{{Name: "state"}, {Name: "pixels"}}
		earlier := fakePixels()
		s.picker.Recent = []picker.Recent{{Dir: "runs/first", What: "pixels", Config: earlier}}
		s.picker.Row = picker.PickRecent
		s.press("right")
		if p := s.picker.Picks(); p.Reopen != "runs/first" || !strings.Contains(s.View(), "  observation      pixels") {
			t.Fatalf("%+v:\n%s", p, s.View())
		}
		s.picker.Row = row
		s.press(key)
		if p := s.picker.Picks(); p.Reopen != "" {
			t.Errorf("row %d: %+v", row, p)
		}
	}
	s := newPickerScreen(t, 80, 24)
	s.picker.Observations = []picker.Item{{Name: "state"}, {Name: "pixels"}}
	s.picker.Presets = append(s.picker.Presets, picker.Item{Name: "other"})
	s.picker.Devices = append(s.picker.Devices, picker.Item{Name: "cuda"})
	s.picker.Recent = []picker.Recent{{Dir: "runs/first", Config: fakeConfig()}}
	s.picker.Row = picker.PickRecent
	s.press("right", "up", "right")
	if p := s.picker.Picks(); p.Reopen == "" || p.Device != "cuda" || !strings.Contains(s.View(), "←→ cuda") {
		t.Errorf("%+v:\n%s", p, s.View())
	}
	s.picker.Row = 3
	s.press("right", "right")
	s.picker.Row = picker.PickPreset
	s.press("right")
	if p := s.picker.Picks(); p.Observation != "" {
		t.Errorf("with another preset the agent observes %q", p.Observation)
	}
}

// However narrow the first screen is, it says how to leave it.
func TestTheFirstScreenSaysHowToLeave(t *testing.T) {
	for _, w := range []int{40, 60, 80, 120} {
		s := newPickerScreen(t, w, 24)
		s.contains(t, "enter start", "? help   q quit")
	}
}
