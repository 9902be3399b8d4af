package tui

import (
	"strings"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/sentence"
)

// looped is a screen in the layout present, in a phase of which 40 of 100 units are done.
func looped(t *testing.T, w, h int, p knob.Phase, change func(*Options)) *screen {
	t.Helper()
	s := newScreen(t, w, h, change)
	s.fake.advance(24_000)
	s.Update(started{lab: s.fake})
	s.fake.setPhase(p, 40, 100)
	s.Update(polled{})
	s.press("L", "L")
	return s
}

// The words and the part of the loop that is at work change with the phase, and so does what flows.
func TestTheLoopChangesWithThePhase(t *testing.T) {
	for p, want := range map[knob.Phase][]string{
		knob.Collect:  {"▸ real rows", "▸ batch", "of the 256 rows of a batch it lived through 128, and a generator dreamt 128"},
		knob.Score:    {"▸ F curiosity", "40%", "asks how much it surprises a model that predicts what follows", "among the highest 25%"},
		knob.Fit:      {"▸ generator", "40%", "rows are buried in noise", "The agent waits"},
		knob.Generate: {"▸ synthetic rows", "40%", "100,000 rows that never happened, each drawn with strength ω = 2 towards a high F"},
		knob.Evaluate: {"The agent is examined: 10 episodes without learning"},
		knob.Analyse:  {"looks at itself"},
		knob.Model:    {"▸ F curiosity", "F learns"},
		knob.Learn:    {"▸ batch", "many small updates"},
	} {
		s := looped(t, 160, 45, p, nil)
		s.contains(t, append(want, "24,000 lived through", "100,000 dreamt", "its return is 425 ± 22")...)
	}
	repeated := looped(t, 160, 45, knob.Collect, func(o *Options) { o.Config.Generator.Kind, o.Config.Generator.Outcomes = "resample", "simulator" })
	repeated.contains(t, "and 128 are real rows once more, and with what the task itself answers", "128 copied")
	narrow := looped(t, 80, 24, knob.Fit, nil)
	narrow.contains(t, "● GENERATOR", "40%", "rows are buried in noise")
}

// What flows goes on with the run's own work and stands still with it.
func TestTheLoopMovesWithTheRun(t *testing.T) {
	s := looped(t, 160, 45, knob.Collect, nil)
	line := func() string {
		for _, l := range strings.Split(s.View(), "\n") {
			if strings.Contains(l, "the agent learns, acts") {
				return l
			}
		}
		t.Fatal("no line of the agent")
		return ""
	}
	before := line()
	s.clock = s.clock.Add(time.Second)
	s.Update(polled{})
	if line() != before {
		t.Error("it moves although the run does not")
	}
	s.fake.advance(1)
	s.Update(polled{})
	if line() == before || strings.Count(line(), "●") != 2 {
		t.Errorf("after a step it shows\n%s", line())
	}
}

// The newest transition and its twin are requested while the loop is seen, and stand in it.
func TestTheLoopHasARowAndItsTwin(t *testing.T) {
	s := looped(t, 160, 45, knob.Collect, nil)
	s.clock = s.clock.Add(time.Second)
	s.Update(polled{})
	s.fake.advance(1)
	s.Update(polled{})
	s.contains(t, "asks for the top 25%", "newest r 0.810", "newest 0.370", "its twin r 0.790", "F 0.420")
	asked := func() (n int) {
		for _, c := range s.fake.commands {
			if _, is := c.(event.Watch); is {
				n++
			}
		}
		return n
	}
	s.press("L")
	before := asked()
	for range 20 {
		s.clock = s.clock.Add(time.Second)
		s.fake.advance(1)
		s.Update(polled{})
	}
	if asked() != before {
		t.Error("a row is requested unseen")
	}
}

// Each method has the parts that it has, in both forms.
func TestLoopsOfMethods(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		parts  string
		title  string
	}{
		"pgr":     {nil, "real F generator synthetic batch", "Prioritized generative replay (PGR)"},
		"synther": {func(o *Options) { o.Config.Knobs.Relevance, o.Config.Generator.Conditional = "none", false }, "real generator synthetic batch", "Generative replay"},
		"sac":     {func(o *Options) { o.Config.Generator.Kind, o.Config.Method = config.GeneratorNone, "sac" }, "real batch", "THE LOOP of sac"},
		"max": {func(o *Options) {
			o.Config.Agent.Learner, o.Config.Generator.Kind, o.Config.Method = "max", "ensemble", config.MethodMAX
		}, "real F generator synthetic batch", "(MAX)"},
	} {
		for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {200, 60}} {
			s := looped(t, size.w, size.h, knob.Collect, c.change)
			var parts []string
			for _, p := range s.sentence.Parts() {
				parts = append(parts, p.Name)
			}
			if got := strings.Join(parts, " "); got != c.parts {
				t.Errorf("%s: %s", name, got)
			}
			s.contains(t, "THE LOOP")
			if size.w > 80 {
				s.contains(t, c.title, "real", "batch")
			}
			for _, l := range s.pane(pane.Sentence).(*sentence.Pane).Body(size.w-4, 9) {
				if strings.Contains(l, "%!") {
					t.Errorf("%s: %q", name, l)
				}
			}
		}
	}
}
