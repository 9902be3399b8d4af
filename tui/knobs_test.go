package tui

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/testing/racing"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
)

func TestStagingSendsNothing(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	n := s.fake.changes()
	s.press("down", "right", "right", "left")
	s.contains(t, "2 → 2.25*", "1 staged", "enter apply")
	s.press("left")
	if len(s.steering.Staged) != 0 {
		t.Errorf("the effective value is still staged: %v", s.steering.Staged)
	}
	s.press("right", "esc")
	if len(s.steering.Staged) != 0 || s.fake.changes() != n {
		t.Errorf("esc keeps %v staged; sent %v", s.steering.Staged, s.fake.commands)
	}
}

func TestBatchKnobIsATransaction(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.press("down", "down", "right", "enter")
	s.contains(t, "#1 r ratio 0.5 → 0.625", "applied 24,000")
	s.fake.advance(1)
	s.Update(polled{})
	s.contains(t, "in force 24,001", "r 0.5→0.625 ▲1")
	if c, ok := s.lastCommand().(event.SetKnob); !ok || c.Now || c.Value != "0.625" {
		t.Errorf("sent %#v", s.lastCommand())
	}
}

func TestPendingUntilTheLabAnswers(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.Lab = mute{s.fake}
	s.press("down", "down", "right", "enter")
	s.contains(t, "pending…")
	if !strings.Contains(s.View(), "0.5  ") {
		t.Error("the value on the screen is not the lab's")
	}
}

// mute accepts commands and never answers.
type mute struct{ *fakeLab }

func (mute) Send(event.Command) error { return nil }

func TestCheapGenerationIsMadeNow(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.press("down", "right", "enter")
	if c, ok := s.lastCommand().(event.SetKnob); !ok || !c.Now || c.Knob != "guidance" {
		t.Errorf("sent %#v, want guidance now", s.lastCommand())
	}
}

func TestDearRefitAsks(t *testing.T) {
	for key, want := range map[string]any{"enter": false, "!": true, "esc": nil} {
		s := running(t, 160, 45, 24_000)
		n := s.fake.changes()
		s.press("right", "enter")
		s.contains(t, "apply F curiosity → ", "now, about 41s", "at the next refit, in 6,000 steps")
		s.fake.advance(1_000) // the run goes on during the question
		s.Update(polled{})
		s.contains(t, "at the next refit, in 5,000 steps")
		if s.fake.changes() != n {
			t.Fatalf("sent before the answer: %v", s.fake.commands)
		}
		s.press(key)
		c, ok := s.lastCommand().(event.SetKnob)
		if ok != (want != nil) || ok && c.Now != want {
			t.Errorf("%s sent %#v", key, s.lastCommand())
		}
	}
}

func TestNothingToRedoBeforeTheFirstRefit(t *testing.T) {
	s := running(t, 160, 45, 3_000)
	s.press("down", "right")
	s.contains(t, "at the first refit, in 7,000 steps")
	s.press("enter")
	s.contains(t, "no effect before", "the first generation")
}

func TestRefusalSaysWhy(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	for s.KnobList[s.knobs.Selected].Name != "sampler_steps" {
		s.press("down")
	}
	s.press("e", "8", "0", "0", "enter", "enter")
	s.contains(t, "✗ sampler_steps: 800 does not fit")
	s.press("e", "5", "0", "0", "0", "enter")
	s.contains(t, "✗ sampler_steps: 5000 is out of range")
	s.press("esc") // the text stays to be corrected
	s.fake.sendErr = event.ErrBusy
	s.press("right", "enter")
	s.contains(t, "the lab is busy")
}

