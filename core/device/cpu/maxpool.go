package cpu

import (
	"math"

	"pgrlab/core/device"
	"pgrlab/core/window"
)

func init() {
	lowerings[device.MaxPool] = maxPool
	lowerings[device.MaxPoolGrad] = maxPoolGrad
}

// exceeds reports whether v replaces the largest number so far. The first of equal numbers stays;
// NaN is larger than anything.
func exceeds(v, largest float32) bool { return v > largest || v != v }

func maxPool(c *compiler, in device.Instr) {
	x, y, channels := c.data[in.In[0]], c.data[in.Out], in.Window.Channels
	_, rows, size := c.shape(in.In[0])
	_, _, cols := c.shape(in.Out)
	if quartered(in.Window) {
		c.imagewise(in, rows, imageStage{image: func(_ share, i int) {
			eachQuarter(in.Window, x[i*size:(i+1)*size], func(place int, of [4][]float32, _ [4]int) {
				largestOfFour(y[i*cols+place*channels:][:channels], of)
			})
		}})
		return
	}
	c.imagewise(in, rows, imageStage{image: func(_ share, i int) {
		image, out := x[i*size:(i+1)*size], y[i*cols:(i+1)*cols]
		for j := range out {
			out[j] = float32(math.Inf(-1))
		}
		in.Window.Taps(func(place, _, pixel int) {
			to, from := out[place*channels:(place+1)*channels], image[pixel*channels:(pixel+1)*channels]
			for k, v := range from {
				if exceeds(v, to[k]) {
					to[k] = v
				}
			}
		})
	}})
}

// maxPoolGrad finds the largest numbers again: reading x once costs less than storing their places.
func maxPoolGrad(c *compiler, in device.Instr) {
	x, dy, dx, channels := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out], in.Window.Channels
	_, rows, size := c.shape(in.In[0])
	_, _, cols := c.shape(in.In[1])
	if quartered(in.Window) {
		c.imagewise(in, rows, imageStage{image: func(_ share, i int) {
			to := dx[i*size : (i+1)*size]
			clear(to)
			eachQuarter(in.Window, x[i*size:(i+1)*size], func(place int, of [4][]float32, at [4]int) {
				toLargestOfFour(to, dy[i*cols+place*channels:][:channels], of, at)
			})
		}})
		return
	}
	best := make([][]int32, Lanes*c.parts) // the pixel of the largest; −1: none yet
	for i := range best {
		best[i] = make([]int32, cols)
	}
	c.imagewise(in, rows, imageStage{image: func(s share, i int) {
		image, to, best := x[i*size:(i+1)*size], dx[i*size:(i+1)*size], best[s.place()]
		for j := range best {
			best[j] = -1
		}
		in.Window.Taps(func(place, _, pixel int) {
			at := best[place*channels : (place+1)*channels]
			for k, v := range image[pixel*channels : (pixel+1)*channels] {
				if at[k] < 0 || exceeds(v, image[int(at[k])*channels+k]) {
					at[k] = int32(pixel)
				}
			}
		})
		clear(to)
		for j, pixel := range best {
			to[int(pixel)*channels+j%channels] += dy[i*cols+j]
		}
	}})
}

// quartered reports whether windows of two by two pixels lie side by side. There the largest numbers are
// found without branches, which a processor would predict wrongly half of the time.
func quartered(over window.Geometry) bool {
	return over.Kernel == 2 && over.Stride == 2 && over.Pad == 0
}

// eachQuarter visits the places of windows of two by two pixels: the channels of the four pixels, in the
// order of the window's taps, and where they begin in the image.
func eachQuarter(over window.Geometry, image []float32, visit func(place int, of [4][]float32, at [4]int)) {
	height, width := over.Out()
	n, line := over.Channels, over.Width*over.Channels
	for y := range height {
		for x := range width {
			first := 2 * (y*line + x*n)
			at := [4]int{first, first + n, first + line, first + line + n}
			var of [4][]float32
			for tap, from := range at {
				of[tap] = image[from : from+n]
			}
			visit(y*width+x, of, at)
		}
	}
}

func largestOfFour(y []float32, of [4][]float32) {
	n := len(y)
	a, b, c, d := of[0][:n], of[1][:n], of[2][:n], of[3][:n]
	for k := range y {
		y[k] = max(a[k], b[k], c[k], d[k])
	}
}

// toLargestOfFour writes each number of dy to the place of the largest of four in dx.
func toLargestOfFour(dx, dy []float32, of [4][]float32, at [4]int) {
	n := len(dy)
	a, b, c, d := of[0][:n], of[1][:n], of[2][:n], of[3][:n]
	for k, slope := range dy {
		upper, first := larger(order(a[k]), order(b[k]))
		lower, second := larger(order(c[k]), order(d[k]))
		_, below := larger(upper, lower)
		tap := first ^ (first^(2+second))&-below
		if sum := a[k] + b[k] + c[k] + d[k]; sum != sum {
			tap = largestTap(a[k], b[k], c[k], d[k])
		}
		dx[at[tap&3]+k] = slope
	}
}

// order maps numbers other than NaN to integers in the same order.
func order(v float32) int64 {
	bits := int32(math.Float32bits(v + 0)) // both zeros are one
	return int64(bits ^ int32(uint32(bits>>31)>>1))
}

// larger is the larger of two keys of order, and 1 if it is the second, without a branch.
func larger(a, b int64) (key, second int64) {
	second = int64(uint64(a-b) >> 63)
	return a ^ (a^b)&-second, second
}

// largestTap is the place of the largest of four numbers among which there may be NaN.
func largestTap(of ...float32) (tap int64) {
	for k, v := range of {
		if exceeds(v, of[tap]) {
			tap = int64(k)
		}
	}
	return tap
}
