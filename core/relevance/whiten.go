package relevance

import (
	"math"

	"pgrlab/core/op"
)

// whitener keeps the mean and variance of all vectors that it has seen, per dimension
// (openai/random-network-distillation: mpi_util.py, RunningMeanStd), and scales vectors by them.
type whitener struct {
	width             int
	mean, variance, n *op.Tensor // [width], [width], count in two halves [2]
}

// whitenedBound is the absolute value at which whitened inputs are clipped (Burda et al. 2018,
// section 2.4).
const whitenedBound = 5

func newWhitener(name string, width int) whitener {
	return whitener{width: width, mean: op.NewTensor(name+".mean", width), variance: op.NewTensor(name+".variance", width), n: op.NewTensor(name+".count", 2)}
}

// countBase splits counts into two parts that a float32 holds exactly: 2^24 vectors in the lower
// part make one in the upper part.
const countBase = 1 << 24

func (w whitener) count() float64 { return float64(w.n.Data[1])*countBase + float64(w.n.Data[0]) }

func (w whitener) setCount(n float64) {
	upper := math.Floor(n / countBase)
	w.n.Data[1], w.n.Data[0] = float32(upper), float32(n-upper*countBase)
}

// see adds rows vectors x (Chan et al. 1983).
func (w whitener) see(x []float32, rows int) {
	before, added := w.count(), float64(rows)
	for k := range w.width {
		mean, m2 := 0.0, 0.0
		for i := range rows {
			mean += float64(x[i*w.width+k]) / added
		}
		for i := range rows {
			d := float64(x[i*w.width+k]) - mean
			m2 += d * d
		}
		w.merge(k, mean, m2, before, added)
	}
	w.setCount(before + added)
}

// merge adds a batch of added numbers, with their mean and sum of squared deviations, to dimension
// k, which has seen before numbers. The variance is kept and not that sum, to which a float32 would add nothing
// from some ten million batches on.
func (w whitener) merge(k int, mean, m2, before, added float64) {
	total := before + added
	shift := mean - float64(w.mean.Data[k])
	w.variance.Data[k] = float32((float64(w.variance.Data[k])*before + m2 + shift*shift*before*added/total) / total)
	w.mean.Data[k] = float32(float64(w.mean.Data[k]) + shift*added/total)
}

// whiten writes rows scaled vectors, clipped to ±5. A dimension that has never varied stays at 0;
// before the first vector nothing is scaled.
func (w whitener) whiten(dst, x []float32, rows int) {
	n := w.count()
	for k := range w.width {
		mean, scale := float64(w.mean.Data[k]), 1.0
		if n > 0 {
			scale = math.Sqrt(float64(w.variance.Data[k])) + 1e-8
		}
		for i := range rows {
			v := (float64(x[i*w.width+k]) - mean) / scale
			dst[i*w.width+k] = float32(min(max(v, -whitenedBound), whitenedBound))
		}
	}
}

func (w whitener) state() []*op.Tensor { return []*op.Tensor{w.mean, w.variance, w.n} }
