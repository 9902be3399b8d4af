package tui

import (
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/tui/lesson"
	"pgrlab/tui/pane"
)

// lateLab answers changes of knobs when a test lets it.
type lateLab struct {
	*fakeLab
	held []event.SetKnob
}

func (l *lateLab) Send(c event.Command) error {
	if c, is := c.(event.SetKnob); is {
		l.held = append(l.held, c)
		return nil
	}
	return l.fakeLab.Send(c)
}

// answer makes the changes that were asked for, or refuses them.
func (l *lateLab) answer(refusal string) {
	for _, c := range l.held {
		if refusal != "" {
			l.emit(event.TypeRefused, event.Refused{Ref: c.ID, Knob: c.Knob, Value: c.Value, Reason: refusal})
		} else {
			l.fakeLab.Send(c)
		}
	}
	l.held = nil
}

// goTo goes on to a part of a step of the lesson.
func (s *screen) goTo(t *testing.T, at int, part lesson.LessonPart) {
	t.Helper()
	for range 100 {
		if l := s.lessons.Lesson; l == nil || l.At == at && l.Part == part {
			return
		}
		s.goOn()
	}
	t.Fatalf("step %d, part %d", s.lessons.At+1, s.lessons.Part)
}

func with(t *testing.T, lab func(*fakeLab) pane.Lab, change func(*Options)) *screen {
	t.Helper()
	s := newScreen(t, 160, 45, change)
	s.fake.advance(24_000)
	s.Update(started{lab: lab(s.fake)})
	return s
}

// A step that was refused, at once or later, is not judged: enter tries it again.
func TestARefusedStepIsTriedAgain(t *testing.T) {
	var late *lateLab
	s := with(t, func(f *fakeLab) pane.Lab { late = &lateLab{fakeLab: f}; return late }, nil)
	s.typeLine("lesson ratio")
	s.goTo(t, 2, lesson.Reading)
	s.press("enter")
	s.fake.advance(5000)
	late.answer("no room for a batch")
	s.Update(polled{})
	s.contains(t, "✗ no room for a batch", "step 3 of 6", "set hold=batch, ratio=0.875")
	s.press("enter")
	s.contains(t, "0 of 5 evaluations")
	late.answer("")
	s.Update(polled{})
	if got := s.values()["ratio"]; s.lessons.Part != lesson.Awaiting || got.Number != 0.875 || strings.Contains(s.View(), "✗") {
		t.Errorf("part %d, ratio %v\n%s", s.lessons.Part, got, s.View())
	}

	s = running(t, 160, 45, 24_000)
	s.typeLine("lesson ratio")
	s.goTo(t, 2, lesson.Reading)
	s.fake.sendErr = event.ErrBusy
	s.press("enter")
	s.contains(t, "✗ the lab is busy", "step 3 of 6")
	s.press("esc")
	if s.lessons.Given() || s.dialog != nil {
		t.Error("it asks about knobs that it could not set")
	}
}

// What a lesson has asked for is put back even if it is not made yet.
func TestAChangeUnderWayIsPutBack(t *testing.T) {
	var late *lateLab
	s := with(t, func(f *fakeLab) pane.Lab { late = &lateLab{fakeLab: f}; return late }, nil)
	s.typeLine("lesson dormant")
	s.goTo(t, 2, lesson.Awaiting)
	s.press("esc")
	s.contains(t, "put back λπ lr_actor → 3e-4")
	s.press("enter")
	if len(late.held) != 2 {
		t.Fatalf("sent %+v", late.held)
	}
	late.answer("")
	if got := s.values()["lr_actor"]; s.lessons.Given() || got.Number != 3e-4 {
		t.Errorf("lr_actor is %v", got)
	}
}

// A run that ends before the last step of a lesson keeps its knobs, and the lesson ends like any other.
func TestALessonEndsAfterItsRun(t *testing.T) {
	s := running(t, 80, 24, 24_000)
	s.typeLine("lesson dormant")
	for l := s.lessons.Lesson; l.At+1 < len(l.Steps); {
		s.goOn()
	}
	s.fake.state = event.Finished
	s.fake.publish()
	s.Update(polled{})
	if view := s.View(); strings.Contains(view, "put the knobs back") {
		t.Errorf("a run that has ended is offered other knobs:\n%s", view)
	}
	for range 3 {
		if s.lessons.Given() {
			s.press("enter")
		}
	}
	if s.lessons.Given() || strings.Contains(s.message, "the run has ended") {
		t.Errorf("the lesson stays: %q\n%s", s.message, s.View())
	}
}

func TestOneLessonAtATime(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.typeLine("lesson dormant")
	s.goTo(t, 2, lesson.Awaiting)
	s.typeLine("lesson guidance")
	s.contains(t, "lesson dormant is under way: leave it first, with esc")
	s.press("esc", "enter")
	if got := s.values()["lr_actor"]; s.lessons.Given() || got.Number != 3e-4 {
		t.Errorf("lr_actor is %v", got)
	}
}

