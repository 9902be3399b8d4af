package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/fans"
	"pgrlab/tui/theme"
)

// nursery makes children whose journals the test writes.
type nursery struct {
	plans    []pane.ForkPlan
	children []pane.Child
	journals map[string][]event.Event
	gone     map[string]error // children that train no longer
	err      error
	values   func() map[string]knob.Value // of the run
	schedule []string                     // its changes
}

func (n *nursery) fork(p pane.ForkPlan) (forked event.Forked, made []pane.Child, err error) {
	n.plans = append(n.plans, p)
	forked.Steps = p.Steps
	for _, text := range p.Set {
		name, to, _ := strings.Cut(strings.TrimSuffix(text, "!"), "=")
		forked.Changes = append(forked.Changes, event.ForkedChange{Knob: name, From: n.values()[name].String(), To: to})
	}
	if p.Confirm {
		forked.Schedule = slices.Clone(n.schedule)
	}
	for i := range p.Each {
		for _, changed := range []bool{false, true} {
			c := pane.Child{Dir: fmt.Sprintf("runs/%d-%d-%v", len(n.plans), i, changed), Changed: changed, From: 24_000, To: 24_000 + p.Steps}
			if p.Confirm {
				c.From, c.To = 0, p.Steps
			}
			c.Failed = func() error { return n.gone[c.Dir] }
			made = append(made, c)
		}
	}
	n.children = append(n.children, made...)
	return forked, made, n.err
}

func (n *nursery) load(dir string) ([]event.Event, error) {
	if events, ok := n.journals[dir]; ok {
		return events, nil
	}
	return nil, errors.New("no such folder")
}

// live gives a child its evaluations after the fork, and its end. Equal parts of them have the same return.
func (n *nursery) live(c pane.Child, returns ...float64) {
	due := (c.To - c.From) / n.every(c)
	n.train(c, due, func(i int) float64 { return returns[i*len(returns)/due] })
	n.journals[c.Dir] = append(n.journals[c.Dir], event.Event{Type: event.TypeDone, Step: c.To, Body: event.Done{Steps: c.To}})
}

// train gives a child its first evaluations after the fork.
func (n *nursery) train(c pane.Child, evaluations int, returns func(i int) float64) {
	var events []event.Event
	if c.From > 0 {
		events = append(events, event.Event{Type: event.TypeEvaluated, Step: 20_000, Body: event.Evaluated{ReturnMean: 1e6}}) // the parent's
	}
	for i := range evaluations {
		events = append(events, event.Event{Type: event.TypeEvaluated, Step: c.From + n.every(c)*(i+1), Body: event.Evaluated{ReturnMean: run.Float(returns(i))}})
	}
	n.journals[c.Dir] = events
}

// every is the number of steps between two evaluations of a child.
func (n *nursery) every(c pane.Child) int {
	if c.From == 0 {
		return 1000 // of a run from the start
	}
	return 250
}

func forking(t *testing.T, w, h int) (*screen, *nursery) {
	t.Helper()
	n := &nursery{journals: map[string][]event.Event{}, gone: map[string]error{}}
	s := newScreen(t, w, h, func(o *Options) {
		o.Config.Evaluation.Every = 1000
		o.Fork, o.LoadRun = n.fork, n.load
	})
	n.values = s.values
	s.fake.advance(24_000)
	s.Update(started{lab: s.fake})
	return s, n
}

