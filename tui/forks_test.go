package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/runs"
)

// nursery makes children whose journals the test writes.
type nursery struct {
	plans    []pane.ForkPlan
	children []pane.Child
	journals map[string][]event.Event
	err      error
}

func (n *nursery) fork(p pane.ForkPlan) ([]pane.Child, error) {
	n.plans = append(n.plans, p)
	var made []pane.Child
	for pair := range p.Pairs {
		for _, changed := range []bool{false, true} {
			c := pane.Child{Dir: fmt.Sprintf("runs/%d-%d-%v", len(n.plans), pair, changed), Pair: pair, Changed: changed, From: 24_000, To: 24_000 + p.Steps}
			made = append(made, c)
		}
	}
	n.children = append(n.children, made...)
	return made, n.err
}

func (n *nursery) load(dir string) ([]event.Event, error) {
	if events, ok := n.journals[dir]; ok {
		return events, nil
	}
	return nil, errors.New("no such folder")
}

// live gives a child its evaluations after the fork, and its end.
func (n *nursery) live(c pane.Child, returns ...float64) {
	events := []event.Event{{Type: event.TypeEvaluated, Step: 20_000, Body: event.Evaluated{ReturnMean: 1e6}}} // the parent's evaluation
	for i, r := range returns {
		events = append(events, event.Event{Type: event.TypeEvaluated, Step: c.From + 1000*(i+1), Body: event.Evaluated{ReturnMean: run.Float(r)}})
	}
	n.journals[c.Dir] = append(events, event.Event{Type: event.TypeDone, Step: c.To, Body: event.Done{Steps: c.To}})
}

func forking(t *testing.T, w, h int) (*screen, *nursery) {
	t.Helper()
	n := &nursery{journals: map[string][]event.Event{}}
	s := newScreen(t, w, h, func(o *Options) {
		o.Config.Evaluation.Every = 1000
		o.Fork, o.LoadRun = n.fork, n.load
	})
	s.fake.advance(24_000)
	s.Update(started{lab: s.fake})
	return s, n
}

// settleForks runs what the model has to do outside its loop, until nothing is left.
func (s *screen) settleForks() {
	s.clock = s.clock.Add(runs.ForkEvery)
	s.poll()
	if later := s.takeLater(); later != nil {
		s.deliver(later())
	}
	s.runs.NextAt = s.clock
	for i := range s.runs.Groups {
		children := append([]runs.ChildRun(nil), s.runs.Groups[i].Children...)
		for j := range children {
			children[j] = children[j].Look(s.options.LoadRun)
		}
		s.Update(runs.ChildrenRead{Group: i, Children: children})
	}
}

// deliver gives the model a message, or each of several.
func (s *screen) deliver(msg tea.Msg) {
	all, several := msg.(tea.BatchMsg)
	if !several {
		s.Update(msg)
	}
	for _, c := range all {
		s.deliver(c())
	}
}

// A fork asks for the number of env steps of its children, and a child stays in the list while its
// sibling still trains.
func TestForkSteps(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.typeLine("stage guidance 3")
	s.Update(keyMsg("f"))
	s.contains(t, "5,000 env steps a child", "another number of steps")
	for _, c := range []struct{ typed, want string }{{"200", "too few"}, {"x", "no count"}} {
		s.press("s", c.typed[:1])
		for _, r := range c.typed[1:] {
			s.press(string(r))
		}
		s.press("enter")
		s.contains(t, "env steps a child: "+c.typed, c.want) // it stays to be corrected
		s.press("esc", "f")
	}
	s.press("s")
	if s.entry == nil || s.entry.Text() != "5000" {
		t.Fatalf("s proposes %v", s.entry)
	}
	s.press("8", "k", "enter")
	s.contains(t, "8,000 env steps a child")
	s.Update(keyMsg("2"))
	s.settleForks()
	if len(n.plans) != 1 || n.plans[0].Steps != 8000 || n.plans[0].Pairs != 2 {
		t.Fatalf("plans %+v", n.plans)
	}
	n.live(n.children[0], 100)
	s.settleForks()
	s.typeLine("pane runs")
	s.contains(t, "pair 1, ", "✓ done, its pair is not", "return 100 at")
	n.live(n.children[1], 110)
	s.settleForks()
	if strings.Contains(s.View(), "its pair is not") {
		t.Errorf("a pair that is done:\n%s", s.View())
	}
}

