// Package window is the geometry of a square window that moves over an image: what a
// convolution and a pooling have in common.
//
// An image is a row of a batch in NHWC order: pixel (y,x), channel c is the number
// (y·Width+x)·Channels+c of the row. The pixels of one line of a window are then
// side by side, and a product can read them where they are. Frames become images by
// Frames.Stack.
package window

import "fmt"

// Geometry is an image and the window that moves over it. Sides, strides and paddings
// are in pixels.
type Geometry struct {
	Height, Width, Channels int
	Kernel                  int // side of the window
	Stride                  int
	Pad                     int // on each of the four sides; below Kernel
}

// Check says what is wrong with a geometry.
func (g Geometry) Check() error {
	switch {
	case g.Height < 1 || g.Width < 1 || g.Channels < 1:
		return fmt.Errorf("an image of %d×%d×%d has no pixels", g.Height, g.Width, g.Channels)
	case g.Kernel < 1 || g.Stride < 1:
		return fmt.Errorf("kernel %d and stride %d must be positive", g.Kernel, g.Stride)
	case g.Pad < 0 || g.Pad >= g.Kernel:
		return fmt.Errorf("pad %d must be from 0 to %d, one less than the kernel", g.Pad, g.Kernel-1)
	case min(g.Height, g.Width)+2*g.Pad < g.Kernel:
		return fmt.Errorf("an image of %d×%d with pad %d is smaller than the kernel, %d", g.Height, g.Width, g.Pad, g.Kernel)
	}
	return nil
}

// Size is how many numbers an image has.
func (g Geometry) Size() int { return g.Height * g.Width * g.Channels }

// Patch is how many numbers of all channels a window covers.
func (g Geometry) Patch() int { return g.Kernel * g.Kernel * g.Channels }

// Out is how many places the window takes, down and across. What is left of a side
// after the last of them is not read.
func (g Geometry) Out() (height, width int) {
	return (g.Height+2*g.Pad-g.Kernel)/g.Stride + 1, (g.Width+2*g.Pad-g.Kernel)/g.Stride + 1
}

// Places is how many places the window takes.
func (g Geometry) Places() int {
	height, width := g.Out()
	return height * width
}

// Taps visits what the windows cover of the image, place by place and line by line:
// the number of the place, that of the pixel in the window, and that in the image. It
// leaves out what is padding.
func (g Geometry) Taps(visit func(place, tap, pixel int)) {
	height, width := g.Out()
	for i := range height * width {
		top, left := i/width*g.Stride-g.Pad, i%width*g.Stride-g.Pad
		for tap := range g.Kernel * g.Kernel {
			y, x := top+tap/g.Kernel, left+tap%g.Kernel
			if y >= 0 && y < g.Height && x >= 0 && x < g.Width {
				visit(i, tap, y*g.Width+x)
			}
		}
	}
}
