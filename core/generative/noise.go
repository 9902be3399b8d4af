package generative

import (
	"fmt"
	"math"

	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// noisy are real transitions, a share of which steps of a fit learn with isotropic Gaussian noise on s
// and s' (Wang et al. 2025, appendix on noised dynamics data). Its deviation is NoiseStd times the root
// of the mean variance of the coordinates of s, as that of the curiosity model's noise. The noise of a
// row belongs to the step and its place in the batch. All methods but Row do nothing with nil.
type noisy struct {
	Rows
	shape     replay.Shape
	share     float64
	deviation float64
	stream    rng.Stream
	draws     []float32 // of a row: of s, then of s'
	row       []float32
	now       bool // the next row gets the draws
}

// newNoisy returns real with noise, nil if the configuration asks for none.
func newNoisy(c Config, shape replay.Shape, real Rows, s rng.Stream) *noisy {
	if c.NoiseShare == 0 || c.NoiseStd == 0 || real == nil {
		return nil
	}
	n := &noisy{Rows: real, shape: shape, share: c.NoiseShare, stream: s.Sub("noise"), draws: make([]float32, 2*shape.Obs), row: make([]float32, shape.Width())}
	mean, square, count := make([]float64, shape.Obs), 0.0, float64(max(1, real.Len()))
	for i := range real.Len() {
		for j, v := range real.Row(i)[:shape.Obs] {
			mean[j] += float64(v) / count
		}
	}
	for i := range real.Len() {
		for j, v := range real.Row(i)[:shape.Obs] {
			square += (float64(v) - mean[j]) * (float64(v) - mean[j]) / count
		}
	}
	n.deviation = c.NoiseStd * math.Sqrt(square/float64(shape.Obs))
	return n
}

// learn makes the next row that of a place in a batch of so many rows, of which the first ones have
// noise: any will do, because they are a random sample.
func (n *noisy) learn(at uint64, place, batch int) {
	if n != nil {
		if n.now = place < n.rows(batch); n.now {
			n.draw(at, place)
		}
	}
}

// rows is how many rows of a batch have noise.
func (n *noisy) rows(batch int) int { return int(math.Round(n.share * float64(batch))) }

// draw draws the noise of a place.
func (n *noisy) draw(at uint64, place int) {
	n.stream.FillNormal(n.draws, at, uint64(place*len(n.draws)))
	for j := range n.draws {
		n.draws[j] *= float32(n.deviation)
	}
}

// Row returns row i, after learn with its noise.
func (n *noisy) Row(i int) []float32 {
	row := n.Rows.Row(i)
	if !n.now {
		return row
	}
	n.now = false
	copy(n.row, row)
	obs := n.shape.Obs
	for j := range obs {
		n.row[j] += n.draws[j]
		n.row[obs+n.shape.Act+1+j] += n.draws[obs+j]
	}
	return n.row
}

// disturb makes the steps of f learn with noise, if the configuration asks for it.
func (f *fit) disturb(c Config, l layout, real Rows, s rng.Stream) {
	shape := replay.Shape{Obs: l.obs, Act: l.act}
	if f.noise = newNoisy(c, shape, real, s); f.noise != nil {
		f.rows = l.vectors(f.noise)
	}
}

// validateNoise says in one line what is wrong with the noise, or returns nil.
func (c Config) validateNoise() error {
	if !(c.NoiseShare >= 0 && c.NoiseShare <= 1) || !(c.NoiseStd >= 0) || math.IsInf(c.NoiseStd, 0) {
		return fmt.Errorf("generator: noise_share is %g and noise_std %g, want a share from 0 to 1 and a number of at least 0", c.NoiseShare, c.NoiseStd)
	}
	return nil
}
