package lab

import (
	"context"
	"fmt"
	"maps"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/device"
	"pgrlab/core/knob"
	"pgrlab/core/task"
)

// Try measures on dev what a run of c will take: it makes a few env steps with all their parts,
// refit and evaluation included, and keeps nothing of them. That takes about a second at scale
// demo and some seconds at the largest scale, in addition to the time that a task takes to
// start.
func Try(ctx context.Context, c config.Config, task task.Task, dev device.Device) (f cost.Model, err error) {
	if f.Disk, err = disk(c, task, dev); err != nil {
		return f, err
	}
	c = sooner(c, task)
	l, err := New(ctx, c, task, dev, nil)
	if err != nil {
		return f, err
	}
	defer l.Close()
	x, episode := l.x, l.x.task.EpisodeSteps
	x.shorten()
	err = x.guarded(func() error { f.Units, f.Cores, err = x.measure(ctx); return err })
	if err != nil {
		return f, fmt.Errorf("try %s on %s: %w", c.Method, c.Task, err)
	}
	f.Device = x.device
	f.Sample *= float64(c.Generator.Estimates(c.Knobs.Generation())) / float64(c.Generator.Estimates(x.Settings.Generation()))
	f.Evaluation *= float64(episode) / float64(x.task.EpisodeSteps)
	return f, nil
}

// disk is what a run of c takes on the disk.
func disk(c config.Config, task task.Task, dev device.Device) (cost.Disk, error) {
	l, err := New(context.Background(), c, task, dev, nil)
	if err != nil {
		return cost.Disk{}, err
	}
	defer l.Close()
	return l.DiskNeed()
}

// sooner returns c with updates and rounds of F that come sooner, where they are rare.
func sooner(c config.Config, t task.Task) config.Config {
	if trial := c.Traits(t).Trial; trial != nil {
		c.Agent.Own = maps.Clone(c.Agent.Own)
		if c.Agent.Own == nil {
			c.Agent.Own = agent.Own{}
		}
		s, _ := c.Agent.Spec() // Validate has looked at it
		c.Agent.Own[s.Name] = trial
	}
	for name, in := range cost.Rounds(&c) {
		c.Relevance = c.Relevance.With(name, in.Trial(c.Environment.InLockstep(), c.Pace().Every))
	}
	return c
}

const (
	triedSteps   = 4   // env steps with updates that are measured
	triedStart   = 32  // transitions before them
	triedSamples = 256 // synthetic transitions
	triedLevels  = 8   // noise levels
	filledSteps  = 16  // env steps with full memories
)

// measure makes env steps twice and measures the second ones, and the processors that the process has
// then: building and compiling at the first use is not part of the cost of the second. If F compares
// what is met with what an episode remembers, more steps do so with full memories.
func (x *experiment) measure(ctx context.Context) (u cost.Units, cores float64, err error) {
	first := x.cycles(triedStart+triedSteps, 2) // by then D_real has rows
	if err := x.goTo(ctx, first); err != nil {
		return u, 0, err
	}
	x.meter = cost.NewMeter(x.now, x.config.Generator.Config)
	begin, used := x.now(), cost.ProcessTime()
	end := first + x.cycles(triedSteps, 1) + 1 // an env step is measured once the next one begins
	if err := x.goTo(ctx, end); err != nil {
		return u, 0, err
	}
	u, cores = x.units(), (cost.ProcessTime()-used).Seconds()/x.now().Sub(begin).Seconds()
	filled := false
	for _, m := range x.members {
		filled = m.Rounds.Fill()
	}
	if !filled {
		return u, cores, nil
	}
	step := x.meter.Step()
	x.meter.Phases[knob.Collect] = cost.Average{}
	err = x.goTo(ctx, end+filledSteps)
	u.First, u.Step = u.Step, u.Step+max(0, x.meter.Step()-step)
	return u, cores, err
}

// cycles is the number of env steps in as many cycles of learning as contain that many, but in no fewer cycles than
// least.
func (x *experiment) cycles(envSteps, least int) int {
	pace := x.config.Pace().Every
	for _, in := range cost.Rounds(x.config) { // a multiple of it
		pace = max(pace, in.FirstRound(x.config.Environment.InLockstep()))
	}
	return max(least, (envSteps+pace-1)/pace) * pace
}

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
	c.StartSteps, c.Data = triedStart, config.Data{}
	c.Evaluation.AnalysedRows, c.Evaluation.AnalyseEvery, c.Evaluation.KeepEvery = 0, 0, 0
	x.task.EpisodeSteps = min(x.task.EpisodeSteps, x.evaluationSlice())
	x.steering.schedule = nil
	s.GeneratorSteps = min(s.GeneratorSteps, 2*x.refit.slice)
	s.Samples = min(s.Samples, triedSamples)
	s.SamplerSteps = min(s.SamplerSteps, triedLevels)
}
