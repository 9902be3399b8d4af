package cpu

import (
	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/window"
)

// A product's columns come in strips, of which a convolution to few channels, such as a decoder's last one
// to three colours, fills a small part. So places beside each other become one row of the product: their
// window is wider, and has a weight of zero wherever a place has none. (A number that is not finite then
// also spoils the places beside those that see it.)

// neighbours is the number of places to take together; 1: the results fill a strip, or the wider window
// would cost what it gains. Windows below 4 keep the order of their gradients' sums, and so old journals.
func neighbours(over window.Geometry, out int) int {
	const columns = 16 // of a strip of most families
	if over.Stride > 1 || over.Kernel < 4 {
		return 1
	}
	_, width := over.Out()
	for n := columns / out; n > 1; n-- {
		if width%n == 0 {
			return n
		}
	}
	return 1
}

// narrow is a convolution whose places are taken together, n in a row of the product.
type narrow struct {
	forward // its patches are the wider windows
	n       int
	run     int // numbers in a line of the window of one place
}

func (c *compiler) newNarrow(over window.Geometry, out, n int) narrow {
	f := narrow{forward: c.newForward(over, out), n: n}
	f.run = f.patches.Run
	f.patches.Inner /= n
	f.patches.InnerStride *= n
	f.patches.Run += (n - 1) * over.Channels
	return f
}

// columns is the number of results in a row of the product.
func (f narrow) columns() int { return f.n * f.out }

// widen writes weights for all places of a row; wide holds zeros elsewhere.
func (f narrow) widen(w, wide []float32) {
	cols := f.columns()
	for y := range f.patches.Lines {
		for r := range f.run {
			for j := range f.n {
				to := wide[(y*f.patches.Run+r+j*f.over.Channels)*cols+j*f.out:]
				copy(to[:f.out], w[(y*f.run+r)*f.out:])
			}
		}
	}
}

// fold adds the gradient of rows of the wider weights to that of the rows of weights.
func (f narrow) fold(wide, dw []float32) {
	cols := f.columns()
	for r := 0; r*f.out < len(dw); r++ {
		to := dw[r*f.out : (r+1)*f.out]
		for j := range f.n {
			from := wide[(r+j*f.over.Channels)*cols+j*f.out:][:f.out]
			for k, v := range from {
				to[k] += v
			}
		}
	}
}

func (c *compiler) convNarrow(in device.Instr, n int) {
	x, w, b, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out]
	_, rows, size := c.shape(in.In[0])
	_, _, cols := c.shape(in.Out)
	f := c.newNarrow(in.Window, len(b), n)
	k, across := f.patches.Lines*f.patches.Run, f.columns()
	wide, bias, panels := c.perShare(k*across), c.perShare(across), c.perShare(c.k.PanelSize(k, across))
	c.imagewise(in, rows, imageStage{
		wholes: in.In[1:3],
		prepare: func(s share) {
			f.widen(w, wide[s.place()])
			for j := range n {
				copy(bias[s.place()][j*f.out:], b)
			}
			c.k.Pack(k, across, wide[s.place()], across, panels[s.place()])
		},
		image: func(s share, i int) {
			image := f.frame.of(s, x[i*size:(i+1)*size])
			ep := kernel.Epilogue{Bias: bias[s.place()], ReLU: in.ReLU}
			c.k.MulPatches(f.patches, across, image, panels[s.place()], y[i*cols:(i+1)*cols], f.width*f.out, across, ep)
		},
	})
}

// convNarrowDW sums each image by itself, for all places of a row, and adds it to the images before.
func (c *compiler) convNarrowDW(in device.Instr, n int) {
	x, dz := c.data[in.In[0]], c.data[in.In[1]]
	_, rows, size := c.shape(in.In[0])
	_, _, cols := c.shape(in.In[1])
	_, _, out := c.shape(in.Out)
	f := c.newNarrow(in.Window, out, n)
	p, line, across := f.patches.Turned(), f.run*out, f.columns()
	places := cols / across
	panels, wide := c.perShare(c.k.PanelSize(places, across)), c.perShare(p.Outer*p.Inner*across)
	dw := c.sums(in.Out)
	// The rows of the gradient that a share computes, in each of the window's lines.
	mine := func(s share) (from, to int) { return s.cut(0, f.run, rowGrain) }
	c.imagewise(in, rows, imageStage{
		summed: f.run,
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
			p, wide := p, wide[s.place()]
			p.Inner = to - from + (n-1)*in.Window.Channels
			c.k.Pack(places, across, dz[i*cols:(i+1)*cols], across, panels[s.place()])
			image := f.frame.of(s, x[i*size:(i+1)*size])
			c.k.MulPatches(p, across, image[from*p.InnerStride:], panels[s.place()], wide, p.Inner*across, across, kernel.Epilogue{})
			for y := range p.Outer {
				f.fold(wide[y*p.Inner*across:], dw[s.lane][y*line+from*out:y*line+to*out])
			}
		},
	})
}
