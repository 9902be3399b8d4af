package cost

import (
	"reflect"
	"slices"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// Journal reads from the lines of a run's journal what units of the run take.
type Journal struct {
	Host string     // of the run
	from int        // the env step at which the run branched off another one
	last event.Perf // the newest line
	at   int        // its env step

	evaluate, score, spent, processor float64 // seconds, in all lines
	evaluations                       int
	changed                           bool // a knob was changed that makes units larger or smaller
}

// Take takes the next line.
func (j *Journal) Take(e event.Event) {
	switch b := e.Body.(type) {
	case event.Start:
		*j = Journal{Host: b.Obs.Host}
	case event.Noted:
		if b.Obs.At == nil && strings.HasPrefix(b.Text, event.ForkedAt) { // lines before it are of the run that this one was forked off
			*j = Journal{Host: j.Host, from: e.Step}
		}
	case event.KnobChanged:
		j.changed = j.changed || slices.Contains(weighing, b.Knob)
	case event.Perf:
		s := b.Spent
		j.last, j.at, j.evaluations = b, e.Step, j.evaluations+1
		j.evaluate, j.score = j.evaluate+float64(s.Evaluate), j.score+float64(s.Score)
		j.spent += float64(s.Act + s.Agent + s.Models + s.Score + s.Fit + s.Generate + s.Evaluate + s.Analyse)
		j.processor += float64(b.Processor)
	}
}

// weighing are the knobs that change what a unit takes.
var weighing = []string{"utd", "batch", "hold", "ratio", "relevance", "sampler_steps"}

// Model is what units of a run of c take by now; the zero Model before the first line perf.
func (j *Journal) Model(c *config.Config) (m Model) {
	if j.evaluations == 0 {
		return m
	}
	m.Device, m.Step, m.FitStep, m.Sample = j.last.Device, float64(j.last.StepS), float64(j.last.FitStepS), float64(j.last.SampleS)
	m.Evaluation = j.evaluate / float64(j.evaluations)
	now := *c
	now.Steps = j.at + 1
	if _, rows := refits(&now, &c.Knobs, j.from); rows > 0 && c.Generates() {
		m.Score = j.score / float64(rows)
	}
	if j.spent > 0 {
		m.Cores = j.processor / j.spent
	}
	return m
}

// Fits says whether units that were measured in the run of j, whose configuration is of, are as large
// as those of a run of c, and all of them were measured.
func (j *Journal) Fits(of, c *config.Config) bool {
	return !j.changed && j.last.StepS > 0 && (j.last.SampleS > 0 || !c.Generates()) && reflect.DeepEqual(parts(*of), parts(*c))
}

// parts is c without the settings that decide how often its parts occur, or with which random
// numbers.
func parts(c config.Config) config.Config {
	k := c.Knobs
	c.Knobs = knob.Settings{UTD: k.UTD, Batch: k.Batch, Hold: k.Hold, Ratio: k.Ratio, Relevance: k.Relevance, SamplerSteps: k.SamplerSteps}
	c.Seed, c.Preset, c.Scale, c.Schedule = 0, "", "", nil
	c.Steps, c.StartSteps, c.Buffer, c.Evaluation.Every, c.Evaluation.KeepEvery = 0, 0, 0, 0, 0
	return c
}
