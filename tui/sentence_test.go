package tui

import (
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/tui/pane"
)

// The words for an audience name F, the generated rows and PGR as far as the run has them, keep
// the ±, and say of a fall whether it is noise.
func TestSentenceSpeaksOfTheSubject(t *testing.T) {
	sentenceOf := func(change func(*Options), returns ...float64) string {
		s := newScreen(t, 160, 45, change)
		s.fake.advance(500)
		for i, y := range returns {
			s.fake.step = 1000 * (i + 1)
			s.fake.emit(event.TypeEvaluated, event.Evaluated{ReturnMean: run.Float(y), ReturnStd: 23, Episodes: 10})
		}
		s.fake.publish()
		s.Update(started{lab: s.fake})
		return s.sentence.Text()
	}
	steady := []float64{300, 310, 295, 305, 300, 308, 297, 303}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"begin": {sentenceOf(nil), []string{"not been evaluated", "PGR", "F (curiosity)", "nothing is generated yet"}},
		"few":   {sentenceOf(nil, 102, 41.5), []string{"41.5 ± 23.0 over 10 episodes, down from 102 at 1,000", "whether that is noise is unknown before 6 evaluations"}},
		"noise": {sentenceOf(nil, append(steady[:8:8], 299)...), []string{"299 ± 23", "down from 303 at 8,000: within this run's noise"}},
		"fall":  {sentenceOf(nil, append(steady[:8:8], 60)...), []string{"a fall that this run's noise does not explain"}},
		"rise":  {sentenceOf(nil, append(steady[:8:8], 500)...), []string{"up from 303", "more than this run's noise explains"}},
		"no F":  {sentenceOf(func(o *Options) { o.Config.Generator.Conditional = false }), []string{"Generative replay: nothing is generated yet"}},
		"max": {sentenceOf(func(o *Options) {
			o.Config.Agent.Learner, o.Config.Generator.Kind, o.Config.Method = "max", "ensemble", config.MethodMAX
		}), []string{"an exploiter that is evaluated (MAX): the explorer learns F (curiosity) of generated rows, nothing is generated yet"}},
		"real rows": {sentenceOf(func(o *Options) { o.Config.Generator.Kind, o.Config.Method = config.GeneratorNone, "sac" }), []string{"sac learns from real rows only"}},
	} {
		for _, text := range c.want {
			if !strings.Contains(c.text, text) {
				t.Errorf("%s: %q lacks %q", name, c.text, text)
			}
		}
	}
	s := running(t, 160, 45, 24_000)
	if text := s.sentence.Text(); !strings.Contains(text, "the generator made 100,000 rows of high F, and they are 50% of what the agent learns from") {
		t.Error(text)
	}
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}} {
		s := running(t, size.w, size.h, 24_000)
		s.press("L", "L")
		s.contains(t, "THE LOOP of Prioritized generative replay (PGR)", "100,000", "a generator dreamt 128", "this run's noise")
	}
}

// During the first refit neither the words nor the generator's pane say that it is still to come.
func TestTheFirstRefitIsSaid(t *testing.T) {
	for phase, want := range map[knob.Phase][2]string{
		knob.Score:    {"the real rows are being scored for the first time", "no generator fitted yet"},
		knob.Fit:      {"the generator is being fitted for the first time", "no generator fitted yet"},
		knob.Generate: {"the first rows are being generated", "fitted once; its first rows are being made"},
		knob.Collect:  {"the generator is fitted in 9,500 steps", "no generator fitted yet"},
	} {
		s := newScreen(t, 100, 30, nil)
		s.fake.advance(500)
		s.Update(started{lab: s.fake})
		s.fake.setPhase(phase, 30, 100)
		s.Update(polled{})
		text := s.sentence.Text()
		if !strings.Contains(text, "nothing is generated yet, "+want[0]) {
			t.Errorf("%v: %q lacks %q", phase, text, want[0])
		}
		if body := strings.Join(s.pane(pane.Generator).Body(60, 10), "\n"); !strings.Contains(body, want[1]) {
			t.Errorf("%v: %q lacks %q", phase, body, want[1])
		}
	}
}