func TestUnusedKnobNamesTheMethods(t *testing.T) {
	s := newScreen(t, 160, 45, func(o *Options) { o.Config.Method, o.Config.Generator.Kind = "redq", config.GeneratorNone })
	s.Update(started{lab: s.fake})
	if err := s.KnobUse(s.KnobList[s.knobs.Selected]); err != nil {
		t.Errorf("the cursor begins on a knob that is not used: %v", err)
	}
	s.contains(t, "redq has no generator")
	unused := false // the knobs in use come first
	for s.press("up"); ; s.press("down") {
		is := s.KnobUse(s.KnobList[s.knobs.Selected]) != nil
		if unused && !is {
			t.Errorf("%s is used and stands after one that is not", s.KnobList[s.knobs.Selected].Name)
		}
		if unused = is; unused {
			break
		}
	}
	s.press("right")
	s.contains(t, "not used", "relevance: not used by redq: pgr-reward,")
	if len(s.steering.Staged) != 0 {
		t.Error("an unused knob was staged")
	}
}

func TestUndoIsANewChange(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.press("down", "down", "right", "enter", "right", "enter", "z")
	s.contains(t, "#3 r ratio 0.75 → 0.625", "(undoes #2)")
	s.press("z")
	s.contains(t, "#4 r ratio 0.625 → 0.5", "(undoes #1)")
	n := s.fake.changes()
	s.press("z")
	s.contains(t, "nothing to undo")
	if s.fake.changes() != n {
		t.Errorf("sent %v", s.fake.commands)
	}
}

// Taking a change back makes what depends on it again now if that is quick, also if the change itself only
// waited for a refit.
func TestUndoIsMadeNowIfThatIsQuick(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.fake.setPhase(knob.Fit, 10, 100)
	s.press("down", "right", "enter")
	if c, ok := s.lastCommand().(event.SetKnob); !ok || c.Knob != "guidance" || c.Now {
		t.Fatalf("sent %#v, want guidance for the generation under way", s.lastCommand())
	}
	s.fake.setPhase(knob.Collect, 0, 0)
	s.Update(polled{})
	s.press("z")
	if c, ok := s.lastCommand().(event.Undo); !ok || c.ID != 1 || !c.Now {
		t.Errorf("z sent %#v", s.lastCommand())
	}
	s.press("Z")
	if c, ok := s.lastCommand().(event.SetKnob); !ok || c.Value != "2.25" || !c.Now {
		t.Errorf("Z sent %#v", s.lastCommand())
	}
	s.typeLine("undo 1")
	if c, ok := s.lastCommand().(event.Undo); !ok || c.ID != 1 || !c.Now || s.values()["guidance"].Number != 2 {
		t.Errorf(":undo 1 sent %#v", s.lastCommand())
	}
	n := len(s.fake.commands)
	s.typeLine("undo 1")
	if s.contains(t, "undo: guidance is 2 already"); len(s.fake.commands) != n {
		t.Errorf("a change that is undone already: sent %#v", s.lastCommand())
	}
}

// What takes long is asked about, whether the last change is taken back or one that is named.
func TestUndoAsksIfThatTakesLong(t *testing.T) {
	for _, ask := range []string{"z", "undo 1"} {
		for key, now := range map[string]bool{"enter": false, "!": true} {
			s := running(t, 160, 45, 24_000)
			s.press("right", "enter", "enter")
			n := len(s.fake.commands)
			if ask == "z" {
				s.press("z")
			} else {
				s.typeLine(ask)
			}
			s.contains(t, "undo #1: F ", "now, about 41s")
			if len(s.fake.commands) != n {
				t.Fatalf("%s sent %#v before the answer", ask, s.lastCommand())
			}
			s.press(key)
			if c, ok := s.lastCommand().(event.Undo); !ok || c.ID != 1 || c.Now != now {
				t.Errorf("%s, %s: sent %#v", ask, key, s.lastCommand())
			}
		}
	}
}

func TestChangesOfOthersAreShown(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.fake.set("utd", "10", "", false, 0)
	s.fake.publish()
	s.Update(polled{})
	s.contains(t, "#1 UTD 20 → 10")
}

