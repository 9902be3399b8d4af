package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/testing/racing"
	"pgrlab/presets"
	"pgrlab/tui/lesson"
	"pgrlab/tui/pane"
	"pgrlab/tui/scenes"
)

// goOn presses what the lesson asks for, or lets the run continue.
func (s *screen) goOn() {
	switch l := s.lessons.Lesson; {
	case l.Part == lesson.Awaiting && l.Step().Wait != nil && l.Step().Wait.For == "grounded":
		s.press("G")
		s.fake.grounded(320 - 100*float64(l.At))
		s.Update(polled{})
	case l.Part == lesson.Awaiting && l.Step().Wait.Phase():
		s.fake.setPhase(presets.Phases[l.Step().Wait.For], 40, 100)
		s.Update(polled{})
	case l.Part == lesson.Awaiting:
		s.fake.advance(500)
		s.Update(polled{})
	case l.Part == lesson.Reading && l.Step().Ask != "":
		s.press("1")
	default:
		s.press("enter")
	}
}

// forkWhereAsked makes four forks of either kind where the lesson waits for a fork. The unchanged
// children return 100 and 120, the changed ones 40 and 50.
func (s *screen) forkWhereAsked(n *nursery) {
	l := s.lessons.Lesson
	if l == nil || l.Part != lesson.Awaiting || l.Step().Wait == nil || l.Step().Wait.For != "forked" {
		return
	}
	s.Update(keyMsg("f"))
	s.Update(keyMsg("4"))
	s.settleForks()
	for i, r := range []float64{100, 40, 120, 50, 100, 40, 120, 50} {
		n.live(n.children[i], r, r)
	}
	s.settleForks()
}

// goThrough presses what the lesson asks for and lets the run continue until the lesson is over; it
// returns the frames at the ends of its steps.
func (s *screen) goThrough(t *testing.T) (frames []string) {
	t.Helper()
	for range 400 {
		if s.lessons.Lesson == nil {
			return frames
		}
		l, at := s.lessons.Lesson, s.lessons.Lesson.At
		s.goOn()
		if s.lessons.Lesson == nil || l.At != at || l.Part == lesson.Revealed {
			frames = append(frames, s.View())
		}
	}
	t.Fatalf("lesson %s does not end: step %d, part %d", s.lessons.Lesson.Name, s.lessons.Lesson.At+1, s.lessons.Lesson.Part)
	return nil
}

// Every lesson can be completed, its full text leaves fifteen rows to the panes of an 80x24 screen,
// and at its end the knobs are as they were.
func TestLessonsEndAndPutKnobsBack(t *testing.T) {
	for _, l := range presets.Lessons() {
		t.Run(l.Name, func(t *testing.T) {
			s, n := forking(t, 80, 24)
			if l.Imagines {
				s.options.Config.Agent.Learner = "dreamer"
			}
			if l.Dreams {
				s.options.Config.Agent.Learner = config.LearnerNone
			}
			before := s.fake.Snapshot().Knobs
			s.press("T")
			s.contains(t, "lessons", "what a dormant neuron is")
			s.press("esc")
			s.typeLine("lesson " + l.Name)
			if s.lessons.Lesson == nil && l.Bonus == "" && l.Needs != "tv" {
				t.Fatal("it does not begin")
			}
			fits := func() {
				if s.lessons.Lesson == nil {
					return
				}
				if n, room := len(s.lessons.Lines(80)), 9; n > room {
					t.Errorf("step %d part %d takes %d lines of %d:\n%s", s.lessons.Lesson.At+1, s.lessons.Lesson.Part, n, room, strings.Join(s.lessons.Lines(80), "\n"))
				}
			}
			fits()
			for range 400 {
				if s.lessons.Lesson == nil {
					break
				}
				s.goOn()
				s.forkWhereAsked(n)
				fits()
			}
			if s.lessons.Lesson != nil {
				t.Fatalf("it does not end: step %d, part %d", s.lessons.Lesson.At+1, s.lessons.Lesson.Part)
			}
			for name, v := range s.fake.Snapshot().Knobs {
				if v != before[name] {
					t.Errorf("%s is %v, was %v", name, v, before[name])
				}
			}
		})
	}
}

