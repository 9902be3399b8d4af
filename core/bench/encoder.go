package bench

import (
	"fmt"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// pixels is a shape of DrQ-v2's encoder (Yarats et al. 2022): 3×3 convolutions on three colours of
// three frames.
type pixels struct {
	agent.Pixels
	batch int
}

var (
	paperPixels = pixels{agent.DefaultPixels, rows}
	demoPixels  = pixels{agent.Pixels{Side: 64, Stack: 3, Pad: 4, Channels: 32, Strides: []int{2, 2, 1, 1}, Feature: 50}, 128}
)

// encoder returns the encoder's layers and the number of its outputs per image.
func (p pixels) encoder() (layers []nn.Conv, flat int) {
	windows, flat := p.Layers()
	for i, over := range windows {
		layers = append(layers, nn.NewConv(fmt.Sprint("conv", i+1), over, p.Channels, nn.Orthogonal(math.Sqrt2), rng.New(1, "bench")))
	}
	return layers, flat
}

// encode builds the encoder.
func encode(g *op.Graph, layers []nn.Conv, x *op.Node) *op.Node {
	for _, l := range layers {
		x = g.ReLU(l.Apply(g, x))
	}
	return x
}

// flops is the number of floating-point operations of the convolutions of one image, forward.
func flops(layers []nn.Conv) (n float64) {
	for _, l := range layers {
		n += 2 * float64(l.Over.Places()*l.Over.Patch()*l.B.Shape[0])
	}
	return n
}

func encoder(of pixels) maker {
	return func(dev device.Device) (*plan.Program, float64, error) {
		layers, _ := of.encoder()
		x := random("x", of.batch, layers[0].Over.Size())
		var y *op.Node
		g, err := op.Build("encoder", func(g *op.Graph) { y = encode(g, layers, g.Bind(x)) })
		if err != nil {
			return nil, 0, err
		}
		p, err := plan.Compile(g, plan.Spec{Outputs: []*op.Node{y}}, dev)
		return p, float64(of.batch) * flops(layers), err
	}
}

// encoderFit is forward, backward and Adam, without a gradient for the images.
func encoderFit(of pixels) maker {
	return func(dev device.Device) (*plan.Program, float64, error) {
		layers, flat := of.encoder()
		x, y := random("x", of.batch, layers[0].Over.Size()), random("y", of.batch, flat)
		var params []*op.Tensor
		for _, l := range layers {
			params = append(params, l.Params()...)
		}
		p, err := fit(dev, "encoder fit", params, []*op.Tensor{x, y}, func(g *op.Graph) *op.Node {
			return g.SquaredError(encode(g, layers, g.Bind(x)), g.Bind(y), float64(of.batch))
		})
		return p, float64(of.batch) * (3*flops(layers) - flops(layers[:1])), err
	}
}
