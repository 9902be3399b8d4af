package generative

import (
	"fmt"
	"math"
	"testing"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/testing/gradcheck"
)

// The networks and the loss are written again row by row in float64, in the form of the papers; the
// graphs are compared with them.

type vector []float64

func linear(l nn.Linear, x vector) vector {
	in, out := l.W.Shape[0], l.W.Shape[1]
	y := make(vector, out)
	for o := range y {
		y[o] = float64(l.B.Data[o])
		for i := range in {
			y[o] += x[i] * float64(l.W.Data[i*out+o])
		}
	}
	return y
}

func (x vector) each(f func(float64) float64) vector {
	y := make(vector, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

func (x vector) plus(y vector) vector {
	z := make(vector, len(x))
	for i := range x {
		z[i] = x[i] + y[i]
	}
	return z
}

var nonlinear = map[string]func(float64) float64{
	"relu": func(z float64) float64 { return math.Max(z, 0) },
	"silu": func(z float64) float64 { return z / (1 + math.Exp(-z)) },
	"mish": func(z float64) float64 { return z * math.Tanh(math.Log1p(math.Exp(z))) },
	"elu":  func(z float64) float64 { return math.Max(z, math.Expm1(math.Min(z, 0))) },
	"tanh": math.Tanh,
}

// referenceNetwork is F(x, t, keep·c) of one row.
func referenceNetwork(n *network, x vector, t, condition, keep float64) vector {
	c, inner := n.config, nonlinear["mish"]
	if c.Architecture == ArchitectureSynthER {
		inner = nonlinear["silu"]
	}
	features := vector{t}
	for _, f := range []func(float64) float64{math.Sin, math.Cos} {
		for _, w := range n.Fourier.Data {
			features = append(features, f(2*math.Pi*t*float64(w)))
		}
	}
	embedded := linear(n.Time[1], linear(n.Time[0], features).each(inner))
	conditioned := make(vector, c.Embedding)
	if c.Conditional {
		conditioned = linear(n.Condition[1], linear(n.Condition[0], vector{condition}).each(inner))
		conditioned = conditioned.each(func(v float64) float64 { return keep * v })
	}
	var h vector
	switch {
	case c.Architecture == ArchitectureSynthER:
		h = linear(n.Embedding, linear(n.X, x).plus(embedded).plus(conditioned))
	case c.Conditional:
		h = append(linear(n.X, x), linear(n.Embedding, append(conditioned, embedded...))...)
	default:
		h = append(linear(n.X, x), linear(n.Embedding, embedded)...)
	}
	act := nonlinear[c.Activation]
	for _, block := range n.Blocks {
		h = h.plus(linear(block, h.each(act)))
	}
	return linear(n.Head, h.each(act))
}

// referenceLoss is mean λ(σ)(D(x+σn) − x)² (Karras et al. 2022, equation 8), without the
// rearrangement of the package doc; x is in the coordinates of the noise.
func referenceLoss(n *network, within coordinates, x []float64, noise, level, condition, keep []float32, width int) float64 {
	c, loss := n.config, 0.0
	for i := range level {
		sigma := math.Exp(c.PMean + c.PStd*float64(level[i]))
		noisy, scaled := make(vector, width), make(vector, width)
		for j := range noisy {
			_, _, in := precondition(sigma, within.spread[j])
			noisy[j] = x[i*width+j] + sigma*float64(noise[i*width+j])
			scaled[j] = in * noisy[j]
		}
		f := referenceNetwork(n, scaled, noiseInput(sigma), float64(condition[i]), float64(keep[i]))
		for j := range noisy {
			spread := within.spread[j]
			skip, scale, _ := precondition(sigma, spread)
			lambda := (sigma*sigma + spread*spread) / math.Pow(sigma*spread, 2)
			d := skip*noisy[j] + scale*f[j]
			loss += lambda * math.Pow(d-x[i*width+j], 2)
		}
	}
	return loss / float64(len(level)*width)
}

// small is a configuration of a few hundred weights.
func small(architecture, activation string, conditional bool) Config {
	c := Default()
	c.Architecture, c.Activation, c.Conditional = architecture, activation, conditional
	c.Width, c.Blocks, c.Embedding, c.Fourier, c.Batch, c.SigmaData = 6, 2, 4, 3, 5, 0.7
	return c
}

func turned(c Config) Config {
	c.Preconditioning = PreconditioningCovariance
	return c
}

// threeAxes returns coordinates of three dimensions; if they are turned, they are those of a
// rotation written by hand.
func threeAxes(c Config) coordinates {
	if c.Preconditioning == PreconditioningScalar {
		return coordinates{spread: []float64{c.SigmaData, c.SigmaData, c.SigmaData}}
	}
	return coordinates{
		spread: []float64{0.9, 0.05, 0.3}, mean: []float64{0.2, -0.1, 0.4},
		basis: []float64{0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1},
	}
}

// enter is the inverse of leave, for rows of normalised vectors.
func (c coordinates) enter(x []float32, width int) []float64 {
	out := make([]float64, len(x))
	for at := range out {
		row, k := at/width*width, at%width
		if c.basis == nil {
			out[at] = float64(x[at])
			continue
		}
		for i := range width {
			out[at] += (float64(x[row+i]) - c.mean[i]) * c.basis[i*width+k]
		}
	}
	return out
}

// The graph's loss is EDM's weighted loss, and its gradient agrees with that loss's difference
// quotient for every weight of both architectures.
func TestLossAndGradientAgainstTheReference(t *testing.T) {
	for _, c := range []Config{
		small(ArchitecturePGR, "mish", true), small(ArchitecturePGR, "tanh", false),
		small(ArchitectureSynthER, "silu", false), small(ArchitectureSynthER, "elu", true),
		turned(small(ArchitecturePGR, "silu", true)),
	} {
		t.Run(fmt.Sprint(c.Architecture, " ", c.Activation, " conditional ", c.Conditional, " ", c.Preconditioning), func(t *testing.T) {
			const width = 3
			n := newNetwork(c, "net", width, rng.New(3, "gradient test"), nn.TorchDefault)
			for machine, evaluate := range gradcheck.Machines(newDevice(t)) {
				within := newFrame(c, "fit", width)
				built, err := buildFit(n, within, width)
				if err != nil {
					t.Fatal(err)
				}
				at := threeAxes(c)
				if err := within.set(nil, at); err != nil {
					t.Fatal(err)
				}
				reference := fillFit(built, n, at, width)
				loss, grads := evaluate(t, built.graph, built.loss, n.Params())
				near(t, machine+": loss", loss, reference(), 1e-5*reference())
				for i, p := range n.Params() {
					if len(grads[i]) != len(p.Data) {
						t.Fatalf("%s: %s: gradient of %d elements for %d weights", machine, p.Name, len(grads[i]), len(p.Data))
					}
					for j := range p.Data {
						got, want := float64(grads[i][j]), gradcheck.Quotient(&p.Data[j], reference)
						if !(math.Abs(got-want) <= 2e-4*(0.1+math.Abs(want))) {
							t.Errorf("%s: gradient of %s[%d] is %g, difference quotient %g", machine, p.Name, j, got, want)
						}
					}
				}
			}
		})
	}
}

// fillFit writes fixed inputs and returns the reference's loss of them.
func fillFit(built fitGraph, n *network, within coordinates, width int) func() float64 {
	bound := func(tensor *op.Tensor) []float32 {
		if tensor == nil {
			return make([]float32, n.config.Batch)
		}
		return tensor.Data
	}
	x, condition, keep := built.batch.x.Data, bound(built.batch.condition), bound(built.batch.keep)
	noise, level := built.graph.Tensor(built.noise).Data, built.graph.Tensor(built.level).Data
	for i, in := range [][]float32{x, noise, level, condition} {
		rng.New(4, "gradient inputs").FillNormal(in, uint64(i), 0)
	}
	for i := range keep {
		keep[i] = float32(i % 2)
	}
	entered := within.enter(x, width)
	return func() float64 { return referenceLoss(n, within, entered, noise, level, condition, keep, width) }
}

// The sizes are those of the published networks; the sums are by hand from their layer sizes.
func TestParameterCounts(t *testing.T) {
	count := func(c Config, width int) int {
		sum := 0
		for _, p := range newNetwork(c, "net", width, rng.New(1, "count"), nn.TorchDefault).Params() {
			sum += len(p.Data)
		}
		return sum
	}
	layer := func(in, out int) int { return in*out + out }
	synther := Default()
	synther.Architecture, synther.Conditional, synther.Width, synther.Activation = ArchitectureSynthER, false, 1024, "relu"
	want := layer(41, 256) + layer(17, 256) + layer(256, 256) + layer(256, 1024) + 6*layer(1024, 1024) + layer(1024, 41)
	if got := count(synther, 41); got != want || got/10_000 != 668 {
		t.Errorf("SynthER's denoiser of 41 dimensions has %d weights, want %d, 6.68 million", got, want)
	}
	want = layer(41, 1024) + layer(512, 1024) + layer(1, 512) + layer(512, 256) + layer(17, 1024) + layer(1024, 256) + 6*layer(2048, 2048) + layer(2048, 41)
	if got := count(Default(), 41); got != want || got/100_000 != 262 {
		t.Errorf("PGR's denoiser of 41 dimensions has %d weights, want %d, 26.2 million", got, want)
	}
}