// A reveal shows the numbers of the run beside the prediction.
func TestRevealIsComputed(t *testing.T) {
	s := running(t, 160, 45, 21_000)
	s.typeLine("lesson guidance")
	frames := s.goThrough(t)
	// The scripted run answers every preview alike.
	if all := strings.Join(frames, "\n"); !strings.Contains(all, "The median F went from 0.700 to 0.700: no clear pull") || !strings.Contains(all, "You said: rises.") {
		t.Errorf("no computed reveal in\n%s", frames[len(frames)-1])
	}
}

// The lesson on what PGR is shows the loop in each phase, holds the run there, puts the layout back,
// and changes nothing.
func TestLessonOnWhatPGRIs(t *testing.T) {
	s := running(t, 160, 45, 21_000)
	s.fake.dreamt = fakeTruths(event.MostDreams, 21_000)
	s.fake.publish()
	s.typeLine("lesson pgr")
	s.contains(t, "THE LOOP of Prioritized generative replay", "LESSON what PGR is")
	all := strings.Join(s.goThrough(t), "\n")
	for _, want := range []string{"▸ real rows", "▸ F curiosity", "▸ generator", "▸ synthetic rows", "DREAMS", "You said: yes, more wrong.", "‖ PAUSED", "typically off by 0."} {
		if !strings.Contains(all, want) {
			t.Errorf("it never shows %q", want)
		}
	}
	if s.view != focusView || s.Paused() || strings.Contains(s.View(), "THE LOOP") {
		t.Errorf("at its end the layout is %v, the run paused %v", s.view, s.Paused())
	}
	for _, c := range s.fake.commands {
		if _, sets := c.(event.SetKnob); sets {
			t.Errorf("it sets %+v", c)
		}
	}
	waits := running(t, 160, 45, 21_000)
	waits.typeLine("lesson pgr")
	waits.press("enter", "enter", "enter")
	waits.contains(t, "waiting for the next scoring")
	waits.press("enter") // no key of the pane behind it
	if waits.entry != nil || waits.lessons.Lesson == nil {
		t.Error("enter went to the pane")
	}
	waits.press("esc")
	left := running(t, 160, 45, 21_000)
	left.GoTo(pane.Chart2)
	left.typeLine("lesson pgr")
	for left.lessons.Lesson.Step().Focus != "dreams" {
		left.goOn()
	}
	left.press("esc")
	if left.lessons.Lesson != nil || left.focus != pane.Chart2 || left.view != focusView {
		t.Errorf("left at the dreams, the focus is %s, the layout %v", left.focus, left.view)
	}
	small := running(t, 80, 24, 21_000)
	small.typeLine("lesson pgr")
	small.contains(t, "THE LOOP of Prioritized generative replay", "▸ F curiosity", "REAL ROWS", "LESSON what PGR is")
	s.typeLine("lesson pgr")
	s.press("enter", "esc")
	if s.lessons.Lesson != nil || s.view != focusView || s.Paused() {
		t.Errorf("left, the layout is %v, the run paused %v", s.view, s.Paused())
	}
}

// stillLab is a run that stands still.
type stillLab struct{ now *event.Snapshot }

func (l stillLab) Snapshot() *event.Snapshot { return l.now }
func (l stillLab) Send(event.Command) error  { return nil }

// recording is a replay with a scene of each phase, by a screen at its beginning.
func recording(t *testing.T) *screen {
	t.Helper()
	live := running(t, 160, 45, 24_000)
	live.fake.dreamt = fakeTruths(event.MostDreams, 24_000)
	events := live.fake.events
	var kept strings.Builder
	first, last := events[0].Wall, events[len(events)-1].Wall
	r, err := scenes.NewRecorder(&kept, first)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range []knob.Phase{knob.Collect, knob.Score, knob.Fit, knob.Generate, knob.Collect} {
		live.fake.setPhase(p, 40, 100)
		now := *live.fake.Snapshot()
		now.Time = last.Add(time.Duration(i-6) * time.Second)
		if err := r.Look(stillLab{&now}, now.Time); err != nil {
			t.Fatal(err)
		}
	}
	reel, err := scenes.Read(strings.NewReader(kept.String()))
	if err != nil {
		t.Fatal(err)
	}
	s := newScreen(t, 160, 45, func(o *Options) { o.Replay, o.Scenes, o.Draw = true, reel, stripes })
	played, err := NewReplay(fakeConfig(), "x", events, 1, func() time.Time { return s.clock })
	if err != nil {
		t.Fatal(err)
	}
	s.Update(started{lab: played.WithScenes(reel)})
	return s
}

