package relevance

import (
	"fmt"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// convLayer is a convolution in a function of frames: its channels and its window.
type convLayer struct{ out, kernel, stride, pad int }

// windows returns the windows of consecutive layers and the size of the images that the last layer
// makes. The first layer looks at stacks of f.Stack frames whose sides are side pixels.
func windows(layers []convLayer, f Frames, side int) (over []window.Geometry, made window.Geometry) {
	made = window.Geometry{Height: side, Width: side, Channels: f.Stack * colours}
	for _, l := range layers {
		at := made
		at.Kernel, at.Stride, at.Pad = l.kernel, l.stride, l.pad
		over, made = append(over, at), window.Geometry{Channels: l.out}
		made.Height, made.Width = at.Out()
	}
	return over, made
}

// convs are consecutive convolutions.
type convs []nn.Conv

// newConvs samples the weights of layers over the given windows.
func newConvs(name string, layers []convLayer, over []window.Geometry, init nn.Init, s rng.Stream) (all convs) {
	for i, l := range layers {
		all = append(all, nn.NewConv(fmt.Sprintf("%s.conv%d", name, i+1), over[i], l.out, init, s))
	}
	return all
}

// apply returns the output of the convolutions for images, with the activation after each of them.
func (all convs) apply(g *op.Graph, x *op.Node, act nn.Activation) *op.Node {
	for _, l := range all {
		x = act(g, l.Apply(g, x))
	}
	return x
}

func (all convs) params() (tensors []*op.Tensor) {
	for _, l := range all {
		tensors = append(tensors, l.Params()...)
	}
	return tensors
}

// convNumbers counts the parameters of layers over the given windows, and the numbers that they
// compute for an image.
func convNumbers(layers []convLayer, over []window.Geometry) (parameters, made float64) {
	for i, l := range layers {
		height, width := over[i].Out()
		parameters += float64(over[i].Patch()+1) * float64(l.out)
		made += float64(height) * float64(width) * float64(l.out)
	}
	return parameters, made
}
