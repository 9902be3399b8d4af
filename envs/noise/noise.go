// Package noise adds Gaussian noise to observations.
package noise

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Options say how much noise there is. The zero value is none.
type Options struct {
	Share float64   // of the observations that have noise, from 0 to 1, drawn one by one
	Sigma []float64 // its standard deviation, in the unit of each coordinate: one for all, or one for each
}

// Check says what is wrong with the options for observations of size numbers.
func (o Options) Check(size int) error {
	switch {
	case !(o.Share >= 0 && o.Share <= 1):
		return fmt.Errorf("noise on a share of %v of the observations: want 0 to 1", o.Share)
	case len(o.Sigma) > 1 && len(o.Sigma) != size:
		return fmt.Errorf("noise of %d sizes for %d observations: want one for all, or %d", len(o.Sigma), size, size)
	case o.Share > 0 && len(o.Sigma) == 0:
		return fmt.Errorf("noise on a share of %v of the observations, but of no size: give its standard deviation", o.Share)
	}
	for i, s := range o.Sigma {
		if !(s >= 0 && !math.IsInf(s, 1)) {
			return fmt.Errorf("noise %d of size %v: want a number not below 0", i, s)
		}
	}
	return nil
}

// Noise is a function of seed, episode and step, so that nothing needs to be saved.
type Noise struct {
	share  float64
	sigma  []float64 // [1] or [ObsSize]
	source *rand.PCG
	draw   *rand.Rand
}

// New returns the noise; nil, which adds none, if there is none.
func New(o Options) *Noise {
	if o.Share == 0 {
		return nil
	}
	n := &Noise{share: o.Share, sigma: o.Sigma, source: rand.NewPCG(0, 0)}
	n.draw = rand.New(n.source)
	return n
}

// stream separates the noise from the start states of the same seed.
const stream = 0x6e6f697365 // "noise"

// Add adds the noise of a step to an observation.
func (n *Noise) Add(obs []float32, seed, episode uint64, step int) {
	if n == nil {
		return
	}
	n.source.Seed(Scatter(seed^stream), Scatter(Scatter(episode)+uint64(step)))
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

// Scatter spreads neighbouring numbers over all 64 bits (the finaliser of
// SplitMix64, Steele, Lea and Flood 2014).
func Scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
