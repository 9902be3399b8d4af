package tui

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/pane"
)

// What no dealing but its opposite matches is a verdict, and coloured. Children of the same question are
// added to those before, and another question is counted.
func TestForksAreSeenToDiffer(t *testing.T) {
	s, n := forking(t, 160, 45)
	ask := func(line string) {
		s.typeLine(line)
		s.Update(keyMsg("f"))
		s.Update(keyMsg("4"))
		s.settleForks()
	}
	ask("stage guidance 3")
	s.allReturn(n, 0, 60, 70, 80, 90)
	s.contains(t, "ω 2 → 3: seen better: return +75") // outside the pane
	s.says(t, "seen better: return +75", "2 of 70 ways", "It holds from step 24,000 of this run, over 2,500 steps; :confirm asks other seeds.")
	s.ink(t, 0, s.Theme.Good)
	ask("stage guidance 3")
	s.allReturn(n, 8, -60, -70, -80, -90)
	s.says(t, "seen better at look 2 of 3; now: return 0", "; with the 8 forks before") // a verdict stays
	ask("stage ratio 0.75")
	s.allReturn(n, 16, -60, -70, -80, -90)
	s.says(t, "seen worse: return -75", "2 questions were asked of this run", "up to 10%")
	s.ink(t, 2, s.Theme.Bad)
}

// A change from another value, and another schedule, are questions of their own: no earlier verdict stands
// under them. The same change again, or the same schedule, is one.
func TestEachQuestionHasItsOwnVerdict(t *testing.T) {
	s, n := forking(t, 160, 45)
	fan := func(lines ...string) {
		for _, line := range lines {
			s.typeLine(line)
		}
		s.Update(keyMsg("f"))
		s.Update(keyMsg("4"))
		s.settleForks()
	}
	fan("stage guidance 3")
	s.allReturn(n, 0, 60, 70, 80, 90)
	s.says(t, "ω 2 → 3 at", "seen better: return +75")
	fan("guidance 5", "stage guidance 3")
	s.allReturn(n, 8, 0, 20, -10, 5)
	s.says(t, "ω 5 → 3 at", "not seen yet", "2 questions were asked of this run")
	s.ink(t, 1, s.Theme.Text)
	fan("guidance 2", "stage guidance 3")
	s.allReturn(n, 16, 60, 70, 80, 90)
	s.says(t, "ω 2 → 3 at", "; with the 8 forks before", "2 questions")

	confirm := func() {
		s.typeLine("confirm")
		made := s.dialog.Choices[0].Action()
		s.dialog = nil
		s.Update(made())
		s.settleForks()
	}
	n.schedule = []string{"24000:ratio=0.75"}
	confirm()
	s.allReturn(n, 24, 60, 70, 80, 90)
	s.says(t, "confirm: r ratio → 0.75 at 24,000", "seen better: return +75", "3 questions")
	n.schedule = append(n.schedule, "24000/fit:37:tau=0.5")
	confirm()
	s.allReturn(n, 32, 0, 20, -10, 5)
	s.says(t, "at 24,000, τ", "not seen yet", "4 questions")
	s.ink(t, 4, s.Theme.Text)
	confirm()
	s.allReturn(n, 40, 0, 20, -10, 5)
	s.says(t, "; with the 8 forks before", "4 questions")
}

// How many placebos give a false verdict depends on how often they were looked at.
func TestAFalseVerdictOfAPlacebo(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.Update(keyMsg("F"))
	s.Update(keyMsg("4"))
	s.settleForks()
	s.allReturn(n, 0, 60, 70, 80, 90)
	s.says(t, "a false verdict, as up to 3 of 100 placebos give: nothing was changed; seen better")
	s.typeLine("pane fan")
	for i, want := range []string{"4", "4.5"} {
		s.Update(keyMsg("m"))
		s.settleForks()
		s.allReturn(n, 8*(i+1), 60, 70, 80, 90)
		s.says(t, "as up to "+want+" of 100 placebos give")
	}
}