// settleForks runs what the model has to do outside its loop, until nothing is left.
func (s *screen) settleForks() {
	s.clock = s.clock.Add(fans.ForkEvery)
	s.poll()
	if later := s.takeLater(); later != nil {
		s.deliver(later())
	}
	s.fans.NextAt = s.clock
	for i := range s.fans.Groups {
		children := append([]fans.ChildRun(nil), s.fans.Groups[i].Children...)
		for j := range children {
			children[j] = children[j].Look(s.options.LoadRun, time.Time{})
		}
		s.Update(fans.ChildrenRead{Group: i, Children: children})
	}
	if later := s.takeLater(); later != nil {
		s.deliver(later())
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

// The number of env steps of forks can be chosen, and looks at them come at fixed places.
func TestForkSteps(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.typeLine("stage guidance 3")
	s.Update(keyMsg("f"))
	s.contains(t, "2,500 env steps a fork with an evaluation every 250", "another number of steps")
	for _, c := range []struct{ typed, want string }{{"200", "too few"}, {"x", "no count"}} {
		s.press("s", c.typed[:1])
		for _, r := range c.typed[1:] {
			s.press(string(r))
		}
		s.press("enter")
		s.contains(t, "env steps a fork: "+c.typed, c.want) // it stays to be corrected
		s.press("esc", "f")
	}
	s.press("s")
	if s.entry == nil || s.entry.Text() != "2500" {
		t.Fatalf("s proposes %v", s.entry)
	}
	s.press("8", "k", "enter")
	s.contains(t, "8,000 env steps a fork")
	s.Update(keyMsg("4"))
	s.settleForks()
	if len(n.plans) != 1 || n.plans[0].Steps != 8000 || n.plans[0].Each != 4 {
		t.Fatalf("plans %+v", n.plans)
	}
	for i, c := range n.children {
		s.says(t, "the first look comes at evaluation 20 of 32")
		n.train(c, 20, func(int) float64 { return 100 + float64(i) })
		s.settleForks()
	}
	s.says(t, "not seen yet: return", "the next one comes at evaluation 32 of 32, the last", "5,000 of 8,000 steps each")
	for i, c := range n.children {
		n.live(c, 100+float64(i))
	}
	s.settleForks()
	s.says(t, "not seen yet: return", "mean 103 ± 2.58")
	if view := strings.Join(s.fans.Body(150, 40), "\n"); strings.Contains(view, "the next one comes") || strings.Contains(view, "of 8,000 steps") {
		t.Error(view)
	}
}

func TestForkMakesChildrenOfWhatIsStaged(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.Update(keyMsg("f"))
	s.contains(t, "nothing is staged")
	s.typeLine("stage guidance 3")
	s.Update(keyMsg("f"))
	s.contains(t, "fan: ω 2 → 3", "two curves to look at, no verdict", "2,500 env steps a fork", "A verdict takes 4 forks of either kind")
	s.Update(keyMsg("4"))
	if c, ok := s.lastCommand().(event.Checkpoint); !ok || c.By != fans.Forker {
		t.Fatalf("sent %#v", s.lastCommand())
	}
	s.settleForks()
	want := pane.ForkPlan{Set: []string{"guidance=3!"}, Each: 4, Steps: 2500, Every: 250}
	if len(n.plans) != 1 || fmt.Sprint(n.plans[0]) != fmt.Sprint(want) {
		t.Fatalf("plans %+v", n.plans)
	}
	if got := s.values()["guidance"].Number; got != 2 || len(s.steering.Staged) > 0 {
		t.Errorf("this run has guidance %v, staged %v", got, s.steering.Staged)
	}
	s.allReturn(n, 0, 20, 30, -10, 40)
	s.says(t, "FAN  ω 2 → 3 at 24,000", "8 forks", "not seen yet: return +20", "of 70 ways to deal out the change differ as much", "four times in five")
	s.ink(t, 0, s.Theme.Text)

	s.Update(keyMsg("F"))
	s.Update(keyMsg("4"))
	s.settleForks()
	s.allReturn(n, 8, 6, -24, 9, 4)
	s.says(t, "nothing was changed, and nothing is seen")
}

// says fails unless the pane of forks says all of the texts.
func (s *screen) says(t *testing.T, texts ...string) {
	t.Helper()
	title, note := s.fans.Title(150)
	body := strings.Join(append([]string{title, note}, s.fans.Body(150, 40)...), " ")
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Fatalf("the pane does not say %q:\n%s", text, body)
		}
	}
}

// allReturn lets the unchanged ones of eight children return 100 to 103, the changed ones so much more.
func (s *screen) allReturn(n *nursery, from int, more ...float64) {
	for i, c := range n.children[from : from+8] {
		r := 100 + float64(i/2)
		if c.Changed {
			r += more[i/2]
		}
		n.live(c, r, r)
	}
	s.settleForks()
}

