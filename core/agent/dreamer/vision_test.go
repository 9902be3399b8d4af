package dreamer

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
)

// TestVisionGradients compares the gradient of the loss of decoded frames with finite differences, for a number of
// each parameter, and for latents.
func TestVisionGradients(t *testing.T) {
	c := sighted()
	n, rows := newNetworks(c, rng.New(5, "test")), 2
	deter, stoch := op.NewTensor("d", rows, c.Deter), op.NewTensor("z", rows, c.groups())
	s := rng.New(6, "latents")
	s.FillNormal(deter.Data, 0, 0)
	s.FillUniform(stoch.Data, 1, 0)
	params := append(append(n.vision.eyes(), n.vision.brushes()...), deter, stoch)
	var frames *op.Node
	p, err := plan.Build("vision", cputest.New(t, cpu.Options{Threads: 1}), func(g *op.Graph) plan.Spec {
		frames = n.input(g, rows)
		tokens := n.encode(g, frames)
		loss := g.Add(g.SquaredError(n.decode(g, g.Bind(deter), g.Bind(stoch)), n.seenAs(g, frames), 10), g.Sum(g.Square(tokens), 100))
		return plan.Spec{Loss: loss, Gradients: params}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	into := device.Bytes(p.Data(frames))
	for i := range into {
		into[i] = byte(rng.New(7, "frames").Block(0, uint64(i))[0])
	}
	loss := func() float64 {
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		return p.Loss()
	}
	loss()
	var grads [][]float32
	for _, of := range params {
		g, err := p.Gradient(of)
		if err != nil {
			t.Fatal(err)
		}
		grads = append(grads, slices.Clone(g))
	}
	for k, of := range params {
		// Along the gradient itself, where the loss changes most: by the square of its norm.
		norm := 0.0
		for _, v := range grads[k] {
			norm += float64(v) * float64(v)
		}
		if norm == 0 {
			t.Errorf("%s has no gradient", of.Name)
			continue
		}
		was, h := slices.Clone(of.Data), 6e-3/math.Sqrt(norm)
		move := func(by float64) float64 {
			for i := range of.Data {
				of.Data[i] = was[i] + float32(by*float64(grads[k][i]))
			}
			return loss()
		}
		got := (move(h) - move(-h)) / (2 * h)
		copy(of.Data, was)
		if !(math.Abs(got-norm) <= 0.05*norm) {
			t.Errorf("%s: the loss changes by %v along its gradient, want %v", of.Name, got, norm)
		}
	}
}

// TestFramesAreActedOn acts on frames: another frame, another action; and the layers of the policy are shown.
func TestFramesAreActedOn(t *testing.T) {
	c := sighted()
	x := newAgent(t, c, nil, 1)
	size := c.Side * c.Side * agent.Colours
	act := func(fill byte) []float32 {
		a := agent.Acting{
			Copies: 1, Obs: make([]float32, c.Shape.Obs), Actions: make([]float32, c.Shape.Act), State: make([]float32, x.StateSize()), Mode: agent.Mean,
			Stacks: [][][]byte{{bytes.Repeat([]byte{fill}, size)}},
		}
		if err := x.Act(&a); err != nil {
			t.Fatal(err)
		}
		return a.Actions
	}
	if slices.Equal(act(0), act(200)) {
		t.Error("the same action for two frames")
	}
	layers, err := x.Activations(agent.Looks{Rows: 2, Stacks: [][][]byte{{make([]byte, size)}, {bytes.Repeat([]byte{99}, size)}}})
	if err != nil || len(layers) != 5 {
		t.Errorf("%d layers, %v", len(layers), err)
	}
	if layers, err := x.Activations(agent.Looks{Rows: 1, Numbers: make([]float32, c.Shape.Obs)}); layers != nil || err != nil {
		t.Errorf("layers for numbers: %v, %v", layers, err)
	}
}

// TestParameters compares the formula with the tensors, with and without frames.
func TestParameters(t *testing.T) {
	bothObserved(t, func(t *testing.T, c Config) {
		total := 0
		for _, p := range newNetworks(c, rng.New(1, "test")).learned() {
			total += len(p.Data)
		}
		if float64(total) != c.weights() {
			t.Errorf("%d parameters, %v by formula", total, c.weights())
		}
	})
}
