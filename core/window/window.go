// Package window describes the geometry of a square window that moves over an image, which
// convolution and pooling have in common.
//
// An image is a row of a batch in NHWC order: channel c of pixel (y,x) is the number
// (y·Width+x)·Channels+c of the row. The pixels of one line of a window are thus contiguous, and a
// product can read them in place. Frames.Stack turns frames into images.
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

// CheckImage reports what is wrong with the image alone.
func (g Geometry) CheckImage() error {
	if g.Height < 1 || g.Width < 1 || g.Channels < 1 {
		return fmt.Errorf("an image of %d×%d×%d has no pixels", g.Height, g.Width, g.Channels)
	}
	return nil
}

// Check reports what is wrong with a geometry.
func (g Geometry) Check() error {
	if err := g.CheckImage(); err != nil {
		return err
	}
	switch {
	case g.Kernel < 1 || g.Stride < 1:
		return fmt.Errorf("kernel %d and stride %d must be positive", g.Kernel, g.Stride)
	case g.Pad < 0 || g.Pad >= g.Kernel:
		return fmt.Errorf("pad %d must be from 0 to %d, one less than the kernel", g.Pad, g.Kernel-1)
	case min(g.Height, g.Width)+2*g.Pad < g.Kernel:
		return fmt.Errorf("an image of %d×%d with pad %d is smaller than the kernel, %d", g.Height, g.Width, g.Pad, g.Kernel)
	}
	return nil
}

// Size is the number of numbers in an image.
func (g Geometry) Size() int { return g.Height * g.Width * g.Channels }

// Patch is the number of numbers that a window covers, over all channels.
func (g Geometry) Patch() int { return g.Kernel * g.Kernel * g.Channels }

// Out is the number of places that the window takes, down and across. Pixels beyond the last place
// are not read.
func (g Geometry) Out() (height, width int) {
	return (g.Height+2*g.Pad-g.Kernel)/g.Stride + 1, (g.Width+2*g.Pad-g.Kernel)/g.Stride + 1
}

// Places is the number of places that the window takes.
func (g Geometry) Places() int {
	height, width := g.Out()
	return height * width
}

// Taps visits the pixels that the windows cover, place by place and line by line. It passes the
// index of the place, of the pixel in the window, and of the pixel in the image, and leaves out
// padding.
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