// ink fails if the verdict of a group has another one.
func (s *screen) ink(t *testing.T, group int, want theme.Ink) {
	t.Helper()
	if s.fans.VerdictInk(&s.fans.Groups[group]) != want {
		t.Errorf("the verdict of group %d has another colour", group)
	}
}

// What :fan cannot mean is refused in a line.
func TestFanCommand(t *testing.T) {
	s, n := forking(t, 160, 45)
	for line, want := range map[string]string{
		"fan 7 guidance=3": "fan: 7 forks: want an even number from 2 to 64", "fan 12 100 guidance=3": "fan: 100 steps are too few",
		"fan 12 guidance=99": "guidance: 99 is out of range", "fan 12 guidanze=3": "did you mean", "fan twelve guidance=3": "neither a number nor KNOB=VALUE",
		"fan 12 2500 7 guidance=3": "7 is a third number",
	} {
		s.typeLine(line)
		s.contains(t, want)
		s.press("esc")
	}
	s.typeLine("fan 12 hold ω=3 at 20000")
	s.settleForks()
	if len(n.plans) != 1 || n.plans[0].Each != 6 || !n.plans[0].Hold || n.plans[0].At != 20_000 || n.plans[0].Steps != 2500 || n.plans[0].Every != 250 {
		t.Errorf("%+v", n.plans)
	}
}

// With the cursor on an earlier evaluation a fan begins at the last checkpoint that was kept by then;
// at the newest one it begins now.
func TestAFanBeginsAtTheCursor(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.typeLine("stage guidance 3")
	s.press("2", "i")
	s.Update(keyMsg("f"))
	s.contains(t, "fan: ω 2 → 3")
	if strings.Contains(s.View(), "They begin at") {
		t.Error("the newest evaluation is not now")
	}
	s.press("esc")
	s.press("left", "left", "left")
	s.Update(keyMsg("f"))
	s.contains(t, "fan: ω 2 → 3 at 21,000", "They begin at the last checkpoint")
	_, made := s.Update(keyMsg("4"))
	s.Update(made())
	if len(n.plans) != 1 || n.plans[0].At != 21_000 {
		t.Errorf("%+v", n.plans)
	}
	s.Update(keyMsg("F"))
	s.contains(t, "placebo forks at 21,000")
}

// Forks of a random split leave what is staged: nothing of it goes into them.
func TestAPlaceboLeavesWhatIsStaged(t *testing.T) {
	s, _ := forking(t, 160, 45)
	s.typeLine("stage guidance 3")
	s.press("F", "4")
	if v := s.steering.Staged["guidance"]; v.Number != 3 {
		t.Errorf("staged is %v", s.steering.Staged)
	}
}

// Forks that a replay has shown are gone when it is wound back to a time before them.
func TestForksGoWhenAReplayIsWoundBack(t *testing.T) {
	s := newScreen(t, 160, 45, func(o *Options) {
		o.Replay, o.LoadRun = true, func(string) ([]event.Event, error) { return nil, errors.New("none") }
	})
	made := event.Forked{From: knob.After(10), Steps: 2_500, Every: 250}
	for i := range 8 {
		made.Forks = append(made.Forks, event.ForkMade{Dir: fmt.Sprint("x-fork-", i), Changed: i%2 == 1})
	}
	r := replayOf(t, fakeConfig(), 1, &s.clock,
		event.Event{Type: event.TypeStart, Body: event.Start{}},
		event.Event{Type: event.TypeFork, Step: 10, Body: made}, event.Event{Step: 20})
	s.Update(started{lab: r})
	r.Seek(1)
	s.Update(polled{})
	if s.Newest == nil {
		t.Fatal("there are no forks at the end")
	}
	r.Seek(-1)
	s.Update(polled{})
	if s.Fan != nil || s.Newest != nil || s.layout.visible(pane.Fan) {
		t.Error("forks to come are shown")
	}
}
