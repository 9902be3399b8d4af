package bench

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// Tiled is a device that divides products into tiles and can be set to use one of several tile
// sizes.
type Tiled interface {
	device.Device
	Precision() kernel.Precision
	Tiles() []kernel.Tile
	// UseTile selects the tile for programs compiled from now on; "" selects the best one again.
	UseTile(name string)
}

// Bounds on how far devices may differ, relative to the largest number.
const (
	lossBound    = 1e-3 // losses after steps of Adam
	productBound = 2e-5 // sums of thousands of terms in float32, in another order
	tensorBound  = 2e-4 // sums in tensor cores, which truncate instead of rounding
)

// roundings bounds how far products of normal numbers may differ if one of the two devices rounds
// their factors.
var roundings = map[kernel.Precision]float64{kernel.FP32: productBound, kernel.TF32: 4e-3, kernel.BF16: 3.2e-2}

// Agree has two devices do the same small work and says where their results differ. The work is
// three training steps of a small network and of convolutions, of which it compares the losses, and
// a layer large enough for a GPU's matrix units, whose factors these units round. On a Tiled device
// it adds a layer for each tile, two tiles in each dimension, whose factors need no rounding. Agree
// tries out a device that has not been seen before, so that no run is given to an untested device.
func Agree(dev, reference device.Device) error {
	for _, small := range []struct {
		what   string
		losses func(device.Device) ([]float32, error)
	}{{"a small network", networkLosses}, {"small images", imageLosses}} {
		want, err := small.losses(reference)
		if err != nil {
			return err
		}
		got, err := small.losses(dev)
		if err != nil {
			return fmt.Errorf("%s: %w", small.what, err)
		}
		if err := near("the losses of "+small.what, got, want, lossBound); err != nil {
			return err
		}
	}
	tiled, ok := dev.(Tiled)
	precision := kernel.FP32
	if ok {
		precision = tiled.Precision()
	}
	if err := (Layer{1, 256, 512, 512}).Agree(dev, reference, func(x float32) float32 { return x }, roundings[precision]); err != nil {
		return err
	}
	if !ok {
		return nil
	}
	defer tiled.UseTile("")
	for _, t := range tiled.Tiles() {
		if err := AgreeTile(tiled, reference, t, 2); err != nil {
			return err
		}
	}
	return nil
}

// AgreeTile is the part of Agree for one tile, with the given number of tiles in each dimension.
func AgreeTile(dev Tiled, reference device.Device, t kernel.Tile, tiles int) error {
	dev.UseTile(t.Name)
	l := Layer{1, tiles * t.M, tiles * t.N, tiles * t.N}
	if err := l.Agree(dev, reference, dev.Precision().Round, BoundOf(dev.Precision())); err != nil {
		return fmt.Errorf("tile %s: %w", t.Name, err)
	}
	return nil
}

// BoundOf bounds how far results of products may differ, relative to the largest, if the factors
// need no rounding.
func BoundOf(p kernel.Precision) float64 {
	if p == kernel.FP32 {
		return productBound
	}
	return tensorBound
}

// networkLosses returns the losses of three Adam steps of a small network.
func networkLosses(dev device.Device) ([]float32, error) {
	const batch, inputs = 64, 24
	net := nn.NewEnsembleMLP("agree", 2, []int{inputs, 64, 64, 1}, nn.XavierUniform, nn.ReLU, rng.New(1, "agree"))
	x, y := random("x", batch, inputs), random("y", batch, 1)
	return losses(dev, net.Params(), func(g *op.Graph) *op.Node { return g.SquaredError(net.Apply(g, g.Bind(x)), g.Bind(y), batch) })
}

// imageLosses returns the losses of three Adam steps of convolutions of small images.
func imageLosses(dev device.Device) ([]float32, error) {
	const batch = 6
	layers, flat := pixels{agent.Pixels{Side: 16, Stack: 3, Channels: 8, Strides: []int{2, 1}}, batch}.encoder()
	x, y := random("x", batch, layers[0].Over.Size()), random("y", batch, flat)
	var params []*op.Tensor
	for _, l := range layers {
		params = append(params, l.Params()...)
	}
	return losses(dev, params, func(g *op.Graph) *op.Node {
		return g.SquaredError(encode(g, layers, g.Bind(x)), g.Bind(y), float64(batch*flat))
	})
}

// losses returns the losses of three Adam steps.
func losses(dev device.Device, params []*op.Tensor, build func(*op.Graph) *op.Node) (said []float32, err error) {
	p, err := fitAt(3e-3, dev, "agree", params, nil, build)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	for i := range uint64(3) {
		if err := p.Run(i); err != nil {
			return nil, err
		}
		said = append(said, float32(p.Loss()))
	}
	return said, nil
}
