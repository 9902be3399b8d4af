package optest

import (
	"fmt"

	"pgrlab/core/op"
	"pgrlab/core/window"
)

// windows lists windows that encoders and ResNets use, and some edge cases.
var windows = []window.Geometry{
	{Height: 7, Width: 6, Kernel: 3, Stride: 1},          // DrQ-v2
	{Height: 9, Width: 8, Kernel: 3, Stride: 2},          // DrQ-v2's first layer: the stride does not divide one side
	{Height: 6, Width: 7, Kernel: 3, Stride: 1, Pad: 1},  // ResNet
	{Height: 7, Width: 8, Kernel: 3, Stride: 2, Pad: 1},  // ResNet, half the size
	{Height: 5, Width: 6, Kernel: 1, Stride: 1},          // a layer applied to each pixel
	{Height: 6, Width: 5, Kernel: 1, Stride: 2},          // ResNet's shortcut: some pixels are under no window
	{Height: 8, Width: 8, Kernel: 4, Stride: 2, Pad: 1},  // DreamerV3's first version
	{Height: 9, Width: 11, Kernel: 4, Stride: 2},         // PPO
	{Height: 6, Width: 5, Kernel: 5, Stride: 1, Pad: 2},  // DreamerV3
	{Height: 11, Width: 9, Kernel: 7, Stride: 2, Pad: 3}, // ResNet's first layer
	{Height: 12, Width: 16, Kernel: 8, Stride: 4},        // the first layer of PPO and RND
	{Height: 2, Width: 3, Kernel: 3, Stride: 3, Pad: 2},  // mostly padding
}

// Images returns the cases of operations on images; C of the shape decides on channels.
func Images() []Case {
	all := channelNorms()
	for _, over := range windows {
		all = append(all, Case{Name: fmt.Sprintf("Conv %s", named(over)), Flat: true, Empty: true, Build: func(d *Builder) *op.Node {
			x, over := image(d, over)
			return convolved(d, x, over, 1)
		}})
	}
	for _, over := range []window.Geometry{windows[2], {Height: 6, Width: 7, Kernel: 2, Stride: 2}, {Height: 7, Width: 6, Kernel: 3, Stride: 2, Pad: 1}} {
		all = append(all, Case{Name: fmt.Sprintf("MaxPool %s", named(over)), Flat: true, Empty: true, Build: func(d *Builder) *op.Node {
			x, over := image(d, over)
			return d.MaxPool(x, over)
		}})
	}
	for _, over := range []window.Geometry{{Height: 3, Width: 2}, {Height: 1, Width: 4}} {
		all = append(all, Case{Name: fmt.Sprintf("Upsample of %d×%d", over.Height, over.Width), Flat: true, Empty: true, Build: func(d *Builder) *op.Node {
			x, over := image(d, over)
			return d.Upsample(x, over)
		}})
	}
	all = append(all, Case{Name: "layer of DreamerV3's encoder", Flat: true, Empty: true, Build: func(d *Builder) *op.Node {
		x, over := image(d, window.Geometry{Height: 6, Width: 4, Kernel: 5, Stride: 1, Pad: 2})
		pool := window.Geometry{Height: 6, Width: 4, Channels: outputs(over.Channels), Kernel: 2, Stride: 2}
		h := d.MaxPool(convolved(d, x, over, 1), pool)
		return d.SiLU(d.RMSNorm(h, d.Param("gamma", Normal, pool.Channels), 1e-2))
	}})
	all = append(all, Case{Name: "loss of frames", Flat: true, Empty: true, Build: func(d *Builder) *op.Node {
		x, over := image(d, window.Geometry{Height: 3, Width: 2})
		over.Height, over.Width, over.Kernel, over.Stride, over.Pad = 6, 4, 5, 1, 2
		p := d.Sigmoid(convolved(d, d.Upsample(x, window.Geometry{Height: 3, Width: 2, Channels: over.Channels}), over, 1))
		size := p.Shape()[1]
		return d.SquaredError(p, d.FromBytes(d.Given("frames", Wide(3), d.B, op.Words(size)), size, 0), 3)
	}})
	return append(all, Case{Name: "layers of Conv", Flat: true, Empty: true, Build: func(d *Builder) *op.Node {
		x, over := image(d, windows[1])
		h := d.ReLU(convolved(d, x, over, 1))
		height, width := over.Out()
		next := window.Geometry{Height: height, Width: width, Channels: outputs(over.Channels), Kernel: 3, Stride: 1}
		return convolved(d, h, next, 2)
	}})
}

func named(over window.Geometry) string {
	return fmt.Sprintf("%d/%d of %d×%d pad %d", over.Kernel, over.Stride, over.Height, over.Width, over.Pad)
}

// image is an operand of images.
func image(d *Builder, over window.Geometry) (*op.Node, window.Geometry) {
	over.Channels = 1 + (d.C-1)%33
	return d.Param("x", Normal, d.B, over.Size()), over
}

// outputs maps the number of channels of a result to one near it: many channels become numbers
// below, at and above the widths of vectors. With that many terms, differences of losses would
// say little.
func outputs(channels int) int {
	if channels < 10 {
		return []int{5, 1, 4, 2, 3}[channels%5]
	}
	return []int{16, 32, 33, 8, 49}[channels%5]
}

// convolved is a convolution; layer distinguishes its parameters from those of others.
func convolved(d *Builder, x *op.Node, over window.Geometry, layer int) *op.Node {
	out := outputs(over.Channels)
	scale := Wide(1 / float64(over.Kernel*over.Kernel))
	return d.Conv(x, d.Param(fmt.Sprint("w", layer), scale, over.Patch(), out), d.Param(fmt.Sprint("b", layer), Normal, out), over)
}

// channelNorms returns batch norms of images of three by two pixels.
func channelNorms() []Case {
	const places = 6
	return []Case{
		{Name: "ChannelNorm", Flat: true, Tolerance: 3e-5, Build: func(d *Builder) *op.Node {
			x := d.Param("x", Normal, d.Rows(places*d.C)...)
			return d.ChannelNorm(x, d.Param("gamma", Normal, d.C), d.Param("beta", Normal, d.C), d.ChannelStats(x, d.C))
		}},
		{Name: "ChannelNormEval", Flat: true, Empty: true, Build: func(d *Builder) *op.Node {
			x := d.Given("x", Normal, d.Rows(places*d.C)...)
			return d.ChannelNormEval(x, d.Given("gamma", Normal, d.C), d.Given("beta", Normal, d.C), d.Given("running", Positive, op.StatsRows, d.C))
		}},
	}
}
