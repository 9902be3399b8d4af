package generative

import (
	"math"
	"testing"

	"pgrlab/core/rng"
)

// overlapping is a mixture of two Gaussians of (s, a) that overlap: label 1, a third of all, around
// (0.5, 0.2), and label 0 around (−0.5, −0.2), both with deviations 0.5 and 0.2. s' = s + 0.3a, so
// that the data have directions of little spread.
type overlapping struct {
	rows   table
	scores []float32
}

func newOverlapping(n int) overlapping {
	var m overlapping
	for i := range n {
		q := rng.New(31, "overlapping").At(uint64(i))
		label, side := 0, -1.0
		if i%3 == 0 {
			label, side = 1, 1
		}
		s, a := 0.5*(side+q.Norm()), 0.2*(side+q.Norm())
		m.rows = append(m.rows, []float32{float32(s), float32(a), 0, float32(s + 0.3*a + 0.02*q.Norm()), 0})
		m.scores = append(m.scores, float32(label))
	}
	return m
}

// belongs is the exact probability that (s, a) has label 1: the ratio of the two densities is
// exp(4s + 10a), and that of the labels is ½.
func belongs(s, a float32) float64 {
	return 1 / (1 + 2*math.Exp(-4*float64(s)-10*float64(a)))
}

// ask generates towards label 1 and returns the mean of s and the mean probability of label 1.
func (overlapping) ask(t *testing.T, d *Diffusion, omega float64) (mean, share float64) {
	t.Helper()
	const n = 1500
	for _, p := range split(generateAll(t, d, GenKnobs{Samples: n, Steps: 16, Guidance: omega, TopFraction: 0.3}, 1), planar.Width()) {
		mean += float64(p[0]) / n
		share += belongs(p[0], p[1]) / n
	}
	return mean, share
}

// The exact answers are known. Without the condition a third of the samples have label 1, and the
// mean of s is −1/6; with it, at ω = 1, the samples follow the Gaussian of label 1. In between and
// beyond, a larger ω moves samples further towards that label.
func TestGuidanceMovesToTheLabel(t *testing.T) {
	data := newOverlapping(3000)
	known, n := 0.0, 0.0 // mean probability of label 1 among samples with that label
	for i, row := range data.rows {
		known += belongs(row[0], row[1]) * float64(data.scores[i])
		n += float64(data.scores[i])
	}
	known /= n
	for _, preconditioning := range []string{PreconditioningScalar, PreconditioningCovariance} {
		t.Run(preconditioning, func(t *testing.T) {
			c := learner(NormaliserStandard)
			c.Corrector, c.Preconditioning = CorrectorFull, preconditioning
			d := newDiffusion(t, c, planar)
			startFit(t, d, data.rows, data.scores, FitKnobs{Steps: 2500, LR: 2e-3, PUncond: 0.25}, 1)
			finishFit(t, d, 2500)
			omegas := []float64{0, 0.5, 1, 2, 4}
			means, shares := make([]float64, len(omegas)), make([]float64, len(omegas))
			for i, omega := range omegas {
				means[i], shares[i] = data.ask(t, d, omega)
			}
			t.Logf("guidance %v: mean of s %.3f, share of label 1 %.3f (known: %.3f and %.3f at 1)", omegas, means, shares, 0.5, known)
			near(t, "mean without condition", means[0], -1.0/6, 0.1)
			near(t, "share without condition", shares[0], 1.0/3, 0.06)
			near(t, "mean with condition", means[2], 0.5, 0.1)
			near(t, "share with condition", shares[2], known, 0.05)
			for i := 1; i < len(omegas); i++ {
				if !(means[i] > means[i-1]+0.1) || !(shares[i] > shares[i-1]) {
					t.Errorf("guidance %g has mean %.3f and share %.3f after %.3f and %.3f of %g: want 0.1 more, and more",
						omegas[i], means[i], shares[i], means[i-1], shares[i-1], omegas[i-1])
				}
			}
			if !(shares[4] > 0.97) {
				t.Errorf("guidance 4 leaves a share of %.3f", shares[4])
			}
		})
	}
}
