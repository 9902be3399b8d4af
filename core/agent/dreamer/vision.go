package dreamer

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// vision encodes and decodes frames (dreamerv3/rssm.py, Encoder and Decoder).
type vision struct {
	side, places int // of a frame, and of the encoder's output

	convs []nn.Conv // each is followed by a pooling that halves the frame
	norms []nn.RMSNorm

	ofDeter  nn.Linear // of blocks
	ofStoch  layer
	places0  nn.Linear // [2·Units → places·channels]
	first    nn.RMSNorm
	unconvs  []nn.Conv // each follows an enlargement by two
	unnorms  []nn.RMSNorm
	painting nn.Conv
}

// The shape of the convolutions: their windows, and their channels in multiples of Settings.Depth.
const kernel = 5

var multiples = [...]int{2, 3, 4, 4}

// places is how many places the encoder's output has, and tokens how many numbers.
func (c Config) places() int {
	side := c.Side >> len(multiples)
	return side * side
}

func (c Config) tokens() int {
	if c.Side == 0 {
		return c.Units
	}
	return c.places() * c.channels(len(multiples)-1)
}

// words is how many numbers have the bytes of a frame.
func (c Config) words() int { return (c.Side*c.Side*agent.Colours + 3) / 4 }

// inputs is how many numbers programs read of a look.
func (c Config) inputs() int {
	if c.Side > 0 {
		return c.words()
	}
	return c.Shape.Obs
}

func (c Config) channels(i int) int { return multiples[i] * c.Depth }

// same is a window that keeps the size of a frame.
func same(side, channels int) window.Geometry {
	return window.Geometry{Height: side, Width: side, Channels: channels, Kernel: kernel, Stride: 1, Pad: kernel / 2}
}

func newVision(c Config, s rng.Stream) *vision {
	v := &vision{side: c.Side, places: c.places()}
	side, in := c.Side, agent.Colours
	for i := range multiples {
		name, out := fmt.Sprintf("eye.%d", i), c.channels(i)
		v.convs, v.norms = append(v.convs, nn.NewConv(name, same(side, in), out, normal, s)), append(v.norms, nn.NewRMSNorm(name, epsilon, out))
		side, in = side/2, out
	}
	wide := v.places * in
	v.ofDeter = newBlocks("picture deter", c.Blocks, c.Deter/c.Blocks, wide/c.Blocks, s)
	v.ofStoch = newLayer("picture stoch", c.groups(), 2*c.Units, s)
	v.places0, v.first = nn.NewLinear("picture places", 2*c.Units, wide, normal, s), nn.NewRMSNorm("picture places", epsilon, in)
	for i := len(multiples) - 2; i >= 0; i-- {
		side *= 2
		name, out := fmt.Sprintf("picture.%d", i), c.channels(i)
		v.unconvs, v.unnorms = append(v.unconvs, nn.NewConv(name, same(side, in), out, normal, s)), append(v.unnorms, nn.NewRMSNorm(name, epsilon, out))
		in = out
	}
	v.painting = nn.NewConv("picture.out", same(2*side, in), agent.Colours, normal, s)
	return v
}

// encode builds the tokens of frames, whose bytes are the words of x.
func (v *vision) encode(g *op.Graph, x *op.Node) *op.Node {
	x = g.FromBytes(x, v.side*v.side*agent.Colours, -0.5)
	for i, l := range v.convs {
		over := l.Over
		over.Channels, over.Kernel, over.Stride, over.Pad = l.B.Shape[0], 2, 2, 0
		x = g.SiLU(v.norms[i].Apply(g, g.MaxPool(l.Apply(g, x), over)))
	}
	return x
}

// decode builds the colours of frames, from 0 to 1.
func (v *vision) decode(g *op.Graph, deter, stoch *op.Node) *op.Node {
	x := g.JoinPlaces(v.ofDeter.Apply(g, g.SplitColumns(deter, v.ofDeter.W.Shape[0])), v.places)
	x = g.SiLU(v.first.Apply(g, g.Add(x, v.places0.Apply(g, v.ofStoch.apply(g, stoch)))))
	for i, l := range v.unconvs {
		x = g.SiLU(v.unnorms[i].Apply(g, l.Apply(g, enlarged(g, x, l))))
	}
	return g.Sigmoid(v.painting.Apply(g, enlarged(g, x, v.painting)))
}

// enlarged builds the input of a convolution from frames of half its size.
func enlarged(g *op.Graph, x *op.Node, l nn.Conv) *op.Node {
	half := l.Over
	half.Height, half.Width = half.Height/2, half.Width/2
	return g.Upsample(x, half)
}

// eyes and brushes are the parameters of encoder and decoder.
func (v *vision) eyes() []*op.Tensor { return convParams(v.convs, v.norms) }
func (v *vision) brushes() []*op.Tensor {
	all := append(v.ofDeter.Params(), v.ofStoch.params()...)
	all = append(append(all, v.places0.Params()...), v.first.Gamma)
	return append(append(all, convParams(v.unconvs, v.unnorms)...), v.painting.Params()...)
}

func convParams(convs []nn.Conv, norms []nn.RMSNorm) (all []*op.Tensor) {
	for i, l := range convs {
		all = append(append(all, l.Params()...), norms[i].Gamma)
	}
	return all
}

// ofVision is the number of parameters that seeing frames adds.
func (c Config) ofVision() (n float64) {
	if c.Side == 0 {
		return 0
	}
	in := agent.Colours
	for i := range multiples {
		n += float64((kernel*kernel*in + 2) * c.channels(i))
		in = c.channels(i)
	}
	wide := c.tokens()
	n += float64(c.Blocks) * nn.Parameters(c.Deter/c.Blocks, wide/c.Blocks)
	n += nn.Parameters(c.groups(), 2*c.Units, wide) + float64(2*c.Units+in)
	for i := len(multiples) - 2; i >= 0; i-- {
		n += float64((kernel*kernel*in + 2) * c.channels(i))
		in = c.channels(i)
	}
	return n + float64((kernel*kernel*in+1)*agent.Colours) - c.ofNumbers()
}

// ofNumbers is the number of parameters of what encodes and decodes observations.
func (c Config) ofNumbers() float64 {
	u, f := c.Units, c.feature()
	return nn.Parameters(c.Shape.Obs, u, u, u) + nn.Parameters(f, u, u, u, c.Shape.Obs) + float64(6*u)
}