func TestForkMakesPairsOfWhatIsStaged(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.Update(keyMsg("f"))
	s.contains(t, "nothing is staged")
	s.typeLine("stage guidance 3")
	s.Update(keyMsg("f"))
	s.contains(t, "fork: ω 2 → 3", "says nothing about the knob", "5,000 env steps a child")
	s.Update(keyMsg("4"))
	if c, ok := s.lastCommand().(event.Checkpoint); !ok || c.By != runs.Forker {
		t.Fatalf("sent %#v", s.lastCommand())
	}
	s.settleForks()
	want := pane.ForkPlan{Set: []string{"guidance=3!"}, Pairs: 4, Steps: 5000}
	if len(n.plans) != 1 || fmt.Sprint(n.plans[0]) != fmt.Sprint(want) {
		t.Fatalf("plans %+v", n.plans)
	}
	if got := s.values()["guidance"].Number; got != 2 || len(s.steering.Staged) > 0 {
		t.Errorf("this run has guidance %v, staged %v", got, s.steering.Staged)
	}
	for i, c := range n.children {
		n.live(c, 100, 100+map[bool]float64{true: []float64{20, 30, -10, 40}[i/2]}[c.Changed])
	}
	s.settleForks()
	s.typeLine("pane runs")
	s.contains(t, "4 pairs over 5,000 steps from 24,000", "changed better in 3 of 4 pairs, return +10.0 on average", "no placebo forks")

	s.Update(keyMsg("F"))
	s.Update(keyMsg("2"))
	s.settleForks()
	for i, c := range n.children[8:] {
		n.live(c, 100, 100+map[bool]float64{true: []float64{6, -24}[i/2]}[c.Changed])
	}
	s.settleForks()
	s.contains(t, "comes apart by up to 12.0 (2 pairs)", "inside what happens by itself (±12.0, 2 placebo")
	if w, pairs := s.runs.Band(5000); w != 12 || pairs != 2 {
		t.Errorf("band %v of %d pairs", w, pairs)
	}
	if got := s.runs.VerdictInk(&s.runs.Groups[0], s.runs.Groups[0].Differences(), 12, 2); got != s.Theme.Text {
		t.Error("a difference inside the band is coloured")
	}
}

func TestOnePairSaysNothing(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.typeLine("stage ratio 0.75")
	s.Update(keyMsg("f"))
	s.Update(keyMsg("1"))
	s.settleForks()
	if n.plans[0].Set[0] != "ratio=0.75" {
		t.Errorf("set %v", n.plans[0].Set)
	}
	for _, c := range n.children {
		n.live(c, 100, map[bool]float64{false: 100, true: 300}[c.Changed])
	}
	s.settleForks()
	s.typeLine("pane runs")
	s.contains(t, "one pair, return +100: it says nothing about the knob")
}

func TestFailedChildrenAreSaid(t *testing.T) {
	s, n := forking(t, 160, 45)
	n.err = errors.New("no space left")
	s.typeLine("stage ratio 0.75")
	s.Update(keyMsg("f"))
	s.Update(keyMsg("1"))
	s.settleForks()
	s.contains(t, "no space left")
	s.runs.Groups[0].Children[0].Failed = func() error { return errors.New("exit status 1") }
	s.settleForks()
	s.typeLine("pane runs")
	s.contains(t, "pair 1, unchanged, 1-0-false: exit status 1", "no pair is done yet")
}

// A single pair that is done is reported as two runs to look at, in the list of runs and outside of
// it.
func TestASinglePairIsReported(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.typeLine("ratio 0.75")
	s.typeLine("confirm")
	s.contains(t, "confirm: r ratio 0.5 → 0.75 at 24,000", "says nothing about the changes")
	plan := s.dialog.Choices[0]
	s.dialog = nil
	s.Update(plan.Action()())
	s.settleForks()
	for _, c := range n.children {
		n.live(c, 100, map[bool]float64{false: 100, true: 116}[c.Changed])
	}
	s.settleForks()
	s.contains(t, "one pair, return +8.00: it says nothing about the changes; :pane runs")
	s.typeLine("pane runs")
	s.contains(t, "with the changes: return 108, the mean of 2 evaluations, 116 at 26,000; in runs/1-0-true", "without them: return 100, the mean")
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
	plan := s.dialog.Choices[1]
	s.Update(plan.Action()())
	if len(n.plans) != 1 || !n.plans[0].Confirm || n.plans[0].Pairs != 2 || n.plans[0].Steps != 100_000 {
		t.Fatalf("plans %+v", n.plans)
	}
}

func TestGoldenRuns(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 15}, {40, 10}} {
		s, n := forking(t, size.w, size.h)
		s.still()
		s.typeLine("stage guidance 3")
		s.Update(keyMsg("f"))
		s.Update(keyMsg("4"))
		s.settleForks()
		for i, c := range n.children {
			n.live(c, 100, 100+map[bool]float64{true: []float64{60, 80, -10, 90}[i/2]}[c.Changed])
		}
		s.Update(keyMsg("F"))
		s.Update(keyMsg("2"))
		s.settleForks()
		for _, c := range n.children[8:10] {
			n.live(c, 100, map[bool]float64{false: 100, true: 116}[c.Changed])
		}
		s.settleForks()
		s.typeLine("pane runs")
		golden(t, fmt.Sprintf("runs-%dx%d", size.w, size.h), strings.TrimRight(s.View(), "\n"))
	}
}

// A fork that is asked for while another one waits for its checkpoint is refused, and the first one
// is made.
func TestOneForkIsMadeAtATime(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.typeLine("stage guidance 3")
	for _, key := range []string{"f", "4", "F", "2"} {
		s.Update(keyMsg(key))
	}
	s.contains(t, "a fork is being made: make another when it is")
	s.settleForks()
	if len(n.plans) != 1 || len(n.plans[0].Set) != 1 || n.plans[0].Pairs != 4 {
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
	if refuse(); s.runs.IsSaving() {
		t.Error("the fork still waits")
	}
	s.contains(t, "the device is gone")
	s.fake.holds = false
	for _, key := range []string{"enter", "w", "F", "2"} {
		s.Update(keyMsg(key))
	}
	s.settleForks()
	if len(n.plans) != 1 || n.plans[0].Pairs != 2 || w.begun != 1 {
		t.Errorf("forks %+v, what-ifs %d", n.plans, w.begun)
	}
}
