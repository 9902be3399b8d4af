package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/testing/racing"
	"pgrlab/tui/chart"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/charts"
	"pgrlab/tui/pane/runs"
	"pgrlab/tui/theme"
)

// another is the journal of a run that was scripted with another ratio.
func another(ratio string, steps int) []event.Event {
	f := newFake()
	f.set("ratio", ratio, "", false, 0)
	f.advance(steps)
	return f.events
}

// comparing is a screen with two runs beside its own, whose names begin alike.
func comparing(t *testing.T, w, h int) *screen {
	s := running(t, w, h, 24_000)
	for i, steps := range []int{24_000, 15_000} {
		name := fmt.Sprintf("20261122-160501-cheetah-run-pgr-curiosity-s3-fork-24000-%d", i+1)
		clock := pane.ClockOf(&s.About.Config)
		s.Update(runs.Loaded{Name: name, Events: another([]string{"0.125", "0"}[i], steps), Clock: &clock})
	}
	return s
}

func TestGoldenComparison(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 20}} {
		s := comparing(t, size.w, size.h)
		text := s.View()
		s.GoTo(pane.Runs)
		golden(t, fmt.Sprintf("compare-%dx%d", size.w, size.h), text+"\n"+s.View())
		s.GoTo(pane.Chart1)
		s.press("b")
		golden(t, fmt.Sprintf("braille-%dx%d", size.w, size.h), s.View())
	}
}

// A stroke and a colour belong to one run in all charts and in the list of runs; the strokes and
// colours of a quantity's further lines belong to no run.
func TestLooksHaveOneMeaning(t *testing.T) {
	s := comparing(t, 160, 45)
	meaning := map[int]string{}
	for _, q := range charts.Quantities {
		labels := map[string]bool{}
		for _, series := range s.charts.Series(q) {
			means := "a further line"
			if series.Label != "" {
				means = "run " + series.Label
				labels[series.Label] = true
			}
			if was := meaning[series.Look]; was != "" && was != means {
				t.Errorf("%s: look %d is %s, and elsewhere %s", q.ID, series.Look, means, was)
			}
			meaning[series.Look] = means
		}
		// Speed is missing in the other journals, and no run here has an ensemble, an explorer or a model of the world.
		missing := []string{"speed", "model", "explorer", "foresight"}
		if len(labels) != 3 && !slices.Contains(missing, q.ID) {
			t.Errorf("%s: runs %v are named, want A, B and C", q.ID, labels)
		}
	}
	m, _ := coloured()
	for name, glyphs := range map[string]chart.Glyphs{"lines": chart.Unicode(), "braille": chart.Unicode().Braille(), "console": chart.Console(), "ascii": chart.ASCII()} {
		inks, strokes := map[theme.Ink]int{}, map[string]int{}
		for look := range meaning {
			i, stroke := m.Theme.Series[look-1], glyphs.Sample(look-1, chart.Line)
			if inks[i] > 0 || strokes[stroke] > 0 {
				t.Errorf("%s: looks %d and %d share a colour or a stroke", name, look, max(inks[i], strokes[stroke]))
			}
			inks[i], strokes[stroke] = look, look
		}
	}
}

// The list distinguishes the same runs as the charts do, even where it is narrow.
func TestComparedRunsAreNamed(t *testing.T) {
	for _, size := range [][2]int{{220, 60}, {160, 45}, {80, 24}, {60, 20}, {40, 10}} {
		s := comparing(t, size[0], size[1])
		s.GoTo(pane.Runs)
		s.contains(t, "A x", "000-1", "000-2", "B 202", "C 202")
		s.GoTo(pane.Chart1)
		rows := strings.Join(s.charts.ChartBody(pane.Chart1, size[0]-4, size[1]-5), "\n")
		for _, label := range []string{"A", "B", "C"} {
			if !strings.Contains(rows, label) {
				t.Errorf("%v: no %s at the end of a line:\n%s", size, label, rows)
			}
		}
	}
}

// A smoothed chart says so in its title, at any width, with and without the paper's value, and
// shows the measurements as dots. No chart is smoothed at the start.
func TestSmoothingIsSaid(t *testing.T) {
	racing.Skip(t)
	for _, s := range []*screen{running(t, 160, 45, 30_000), comparing(t, 160, 45)} {
		for _, q := range charts.Quantities {
			s.charts.Quantity[pane.Chart1], _ = charts.QuantityIndex(q.ID)
			for s.charts.Smooth = range charts.SmoothSteps {
				for _, series := range s.charts.Series(q) {
					if (len(series.Smooth) > 0) != (s.charts.Smooth > 0) && len(series.Points) > 1 {
						t.Errorf("%s: smoothing %g gives %d smoothed points", q.ID, charts.SmoothSteps[s.charts.Smooth], len(series.Smooth))
					}
					if s.charts.Smooth > 0 && series.Draw != chart.LineAndDots {
						t.Errorf("%s, smoothed, has no dots", q.ID)
					}
				}
				for w := 40; w < 200; w++ {
					title, _ := s.titleOf(pane.Chart1, w)
					if said := strings.Contains(title, fmt.Sprintf("smoothed %g", charts.SmoothSteps[s.charts.Smooth])); said != (s.charts.Smooth > 0) {
						t.Errorf("%s, smoothing %g, %d columns: the title is %q", q.ID, charts.SmoothSteps[s.charts.Smooth], w, title)
					}
				}
			}
		}
	}
	for v := range viewCount {
		s := running(t, 160, 45, 30_000)
		s.setView(v)
		if s.charts.Smooth != 0 {
			t.Errorf("layout %s starts with smoothing", v)
		}
	}
}

// The values of another F have another unit, so the curve over time begins again.
func TestMediansRestartWithF(t *testing.T) {
	s := running(t, 160, 45, 0)
	score := func(step int, f string, median float64) {
		s.fake.step = step
		s.fake.emit(event.TypeScores, event.Scores{Relevance: f, Quantiles: []run.Float{run.Float(median / 2), run.Float(median), run.Float(median * 2)}})
	}
	score(1000, "curiosity", 3)
	score(2000, "curiosity", 4)
	score(3000, "td", 0.001)
	score(4000, "td", 0.002)
	s.Update(polled{})
	if got := s.History.Curve(history.CurveF50, 0).From(s.History.ScoredFrom); fmt.Sprint(got) != "[0.001 0.002]" {
		t.Errorf("medians by td: %v", got)
	}
	gaps := 0
	for _, p := range s.History.Curve(history.CurveF50, 0).Points(s.charts.Place(&s.History)) {
		if p.Y != p.Y {
			gaps++
		}
	}
	if gaps != 1 {
		t.Errorf("%d gaps in the curve of F, want one where F changed", gaps)
	}
}