// With one child of either kind there is no verdict, whatever they return, but the results of both.
func TestTwoChildrenSayNothing(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.typeLine("ratio 0.75")
	s.typeLine("confirm")
	s.contains(t, "confirm: r ratio 0.5 → 0.75 at 24,000", "two curves to look at, no verdict")
	plan := s.dialog.Choices[4]
	s.dialog = nil
	s.Update(plan.Action()())
	s.settleForks()
	for _, c := range n.children {
		n.live(c, map[bool]float64{false: 100, true: 116}[c.Changed])
	}
	s.settleForks()
	s.contains(t, "cannot say: with 1 fork a side no verdict is possible, it takes 4; 0 shows it")
	s.says(t, "return +16.0", "with the changes: return 116, the mean of 100 evaluations, 116 at 100,000; in runs/1-0-true", "without them: return 100, the mean")
}

// A child that failed counts with the least return; one that was stopped is waited for.
func TestFailedChildrenCount(t *testing.T) {
	s, n := forking(t, 160, 45)
	n.err = errors.New("no space left")
	s.typeLine("stage ratio 0.75")
	s.Update(keyMsg("f"))
	s.Update(keyMsg("4"))
	s.settleForks()
	s.contains(t, "no space left")
	for i, c := range n.children {
		switch {
		case i == 7:
			n.gone[c.Dir] = fmt.Errorf("%w, with its parent", pane.ErrStopped)
		case c.Changed: // evaluated five times of ten
			n.gone[c.Dir] = errors.New("exit status 1")
			n.train(c, 5, func(int) float64 { return 100 })
		default:
			n.live(c, 100, 102+float64(i))
		}
	}
	s.settleForks()
	s.says(t, "fork 2, changed, 1-0-true: exit status 1", "stopped before its end, with its parent", "1 of 8 stopped before their end")
	n.gone = map[string]error{}
	n.live(n.children[7], 40, 50)
	s.settleForks()
	s.says(t, "seen worse: return -53.8") // 48.75, of three times 50 and once 45, less 102.5
}

// A screen that comes later, or plays the run again, takes the forks from the journal, and says the same.
func TestForksAreRecalledFromTheJournal(t *testing.T) {
	s, n := forking(t, 160, 45)
	made := event.Forked{Changes: []event.ForkedChange{{Knob: "guidance", From: "2", To: "3", Now: true}}, From: knob.After(24_000), Steps: 5_000, Every: 250}
	for i := range 8 {
		made.Forks = append(made.Forks, event.ForkMade{Dir: fmt.Sprint("x-fork-", i), Changed: i%2 == 1, Seed: uint64(4 + i)})
		c := pane.Child{Dir: filepath.Join(filepath.Dir(s.About.Folder), fmt.Sprint("x-fork-", i)), Changed: i%2 == 1, From: 24_000, To: 29_000}
		n.children = append(n.children, c)
	}
	s.fake.emit(event.TypeFork, made)
	s.Update(polled{})
	s.says(t, "FAN  ω 2 → 3 at 24,000", "8 forks", "the first look comes at evaluation 12 of 20")
	s.allReturn(n, 0, 60, 70, 80, 90)
	s.says(t, "seen better: return +75")
	if s.fans.Unfinished() != 0 || s.fans.Over() != 0 {
		t.Error("children of another process are this screen's")
	}
	s.fake.emit(event.TypeFork, made)
	s.fake.emit(event.TypeFork, event.Forked{Forks: []event.ForkMade{{Dir: "../elsewhere"}}})
	s.Update(polled{})
	if len(s.fans.Groups) != 1 {
		t.Errorf("%d groups", len(s.fans.Groups))
	}
	s.fake.emit(event.TypeNote, event.Noted{Text: event.ForkedAt + "24000"})
	if s.Update(polled{}); len(s.fans.Groups) != 0 {
		t.Error("a fork lists the forks of its parent")
	}
}

func TestConfirmNeedsATouchedRun(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.typeLine("confirm")
	s.contains(t, "no knob was touched")
	s.typeLine("ratio 0.75")
	s.Update(keyMsg(":"))
	for _, r := range "confirm" {
		s.Update(keyMsg(string(r)))
	}
	s.Update(keyMsg("enter"))
	s.contains(t, "fresh seeds")
	plan := s.dialog.Choices[0]
	s.Update(plan.Action()())
	if len(n.plans) != 1 || !n.plans[0].Confirm || n.plans[0].Each != 4 || n.plans[0].Steps != 100_000 {
		t.Fatalf("plans %+v", n.plans)
	}
}

