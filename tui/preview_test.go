package tui

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/pane"
	"pgrlab/tui/steer"
)

// What a refit under way will use is not announced for the next one, and needs no question.
func TestStagedDuringARefit(t *testing.T) {
	for _, steps := range []int{2500, 24_000} {
		for _, c := range []struct {
			phase knob.Phase
			stage string
			want  string
		}{
			{knob.Fit, "guidance 3", "with the refit under way"}, {knob.Score, "generator_steps 2k", "with the refit under way"},
			{knob.Fit, "generator_steps 2k", "at the next refit"}, {knob.Score, "relevance td", "at the next refit"}, {knob.Generate, "guidance 3", ""},
		} {
			s := running(t, 160, 45, steps)
			s.fake.setPhase(c.phase, 100, 1000)
			s.Update(polled{})
			s.typeLine("stage " + c.stage)
			if got := s.steering.StagedEffect(); !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "under way") {
				t.Errorf("at step %d, phase %s, %s: %s", steps, c.phase, c.stage, got)
			}
			if s.press("enter"); c.want == "with the refit under way" && (s.dialog != nil || len(s.steering.Staged) > 0) {
				t.Errorf("at step %d, phase %s: asks about %s", steps, c.phase, c.stage)
			}
		}
	}
}

func TestPreviewIsAskedForAndShown(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.press("down", "right")
	if p, ok := s.lastCommand().(event.Preview); !ok || p.Knob != "guidance" || p.Value != "2.25" {
		t.Fatalf("sent %#v", s.lastCommand())
	}
	s.contains(t, "prev.", "128 rows", "outside 5% ")

	// A refit makes the answer old; the next one takes its place, at its own time.
	first := s.steering.Preview.Answer
	n := len(s.fake.commands)
	s.fake.emit(event.TypeRefit, event.Refit{})
	s.poll()
	if len(s.fake.commands) != n {
		t.Error("asked again at once")
	}
	s.clock = s.clock.Add(steer.PreviewEvery)
	s.poll()
	s.contains(t, "prev.") // the old one, or the new one
	s.poll()
	if s.steering.Preview.Answer == first || len(s.fake.commands) != n+1 {
		t.Errorf("after a refit the old answer stays: %d commands", len(s.fake.commands)-n)
	}
	s.clock = s.clock.Add(steer.PreviewEvery)
	s.poll()
	if len(s.fake.commands) != n+1 {
		t.Error("asked again without a reason")
	}
	for _, size := range [][2]int{{80, 24}, {120, 36}, {60, 15}, {40, 10}} {
		s.resize(size[0], size[1])
		if size[0] < 80 {
			s.GoTo(pane.Scores)
		}
		if !regexp.MustCompile(`(p|prev\.) +[▁▂▃▄▅▆▇█]`).MatchString(s.View()) {
			t.Errorf("%d by %d: no preview in\n%s", size[0], size[1], s.View())
		}
	}
	s.resize(160, 45)
	s.GoTo(pane.Knobs)
	s.press("esc")
	if strings.Contains(s.View(), "prev.") {
		t.Error("the preview of a dropped value is still shown")
	}
	s.press("down", "right")
	if strings.Contains(s.View(), "prev.") {
		t.Error("a batch knob has a preview")
	}
}

// A lab that is busy with something else is asked again until it answers.
func TestPreviewOfABusyLab(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.fake.busy = 2
	s.press("down", "right")
	for asked := 1; asked <= 3; asked++ {
		var sent []event.Preview
		for _, c := range s.fake.commands {
			if p, is := c.(event.Preview); is {
				sent = append(sent, p)
			}
		}
		if len(sent) != asked || sent[asked-1].Knob != "guidance" {
			t.Fatalf("asked %d times, want %d: %+v", len(sent), asked, sent)
		}
		if answered := s.steering.Preview.Answer != nil; answered != (asked == 3) {
			t.Errorf("asked %d times: answered %v", asked, answered)
		}
		s.clock = s.clock.Add(steer.PreviewEvery)
		s.poll()
		s.poll()
	}
	s.contains(t, "128 rows")
}

// Before the first fit the lab says why there is no preview, and when there will be one.
func TestPreviewBeforeTheFirstFit(t *testing.T) {
	s := running(t, 160, 45, 500)
	s.fake.refuses = "no generator is fitted before step 10,000"
	s.press("down", "right")
	s.contains(t, "no preview: no generator is fitted before step 10,000")
	s.fake.refuses = ""
	s.fake.emit(event.TypeRefit, event.Refit{})
	s.clock = s.clock.Add(steer.PreviewEvery)
	s.poll()
	s.poll()
	s.contains(t, "prev.", "128 rows")
}

// The answer for what is staged is shown to its end, whatever it takes from the histograms or from what
// the journal has of F.
func TestPreviewIsShownWhole(t *testing.T) {
	const end = "which takes about four minutes at once"
	for _, histograms := range []bool{true, false} {
		s := running(t, 160, 45, 24_000)
		s.press("down", "right")
		a := *s.steering.Preview.Answer
		a.Doses = []event.Dose{{Value: a.Value, Rows: 128, Median: 0.4, Q90: 0.6, Outside: 0.04, State: math.NaN(), Reward: math.NaN()}}
		a.Cost = "return is ready for all transitions of D_real; a switch at the next refit scores, fits and generates as usual, " + end
		if !histograms { // as with a function that has given no numbers yet
			s.History.F = nil
			a.Real, a.Synthetic, a.Preview, a.Doses = nil, nil, nil, nil
		}
		s.steering.Preview.Answer = &a
		body := s.pane(pane.Scores).Body(48, 7)
		if !strings.Contains(strings.Join(strings.Fields(strings.Join(body, " ")), " "), end) {
			t.Errorf("with histograms %v the text ends early:\n%s", histograms, strings.Join(body, "\n"))
		}
	}
}
