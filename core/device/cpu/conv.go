package cpu

import (
	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/window"
)

func init() {
	lowerings[device.Conv] = conv
	lowerings[device.ConvDX] = convDX
	lowerings[device.ConvDW] = convDW
	lowerings[device.ConvDB] = convDB
}

// Convolutions are products whose left operand is read from the images in place: the windows of one
// line of places are rows that overlap. No matrix of windows is ever written; an image is copied
// only if zeros must surround it.

// frame is an image with zeros around it, with lines of pixels of a number of channels.
type frame struct {
	height, width, channels          int
	top, left, bottom, right, stride int         // stride is the stride of a line, in numbers
	memory                           [][]float32 // indexed by the share's place
}

func (c *compiler) newFrame(height, width, channels, before, below, after int) frame {
	f := frame{height: height, width: width, channels: channels, top: before, left: before, bottom: below, right: after}
	f.stride = width * channels
	if f.bare() {
		return f
	}
	f.stride = (before + width + after) * channels
	f.memory = c.perShare((before + height + below) * f.stride)
	return f
}

// bare reports that there are no zeros.
func (f *frame) bare() bool { return f.top+f.left+f.bottom+f.right == 0 }

// of returns the image in its frame, in the share's memory; the zeros there remain.
func (f *frame) of(s share, image []float32) []float32 {
	if f.bare() {
		return image
	}
	n, m := f.width*f.channels, f.memory[s.place()]
	for y := range f.height {
		copy(m[(f.top+y)*f.stride+f.left*f.channels:], image[y*n:(y+1)*n])
	}
	return m
}

// forward is the geometry of a convolution's product.
type forward struct {
	over    window.Geometry
	frame   frame
	patches kernel.Patches
	out     int // channels of the result
	width   int // number of places in a line
}

func (c *compiler) newForward(over window.Geometry, out int) forward {
	height, width := over.Out()
	f := c.newFrame(over.Height, over.Width, over.Channels, over.Pad, over.Pad, over.Pad)
	return forward{over: over, frame: f, out: out, width: width, patches: kernel.Patches{
		Outer: height, OuterStride: over.Stride * f.stride,
		Inner: width, InnerStride: over.Stride * over.Channels,
		Lines: over.Kernel, LineStride: f.stride,
		Run: over.Kernel * over.Channels, RunStride: 1,
	}}
}

func conv(c *compiler, in device.Instr) {
	x, w, b, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out]
	_, rows, size := c.shape(in.In[0])
	_, k, out := c.shape(in.In[1])
	_, _, cols := c.shape(in.Out)
	if n := neighbours(in.Window, out); n > 1 {
		c.convNarrow(in, n)
		return
	}
	f := c.newForward(in.Window, out)
	panels := c.perShare(c.k.PanelSize(k, out))
	ep := kernel.Epilogue{Bias: b, ReLU: in.ReLU}
	c.imagewise(in, rows, imageStage{
		wholes:  in.In[1:3],
		prepare: func(s share) { c.k.Pack(k, out, w, out, panels[s.place()]) },
		image: func(s share, i int) {
			image := f.frame.of(s, x[i*size:(i+1)*size])
			c.k.MulPatches(f.patches, out, image, panels[s.place()], y[i*cols:(i+1)*cols], f.width*out, out, ep)
		},
	})
}

// convDX handles each remainder of a pixel's place modulo the stride separately: it is a
// convolution of dz with the part of the window that meets such pixels, turned around. It sums from
// the last to the first of the window's lines and pixels in that part.
func convDX(c *compiler, in device.Instr) {
	dz, w, dx := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	_, rows, cols := c.shape(in.In[0])
	_, _, out := c.shape(in.In[1])
	_, _, size := c.shape(in.Out)
	b := newBackward(c, in.Window, out)
	var mask []float32
	if in.Mask != device.None {
		mask = c.data[in.Mask]
	}
	c.imagewise(in, rows, imageStage{
		wholes:  in.In[1:],
		prepare: func(s share) { b.pack(s, w) },
		image: func(s share, i int) {
			to := dx[i*size : (i+1)*size]
			if b.sparse {
				clear(to)
			}
			var masked []float32
			if mask != nil {
				masked = mask[i*size : (i+1)*size]
			}
			b.image(s, dz[i*cols:(i+1)*cols], to, masked)
		},
	})
}

// backward holds what convDX needs for an image.
type backward struct {
	k      *kernel.Family
	over   window.Geometry
	out    int // channels of dz
	frame  frame
	phases []phase
	sparse bool        // some pixels are under no window
	turned [][]float32 // indexed by the share's place
	panels [][]float32
}

// phase is the set of pixels with one remainder down and one remainder across.
type phase struct {
	down, across taps
	from, to     int // where the patches begin in the frame, and the pixels in the image
	panel        int // where the weights begin
	patches      kernel.Patches
}

// taps are the lines of a window, or the pixels of its lines, that meet the pixels of one
// remainder: first, first+stride and so on, count in all.
type taps struct {
	first, count int
	pixel, n     int // the first pixel of that remainder, and the number of such pixels
	place        int // place of the window whose first tap is on that pixel
}

// tapsOf returns the taps for one side of an image.
func tapsOf(over window.Geometry, side, remainder int) taps {
	t := taps{first: remainder, count: (over.Kernel - remainder + over.Stride - 1) / over.Stride}
	t.place = (over.Pad - remainder + over.Stride - 1) / over.Stride
	if over.Pad < remainder {
		t.place = 0
	}
	t.pixel = t.place*over.Stride + remainder - over.Pad
	if t.pixel < side {
		t.n = (side-1-t.pixel)/over.Stride + 1
	}
	return t
}

