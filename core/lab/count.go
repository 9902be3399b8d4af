package lab

import (
	"context"
	"fmt"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/device"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/task"
)

// Occurrence is how often the units of a phase occur in the env steps that Count made, and in a whole run.
type Occurrence struct{ Counted, Whole float64 }

// Count makes a few env steps of a run of c on a device that executes nothing, with all their parts: a
// chunk of samples with all noise levels, generator steps up to an average of the weights, an evaluation. begin is called
// before those that count, with a function that returns the present phase. The random steps before the first update, and
// analyses, are left out; relevance is that of the few rows that there are; what begins a generation counts with
// each chunk, as if each were one.
func Count(ctx context.Context, c config.Config, task task.Task, dev device.Device, begin func(phase func() knob.Phase)) (all [knob.Phases]Occurrence, err error) {
	whole := c
	l, err := New(ctx, sooner(c, task), task, dev, nil)
	if err != nil {
		return all, err
	}
	defer l.Close()
	x, episode := l.x, l.x.task.EpisodeSteps
	x.shorten()
	x.task.EpisodeSteps = episode
	s := &x.Settings
	s.Samples, s.SamplerSteps = min(c.Generator.Chunk, c.Knobs.Samples), c.Knobs.SamplerSteps
	s.GeneratorSteps = 2 * max(1, c.Generator.EMAEvery)
	if together := generative.Together(x.first().Generator); together > 0 {
		s.GeneratorSteps = together
	}
	s.GeneratorSteps = min(c.Knobs.GeneratorSteps, s.GeneratorSteps)
	first := x.cycles(triedStart+triedSteps, 2)
	last := first + x.cycles(triedSteps, 1)
	err = x.guarded(func() error {
		if err := x.goTo(ctx, first); err != nil {
			return err
		}
		begin(func() knob.Phase { return x.position.Phase })
		return x.goTo(ctx, last)
	})
	if err != nil {
		return all, fmt.Errorf("count %s on %s: %w", c.Method, c.Task, err)
	}
	copies := c.Environment.InLockstep()
	steps := Occurrence{float64(last - first), float64(whole.EnvSteps(whole.Steps - min(whole.Steps, whole.Pace().From*copies)))}
	for p := range all {
		all[p] = steps
	}
	refits := float64(cost.Refits(&whole, &whole.Knobs))
	all[knob.Score] = Occurrence{1, refits}
	all[knob.Fit] = Occurrence{float64(s.GeneratorSteps), refits * float64(whole.Knobs.GeneratorSteps)}
	all[knob.Generate] = Occurrence{float64(s.Samples), refits * float64(whole.Knobs.Samples)}
	all[knob.Evaluate] = Occurrence{1, float64(whole.Evaluations(0))}
	return all, nil
}
