package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/ground"
	"pgrlab/core/run"
)

// ground is a Ground of the scripted run that has got so far.
func (f *fakeLab) ground(episodes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := *f.grounding
	g.Episodes, g.Left = episodes, 3*time.Second
	for i := range max(0, episodes-10) {
		g.Neighbours = append(g.Neighbours, neighbour(i))
	}
	f.grounding = &g
	f.publish()
}

// neighbour is a return that is low in three of 64.
func neighbour(i int) float64 {
	if i%20 == 7 {
		return 40 + float64(i)
	}
	return 290 + 7*float64(i%13)
}

// grounded ends it with an answer: the present policy returns as much as here.
func (f *fakeLab) grounded(here float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := ground.Evidence{Evaluations: [][]float64{{1}, {300}, {310}, {320}, {320}, {here}}}
	for range 10 {
		e.Present = append(e.Present, here)
	}
	for i := range ground.Neighbours {
		e.Neighbours = append(e.Neighbours, neighbour(i))
	}
	r := ground.Read(e)
	f.grounding = nil
	f.emit(event.TypeGround, event.Grounded{
		Number: 1, At: f.step, Word: r.Word, Return: run.Float(r.Return), Returns: run.Floats(e.Present), Neighbours: run.Floats(e.Neighbours), Usual: run.Float(r.Usual),
		Level: new(run.Float(r.Level)), Last: new(run.Float(r.Last)), Least: new(run.Float(r.Least)), More: r.More, Count: r.Count, Low: run.Float(r.Low), High: run.Float(r.High), By: "screen", Seconds: 4,
	})
	f.publish()
}

// G asks, the box shows how far it is and then the answer, and esc closes it; the answer stays an event.
func TestGroundFromKeyToAnswer(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.press("G")
	if _, is := s.lastCommand().(event.Ground); !is {
		t.Fatalf("sent %v", s.lastCommand())
	}
	s.contains(t, "GROUND at 24,000", "0 of 74 episodes", "esc leave it")
	s.fake.ground(40)
	s.Update(polled{})
	s.contains(t, "40 of 74 episodes, 3s to go")
	s.press("G")
	s.contains(t, "ground is being asked already: esc leaves it")
	s.fake.grounded(83)
	s.Update(polled{})
	s.contains(t, "a SLIP: 61 of 64 single updates return at least half of what is usual (319): this policy's 83.0", "is an exception",
		"this policy 83.0, 62 return more", "last evaluation 83.0, level 315", "G ask again")
	s.press("esc")
	if strings.Contains(s.View(), "GROUND at") {
		t.Error("esc does not close it")
	}
	s.contains(t, "ground  asked at 24,000: a SLIP: 61 of 64 single updates")
	s.typeLine("ground")
	s.press("esc")
	if _, is := s.lastCommand().(event.LeaveGround); !is || strings.Contains(s.View(), "GROUND at") {
		t.Errorf("sent %v", s.lastCommand())
	}
	s.contains(t, "ground  left")
	s.press("G")
	s.contains(t, "0 of 74 episodes")
	s.fake.grounded(320)
	s.Update(polled{})
	s.contains(t, "cannot say: 3 of 64 single updates return under half of what is usual (319): 1 to 13 %")
}

// Where it cannot be done, one line says why; an answer from before the screen was opened is only an event,
// and another screen's answer is shown.
func TestGroundIsRefusedInOneLine(t *testing.T) {
	for why, change := range map[string]func(o *Options){
		"the run trains 2 seeds":            func(o *Options) { o.Config.Members = 2 },
		"makes no single update":            func(o *Options) { o.Config.Agent.Learner = "ppo" },
		"the run is not evaluated":          func(o *Options) { o.Config.Evaluation.Every = 0 },
		"a replay shows the answers":        func(o *Options) { o.Replay = true },
		"its agent draws real rows by prio": func(o *Options) { o.Config.Replay.Priority = "td" },
	} {
		s := newScreen(t, 160, 45, change)
		s.fake.advance(24_000)
		s.Update(started{lab: s.fake})
		s.press("G")
		s.contains(t, why)
		if s.lastCommand() != nil {
			t.Errorf("%s: sent %v", why, s.lastCommand())
		}
	}
	young := running(t, 160, 45, 100)
	young.press("G")
	young.contains(t, "has not learned yet")

	late := newScreen(t, 160, 45, nil)
	late.fake.advance(24_000)
	late.fake.grounded(83)
	late.Update(started{lab: late.fake})
	if late.ground.Shown() {
		t.Error("an old answer opens the box")
	}
	late.contains(t, "ground  asked at 24,000: a SLIP")
	late.fake.Send(event.Ground{By: "another"})
	late.Update(polled{})
	late.contains(t, "0 of 74 episodes")
	late.fake.grounded(83)
	late.Update(polled{})
	late.contains(t, "GROUND at 24,000")
}

func TestGoldenGround(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 15}, {40, 10}, {30, 8}} {
		s := running(t, size.w, size.h, 24_000)
		s.still()
		var b strings.Builder
		frame := func(name string) {
			s.Update(polled{})
			exact(t, name, s.View(), size.w, size.h)
			b.WriteString("== " + name + "\n" + s.View() + "\n")
		}
		s.press("G")
		s.fake.ground(52)
		frame("under way")
		s.fake.grounded(83)
		frame("answered")
		golden(t, fmt.Sprintf("ground-%dx%d", size.w, size.h), b.String())
	}
}