func TestGoldenFan(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 15}, {40, 10}} {
		s, n := forking(t, size.w, size.h)
		s.still()
		s.typeLine("stage guidance 3")
		s.Update(keyMsg("f"))
		s.Update(keyMsg("4"))
		s.settleForks()
		for i, c := range n.children {
			n.live(c, 100, 100+float64(i)+map[bool]float64{true: []float64{60, 80, 10, 90}[i/2]}[c.Changed])
		}
		s.Update(keyMsg("F"))
		s.Update(keyMsg("4"))
		s.settleForks()
		for i, c := range n.children[8:15] {
			n.live(c, 100+float64(i))
		}
		s.settleForks()
		s.typeLine("pane fan")
		golden(t, fmt.Sprintf("fan-%dx%d", size.w, size.h), strings.TrimRight(s.View(), "\n"))
	}
}

// A fork that is asked for while another one waits for its checkpoint is refused, and the first one
// is made.
func TestOneForkIsMadeAtATime(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.typeLine("stage guidance 3")
	for _, key := range []string{"f", "4", "F", "4"} {
		s.Update(keyMsg(key))
	}
	s.contains(t, "a fork is being made: make another when it is")
	s.settleForks()
	if len(n.plans) != 1 || len(n.plans[0].Set) != 1 || n.plans[0].Each != 4 {
		t.Errorf("plans %+v", n.plans)
	}
}

// A fork and a what-if whose checkpoints arrive together are both begun.
func TestAForkBesideAWhatIf(t *testing.T) {
	w := &fakeWhatIf{at: &pane.WhatIfState{}}
	s, n := forking(t, 160, 45)
	s.About.WhatIf = w
	for _, key := range []string{"F", "4", "w", "enter"} {
		s.Update(keyMsg(key))
	}
	s.settleForks()
	if len(n.plans) != 1 || w.begun != 1 {
		t.Errorf("forks %+v, what-ifs %d", n.plans, w.begun)
	}
}

// A fork and a what-if whose checkpoint is refused say so, and another one can be made.
func TestARefusedCheckpointEndsAFork(t *testing.T) {
	w := &fakeWhatIf{at: &pane.WhatIfState{}}
	s, n := forking(t, 160, 45)
	s.About.WhatIf = w
	refuse := func() {
		s.fake.emit(event.TypeRefused, event.Refused{Knob: "checkpoint", Reason: "the device is gone"})
		s.fake.publish()
		s.Update(polled{})
	}
	s.fake.holds = true
	s.press("F", "4")
	s.press("w", "enter")
	if refuse(); s.fans.IsSaving() {
		t.Error("the fork still waits")
	}
	s.contains(t, "the device is gone")
	s.fake.holds = false
	for _, key := range []string{"enter", "w", "F", "4"} {
		s.Update(keyMsg(key))
	}
	s.settleForks()
	if len(n.plans) != 1 || n.plans[0].Each != 4 || w.begun != 1 {
		t.Errorf("forks %+v, what-ifs %d", n.plans, w.begun)
	}
}

// Forks of a run that was killed are trained on by a later one, as far as they are not done, and the
// verdict is that of all.
func TestForksThatStoppedTrainOn(t *testing.T) {
	s, n := forking(t, 160, 45)
	var on []string
	elsewhere := true // while processes of their own train them
	s.About.GoOn = func(all []pane.Child) ([]pane.Child, error) {
		if elsewhere {
			return nil, nil
		}
		for i := range all {
			on = append(on, filepath.Base(all[i].Dir))
			all[i].Failed = func() error { return nil }
		}
		return all, nil
	}
	made := event.Forked{Changes: []event.ForkedChange{{Knob: "guidance", From: "2", To: "3", Now: true}}, From: knob.After(24_000), Steps: 2_500, Every: 250}
	for i := range 8 {
		made.Forks = append(made.Forks, event.ForkMade{Dir: fmt.Sprint("x-fork-", i), Changed: i%2 == 1, Seed: uint64(4 + i)})
		n.children = append(n.children, pane.Child{Dir: filepath.Join(filepath.Dir(s.About.Folder), fmt.Sprint("x-fork-", i)), Changed: i%2 == 1, From: 24_000, To: 26_500})
	}
	s.fake.emit(event.TypeFork, made)
	s.Update(polled{})
	n.live(n.children[0], 100)
	n.train(n.children[1], 3, func(int) float64 { return 160 })
	s.settleForks()
	s.typeLine("pane fan")
	s.deliver(press(s, "r"))
	s.contains(t, "7 forks are being trained already")
	elsewhere = false
	s.deliver(press(s, "r"))
	if want := "x-fork-1 x-fork-2 x-fork-3 x-fork-4 x-fork-5 x-fork-6 x-fork-7"; strings.Join(on, " ") != want {
		t.Fatalf("%v train on, want %s", on, want)
	}
	s.contains(t, "7 forks train on")
	s.allReturn(n, 0, 60, 70, 80, 90)
	s.says(t, "seen better: return +75")
	s.press("r")
	s.contains(t, "no fork has stopped before its end")
}

