package op

import (
	"errors"
	"math"

	"gorgonia.org/tensor"
)

// FromBytes makes numbers of bytes: each row of x [B,Words(size)], an input, holds size bytes as
// device.Bytes shows them, four in a number's place, and the result [B,size] is byte/255 + offset,
// rounded after each of the two. FromBytes has no derivative. In float64 the bytes of a NaN are not
// kept.
func (g *Graph) FromBytes(x *Node, size int, offset float32) *Node {
	if x.Op() != nil {
		g.fail("FromBytes", errors.New("want an input: what an operation makes are numbers"))
	}
	return g.apply(FromBytes, Attr{F: [3]float64{float64(offset)}, I: [2]int{size}}, x)
}

// Words is how many numbers have the place of a row of bytes.
func Words(bytes int) int { return (bytes + 3) / 4 }

func init() {
	rules[FromBytes] = rule{name: "FromBytes", wrt: []bool{false}, shape: fromBytesShape, do32: fromBytes[float32], do64: fromBytes[float64]}
}

func fromBytesShape(a Attr, in []tensor.Shape) (tensor.Shape, error) {
	x, size := in[0], a.I[0]
	if len(x) != 2 || size < 1 || x[1] != Words(size) {
		return nil, errors.New("want rows of bytes in whole words, [B,(size+3)/4]")
	}
	return tensor.Shape{x[0], size}, nil
}

func fromBytes[T float](c call[T]) {
	size := c.a.I[0]
	words := Words(size)
	for i := range c.out {
		row, at := i/size, i%size
		word := math.Float32bits(float32(c.in[0][row*words+at/4]))
		c.out[i] = T(byte(word>>(8*(at%4))))/255 + T(c.a.F[0])
	}
}
