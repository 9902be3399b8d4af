package tui

import (
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/presets"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/phase"
)

// While a run starts, the screen explains the loop of its method and nothing else, and what to do
// first, at the common sizes.
func TestStartingExplainsTheLoop(t *testing.T) {
	relabels := map[string]func(c *config.Config){
		"vae": func(c *config.Config) { c.Generator.Actions = generative.ActionsPolicy },
		"resample": func(c *config.Config) {
			c.Generator.Actions, c.Generator.Outcomes = generative.ActionsPolicy, generative.OutcomesSimulator
		},
	}
	for method, want := range map[string][]string{
		"pgr-td":       {"real", "F", "scores each row by td", "generator", "asked for a high F (ω)", "synthetic", "batch", "50% synthetic"},
		"synther":      {"real", "learns to make rows like these", "synthetic", "batch"},
		"pgr-resample": {"real", "scores each row by curiosity", "repeats real rows", "the rows it repeats", "batch"},
		"max":          {"real", "ensemble of a generated row", "learns what the task answers", "from real states", "that is evaluated: 50% synthetic"},
		"sac":          {"real", "nothing is generated"},
		"vae":          {"learns to make rows like these", "actions of the"},
		"resample":     {"repeats real rows", "actions of the", "what the task"},
	} {
		c, err := presets.Resolve(presets.Choice{Task: "cheetah-run", Method: method, Scale: "demo"})
		if err != nil {
			t.Fatal(err)
		}
		if change := relabels[method]; change != nil {
			change(&c)
		}
		for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}} {
			s := newScreen(t, size.w, size.h, func(o *Options) { o.Config = c })
			view := s.View()
			for _, text := range append(want, "STARTING", "compiling", "what every key does") {
				if !strings.Contains(view, text) {
					t.Errorf("%s at %d columns lacks %q:\n%s", method, size.w, text, view)
				}
			}
			for _, text := range []string{"scores each row", "learns to make rows"} {
				if strings.Contains(view, text) && !strings.Contains(strings.Join(want, " "), text) {
					t.Errorf("%s has no such part: %q", method, text)
				}
			}
		}
	}
}

// The cursor of the knobs begins on ω, if the run has a generator.
func TestKnobsBeginWithGuidance(t *testing.T) {
	for kind, want := range map[string]bool{"diffusion": true, config.GeneratorNone: false} {
		s := newScreen(t, 160, 45, func(o *Options) { o.Config.Generator.Kind = kind })
		s.knobs.Begin()
		if got := s.KnobList[s.knobs.Selected].Name; (got == "guidance") != want || s.KnobUse(s.KnobList[s.knobs.Selected]) != nil {
			t.Errorf("with generator %q the cursor begins on %s", kind, got)
		}
	}
	begun := New(Options{About: pane.About{Config: fakeConfig()}, Renderer: lipgloss.NewRenderer(io.Discard)})
	if got := begun.KnobList[begun.knobs.Selected].Name; got != "guidance" {
		t.Errorf("a new screen begins on %s", got)
	}
}

// While no env steps are made, the headline says what is done in place of a rate of 0.
func TestHeadlineOfAPhaseWithoutSteps(t *testing.T) {
	for _, c := range []struct {
		phase       knob.Phase
		state       event.State
		done, total int
		rate        float64
		want        string
	}{
		{knob.Fit, event.Running, 1337, 2500, 0, "fitting 53%"},
		{knob.Generate, event.Running, 1, 4, 0.01, "generating 25%"},
		{knob.Evaluate, event.Running, 3, 10, 0, "evaluating 30%"},
		{knob.Fit, event.Running, 1, 2, 98, "98 steps/s"},
		{knob.Fit, event.PausedState, 1, 2, 0, "0 steps/s"},
		{knob.Collect, event.Running, 0, 0, 0, "0 steps/s"},
		{knob.Score, event.Running, 7, 20, 0, "scoring 35%"},
	} {
		for _, w := range []int{160, 120} {
			s := running(t, w, 45, 24_000)
			snap := *s.Snap
			snap.Phase, snap.State, snap.PhaseDone, snap.PhaseTotal, snap.StepsPerSec = c.phase, c.state, c.done, c.total, c.rate
			s.Snap = &snap
			if line := s.headline.line(w); !strings.Contains(line, c.want) {
				t.Errorf("%v at %d columns: %q lacks %q", c, w, line, c.want)
			}
			if c.phase == knob.Score { // in whose first part the models of F learn
				snap.Warming = true
				if line := s.headline.line(w); !strings.Contains(line, "F learns 35%") {
					t.Errorf("while F learns: %q", line)
				}
				if strip := strings.Join(phase.New(s.Run).Body(58, 6), "\n"); !strings.Contains(strip, "F learns") {
					t.Errorf("the phases are %q", strip)
				}
			}
		}
	}
}
