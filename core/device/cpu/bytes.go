package cpu

import "pgrlab/core/device"

func init() { lowerings[device.FromBytes] = fromBytes }

// fromBytes goes image by image, as the layers that read the images do: the numbers of an image are
// still in the second-level cache then.
func fromBytes(c *compiler, in device.Instr) {
	x, y, offset := device.Bytes(c.data[in.In[0]]), c.data[in.Out], float32(in.F[0])
	_, rows, cols := c.shape(in.Out)
	_, _, words := c.shape(in.In[0])
	c.imagewise(in, rows, imageStage{image: func(_ share, i int) {
		from, to := x[4*i*words:4*(i+1)*words], y[i*cols:(i+1)*cols]
		for at := 0; at < cols; at += block {
			end := min(at+block, cols)
			c.k.FromBytes(to[at:end], from[at:end], offset)
		}
	}})
}