// The panel shows the numbers of rows that the lab draws, for any r, batch and hold.
func TestMixIsThatOfTheLab(t *testing.T) {
	racing.Skip(t)
	s := running(t, 160, 45, 24_000)
	c := &s.options.Config
	ratio, err := s.FindKnob("ratio")
	if err != nil {
		t.Fatal(err)
	}
	s.knobs.Selected = slices.IndexFunc(s.KnobList, func(k knob.Knob) bool { return k.Name == ratio.Name })
	said := func() string { // the line about the batch
		for _, l := range s.knobs.Body(200, 60) {
			if l = ansi.Strip(l); strings.Contains(l, " batch ") && strings.Contains(l, " synthetic") {
				return strings.TrimSpace(l)
			}
		}
		return ""
	}
	random := rand.New(rand.NewPCG(3, 5))
	for range 2000 {
		settings := c.Knobs
		settings.Batch, settings.Hold = 2+random.IntN(2048), []string{knob.HoldBatch, knob.HoldReal}[random.IntN(2)]
		settings.Ratio = []float64{random.Float64(), float64(random.IntN(17)) / 16}[random.IntN(2)]
		s.Snap.Knobs = settings.Values()
		want := ""
		if mix := c.Mix(&settings, math.MaxInt); settings.Hold == knob.HoldBatch || settings.Ratio < 1 {
			want = fmt.Sprintf("batch %s = %s real + %s synthetic", format.Count(mix.Size()), format.Count(mix.Real), format.Count(mix.Synthetic))
		}
		if got := said(); !strings.HasSuffix(got, want) || (want == "") != (got == "") {
			t.Fatalf("batch %d, r %v, hold %s: the panel says %q, the lab draws %q", settings.Batch, settings.Ratio, settings.Hold, got, want)
		}
	}
	for text, want := range map[string][3]any{
		"128 real + 43 synthetic": {256, 0.25, knob.HoldReal}, "128 real + 77 synthetic": {256, 0.375, knob.HoldReal}, "128 real + 896 synthetic": {256, 0.875, knob.HoldReal},
		"192 real + 64 synthetic": {256, 0.25, knob.HoldBatch},
	} {
		settings := c.Knobs
		settings.Batch, settings.Ratio, settings.Hold = want[0].(int), want[1].(float64), want[2].(string)
		s.Snap.Knobs = settings.Values()
		if got := said(); !strings.Contains(got, text) {
			t.Errorf("%v: %q, want %q", want, got, text)
		}
	}
}

// Knobs that the method does not use have one row together, until the cursor is on one of them.
func TestKnobsWithoutUseAreFolded(t *testing.T) {
	s := running(t, 160, 45, 1000)
	used := s.UsedKnobs()
	fold := fmt.Sprintf("%d more, which pgr-curiosity does not use", len(s.KnobList)-used)
	last := s.KnobList[len(s.KnobList)-1].Name
	for range used - 1 {
		s.press("down")
	}
	s.contains(t, s.KnobList[s.knobs.Selected].Name, fold)
	if view := ansi.Strip(s.View()); strings.Contains(view, "not used") || strings.Contains(view, last) {
		t.Errorf("a knob without use has a row:\n%s", view)
	}
	s.press("down")
	s.contains(t, "not used", last)
	if strings.Contains(ansi.Strip(s.View()), fold) {
		t.Errorf("with the cursor on the first one the others are still folded")
	}
	s.press("up")
	s.contains(t, fold)
}

// Beside few knobs the picture of the agent is large.
func TestFewKnobsLeaveRoomForThePicture(t *testing.T) {
	height := func(knobs int, scores pane.ID) int {
		for _, p := range divide(division{w: 160, h: 45, focus: pane.Knobs, knobs: knobs, chart: pane.Chart1, panel: pane.Scores, scores: scores}).places {
			if p.id == scores {
				return p.h
			}
		}
		return 0
	}
	if few, many := height(3, pane.Agent), height(20, pane.Agent); few != 24 || many >= few {
		t.Errorf("the agent has %d rows beside three knobs and %d beside twenty", few, many)
	}
	if height(3, pane.Scores) != height(20, pane.Scores) {
		t.Error("the distributions of F depend on the number of knobs")
	}
}
