package tui

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/whatif"
	"pgrlab/tui/pane"
)

// fakeWhatIf is a scripted what-if beside the scripted run.
type fakeWhatIf struct {
	state   pane.WhatIfState
	at      *pane.WhatIfState
	refuses error
	usual   int
	lab     *fakeLab
	begun   int
	onBegin func() // called by Begin if it is not nil
	mu      sync.Mutex
}

func (f *fakeWhatIf) set(how func(s *pane.WhatIfState)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.state
	how(&next)
	f.state, f.at = next, &next
}

func (f *fakeWhatIf) Check() error { return f.refuses }

func (f *fakeWhatIf) Plan() (p whatif.Plan, updates, usual int) {
	return whatif.Plan{Updates: 500, Episodes: 5, Repeats: 3}, 25_000, max(25_000, f.usual)
}

// Hold pauses the run, as the session does.
func (f *fakeWhatIf) Hold() error {
	f.set(func(s *pane.WhatIfState) { s.Held = true })
	return f.lab.Send(event.Pause{By: "what-if", Passing: true})
}

func (f *fakeWhatIf) Begin() {
	f.begun++
	f.set(func(s *pane.WhatIfState) {
		s.Under, s.Step, s.Begun, s.Err, s.Core = true, 24_000, time.Time{}, nil, -1
	})
	if f.onBegin != nil {
		f.onBegin()
	}
}

func (f *fakeWhatIf) Stop() { f.set(func(s *pane.WhatIfState) { s.Under = false }) }

func (f *fakeWhatIf) State() *pane.WhatIfState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

// finish ends the what-if with a table.
func (f *fakeWhatIf) finish() {
	f.set(func(s *pane.WhatIfState) { s.Under, s.Table, s.Of = false, fakeTable(), 24_000 })
}

// fakeTable returns a table with a finding of each kind.
func fakeTable() *whatif.Table {
	free, asked := whatif.Rows{Relevance: whatif.None, TopFraction: 1}, whatif.Rows{Relevance: "curiosity", Guidance: 2, TopFraction: 0.25}
	arm := func(r whatif.Rows, by string, value, gain run.Float) whatif.Arm {
		a := whatif.Arm{Rows: r, MadeBy: by, Scatter: []run.Float{value, value + 0.1, value - 0.1}, Return: []run.Float{gain, gain + 30, gain - 12}}
		if by == whatif.MadeByGenerator {
			a.Change, a.Reward = []run.Float{0.21, 0.23}, []run.Float{0.04, 0.05}
			a.ConstantChange, a.ConstantReward = []run.Float{1.8, 1.9}, []run.Float{1.1, 1.2}
		}
		return a
	}
	d := func(mean, half, of run.Float) *whatif.Difference {
		return &whatif.Difference{Mean: mean, Half: half, Of: of}
	}
	finding := func(question, verdict string, value, gain *whatif.Difference) whatif.Finding {
		return whatif.Finding{Question: question, Verdict: verdict, Scatter: value, Return: gain}
	}
	return &whatif.Table{
		Plan: whatif.Plan{Updates: 500, Repeats: 3, Episodes: 5, Sampling: generative.GenKnobs{Samples: 2000}}, Saved: arm(whatif.Rows{}, "", 20.9, 50.8),
		Arms: []whatif.Arm{
			arm(whatif.Rows{TopFraction: 1}, "", 19.4, 9.89),
			arm(free, whatif.MadeByGenerator, 19.2, 31), arm(free, whatif.MadeBySimulator, 19.1, 28.7),
			arm(asked, whatif.MadeByGenerator, 19.1, 152), arm(asked, whatif.MadeBySimulator, 18.6, 147),
		},
		Findings: []whatif.Finding{
			finding(whatif.QuestionAsked, whatif.Help, d(-0.45, 0.3, 19.1), d(18.3, 15.2, 28.7)),
			finding(whatif.QuestionMade, whatif.Hurt, d(0.5, 0.2, 18.6), d(5, 12, 147)),
			finding(whatif.QuestionSum, whatif.NoDifference, d(-0.1, 0.3, 19.2), d(121, 240, 31)),
			finding(whatif.QuestionReal, whatif.Mixed, d(0.3, 0.2, 19.4), d(142, 60, 9.89)),
			{Question: whatif.QuestionMadeFree, Verdict: whatif.Unknown, Why: "the state does not follow from an observation"},
			finding(whatif.QuestionFreeReal, whatif.NoDifference, d(-0.2, 0.3, 19.4), d(21, 33, 9.89)),
		},
	}
}

// withWhatIf returns a screen of a run that has a what-if.
func withWhatIf(t *testing.T, w, h int) (*screen, *fakeWhatIf) {
	t.Helper()
	f := &fakeWhatIf{at: &pane.WhatIfState{}}
	s := newScreen(t, w, h, func(o *Options) { o.WhatIf = f })
	s.fake.advance(24_000)
	s.Update(started{lab: s.fake})
	f.lab = s.fake
	return s, f
}

// look polls the run and does the work outside the loop.
func (s *screen) look() {
	s.poll()
	if later := s.later; later != nil {
		s.later = nil
		later()
		s.poll()
	}
}

