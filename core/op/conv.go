package op

import (
	"errors"
	"fmt"

	"pgrlab/core/window"

	"gorgonia.org/tensor"
)

// Conv is a convolution as in neural networks, that is a cross-correlation. The rows of x [B,
// Height·Width·Channels] are images in the order that package window describes; w is
// [Kernel·Kernel·Channels, O] with rows in the order (ky, kx, channel), and b is [O]. The result is
// [B, places·O], again in NHWC order. Padding is zero.
//
// PyTorch stores w as (O, channel, ky, kx) and images as NCHW.
func (g *Graph) Conv(x, w, b *Node, over window.Geometry) *Node {
	return g.apply(Conv, Attr{Window: over}, x, w, b)
}

// MaxPool is the largest number of each channel in every window over the images in the rows of x,
// as [B, places·Channels]. Padding is never the largest; NaN is. The gradient goes to the first of
// equal numbers.
func (g *Graph) MaxPool(x *Node, over window.Geometry) *Node {
	return g.apply(MaxPool, Attr{Window: over}, x)
}

// images checks that the rows of x are images.
func images(a Attr, x tensor.Shape) error {
	if err := a.Window.Check(); err != nil {
		return err
	}
	return sized(a, x)
}

// sized checks that the rows of x have the size of an image.
func sized(a Attr, x tensor.Shape) error {
	if len(x) != 2 {
		return errors.New("want images without members, [B,C]")
	}
	if size := a.Window.Size(); x[1] != size {
		return fmt.Errorf("images of %d×%d×%d have %d columns", a.Window.Height, a.Window.Width, a.Window.Channels, size)
	}
	return nil
}

func init() {
	rules[Conv] = rule{
		name: "Conv", wrt: []bool{true, true, true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			x, w, b := in[0], in[1], in[2]
			if err := images(a, x); err != nil {
				return nil, err
			}
			if len(w) != 2 || w[0] != a.Window.Patch() {
				return nil, fmt.Errorf("w must have a row for each number in a window, %d", a.Window.Patch())
			}
			if len(b) != 1 || b[0] != w[1] {
				return nil, errors.New("b must be w without its rows")
			}
			return tensor.Shape{x[0], a.Window.Places() * w[1]}, nil
		},
		do32: conv[float32], do64: conv[float64],
		grad: func(d derivation) []*Node {
			x, w := d.in[0], d.in[1]
			return []*Node{
				d.apply(ConvDX, d.attr, d.dout, w),
				d.apply(ConvDW, d.attr, x, d.dout),
				d.apply(ConvDB, d.attr, d.dout),
			}
		},
	}
	rules[ConvDX] = rule{name: "ConvDX",
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			return tensor.Shape{in[0][0], a.Window.Size()}, nil
		}, do32: convDX[float32], do64: convDX[float64]}
	rules[ConvDW] = rule{name: "ConvDW",
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			return tensor.Shape{a.Window.Patch(), in[1][1] / a.Window.Places()}, nil
		}, do32: convDW[float32], do64: convDW[float64]}
	rules[ConvDB] = rule{name: "ConvDB",
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			return tensor.Shape{in[0][1] / a.Window.Places()}, nil
		}, do32: convDB[float32], do64: convDB[float64]}
	rules[MaxPool] = rule{
		name: "MaxPool", wrt: []bool{true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if err := images(a, in[0]); err != nil {
				return nil, err
			}
			return tensor.Shape{in[0][0], a.Window.Places() * a.Window.Channels}, nil
		},
		do32: maxPool[float32], do64: maxPool[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(MaxPoolGrad, d.attr, d.in[0], d.dout)}
		},
	}
	rules[MaxPoolGrad] = rule{name: "MaxPoolGrad", shape: first, do32: maxPoolGrad[float32], do64: maxPoolGrad[float64]}
}

// eachRow calls visit for each image of two operands or results with the same number of rows.
func eachRow[T float](x, y []T, rows int, visit func(x, y []T)) {
	if rows == 0 {
		return
	}
	n, m := len(x)/rows, len(y)/rows
	for i := range rows {
		visit(x[i*n:(i+1)*n], y[i*m:(i+1)*m])
	}
}

func conv[T float](c call[T]) {
	w, b, channels := c.in[1], c.in[2], c.a.Window.Channels
	out := len(b)
	eachRow(c.in[0], c.out, c.shape[0], func(x, y []T) {
		for i := range y {
			y[i] = b[i%out]
		}
		c.a.Window.Taps(func(place, tap, pixel int) {
			for k, v := range x[pixel*channels : (pixel+1)*channels] {
				row := w[(tap*channels+k)*out:]
				for j := range out {
					y[place*out+j] += v * row[j]
				}
			}
		})
	})
}

// convDX adds to each pixel the gradient from every window that covers the pixel.
func convDX[T float](c call[T]) {
	w, channels, out := c.in[1], c.a.Window.Channels, c.ins[1][1]
	eachRow(c.in[0], c.out, c.shape[0], func(dz, dx []T) {
		c.a.Window.Taps(func(place, tap, pixel int) {
			for k := range channels {
				row := w[(tap*channels+k)*out:]
				for j := range out {
					dx[pixel*channels+k] += dz[place*out+j] * row[j]
				}
			}
		})
	})
}

func convDW[T float](c call[T]) {
	channels, out := c.a.Window.Channels, c.shape[1]
	eachRow(c.in[0], c.in[1], c.ins[0][0], func(x, dz []T) {
		c.a.Window.Taps(func(place, tap, pixel int) {
			for k, v := range x[pixel*channels : (pixel+1)*channels] {
				row := c.out[(tap*channels+k)*out:]
				for j := range out {
					row[j] += v * dz[place*out+j]
				}
			}
		})
	})
}

func convDB[T float](c call[T]) {
	for i, v := range c.in[0] {
		c.out[i%len(c.out)] += v
	}
}

// largest calls visit with the pixel of the largest number in every window, for each channel.
func largest[T float](over window.Geometry, x []T, visit func(place, channel, pixel int)) {
	channels := over.Channels
	best := make([]int, over.Places()*channels) // the pixel plus one; 0: none yet
	over.Taps(func(place, _, pixel int) {
		for k := range channels {
			at := &best[place*channels+k]
			if v := x[pixel*channels+k]; *at == 0 || v > x[(*at-1)*channels+k] || v != v {
				*at = pixel + 1
			}
		}
	})
	for i, pixel := range best {
		visit(i/channels, i%channels, pixel-1)
	}
}

func maxPool[T float](c call[T]) {
	channels := c.a.Window.Channels
	eachRow(c.in[0], c.out, c.shape[0], func(x, y []T) {
		largest(c.a.Window, x, func(place, k, pixel int) { y[place*channels+k] = x[pixel*channels+k] })
	})
}

func maxPoolGrad[T float](c call[T]) {
	channels, size := c.a.Window.Channels, c.a.Window.Size()
	rows := c.shape[0]
	for i := range rows {
		dx, dy := c.out[i*size:(i+1)*size], c.in[1][i*len(c.in[1])/rows:]
		largest(c.a.Window, c.in[0][i*size:(i+1)*size], func(place, k, pixel int) {
			dx[pixel*channels+k] += dy[place*channels+k]
		})
	}
}
