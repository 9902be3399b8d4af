package cost_test

import (
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// The newest lines count, means of evaluations and of scored rows are over all lines of the run itself,
// and a knob that changes what a unit takes makes a run unlike its configuration.
func TestUnitsOfAJournal(t *testing.T) {
	c := config.Config{Steps: 100, Buffer: 1000, Knobs: knob.Settings{RefitEvery: 10}}
	c.Generator.Kind = "diffusion"
	perf := func(step int) event.Event {
		p := event.Perf{StepS: 1, SampleS: 2, Device: "cpu go, 2 threads"}
		p.Spent.Evaluate = 4
		p.Spent.Score, p.Spent.Agent, p.Processor = 6, 10, 30
		return event.Event{Step: step, Body: p}
	}
	read := func(events ...event.Event) (j cost.Journal) {
		for _, e := range events {
			j.Take(e)
		}
		return j
	}
	start := event.Event{Body: event.Start{Obs: event.StartObs{Host: "here"}}}
	changed := func(name string) event.Event { return event.Event{Body: event.KnobChanged{Knob: name}} }
	for _, test := range []struct {
		name  string
		lines []event.Event
		fits  bool
		score float64
	}{
		{"nothing measured", []event.Event{start}, false, 0},
		{"two evaluations, of 10 and 20 rows", []event.Event{start, perf(15), perf(25)}, true, 12. / 30},
		{"a knob without weight", []event.Event{start, changed("guidance"), perf(15)}, true, 6. / 10},
		{"another batch", []event.Event{start, perf(15), changed("batch")}, false, 6. / 10},
		{"a fork that has not begun", []event.Event{start, perf(25), {Step: 25, Body: event.Noted{Text: event.ForkedAt + "25"}}}, false, 0},
		{"a fork", []event.Event{start, perf(25), {Step: 25, Body: event.Noted{Text: event.ForkedAt + "25"}}, perf(35)}, true, 6. / 30},
	} {
		j := read(test.lines...)
		m := j.Model(&c)
		if j.Fits(&c, &c) != test.fits || m.Score != test.score || m.Score > 0 && (m.Evaluation != 4 || m.Step != 1 || m.Cores != 1.5 || m.Device != "cpu go, 2 threads") {
			t.Errorf("%s: fits %t, %+v", test.name, j.Fits(&c, &c), m)
		}
		if j.Host != "here" {
			t.Errorf("%s: on %q", test.name, j.Host)
		}
	}
}
