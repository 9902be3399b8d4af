package relevance

import (
	"math"
	"slices"
	"testing"
)

// A fifth of the rows is disturbed by noise of the configured size. The other rows, the actions,
// and a model without noise are not disturbed. The same update draws the same noise.
func TestNoisedBatches(t *testing.T) {
	// The observations have deviations 1, 2 and 3.
	c := smallICM()
	if c.NoiseShare = 0.2; c.Validate() == nil {
		t.Error("noise without a size is accepted")
	}
	c.Batch, c.NoiseStd = 2000, 0.3
	m := newICM(t, c)
	clean := func() (obs, act, next []float32) {
		fillBatch(m.Batch(), 1)
		for i := range m.Batch().Obs {
			m.Batch().Obs[i] *= float32(1 + i%3)
		}
		return slices.Clone(m.Batch().Obs), slices.Clone(m.Batch().Act), slices.Clone(m.Batch().Next)
	}
	obs, act, next := clean()
	m.disturb()
	b := m.Batch()
	const noisy = 400 * 3
	if !slices.Equal(b.Obs[noisy:], obs[noisy:]) || !slices.Equal(b.Next[noisy:], next[noisy:]) || !slices.Equal(b.Act, act) {
		t.Error("noise where none belongs")
	}
	for k := range 3 {
		var of, ofNext, both float64
		for i := range 400 {
			d, n := float64(b.Obs[3*i+k]-obs[3*i+k]), float64(b.Next[3*i+k]-next[3*i+k])
			of, ofNext, both = of+d*d/400, ofNext+n*n/400, both+d*n/400
		}
		want := 0.3 * math.Sqrt(14./3)
		near(t, "noise of s", math.Sqrt(of), want, 0.12*want)
		near(t, "noise of s'", math.Sqrt(ofNext), want, 0.12*want)
		near(t, "their correlation", both/want/want, 0, 0.2)
	}
	first := slices.Clone(b.Obs)
	clean()
	m.disturb()
	if !slices.Equal(b.Obs, first) {
		t.Error("the same update draws other noise")
	}
	m.optimiser.T++
	clean()
	m.disturb()
	if slices.Equal(b.Obs, first) {
		t.Error("the next update draws the same noise")
	}
	if smallICM().noisyRows() != 0 {
		t.Error("noise that was not asked for")
	}
}
