package lab

import (
	"context"
	"fmt"
	"time"

	"pgrlab/core/device"
	"pgrlab/core/knob"
)

// Costs are what the parts of a run take on a machine, in seconds; 0 where that is not
// known or the run has none of it.
type Costs struct {
	Step       float64 // an env step with its updates
	Score      float64 // F of a real transition
	FitStep    float64 // a generator step
	Sample     float64 // a synthetic transition
	Evaluation float64
}

// Lasts is about how long a run of c takes from its beginning. Random steps before the
// first update and analyses count nothing.
func (c *Config) Lasts(u Costs) time.Duration { return c.lasts(&c.Knobs, 0, u) }

// lasts is about how long what follows a step takes, with the knobs as they are.
func (c *Config) lasts(s *knob.Settings, step int, u Costs) time.Duration {
	total := u.Step * float64(c.Steps-min(c.Steps, max(step, c.StartSteps/c.Environment.copies())))
	if every := c.Evaluation.Every; every > 0 {
		left := c.Steps/every - step/every
		if step < c.Steps && c.Steps%every != 0 {
			left++ // the last env step has one as well
		}
		total += u.Evaluation * float64(left)
	}
	if !c.generates() || u.Sample == 0 { // not known before the first generation
		return seconds(total)
	}
	refit := u.FitStep*float64(s.GeneratorSteps) + u.Sample*float64(s.Samples)
	for i := step/s.RefitEvery + 1; i*s.RefitEvery < c.Steps; i++ { // none in the last env step
		total += refit + u.Score*float64(min(i*s.RefitEvery*c.Environment.copies(), c.Buffer))
	}
	return seconds(total)
}

// costs are what the parts of this run have taken so far.
func (x *experiment) costs() Costs {
	m := &x.meter
	return Costs{
		Step: m.cost[knob.Collect].value, Score: m.cost[knob.Score].value, FitStep: m.cost[knob.Fit].value,
		Sample:     m.perSample.value * float64(x.Settings.SamplerSteps),
		Evaluation: m.cost[knob.Evaluate].value * float64(x.task.EpisodeSteps),
	}
}

// Forecast is what a run will take, measured before it has begun.
type Forecast struct {
	Costs Costs
	Disk  DiskNeed
}

// Try measures on dev what a run of c will take: it makes a few env steps with all their
// parts, refit and evaluation included, and keeps nothing of them. That takes about a
// second at scale demo, some seconds at the largest, besides what a task takes to
// start.
func Try(ctx context.Context, c Config, task Task, dev device.Device) (f Forecast, err error) {
	l, err := New(c, task, dev, nil)
	if err != nil {
		return f, err
	}
	defer l.Close()
	if f.Disk, err = l.DiskNeed(); err != nil {
		return f, err
	}
	x, episode := l.x, l.x.task.EpisodeSteps
	x.shorten()
	err = x.guarded(func() error {
		// What is built and compiled at its first use is not the cost of the second.
		if err := x.goTo(ctx, triedStart+triedSteps); err != nil {
			return err
		}
		x.meter = meter{now: x.now}
		return x.goTo(ctx, triedStart+2*triedSteps)
	})
	if err != nil {
		return f, fmt.Errorf("try %s on %s: %w", c.Method, c.Task, err)
	}
	f.Costs = x.costs()
	f.Costs.Sample *= float64(c.Knobs.SamplerSteps) / float64(x.Settings.SamplerSteps)
	f.Costs.Evaluation *= float64(episode) / float64(x.task.EpisodeSteps)
	return f, nil
}

const (
	triedSteps   = 4   // env steps with updates that are measured
	triedStart   = 32  // transitions before them
	triedSamples = 256 // synthetic transitions
	triedLevels  = 8   // noise levels: the last one costs less than the others
)

// goTo trains up to a step that has an evaluation; the one before has a refit. They
// are the only ones.
func (x *experiment) goTo(ctx context.Context, step int) error {
	x.config.Steps, x.Settings.RefitEvery = step, step-1
	if x.config.Evaluation.Every > 0 {
		x.config.Evaluation.Every = step
	}
	return x.run(ctx)
}

// shorten makes the parts of a run small that do not have to be large to be measured.
func (x *experiment) shorten() {
	c, s := x.config, &x.Settings
	c.StartSteps = triedStart
	c.Evaluation.AnalysedRows, c.Evaluation.AnalyseEvery, c.Evaluation.KeepEvery = 0, 0, 0
	x.task.EpisodeSteps = min(x.task.EpisodeSteps, evaluationSteps)
	x.schedule = nil
	s.GeneratorSteps = min(s.GeneratorSteps, 2*x.slice)
	s.Samples = min(s.Samples, triedSamples)
	s.SamplerSteps = min(s.SamplerSteps, triedLevels)
}