// blindLab previews without an F of the samples, as where F looks at frames or episodes.
type blindLab struct{ *fakeLab }

func (b blindLab) Send(c event.Command) error {
	if p, is := c.(event.Preview); is {
		b.emit(event.TypePreviewed, event.Previewed{ID: p.ID, Knob: p.Knob, Value: p.Value, Relevance: "eco", Real: fakeHistogram(0.2, 0.1), Doses: []event.Dose{{Value: p.Value, Rows: 128, Outside: 0.1}}})
		return nil
	}
	return b.fakeLab.Send(c)
}

// A preview that has no median ends the wait for it, and the lesson says why.
func TestALessonWithoutAMedian(t *testing.T) {
	s := with(t, func(f *fakeLab) pane.Lab { return blindLab{f} }, nil)
	s.typeLine("lesson guidance")
	s.goTo(t, 4, lesson.Revealed)
	s.contains(t, "✗ F = eco cannot score the rows of the preview", "The median F went from - to -")
	s.press("enter")
	s.contains(t, "is 0.100 at ω = 0 and 0.100 at ω = 4")

	s = running(t, 160, 45, 24_000)
	s.fake.refuses = "the generator is away"
	s.typeLine("lesson guidance")
	s.goTo(t, 3, lesson.Reading)
	s.contains(t, "✗ no preview: the generator is away", "What will the median F")
}

// driven is a viewer that watches while another one drives.
type driven struct{ by string }

func (v *driven) Driver() string { return v.by }
func (v *driven) MayDrive() bool { return true }
func (v *driven) Take()          { v.by = "" }

// looking is a viewer that never drives.
type looking struct{ driven }

func (v *looking) MayDrive() bool { return false }

// A screen that may only look offers nothing else, and refuses before it asks.
func TestAScreenThatMayOnlyLook(t *testing.T) {
	s := with(t, func(f *fakeLab) pane.Lab { return f }, func(o *Options) { o.Viewer = &looking{driven{"ana"}} })
	s.contains(t, "q     leave; the run goes on")
	for _, keys := range [][]string{{"down", "right"}, {"n"}, {"f"}, {"F"}, {"z"}, {"T"}, {"e"}} {
		s.press(keys...)
		s.contains(t, "this screen may look, not change anything")
		if s.dialog != nil || s.entry != nil || len(s.steering.Staged) > 0 {
			t.Errorf("%v asks: %v, %v, staged %v", keys, s.dialog, s.entry, s.steering.Staged)
		}
		s.press("esc")
	}
	for _, line := range []string{"F td", "stage guidance 3", "lesson guidance"} {
		s.typeLine(line)
		s.contains(t, "this screen may look, not change anything")
		if s.dialog != nil || len(s.steering.Staged) > 0 || s.lessons.Given() {
			t.Errorf("%s asks: %v, staged %v", line, s.dialog, s.steering.Staged)
		}
	}
	s.press("?")
	if view := s.View(); strings.Contains(view, "to change ω") || !strings.Contains(strings.Join(s.help.Lines(200), "\n"), "to get out: press q; a run goes on") {
		t.Error(view)
	}
}

// A screen that does not drive asks for no previews, and says so until it drives.
func TestPreviewOfAWatchingScreen(t *testing.T) {
	s := with(t, func(f *fakeLab) pane.Lab { return f }, func(o *Options) { o.Viewer = &driven{"ana"} })
	s.typeLine("lesson guidance")
	s.goTo(t, 2, lesson.Reading)
	s.press("enter")
	s.contains(t, "no preview: ana drives: D takes over")
	if n := len(s.fake.commands); n > 0 {
		t.Errorf("sent %+v", s.fake.commands)
	}
	s.press("D")
	s.Update(polled{})
	s.contains(t, "step 4 of 7")
}

// A value that the run has already cannot be staged: the lesson says so and goes on once it is
// another one.
func TestALessonStagesAValueThatTheRunHas(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.typeLine("set guidance 0")
	s.fake.advance(5000)
	s.Update(polled{})
	s.typeLine("lesson guidance")
	s.goTo(t, 2, lesson.Reading)
	s.press("enter")
	s.contains(t, "✗ the run has ω guidance = 0 already: give it another value first, with :set guidance VALUE", "step 3 of ")
	s.typeLine("set guidance 1")
	s.fake.advance(5000)
	s.Update(polled{})
	s.press("enter")
	if v, staged := s.steering.Staged["guidance"]; s.lessons.At != 3 || !staged || v.Number != 0 {
		t.Errorf("step %d, part %d, staged %v\n%s", s.lessons.At+1, s.lessons.Part, v, s.View())
	}
}
