package nn

import (
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// Conv is a convolution of images in NHWC order: W is [Kernel·Kernel·Channels, out] with
// rows in the order (ky, kx, channel), B [out].
type Conv struct {
	W, B *op.Tensor
	Over window.Geometry
}

// NewConv returns a layer with initial weights; its fan-in is the size of a window over all
// channels.
func NewConv(name string, over window.Geometry, out int, init Init, s rng.Stream) Conv {
	l := NewLinear(name, over.Patch(), out, init, s)
	return Conv{W: l.W, B: l.B, Over: over}
}

// Apply builds the layer.
func (l Conv) Apply(g *op.Graph, x *op.Node) *op.Node {
	return g.Conv(x, g.Bind(l.W), g.Bind(l.B), l.Over)
}

// Next returns a window over the images that the layer outputs.
func (l Conv) Next(kernel, stride, pad int) window.Geometry {
	height, width := l.Over.Out()
	return window.Geometry{Height: height, Width: width, Channels: l.B.Shape[0], Kernel: kernel, Stride: stride, Pad: pad}
}

// Params are the layer's weights and biases.
func (l Conv) Params() []*op.Tensor { return []*op.Tensor{l.W, l.B} }
