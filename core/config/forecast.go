package config

import (
	"time"

	"pgrlab/core/knob"
)

// Forecast is what a run will take, measured before it has begun.
type Forecast struct {
	Costs Costs
	Disk  DiskNeed
}

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
func (c *Config) Lasts(u Costs) time.Duration { return c.LastsFrom(&c.Knobs, 0, u) }

// LastsFrom is about how long what follows a step takes, with the knobs as they are.
func (c *Config) LastsFrom(s *knob.Settings, step int, u Costs) time.Duration {
	total := u.Step * float64(c.Steps-min(c.Steps, max(step, c.StartSteps/c.Environment.InLockstep())))
	if every := c.Evaluation.Every; every > 0 {
		left := c.Steps/every - step/every
		if step < c.Steps && c.Steps%every != 0 {
			left++ // the last env step has one as well
		}
		total += u.Evaluation * float64(left)
	}
	if !c.Generates() || u.Sample == 0 { // not known before the first generation
		return time.Duration(total * float64(time.Second))
	}
	refit := u.FitStep*float64(s.GeneratorSteps) + u.Sample*float64(s.Samples)
	for i := step/s.RefitEvery + 1; i*s.RefitEvery < c.Steps; i++ { // none in the last env step
		total += refit + u.Score*float64(min(i*s.RefitEvery*c.Environment.InLockstep(), c.Buffer))
	}
	return time.Duration(total * float64(time.Second))
}

// checkpointsKept is about how many checkpoints lie in a run folder: the last three
// and the best.
const checkpointsKept = 4

// DiskNeed is about how many bytes a run takes on the disk, before it has begun.
type DiskNeed struct {
	Checkpoint int64 // of one checkpoint, without what it shares
	Generation int64 // of a D_syn; there are as many as checkpoints at most
	Real       int64 // of D_real in the end
}

// Total is the whole run folder.
func (d DiskNeed) Total() int64 { return checkpointsKept*(d.Checkpoint+d.Generation) + d.Real }
