package lab

import (
	"context"
	"fmt"

	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/meter"
	"pgrlab/core/task"
)

// Try measures on dev what a run of c will take: it makes a few env steps with all their parts,
// refit and evaluation included, and keeps nothing of them. That takes about a second at scale
// demo and some seconds at the largest scale, in addition to the time that a task takes to
// start.
func Try(ctx context.Context, c config.Config, task task.Task, dev device.Device) (f config.Forecast, err error) {
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
		// Building and compiling at the first use is not part of the cost of the second.
		if err := x.goTo(ctx, triedStart+triedSteps); err != nil {
			return err
		}
		x.meter = meter.New(x.now)
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

// goTo trains up to an env step that has an evaluation; the one before it has a refit. There are no
// other evaluations and refits.
func (x *experiment) goTo(ctx context.Context, envStep int) error {
	copies := x.config.Environment.InLockstep()
	step := envStep * copies
	x.config.Steps, x.Settings.RefitEvery = step, step-copies
	if x.config.Evaluation.Every > 0 {
		x.config.Evaluation.Every = step
	}
	return x.run(ctx)
}

// shorten makes small those parts of a run that do not have to be large to be measured.
func (x *experiment) shorten() {
	c, s := x.config, &x.Settings
	c.StartSteps = triedStart
	c.Evaluation.AnalysedRows, c.Evaluation.AnalyseEvery, c.Evaluation.KeepEvery = 0, 0, 0
	x.task.EpisodeSteps = min(x.task.EpisodeSteps, x.evaluationSlice())
	x.steering.schedule = nil
	s.GeneratorSteps = min(s.GeneratorSteps, 2*x.refit.slice)
	s.Samples = min(s.Samples, triedSamples)
	s.SamplerSteps = min(s.SamplerSteps, triedLevels)
}