// A recording gives the lessons that only look: it goes to each phase. Without scenes, and with lessons that
// set knobs, the screen says what they need.
func TestARecordingGivesLessons(t *testing.T) {
	s := recording(t)
	s.press("T")
	s.contains(t, "They go to moments of this recording", "what PGR is", "what ω does: sets knobs: needs a run")
	s.press("1")
	all := ""
	for range 60 {
		if s.lessons.Lesson == nil {
			break
		}
		s.press(map[bool]string{true: "1", false: "enter"}[s.lessons.Lesson.Step().Ask != "" && s.lessons.Lesson.Part == lesson.Reading])
		s.Update(polled{})
		all += s.View()
	}
	for _, want := range []string{"▸ real rows", "▸ F curiosity", "▸ generator", "▸ synthetic rows", "LIES", "You said: yes, more wrong."} {
		if !strings.Contains(all, want) {
			t.Errorf("it never shows %q", want)
		}
	}
	s.contains(t, "lesson over, what PGR is")
	s.typeLine("lesson ground")
	s.contains(t, "it sets knobs, and this is a replay")
}

// The errors of D_syn are shown beside those of a constant, and forks show whether D_syn helped.
func TestLessonOnWhatSyntheticRowsAreWorth(t *testing.T) {
	s, n := forking(t, 160, 45)
	s.typeLine("lesson worth")
	all := ""
	for range 100 {
		if s.lessons.Lesson == nil {
			break
		}
		s.goOn()
		s.View()
		if l := s.lessons.Lesson; l != nil && l.Part == lesson.Awaiting && l.Step().Wait != nil && l.Step().Wait.For == "forked" {
			s.contains(t, "waiting for a fork: press f", "fork with ratio=0 and without")
		}
		s.forkWhereAsked(n)
		all += s.View()
	}
	s.typeLine("lesson worth")
	s.lessons.At = len(s.lessons.Steps) - 2 // the last step only says something
	s.lessons.Part = lesson.Revealed
	if s.press("enter"); s.lessons.Lesson == nil {
		t.Fatal("the last step is not shown")
	}
	if s.press("enter"); s.lessons.Lesson != nil {
		t.Error("the last step takes more than one key")
	}
	for _, want := range []string{
		"The error of s' − s is 0.283, a constant's 1.00. The next states carry information. You said: a tenth or less.",
		"The error of r is 0.106, a constant's 1.00. The rewards carry information.",
		"The return is 110 (standard error 5.77) with D_syn and 45.0 (standard error 2.89) without: here D_syn helped. You said: rises.",
	} {
		if !strings.Contains(strings.Join(strings.Fields(all), " "), want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if p := n.plans; len(p) != 1 || p[0].Each != 4 || len(p[0].Set) != 1 || p[0].Set[0] != "ratio=0" {
		t.Errorf("%+v", p)
	}
}

// Only lessons that the run fits are offered; of the others a line says what they need.
func TestLessonsThatDoNotFitAreNotOffered(t *testing.T) {
	for _, size := range [][2]int{{160, 45}, {80, 24}} {
		s := running(t, size[0], size[1], 24_000)
		s.press("T")
		for i, c := range s.dialog.Choices {
			if text := c.Text(); strings.Contains(text, "TV") || c.Key != string("123456789abc"[i]) && c.Key != "esc" {
				t.Errorf("%s offers %q", c.Key, text)
			}
		}
		if n := len(s.dialog.Choices) - 1; n < 10 {
			t.Errorf("%d lessons are offered", n)
		}
		if view := s.View(); strings.Index(view, "Not in this run:") < strings.Index(view, "not now") {
			t.Errorf("what does not fit comes before what does:\n%s", view)
		}
		s.contains(t, "Not in this run:", "the couch potato: a noisy TV in mid-run: needs ppo-curiosity in a maze", "what a dormant neuron is")
		if s.press("a"); !s.lessons.Given() {
			t.Error("the tenth lesson does not begin")
		}
	}
}

func TestGoldenLesson(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 15}, {40, 10}} {
		s := running(t, size.w, size.h, 24_000)
		s.still()
		s.typeLine("lesson reward")
		s.press("enter")
		golden(t, fmt.Sprintf("lesson-ask-%dx%d", size.w, size.h), s.View())
		s.press("2")
		for s.lessons.Lesson.Part != lesson.Revealed {
			s.fake.advance(500)
			s.Update(polled{})
		}
		golden(t, fmt.Sprintf("lesson-reveal-%dx%d", size.w, size.h), s.View())
	}
}

