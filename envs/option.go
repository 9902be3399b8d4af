package envs

import (
	"fmt"

	"pgrlab/envs/noise"
)

// Options change how a task is played, not what it is. The zero value is the
// task as it is defined.
type Options struct {
	// Repeat is the number of control steps that a Step makes with its action, up to the
	// end of the episode; the rewards are summed; 0 means 1. An episode has the same
	// number of control steps as without it, and so fewer Steps.
	Repeat int
	// NoiseShare is the share of an Env's observations, from 0 to 1, to which Gaussian
	// noise is added. They are drawn one by one, and the first observation of an episode
	// may be among them. Rewards and ends are not affected, and neither are episodes that
	// Place starts or the copies of a VecEnv, which serve for evaluation.
	NoiseShare float64
	// NoiseSigma is the standard deviation of that noise, in the unit of each
	// coordinate: one number for all, or one for each [ObsSize].
	NoiseSigma []float64
}

// With returns the task played with those options.
func (t Task) With(o Options) (Task, error) {
	if o.Repeat < 0 || o.Repeat > t.length {
		return t, fmt.Errorf("%s: action repeat of %d: want 1 to %d", t.Name, o.Repeat, t.length)
	}
	if err := o.noise().Check(t.ObsSize); err != nil {
		return t, fmt.Errorf("%s: %w", t.Name, err)
	}
	t.options = o
	t.EpisodeSteps = (t.length + o.repeat() - 1) / o.repeat()
	return t, nil
}

// repeat is the number of control steps in a Step.
func (o *Options) repeat() int { return max(o.Repeat, 1) }

func (o *Options) noise() noise.Options {
	return noise.Options{Share: o.NoiseShare, Sigma: o.NoiseSigma}
}
