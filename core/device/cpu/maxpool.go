package cpu

import (
	"math"

	"pgrlab/core/device"
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