// beginWhatIf presses enter and lets a what-if begin.
func (s *screen) beginWhatIf() {
	if _, cmd := s.Update(keyMsg("enter")); cmd != nil {
		cmd()
	}
	s.look()
}

// The key w opens the pane. Enter saves the run and begins with this checkpoint; progress and the
// table follow. Closed and opened again, the pane is unchanged.
func TestWhatIfFromKeyToTable(t *testing.T) {
	s, f := withWhatIf(t, 160, 45)
	s.press("w")
	s.contains(t, "WHAT IF", "500 updates, 3 repeats, 5 episodes: about 25,000 critic updates of work, 13s or more at this run's speed", "enter begins")
	before := len(s.fake.commands)
	s.beginWhatIf()
	if c, ok := s.lastCommand().(event.Checkpoint); !ok || c.By != "what-if" || len(s.fake.commands) != before+1 {
		t.Fatalf("sent %v", s.fake.commands[before:])
	}
	if f.begun != 1 {
		t.Fatalf("begun %d times", f.begun)
	}
	s.contains(t, "reading the checkpoint of step 24,000")
	s.press("enter")
	s.contains(t, "a what-if is under way: s stops it")
	f.set(func(p *pane.WhatIfState) {
		p.Begun, p.Progress = s.clock, whatif.Progress{Doing: "curiosity ω 2 k 0.25", Done: 400, Total: 1000}
	})
	s.clock = s.clock.Add(40 * time.Second)
	s.look()
	s.contains(t, "40%  1m00s to go", "step 24,000: curiosity ω 2 k 0.25; s stops it, and it ends with this screen")
	s.press("w") // back
	if s.focus == pane.WhatIfs || strings.Contains(s.View(), "WHAT IF") {
		t.Fatal("w does not go back")
	}
	f.finish()
	s.look()
	s.contains(t, "the what-if of step 24,000 is made: w shows it")
	s.press("w")
	for range 2 {
		s.contains(t, "by the simulator", "curiosity ω 2 k 0.25", "prioritized rows help more than unprioritized ones, both by the simulator", "return +18.3 (+3.10 to +33.5)")
		s.press("w", "w")
	}
	if f.begun != 1 {
		t.Errorf("begun %d times", f.begun)
	}
	s.beginWhatIf() // another one, beside the previous table
	s.contains(t, "reading the checkpoint", "curiosity ω 2 k 0.25")
}

// Beside a busy run the pane says how little of a core the what-if gets, and h holds the run, whose
// pause changes the time to go; space and a run that is over have the last word.
func TestWhatIfHoldsTheRun(t *testing.T) {
	s, f := withWhatIf(t, 160, 45)
	s.press("w", "h")
	s.contains(t, "no what-if is under way: enter begins one")
	s.beginWhatIf()
	share := func(core float64) { f.set(func(p *pane.WhatIfState) { p.Core = core }); s.look() }
	if share(0.03); !strings.Contains(s.View(), "it gets 3% of a core, as the run comes first: h holds the run until it is over") {
		t.Error(s.View())
	}
	if share(0.95); strings.Contains(s.View(), "of a core") {
		t.Errorf("with a core of its own:\n%s", s.View())
	}
	progress := func(after time.Duration, done int) {
		s.clock = s.clock.Add(after)
		f.set(func(p *pane.WhatIfState) { p.Progress = whatif.Progress{Doing: "real only", Done: done, Total: 1000} })
		s.look()
	}
	f.set(func(p *pane.WhatIfState) { p.Begun = s.clock })
	progress(0, 0)
	progress(100*time.Second, 100)
	s.contains(t, "15m00s to go")
	s.press("h")
	if c, is := s.lastCommand().(event.Pause); !is || !c.Passing {
		t.Fatalf("sent %v", s.lastCommand())
	}
	progress(0, 100)
	s.contains(t, "the run waits for it and goes on by itself; space resumes it before")
	progress(10*time.Second, 200)
	s.contains(t, "20%  1m20s to go")
	share(0.5)
	s.contains(t, "it gets 50% of a core: other programs have the rest")
	s.press("h")
	s.contains(t, "the run is paused already: space resumes it")
	s.press(" ")
	if _, is := s.lastCommand().(event.Resume); !is {
		t.Errorf("sent %v", s.lastCommand())
	}
	if s.look(); strings.Contains(s.View(), "the run waits") {
		t.Error(s.View())
	}
	s.fake.advance(100_000)
	s.Update(polled{})
	s.press("h")
	s.contains(t, "the run has ended")
}

// A what-if that would take long is proposed smaller, and says so.
func TestASmallerWhatIfSaysSo(t *testing.T) {
	s, f := withWhatIf(t, 160, 45)
	f.usual = 600_000
	s.press("w")
	s.contains(t, "It is smaller than usual, which", "5m00s or more.")
}

