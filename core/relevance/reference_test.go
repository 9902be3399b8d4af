package relevance

import (
	"math"

	"pgrlab/core/nn"
	"pgrlab/core/replay"
)

// The reference is the model once more, in float64; the graphs are compared with it.

type matrix [][]float64

func linear(l nn.Linear, x matrix) matrix {
	in, out := l.W.Shape[0], l.W.Shape[1]
	y := make(matrix, len(x))
	for r := range x {
		y[r] = make([]float64, out)
		for o := range out {
			y[r][o] = float64(l.B.Data[o])
			for i := range in {
				y[r][o] += x[r][i] * float64(l.W.Data[i*out+o])
			}
		}
	}
	return y
}

func swish(x matrix) matrix {
	y := make(matrix, len(x))
	for r := range x {
		for _, z := range x[r] {
			y[r] = append(y[r], z/(1+math.Exp(-z)))
		}
	}
	return y
}

func beside(x, y matrix) matrix {
	z := make(matrix, len(x))
	for r := range x {
		z[r] = append(append(z[r], x[r]...), y[r]...)
	}
	return z
}

func sum(x, y matrix) matrix {
	z := make(matrix, len(x))
	for r := range x {
		for c := range x[r] {
			z[r] = append(z[r], x[r][c]+y[r][c])
		}
	}
	return z
}

func layers(ls []nn.Linear, x matrix) matrix {
	for i, l := range ls {
		if i > 0 {
			x = swish(x)
		}
		x = linear(l, x)
	}
	return x
}

func meanSquare(x, y matrix) (mean float64) {
	for r := range x {
		for c := range x[r] {
			mean += (x[r][c] - y[r][c]) * (x[r][c] - y[r][c]) / float64(len(x)*len(x[r]))
		}
	}
	return mean
}

// statistics returns mean, biased and unbiased variance of each column.
func statistics(x matrix) (mean, biased, unbiased []float64) {
	n := float64(len(x))
	for c := range x[0] {
		m, v := 0.0, 0.0
		for r := range x {
			m += x[r][c] / n
		}
		for r := range x {
			v += (x[r][c] - m) * (x[r][c] - m)
		}
		mean, biased, unbiased = append(mean, m), append(biased, v/n), append(unbiased, v/(n-1))
	}
	return mean, biased, unbiased
}

func normalise(b batchNorm, x matrix, mean, variance []float64) matrix {
	y := make(matrix, len(x))
	for r := range x {
		for c, z := range x[r] {
			y[r] = append(y[r], float64(b.gamma.Data[c])*(z-mean[c])/math.Sqrt(variance[c]+1e-5)+float64(b.beta.Data[c]))
		}
	}
	return y
}

func floats(x []float32) (out []float64) {
	for _, v := range x {
		out = append(out, float64(v))
	}
	return out
}

func rowsOf(x []float32, width int) (m matrix) {
	for ; len(x) > 0; x = x[width:] {
		m = append(m, floats(x[:width]))
	}
	return m
}

func referencePrediction(n *icmNet, h, act matrix) matrix {
	z := layers(n.forward[0], beside(h, act))
	for range 4 {
		z = sum(layers(n.block, beside(layers(n.block, beside(z, act)), act)), z)
	}
	return layers(n.forward[1], beside(z, act))
}

// referenceActions is the inverse model in eval mode, or with the batch's own statistics in train
// mode.
func referenceActions(n *icmNet, h, next matrix, train bool) matrix {
	z := linear(n.inverse[0], beside(h, next))
	for i, b := range n.norms {
		width := len(b.gamma.Data)
		running := floats(b.running.Data)
		mean, variance := running[:width], running[2*width:]
		if train {
			mean, variance, _ = statistics(z)
		}
		z = linear(n.inverse[i+1], swish(normalise(b, z, mean, variance)))
	}
	return z
}

// referenceLoss is the update's loss; target stands for h(s') in the forward term, through which no
// gradient flows.
func referenceLoss(n *icmNet, b *replay.Batch, target matrix) float64 {
	obs, act, next := rowsOf(b.Obs, n.shape.Obs), rowsOf(b.Act, n.shape.Act), rowsOf(b.Next, n.shape.Obs)
	h := layers(n.encoder, obs)
	return meanSquare(referencePrediction(n, h, act), target) +
		meanSquare(referenceActions(n, h, layers(n.encoder, next), true), act)
}
