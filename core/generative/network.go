package generative

import (
	"pgrlab/core/device"
	"pgrlab/core/generative/mlp"
	"pgrlab/core/nn"
	"pgrlab/core/rng"
)

// network is the network of a diffusion model, with the model's configuration.
type network struct {
	*mlp.Network
	config Config
}

// drawNetwork returns a network for vectors of that width with its initial weights, which the device's workers draw together, if
// it lends them.
func drawNetwork(c Config, name string, width int, s rng.Stream, dev device.Device) *network {
	var layers []func()
	n := newNetwork(c, name, width, s, func(w, b []float32, in, out int, s rng.Stream) {
		layers = append(layers, func() { nn.TorchDefault(w, b, in, out, s) })
	})
	draw := func(part, parts int) {
		for i := part; i < len(layers); i += parts {
			layers[i]()
		}
	}
	if lends, is := dev.(device.Sharer); is {
		lends.Share(draw)()
	} else {
		draw(0, 1)
	}
	return n
}

// likeNetwork returns a network with the weights of another one.
func likeNetwork(of *network, name string, width int, s rng.Stream) *network {
	n := newNetwork(of.config, name, width, s, func([]float32, []float32, int, int, rng.Stream) {})
	nn.Copy(n.State(), of.State())
	return n
}

// newNetwork returns a network for vectors of that width, with weights by init.
func newNetwork(c Config, name string, width int, s rng.Stream, init nn.Init) *network {
	return &network{config: c, Network: mlp.New(mlp.Sizes{
		Architecture: c.Architecture, Width: c.Width, Blocks: c.Blocks, Activation: c.Activation, Embedding: c.Embedding,
		Fourier: c.Fourier, Conditional: c.Conditional,
	}, name, width, s, init)}
}
