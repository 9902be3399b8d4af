package relevance

import (
	"fmt"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// convLayer is a convolution of a function of frames: its channels and its window.
type convLayer struct{ out, kernel, stride, pad int }

// windows are the windows of layers behind each other, the first one over stacks of frames of
// f's length whose sides are side pixels, and the images that the last one makes.
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

// convs are convolutions behind each other.
type convs []nn.Conv

// newConvs samples the weights of layers over such windows.
func newConvs(name string, layers []convLayer, over []window.Geometry, init nn.Init, s rng.Stream) (all convs) {
	for i, l := range layers {
		all = append(all, nn.NewConv(fmt.Sprintf("%s.conv%d", name, i+1), over[i], l.out, init, s))
	}
	return all
}

// apply is what they make of images, the activation behind each of them.
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

// convNumbers is how many numbers layers over such windows have to learn, and how many they
// make of an image.
func convNumbers(layers []convLayer, over []window.Geometry) (parameters, made float64) {
	for i, l := range layers {
		height, width := over[i].Out()
		parameters += float64(over[i].Patch()+1) * float64(l.out)
		made += float64(height) * float64(width) * float64(l.out)
	}
	return parameters, made
}
