package drqv2

import (
	"pgrlab/core/device"
	"pgrlab/core/op"
)

// imageSize is how many bytes an image, the stacked frames of an observation, has.
func (x *Agent) imageSize() int { return x.config.Pixels.Stack * x.frames.Size() }

// image returns the bytes of row i of images as encode reads them.
func (x *Agent) image(images []float32, i int) []byte {
	words := op.Words(x.imageSize())
	return device.Bytes(images[i*words : (i+1)*words])
}

// tone is added to byte/255 to make a number of an image.
const tone = -0.5

// encode is E of images given as bytes, [B,Words(size)]. They become numbers only in the program: a
// quarter as much is written, and copied to a device with memory of its own.
func (x *Agent) encode(g *op.Graph, images *op.Node) *op.Node {
	return x.nets.encode(g, g.FromBytes(images, x.imageSize(), tone))
}