// press is the message of what a key starts.
func press(s *screen, key string) tea.Msg {
	_, cmd := s.Update(keyMsg(key))
	return cmd()
}

// Each look at forks that this process made is written down once.
func TestLooksAreWrittenDown(t *testing.T) {
	s, n := forking(t, 160, 45)
	var looks []event.Looked
	s.About.Look = func(l event.Looked) error {
		looks = append(looks, l)
		return nil
	}
	s.press(":")
	for _, r := range "fan 8 2500 beside guidance=3" {
		s.Update(keyMsg(string(r)))
	}
	s.Update(keyMsg("enter"))
	s.settleForks()
	if len(n.plans) != 1 || n.plans[0].Each != 4 || n.plans[0].Steps != 2500 || n.plans[0].Hold || fmt.Sprint(n.plans[0].Set) != "[guidance=3!]" {
		t.Fatalf("%+v", n.plans)
	}
	returns := func(c pane.Child) func(int) float64 {
		return func(int) float64 { return map[bool]float64{true: 150, false: 100}[c.Changed] }
	}
	for _, evaluations := range []int{5, 6, 7, 10} {
		for _, c := range n.children {
			n.train(c, evaluations, returns(c))
		}
		s.settleForks()
	}
	if len(looks) != 2 || looks[0].Look != 1 || looks[1].Look != 2 || looks[1].Looks != 2 || looks[1].Difference != 50 || len(looks[1].Scores) != 8 || looks[1].Dir != filepath.Base(n.children[0].Dir) || !strings.HasPrefix(looks[1].Verdict, "seen better: return +50") {
		t.Errorf("%+v", looks)
	}
}

// A fork and a what-if begin with the checkpoint that answers their request: one that was under way then
// may be of a later step than the screen has seen, and yet lack a change.
func TestAForkWaitsForItsOwnCheckpoint(t *testing.T) {
	w := &fakeWhatIf{at: &pane.WhatIfState{}}
	s, n := forking(t, 160, 45)
	s.About.WhatIf = w
	s.fake.holds = true
	for _, key := range []string{"F", "4", "w", "enter"} {
		s.Update(keyMsg(key))
	}
	var refs []string
	for _, c := range s.fake.commands {
		if c, is := c.(event.Checkpoint); is {
			refs = append(refs, c.Ref)
		}
	}
	older := event.CheckpointObs{Path: "checkpoints/24001", Position: knob.After(24_001), By: "cadence"}
	s.fake.emit(event.TypeCheckpoint, event.Checkpointed{Obs: older})
	s.settleForks()
	if len(n.plans) > 0 || w.begun > 0 {
		t.Fatalf("begun with an older checkpoint: forks %+v, what-ifs %d", n.plans, w.begun)
	}
	older.Refs = refs
	s.fake.emit(event.TypeCheckpoint, event.Checkpointed{Obs: older})
	s.settleForks()
	if len(refs) != 2 || len(n.plans) != 1 || w.begun != 1 {
		t.Errorf("of %q: forks %+v, what-ifs %d", refs, n.plans, w.begun)
	}
}

// The run is held where the forks train: they may be over before the screen has seen that.
func TestTheRunIsHeldForForks(t *testing.T) {
	s, _ := forking(t, 160, 45)
	var held error
	asked := 0
	s.About.Hold = func() error { asked++; return held }
	s.Update(keyMsg("F"))
	s.Update(keyMsg("4"))
	s.settleForks()
	s.typeLine("pane fan")
	s.press("h")
	if asked != 1 {
		t.Fatalf("asked for %d times", asked)
	}
	held = pane.ErrNoForks
	s.press("h")
	s.contains(t, "no forks are being trained")
	if c, is := s.lastCommand().(event.Pause); is {
		t.Errorf("sent %+v", c)
	}
}