func newBackward(c *compiler, over window.Geometry, out int) *backward {
	height, width := over.Out()
	b := &backward{k: c.k, over: over, out: out}
	before := (over.Kernel+over.Stride-1)/over.Stride - 1
	// Pixels may remain after the last place that only windows at further places would meet.
	after := func(side, places int) int { return max(0, (side-1+over.Pad)/over.Stride-(places-1)) }
	b.frame = c.newFrame(height, width, out, before, after(over.Height, height), after(over.Width, width))
	size := 0
	for ry := range over.Stride {
		for rx := range over.Stride {
			p := phase{down: tapsOf(over, over.Height, ry), across: tapsOf(over, over.Width, rx), panel: size}
			if p.down.n == 0 || p.across.n == 0 {
				continue
			}
			if p.down.count <= 0 || p.across.count <= 0 {
				b.sparse = true
				continue
			}
			k := p.down.count * p.across.count * out
			size += c.k.PanelSize(k, over.Channels)
			p.from = (before+p.down.place-p.down.count+1)*b.frame.stride + (before+p.across.place-p.across.count+1)*out
			p.to = (p.down.pixel*over.Width + p.across.pixel) * over.Channels
			p.patches = kernel.Patches{
				Outer: p.down.n, OuterStride: b.frame.stride,
				Inner: p.across.n, InnerStride: out,
				Lines: p.down.count, LineStride: b.frame.stride,
				Run: p.across.count * out, RunStride: 1,
			}
			b.phases = append(b.phases, p)
		}
	}
	b.panels, b.turned = c.perShare(size), c.perShare(over.Patch()*out)
	return b
}

// pack arranges the weights of every phase in the order in which its product reads them.
func (b *backward) pack(s share, w []float32) {
	channels := b.over.Channels
	for _, p := range b.phases {
		at := b.turned[s.place()]
		for y := p.down.count - 1; y >= 0; y-- {
			for x := p.across.count - 1; x >= 0; x-- {
				tap := (p.down.first+y*b.over.Stride)*b.over.Kernel + p.across.first + x*b.over.Stride
				b.k.Transpose(channels, b.out, w[tap*channels*b.out:], b.out, at, channels)
				at = at[channels*b.out:]
			}
		}
		b.k.Pack(p.down.count*p.across.count*b.out, channels, b.turned[s.place()], channels, b.panels[s.place()][p.panel:])
	}
}

// image writes the gradient of one image from dz.
func (b *backward) image(s share, dz, dx, mask []float32) {
	from := b.frame.of(s, dz)
	line, pixel := b.over.Stride*b.over.Width*b.over.Channels, b.over.Stride*b.over.Channels
	for i := range b.phases {
		p := &b.phases[i]
		var ep kernel.Epilogue
		if mask != nil {
			ep.Mask = mask[p.to:]
		}
		b.k.MulPatches(p.patches, b.over.Channels, from[p.from:], b.panels[s.place()][p.panel:], dx[p.to:], line, pixel, ep)
	}
}

// convDW sums the images one after the other, and each image place by place.
func convDW(c *compiler, in device.Instr) {
	x, dz := c.data[in.In[0]], c.data[in.In[1]]
	_, rows, size := c.shape(in.In[0])
	_, _, cols := c.shape(in.In[1])
	_, _, out := c.shape(in.Out)
	if n := neighbours(in.Window, out); n > 1 {
		c.convNarrowDW(in, n)
		return
	}
	f := c.newForward(in.Window, out)
	line, p := f.patches.Run*out, f.patches.Turned()
	var panels [][]float32
	if !c.k.Packed(out) {
		panels = c.perShare(c.k.PanelSize(in.Window.Places(), out))
	}
	dw := c.sums(in.Out)
	// The rows of the gradient that a share computes, in each of the window's lines.
	mine := func(s share) (from, to int) { return s.cut(0, f.patches.Run, rowGrain) }
	c.imagewise(in, rows, imageStage{
		summed: f.patches.Run,
		prepare: func(s share) {
			from, to := mine(s)
			for y := range p.Outer {
				clear(dw[s.lane][y*line+from*out : y*line+to*out])
			}
		},
		image: func(s share, i int) {
			from, to := mine(s)
			if from == to {
				return
			}
			p := p
			p.Inner = to - from
			panel := dz[i*cols : (i+1)*cols]
			if panels != nil {
				c.k.Pack(in.Window.Places(), out, panel, out, panels[s.place()])
				panel = panels[s.place()]
			}
			image := f.frame.of(s, x[i*size:(i+1)*size])
			c.k.MulPatches(p, out, image[from*p.InnerStride:], panel, dw[s.lane][from*out:], line, out, kernel.Epilogue{Accumulate: true})
		},
	})
}

// convDB sums the places of one image after the other.
func convDB(c *compiler, in device.Instr) {
	dz := c.data[in.In[0]]
	_, rows, cols := c.shape(in.In[0])
	_, _, out := c.shape(in.Out)
	db, one := c.sums(in.Out), c.perShare(out)
	c.imagewise(in, rows, imageStage{
		summed: 1,
		prepare: func(s share) {
			if s.first() {
				clear(db[s.lane])
			}
		},
		image: func(s share, i int) {
			if !s.first() {
				return
			}
			c.k.ColSum(cols/out, out, dz[i*cols:(i+1)*cols], out, one[s.place()])
			c.k.Add(db[s.lane], db[s.lane], one[s.place()])
		},
	})
}
