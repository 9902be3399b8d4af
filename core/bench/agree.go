package bench

import (
	"fmt"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// Agree has two devices do the same small work and says where they differ: the
// losses of three training steps of a small network, and a product large enough
// for a GPU's matrix units, whose numbers may differ by that share of the largest,
// for what they are rounded to. It is how a device that has never been seen is
// tried before somebody's run is given to it.
func Agree(dev, reference device.Device, rounding float64) error {
	for _, work := range []struct {
		name  string
		bound float64
		do    func(device.Device) ([]float32, error)
	}{
		{"the losses of a small network", 1e-3, smallLosses},
		{"a product of 256×512×512", rounding, product},
	} {
		want, err := work.do(reference)
		if err != nil {
			return err
		}
		got, err := work.do(dev)
		if err != nil {
			return fmt.Errorf("%s: %w", work.name, err)
		}
		largest, worst := 0.0, 0.0
		for i, w := range want {
			largest = max(largest, math.Abs(float64(w)))
			if d := math.Abs(float64(got[i] - w)); !(d <= worst) { // NaN is the worst
				worst = d
			}
		}
		if !(worst <= work.bound*largest) {
			return fmt.Errorf("%s: off by %.2g where the largest number is %.2g; at most %.2g was expected", work.name, worst, largest, work.bound*largest)
		}
	}
	return nil
}

// smallLosses are those of three steps of Adam.
func smallLosses(dev device.Device) ([]float32, error) {
	const batch, inputs = 64, 24
	net := nn.NewEnsembleMLP("agree", 2, []int{inputs, 64, 64, 1}, nn.XavierUniform, nn.ReLU, rng.New(1, "agree"))
	x, y, rate := random("x", batch, inputs), random("y", batch, 1), op.NewTensor("rate", 1)
	rate.Data[0] = 3e-3
	var loss *op.Node
	g, err := op.Build("agree", func(g *op.Graph) { loss = g.SquaredError(net.Apply(g, g.Bind(x)), g.Bind(y), batch) })
	if err != nil {
		return nil, err
	}
	p, err := plan.Compile(g, plan.Spec{Loss: loss, Optimiser: plan.NewAdam(net.Params(), plan.DefaultAdam, rate)}, dev)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var losses []float32
	for i := range uint64(3) {
		if err := p.Run(i); err != nil {
			return nil, err
		}
		losses = append(losses, float32(p.Loss()))
	}
	return losses, nil
}

// product is one layer without an activation.
func product(dev device.Device) ([]float32, error) {
	const batch, inputs, outputs = 256, 512, 512
	layer := nn.NewLinear("agree", inputs, outputs, nn.TorchDefault, rng.New(1, "agree"))
	x := random("x", batch, inputs)
	var y *op.Node
	g, err := op.Build("product", func(g *op.Graph) { y = layer.Apply(g, g.Bind(x)) })
	if err != nil {
		return nil, err
	}
	p, err := plan.Compile(g, plan.Spec{Outputs: []*op.Node{y}}, dev)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if err := p.Run(0); err != nil {
		return nil, err
	}
	return append([]float32(nil), p.Data(y)...), nil
}