// At every size a lesson shows what to press, and on a screen that is high enough the panes fill
// the rest.
func TestALessonAtEverySize(t *testing.T) {
	racing.Skip(t)
	s := running(t, 80, 24, 24_000)
	s.still()
	s.typeLine("lesson reward")
	s.press("enter", "2")
	for s.lessons.Lesson.Part != lesson.Revealed {
		s.fake.advance(500)
		s.Update(polled{})
	}
	for w := 20; w <= 100; w += 4 {
		for h := 3; h <= 40; h++ {
			s.Update(tea.WindowSizeMsg{Width: w, Height: h})
			exact(t, "lesson", s.View(), w, h)
			s.contains(t, "enter go on")
			if n := len(s.lessons.Lines(w)); w >= pane.TabbedWidth && h-n >= pane.AboveLesson && !strings.Contains(s.View(), "GENERATOR") {
				t.Fatalf("%dx%d: %d rows without a pane\n%s", w, h, h-n, s.View())
			}
		}
	}
}

func TestLeavingALessonAsksAboutItsKnobs(t *testing.T) {
	s := running(t, 160, 45, 21_000)
	s.typeLine("lesson ratio")
	s.press("enter")
	s.press("enter")
	if s.values()["ratio"].Number != 0.875 {
		t.Fatalf("ratio is %v", s.values()["ratio"])
	}
	s.press("esc")
	s.contains(t, "leave the lesson", "put back", "ratio")
	s.press("esc")
	if s.lessons.Lesson == nil {
		t.Fatal("esc left the lesson")
	}
	s.press("esc", "enter")
	if s.lessons.Lesson != nil || s.values()["ratio"].Number != 0.5 || s.values()["hold"].Text != knob.HoldBatch {
		t.Errorf("ratio %v, hold %v", s.values()["ratio"], s.values()["hold"])
	}
	for _, c := range s.fake.commands {
		if k, ok := c.(event.SetKnob); ok && k.By != "lesson ratio" {
			t.Errorf("%s was set by %q", k.Knob, k.By)
		}
	}
}

// Who leaves the run during a lesson is told what it has changed, and can put it back.
func TestLeavingDuringALesson(t *testing.T) {
	for key, want := range map[string]float64{"b": 0.5, "d": 0.875} {
		s := running(t, 80, 24, 24_000)
		s.typeLine("lesson guidance")
		s.press("q")
		if strings.Contains(s.View(), "put back") {
			t.Errorf("a lesson that has changed nothing:\n%s", s.View())
		}
		s.press("esc")
		s.lessons.Lesson.Steps = []presets.Step{{Say: "r", Set: []string{"ratio=0.875"}, Wait: &presets.Wait{For: "evaluated"}}}
		s.lessons.Lesson.At = 0
		s.press("enter")
		if got := s.values()["ratio"].Number; got != 0.875 {
			t.Fatalf("the lesson sets r to %g", got)
		}
		s.press("q")
		s.contains(t, "put back r ratio → 0.5, and leave it training")
		s.press(key)
		if got := s.values()["ratio"].Number; got != want || !s.quit {
			t.Errorf("%s leaves r = %g, want %g; left: %v", key, got, want, s.quit)
		}
	}
}

