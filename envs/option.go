package envs

import (
	"fmt"
	"math"
	"math/rand/v2"
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
	switch {
	case o.Repeat < 0 || o.Repeat > t.length:
		return t, fmt.Errorf("%s: action repeat of %d: want 1 to %d", t.Name, o.Repeat, t.length)
	case !(o.NoiseShare >= 0 && o.NoiseShare <= 1):
		return t, fmt.Errorf("%s: noise on a share of %v of the observations: want 0 to 1", t.Name, o.NoiseShare)
	case len(o.NoiseSigma) > 1 && len(o.NoiseSigma) != t.ObsSize:
		return t, fmt.Errorf("%s: noise of %d sizes for %d observations: want one for all, or %d", t.Name, len(o.NoiseSigma), t.ObsSize, t.ObsSize)
	case o.NoiseShare > 0 && len(o.NoiseSigma) == 0:
		return t, fmt.Errorf("%s: noise on a share of %v of the observations, but of no size: give its standard deviation", t.Name, o.NoiseShare)
	}
	for i, s := range o.NoiseSigma {
		if !(s >= 0 && !math.IsInf(s, 1)) {
			return t, fmt.Errorf("%s: noise %d of size %v: want a number not below 0", t.Name, i, s)
		}
	}
	t.options = o
	t.EpisodeSteps = (t.length + o.repeat() - 1) / o.repeat()
	return t, nil
}

// repeat is the number of control steps in a Step.
func (o *Options) repeat() int { return max(o.Repeat, 1) }

// noise adds Gaussian noise to observations. The noise is a function of seed, episode
// and step, so that nothing needs to be saved.
type noise struct {
	share  float64
	sigma  []float64 // [1] or [ObsSize]
	source *rand.PCG
	draw   *rand.Rand
}

func newNoise(o Options) *noise {
	if o.NoiseShare == 0 {
		return nil
	}
	n := &noise{share: o.NoiseShare, sigma: o.NoiseSigma, source: rand.NewPCG(0, 0)}
	n.draw = rand.New(n.source)
	return n
}

// noiseStream separates the noise from the start states of the same seed.
const noiseStream = 0x6e6f697365 // "noise"

func (n *noise) add(obs []float32, seed, episode uint64, step int) {
	n.source.Seed(scatter(seed^noiseStream), scatter(scatter(episode)+uint64(step)))
	if n.draw.Float64() >= n.share {
		return
	}
	for i := range obs {
		sigma := n.sigma[0]
		if len(n.sigma) > 1 {
			sigma = n.sigma[i]
		}
		obs[i] += float32(sigma * n.draw.NormFloat64())
	}
}

// scatter spreads neighbouring numbers over all 64 bits (the finaliser of
// SplitMix64, Steele, Lea and Flood 2014).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
