package lab

import (
	"context"
	"strings"
	"testing"

	"pgrlab/core/event"
)

// Analyses on demand are answered wherever the run is, and do not change it.
func TestAnalysesOnDemandChangeNothing(t *testing.T) {
	c := newWorld().config()
	c.Evaluation.AnalysedRows, c.Evaluation.AnalyseEvery = 8, 45
	_, plain := play(t, newWorld(), c)
	for _, at := range []string{"update", "fit to 4", "generate 2", "evaluation step", "act", "score curiosity 20"} {
		w, folder := newWorld(), &memoryFolder{}
		l := w.lab(t, c, folder)
		calls := 0
		w.on(at, func() {
			if calls++; calls%37 == 1 {
				if err := l.Send(event.AnalyseNow{By: "me"}); err != nil {
					t.Error(err)
				}
			}
		})
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got, want := folder.canonical(t), plain.canonical(t); got != want {
			t.Fatalf("asked at %q the run writes\n%s\nwithout\n%s", at, got, want)
		}
		examined, _ := bodies[*event.Examined](l)
		answers := 0
		for _, e := range examined {
			if e.Obs == nil {
				continue
			}
			answers++
			if !e.Obs.OnDemand || e.Obs.By != "me" || !(e.Obs.Seconds > 0) || e.Relevance != "curiosity" || e.Real == nil {
				t.Errorf("%q: %+v, %+v", at, e, e.Obs)
			}
			if at == "generate 2" && e.Generated != nil && e.Generated.Asked != nil {
				t.Error("the prompts of the generation under way are not those of D_syn")
			}
		}
		if want := (calls + 36) / 37; answers != want || want == 0 || strings.Count(folder.journal.String(), `"on_demand":true`) != answers {
			t.Errorf("%q: %d answers to %d questions", at, answers, want)
		}
	}
}

// A paused run is analysed and stays paused. A second request is refused while the first is under
// way, and so is a request before there is anything to analyse.
func TestAnalysesOfAPausedRun(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Steps = 61
	l := w.lab(t, c, nil)
	ask := func(step string, commands ...event.Command) {
		w.on(step, func() {
			for _, c := range commands {
				if err := l.Send(c); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if err := l.Send(event.AnalyseNow{By: "hasty"}); err != nil {
		t.Fatal(err)
	}
	ask("start fit 1 of 40 rows, 40 scores, lr 0.0003", event.Pause{}, event.AnalyseNow{By: "first"}, event.AnalyseNow{By: "second"},
		event.Preview{ID: "p", Knob: "guidance", Value: "3"})
	w.on("sketch 0, guidance 0", func() {
		if s := l.Snapshot(); s.Step == 40 && s.State != event.PausedState {
			t.Error("the analysis let the run go on")
		}
		l.Send(event.Resume{})
	})
	ask("start generate 2, guidance 2", event.AnalyseNow{By: "third"})
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	refused, _ := bodies[event.Refused](l)
	if len(refused) != 2 || refused[0].By != "hasty" || !strings.Contains(refused[0].Reason, "want at least 3") ||
		refused[1].By != "second" || !strings.Contains(refused[1].Reason, "under way") || refused[1].Knob != "analyse" {
		t.Errorf("%+v", refused)
	}
	if answers, _ := bodies[event.Previewed](l); len(answers) != 1 || answers[0].Err != errAnalysing.Error() || !answers[0].Busy {
		t.Errorf("%+v", answers)
	}
	if examined, steps := bodies[*event.Examined](l); len(examined) != 2 || steps[0] != 40 || steps[1] != 60 || examined[1].Projection == nil {
		t.Errorf("examined at %v", steps)
	}
}
