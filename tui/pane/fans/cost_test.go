package fans

import (
	"strings"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/pane"
	"pgrlab/tui/steer"
)

// Children take what units of the run have taken since it began, each on a core of its own: of a run
// with two threads that kept 1.5 processors busy, one and a half times as long. Before the first line
// perf the run's own estimate says it, and nothing says what one thread does.
func TestWhatForksTake(t *testing.T) {
	c := config.Config{Steps: 1000, Buffer: 1000, Members: 1, Knobs: knob.Settings{UTD: 1, RefitEvery: 50, GeneratorSteps: 10, Samples: 10}, Evaluation: config.Evaluation{Every: 50}}
	c.Generator.Kind = "diffusion"
	perf := event.Perf{StepS: 0.1, FitStepS: 0.1, SampleS: 0.1, Processor: 15, Spent: event.SpentOn{Agent: 8, Evaluate: 2}}
	for _, test := range []struct {
		name     string
		measured bool
		eta      time.Duration
		threads  int
		gpu      bool
		want     []string
	}{
		// 100 steps take 10 s, two evaluations 4 s, one refit 2 s; a start takes 2 s.
		{"two threads", true, 0, 2, false, []string{"6 and 6 take 1m18s", "about 1m44s"}}, // eight (twelve) × (16 × 1.5 + 2) s on two cores (four)
		{"a GPU", true, 0, 2, true, []string{"share this run's GPU", "about 2m24s"}},
		{"one thread, nothing measured", false, 90 * time.Second, 1, false, []string{"6 and 6 take 36s", "about 48s"}},
		{"two threads, nothing measured", false, 90 * time.Second, 2, false, []string{"about 48s", "more if one thread is slower"}},
		{"nothing known", false, 0, 1, false, []string{"They give way to this run. 4 with, 4 without"}},
	} {
		p := New(&steer.Steering{Run: &pane.Run{Snap: &event.Snapshot{Step: 100, Steps: 1000, State: event.Running, ETA: test.eta}, About: &pane.About{Config: c}}}, nil)
		p.About.Pace = func() pane.ForkPace {
			return pane.ForkPace{AtATime: 4, Beside: 2, Paused: 4, Threads: test.threads, Start: 2 * time.Second, OnGPU: test.gpu}
		}
		if test.measured {
			p.measured.Take(event.Event{Step: 40, Body: perf})
		}
		plan := pane.ForkPlan{Steps: 100, Every: 50}
		text := p.costOf(plan) + " " + p.choiceOf(plan, 4)
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q, want %q", test.name, text, want)
			}
		}
	}
}