// A what-if can be stopped, before and after its checkpoint.
func TestWhatIfStops(t *testing.T) {
	s, f := withWhatIf(t, 80, 24)
	s.press("w", "s")
	s.contains(t, "no what-if is under way")
	s.Update(keyMsg("enter"))
	s.Update(keyMsg("s")) // the event of the checkpoint has not been read yet
	s.look()
	if f.begun != 0 {
		t.Fatal("it began all the same")
	}
	s.beginWhatIf()
	s.press("s")
	if f.state.Under || f.begun != 1 {
		t.Errorf("%+v", f.state)
	}
	s.contains(t, "the what-if is stopped: enter begins another")
}

// An error is a line in the pane, or at the foot of the screen while the pane is not shown.
func TestWhatIfFails(t *testing.T) {
	s, f := withWhatIf(t, 160, 45)
	s.press("w")
	s.beginWhatIf()
	why := "analyse runs/x: what if: a batch of 256 rows has no synthetic ones of 2000: raise the ratio r or the number of samples"
	fail := func() {
		f.set(func(p *pane.WhatIfState) { p.Under, p.Err = false, errors.New(why) })
		s.look()
	}
	fail()
	s.contains(t, why)
	s.beginWhatIf()
	if strings.Contains(s.View(), why) {
		t.Error("the old error stands beside the new what-if")
	}
	s.press("w")
	fail()
	s.contains(t, why)
}

// Runs without a what-if say so, and so do those that are too young, replayed, or driven by
// another screen.
func TestWhatIfIsRefused(t *testing.T) {
	s, f := withWhatIf(t, 160, 45)
	f.refuses = errors.New("its method sac has no generator: want a run of one that has, as synther")
	s.press("w", "enter")
	s.contains(t, "there is no what-if of this run: its method sac has no generator")
	if f.begun > 0 || s.lastCommand() != nil {
		t.Errorf("begun %d times, %v", f.begun, s.fake.commands)
	}
	young := newScreen(t, 160, 45, func(o *Options) { o.WhatIf = &fakeWhatIf{at: &pane.WhatIfState{}} })
	young.fake.advance(100)
	young.Update(started{lab: young.fake})
	young.press("w", "enter")
	young.contains(t, "the agent has not learned yet: wait for its first updates")
	alone := running(t, 160, 45, 24_000)
	alone.press("w", "enter", "s")
	alone.contains(t, "a what-if is made where the run trains: pgrlab analyse runs/x --what-if")
	replayed := newScreen(t, 160, 45, func(o *Options) { o.Replay = true })
	replayed.fake.advance(24_000)
	replayed.Update(started{lab: replayed.fake})
	replayed.press("w", "enter")
	replayed.contains(t, "a what-if of a run that is over: pgrlab analyse runs/x --what-if")
}

// A run that has ended is not saved again.
func TestWhatIfOfARunThatHasEnded(t *testing.T) {
	s, f := withWhatIf(t, 160, 45)
	s.fake.advance(100_000)
	s.Update(polled{})
	s.press("w")
	s.beginWhatIf()
	if _, asked := s.lastCommand().(event.Checkpoint); asked || f.begun != 1 {
		t.Errorf("begun %d times, %v", f.begun, s.fake.commands)
	}
	s.press("q")
	s.contains(t, "The what-if, 0% done, ends with this screen.", "wait for it")
	s.press("esc")
	f.finish()
	s.look()
	s.press("q")
	if !s.quit {
		t.Error("it asks again")
	}
}

// On leaving, the screen says that a what-if ends with the screen; on a terminal of another process
// it says that the what-if ends with the run.
func TestLeavingAWhatIf(t *testing.T) {
	for _, remote := range []bool{false, true} {
		s, f := withWhatIf(t, 80, 24)
		s.options.Remote = remote
		s.press("q")
		if strings.Contains(s.View(), "what-if") {
			t.Errorf("without one:\n%s", s.View())
		}
		s.press("esc")
		f.Begin()
		s.look()
		s.press("q")
		if remote {
			s.contains(t, "stop and save; the what-if ends with it")
		} else {
			s.contains(t, "The what-if, 0% done, ends with this screen.")
		}
	}
}

func TestGoldenWhatIf(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 15}, {40, 10}} {
		s, f := withWhatIf(t, size.w, size.h)
		s.still()
		var b strings.Builder
		frame := func(name string) {
			s.look()
			exact(t, name, s.View(), size.w, size.h)
			b.WriteString("== " + name + "\n" + s.View() + "\n")
		}
		s.press("w")
		frame("proposed")
		f.Begin()
		f.set(func(p *pane.WhatIfState) {
			p.Begun, p.Progress = s.clock.Add(-40*time.Second), whatif.Progress{Doing: "unprioritized, by the simulator", Done: 400, Total: 1000}
		})
		frame("under way")
		f.finish()
		frame("made")
		s.press("down", "down", "down")
		frame("scrolled")
		golden(t, fmt.Sprintf("whatif-%dx%d", size.w, size.h), b.String())
	}
	s, f := withWhatIf(t, 80, 24)
	s.fake.setPhase(knob.Collect, 0, 0)
	f.finish()
	s.press("w")
	for range 100 {
		s.press("down")
	}
	s.contains(t, "0.045 (a constant 1.15)") // the last line stays
}
