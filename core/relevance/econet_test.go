package relevance

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/experience"
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/testing/gradcheck"
)

// referenceEmbedding returns the perceptron that embeds numbers.
func referenceEmbedding(n *ecoNet) func(x matrix) matrix {
	return func(x matrix) matrix {
		for i, l := range n.embedding.(numberEmbedding).layers.Layers {
			if i > 0 {
				x = positive(x)
			}
			x = linear(l, x)
		}
		return x
	}
}

// positive is max(0, x).
func positive(x matrix) matrix {
	out := make(matrix, len(x))
	for r := range x {
		for _, v := range x[r] {
			out[r] = append(out[r], max(0, v))
		}
	}
	return out
}

// referenceOf is the mean cross-entropy of pairs, with the batch's statistics; the comparator's
// first layer acts on [E(x), E(y)] as a whole.
func referenceOf(n *ecoNet, embedding func(x matrix) matrix, x, y matrix, labels matrix) float64 {
	normed := func(b batchNorm, z matrix) matrix {
		mean, variance, _ := statistics(z)
		return positive(normalise(b, z, mean, variance))
	}
	z := sum(linear(n.first[0], normed(n.halves[0], embedding(x))), linear(n.first[1], normed(n.halves[1], embedding(y))))
	for i, l := range n.rest {
		z = linear(l, normed(n.norms[i], z))
	}
	loss := 0.0
	for r := range z {
		most := math.Log(math.Exp(z[r][0]) + math.Exp(z[r][1]))
		loss -= (labels[r][0]*(z[r][0]-most) + labels[r][1]*(z[r][1]-most)) / float64(len(z))
	}
	return loss
}

// Loss and gradient of the R-network's update agree with difference quotients of the reference, on
// the TapeMachine and as a plan.
func TestRNetworkAgainstTheReference(t *testing.T) {
	c := smallECO()
	c.Batch = 7
	n := newECONet(c, 3, Frames{}, rng.New(2, "eco test"))
	againstTheReference(t, n, referenceEmbedding(n), 3, c.Batch, 5e-4)
}

// againstTheReference compares an update on batches of observations of width numbers with
// difference quotients.
func againstTheReference(t *testing.T, n *ecoNet, embedding func(x matrix) matrix, width, batch int, tolerance float64) {
	t.Helper()
	x, y, labels := make([]float32, width*batch), make([]float32, width*batch), make([]float32, 2*batch)
	rng.New(1, "eco pairs").FillNormal(x, 0, 0)
	rng.New(1, "eco pairs").FillNormal(y, 1, 0)
	for i := range batch {
		labels[2*i+i%2] = 1
	}
	reference := func() float64 {
		return referenceOf(n, embedding, rowsOf(x, width), rowsOf(y, width), rowsOf(labels, 2))
	}
	for machine, evaluate := range gradcheck.Machines(newDevice(t)) {
		built, err := n.build(width, batch) // each machine adds gradients to its own graph
		if err != nil {
			t.Fatal(err)
		}
		copy(built.graph.Tensor(built.x).Data, x)
		copy(built.graph.Tensor(built.y).Data, y)
		copy(built.graph.Tensor(built.labels).Data, labels)
		loss, grads := evaluate(t, built.graph, built.loss, n.params())
		near(t, machine+": loss", loss, reference(), 1e-5*reference())
		for i, p := range n.params() {
			for j := range p.Data {
				got, want := float64(grads[i][j]), gradcheck.Quotient(&p.Data[j], reference)
				if !(math.Abs(got-want) <= tolerance*(0.1+math.Abs(want))) {
					t.Errorf("%s: gradient of %s[%d] is %g, difference quotient %g", machine, p.Name, j, got, want)
				}
			}
		}
	}
}

// In evaluation the network uses the running statistics, and its output for a pair does not depend
// on the other rows of the computation.
func TestComparedInParts(t *testing.T) {
	m := newECO(t, smallECO(), 2)
	meet(t, m, &strolls{copies: 2, length: 13}, 90)
	width := m.memories.width
	halves := func(obs []float32) (x, y []float32) {
		if err := m.embed(1, func(int) experience.Look { return experience.Look{Numbers: obs} }); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(m.programs.halves[0][:width]), slices.Clone(m.programs.halves[1][:width])
	}
	compare := func(x, y []float32, before int) float32 {
		dst := make([]float32, before+1)
		c := comparison{programs: &m.programs, dst: dst}
		for range before {
			if err := c.add(y, x); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.add(x, y); err != nil {
			t.Fatal(err)
		}
		if err := c.run(); err != nil {
			t.Fatal(err)
		}
		return dst[before]
	}
	x, _ := halves([]float32{0.2, 0, 0})
	_, y := halves([]float32{0.9, 0, 0})
	first := compare(x, y, 0)
	for _, before := range []int{1, comparedRows - 1, comparedRows, comparedRows + 3} {
		if got := compare(x, y, before); got != first {
			t.Errorf("after %d rows: %v, alone %v", before, got, first)
		}
	}
	// The reference computes the same with running statistics.
	relu := func(row []float64) matrix {
		for i, v := range row {
			row[i] = max(0, v)
		}
		return matrix{row}
	}
	n := m.net
	running := func(b batchNorm, z matrix) matrix {
		all := floats(b.running.Data)
		width := len(b.gamma.Data)
		return relu(normalise(b, z, all[:width], all[op.StatsUnbiased*width:])[0])
	}
	embedding := func(obs ...float64) matrix {
		z := matrix{obs}
		for i, l := range n.embedding.(numberEmbedding).layers.Layers {
			if i > 0 {
				z = relu(z[0])
			}
			z = linear(l, z)
		}
		return z
	}
	z := sum(linear(n.first[0], running(n.halves[0], embedding(0.2, 0, 0))), linear(n.first[1], running(n.halves[1], embedding(0.9, 0, 0))))
	for i, l := range n.rest {
		z = linear(l, running(n.norms[i], z))
	}
	near(t, "logit of close less that of distant", float64(first), z[0][closeLogit]-z[0][farLogit], 1e-4)
}
