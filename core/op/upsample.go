package op

import (
	"pgrlab/core/window"

	"gorgonia.org/tensor"
)

// Upsample makes images of twice the height and twice the width: each pixel of the images in the rows of
// x [B, Height·Width·Channels] becomes four equal ones, as [B, 2·Height·2·Width·Channels]. Of over only the
// image counts. DreamerV3's decoder of images enlarges them so before each convolution (Hafner et al.
// 2025, Nature; danijar/dreamerv3 dreamerv3/rssm.py Decoder).
func (g *Graph) Upsample(x *Node, over window.Geometry) *Node {
	image := window.Geometry{Height: over.Height, Width: over.Width, Channels: over.Channels}
	return g.apply(Upsample, Attr{Window: image}, x)
}

func init() {
	rules[Upsample] = rule{name: "Upsample", wrt: []bool{true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if err := each(a.Window.CheckImage(), sized(a, in[0])); err != nil {
				return nil, err
			}
			return tensor.Shape{in[0][0], 4 * in[0][1]}, nil
		}, do32: upsample[float32], do64: upsample[float64],
		grad: func(d derivation) []*Node { return []*Node{d.apply(UpsampleGrad, d.attr, d.dout)} }}
	rules[UpsampleGrad] = rule{name: "UpsampleGrad",
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			return tensor.Shape{in[0][0], in[0][1] / 4}, nil
		}, do32: upsampleGrad[float32], do64: upsampleGrad[float64]}
}

// enlarged visits each number of n images of twice the size, with the number that it comes from.
func enlarged(small window.Geometry, n int, visit func(large, from int)) {
	h, w, channels := small.Height, small.Width, small.Channels
	for image := range n {
		for y := range 2 * h {
			for x := range 2 * w {
				for k := range channels {
					visit(((image*2*h+y)*2*w+x)*channels+k, ((image*h+y/2)*w+x/2)*channels+k)
				}
			}
		}
	}
}

func upsample[T float](c call[T]) {
	enlarged(c.a.Window, c.shape[0], func(large, from int) { c.out[large] = c.in[0][from] })
}

func upsampleGrad[T float](c call[T]) {
	enlarged(c.a.Window, c.shape[0], func(large, from int) { c.out[from] += c.in[0][large] })
}
