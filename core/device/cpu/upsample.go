package cpu

import "pgrlab/core/device"

func init() {
	lowerings[device.Upsample] = upsample
	lowerings[device.UpsampleGrad] = upsampleGrad
}

// upsample implements op.Upsample.
func upsample(c *compiler, in device.Instr) {
	x, y, channels := c.data[in.In[0]], c.data[in.Out], in.Window.Channels
	_, rows, size := c.shape(in.In[0])
	line := in.Window.Width * channels
	c.imagewise(in, rows, imageStage{image: func(_ share, i int) {
		for at := i * size; at < (i+1)*size; at += line {
			upper := y[4*at : 4*at+2*line]
			for j := 0; j < line; j += channels {
				pixel := x[at+j : at+j+channels]
				copy(upper[2*j:], pixel)
				copy(upper[2*j+channels:], pixel)
			}
			copy(y[4*at+2*line:4*at+4*line], upper)
		}
	}})
}

// upsampleGrad adds pairs of lines, then pairs of pixels in a line.
func upsampleGrad(c *compiler, in device.Instr) {
	dy, dx, channels := c.data[in.In[0]], c.data[in.Out], in.Window.Channels
	_, rows, size := c.shape(in.Out)
	line := in.Window.Width * channels
	work := c.perShare(2 * line)
	c.imagewise(in, rows, imageStage{image: func(s share, i int) {
		pairs := work[s.place()]
		for at := i * size; at < (i+1)*size; at += line {
			c.k.Add(pairs, dy[4*at:4*at+2*line], dy[4*at+2*line:4*at+4*line])
			for j := 0; j < line; j += channels {
				c.k.Add(dx[at+j:at+j+channels], pairs[2*j:2*j+channels], pairs[2*j+channels:2*j+2*channels])
			}
		}
	}})
}