func TestLessonsAreRefusedWhereTheyCannotWork(t *testing.T) {
	s := newScreen(t, 80, 24, func(o *Options) {
		o.Config.Method, o.Config.Generator.Kind, o.Config.Generator.Conditional = "sac", config.GeneratorNone, false
	})
	s.Update(started{lab: s.fake})
	s.typeLine("lesson guidance")
	s.contains(t, "not used by sac")
	if s.lessons.Lesson != nil {
		t.Error("it began")
	}
	s = running(t, 80, 24, 24_000)
	s.typeLine("lesson generations")
	s.contains(t, "this run has an agent")
	s.options.Config.Agent.Learner = config.LearnerNone
	s.typeLine("lesson dormant")
	s.contains(t, "this run has no agent")
	if s.lessons.Lesson != nil {
		t.Error("one of them began")
	}
}

// A value that a lesson sets in a dream may be there already: no generation comes then, and it goes on.
func TestALessonDoesNotWaitForAGenerationThatDoesNotCome(t *testing.T) {
	s := running(t, 80, 24, 24_000)
	s.options.Config.Agent.Learner = config.LearnerNone
	s.fake.values["guidance"] = knob.Number(1)
	s.fake.publish()
	s.Update(polled{})
	s.typeLine("lesson generations")
	for range 3 {
		s.press("enter")
	}
	if l := s.lessons.Lesson; l == nil || l.Step().Ask == "" || l.Part != lesson.Reading {
		t.Errorf("%+v", l)
	}
}

func (s *screen) values() map[string]knob.Value { return s.fake.Snapshot().Knobs }

// A way out that asks nothing asks what to do with the knobs that a lesson has set.
func TestALessonThatSetKnobsIsNotLeftSilently(t *testing.T) {
	for name, leave := range map[string]func(*screen){
		"ctrl+z": func(s *screen) { s.press("ctrl+z") },
		"detach": func(s *screen) { s.typeLine("detach") },
	} {
		s := running(t, 160, 45, 24_000)
		s.typeLine("lesson ratio")
		s.lessons.Lesson.Steps = []presets.Step{{Say: "r", Set: []string{"ratio=0.875"}, Wait: &presets.Wait{For: "evaluated"}}}
		s.lessons.Lesson.At = 0
		s.press("enter")
		if leave(s); s.quit {
			t.Errorf("%s leaves without a question", name)
		}
		s.contains(t, "put back")
		s.press("ctrl+z")
		if !s.quit {
			t.Errorf("%s, and ctrl+z at the question: the screen stays", name)
		}
	}
}

// A person who leaves the run training leaves it to train, from another terminal too: it does not stay held.
func TestALessonThatHoldsIsLeftTraining(t *testing.T) {
	for name, remote := range map[string]bool{"here": false, "elsewhere": true} {
		s := newScreen(t, 160, 45, func(o *Options) { o.About.Remote = remote })
		s.fake.advance(24_000)
		s.Update(started{lab: s.fake})
		s.typeLine("lesson ratio")
		s.lessons.Lesson.Steps = []presets.Step{{Say: "r", Hold: true, Set: []string{"ratio=0.875"}, Wait: &presets.Wait{For: "evaluated"}}}
		s.lessons.Lesson.At = 0
		s.press("enter")
		s.press("ctrl+z")
		if s.quit {
			t.Errorf("%s: no question", name)
		}
		s.press("d")
		sent := s.fake.commands
		if last, is := sent[len(sent)-1].(event.Resume); !s.quit || !is || last.Of != "lesson ratio" {
			t.Errorf("%s: left %v, the last command is %+v", name, s.quit, sent[len(sent)-1])
		}
	}
}

// A lesson that would wait for evaluations that never come, or for a change that is none, is not begun.
func TestLessonsThatWouldNotEnd(t *testing.T) {
	s := newScreen(t, 160, 45, func(o *Options) { o.Config.Evaluation.Every = 0 })
	s.fake.advance(24_000)
	s.Update(started{lab: s.fake})
	if s.typeLine("lesson noise"); s.lessons.Given() {
		t.Error("it waits for evaluations that never come")
	}
	s = running(t, 160, 45, 24_000)
	s.typeLine("F reward!")
	if s.typeLine("lesson reward"); s.lessons.Given() {
		t.Error("F is reward already")
	}
}
