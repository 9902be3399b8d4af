package relevance

import (
	"fmt"
	"math"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// resnet is the embedding of google-research/episodic-curiosity
// (third_party/keras_resnet/models.py), a ResNet-18 with norms before the convolutions (He et al.
// 2016, Identity mappings): a convolution of 7×7 with stride 2, norm, ReLU, a max pool of 3×3 with
// stride 2; four stages of two blocks, all but the first halving the side; norm, ReLU, the mean
// over places, a linear layer. Norms are per channel, over rows and places. Bytes are not scaled.
// All convolutions are padded alike on each side, whereas TensorFlow's SAME pads an even side by
// one pixel more at its end.
type resnet struct {
	stem     nn.Conv
	stemNorm batchNorm
	pool     window.Geometry
	blocks   []resnetBlock
	last     batchNorm
	out      nn.Linear
	places   int // that the last stage leaves
}

// resnetBlock is x + second(relu(norm(first(relu(norm(x)))))).
type resnetBlock struct {
	before  *batchNorm // nil in the very first block, which follows norm, ReLU and the pool
	first   nn.Conv
	between batchNorm
	second  nn.Conv
	past    *nn.Conv // of one pixel, applied to x if the shape changes; else nil
}

const (
	resnetStages      = 4
	resnetStageBlocks = 2
	// weightDecay is the factor of the convolutions' squared weights in the loss.
	weightDecay = 1e-4
)

// resnetChannels are the default channels of the stages.
var resnetChannels = []int{64, 128, 256, 512}

// heNormal samples weights with a variance of 2/in and sets biases to zero (He et al. 2015).
func heNormal(w, b []float32, in, _ int, s rng.Stream) {
	s.Sub("w").FillNormal(w, 0, 0)
	deviation := float32(math.Sqrt(2 / float64(in)))
	for i := range w {
		w[i] *= deviation
	}
	clear(b)
}

// newResnet samples a resnet for frames that ValidateFrames accepts.
func (c ECOConfig) newResnet(f Frames, s rng.Stream) *resnet {
	channels := c.Channels
	if len(channels) == 0 {
		channels = resnetChannels
	}
	norm := func(name string, width int) batchNorm { return newBatchNorm("eco.embedding.norm."+name, width) }
	conv := func(name string, over window.Geometry, out int) nn.Conv {
		return nn.NewConv("eco.embedding."+name, over, out, heNormal, s)
	}
	e := &resnet{}
	e.stem = conv("stem", window.Geometry{Height: f.Side, Width: f.Side, Channels: colours, Kernel: 7, Stride: 2, Pad: 3}, channels[0])
	e.stemNorm, e.pool = norm("stem", channels[0]), e.stem.Next(3, 2, 1)
	at := e.pool
	at.Height, at.Width = e.pool.Out()
	for stage, out := range channels {
		for k := range resnetStageBlocks {
			name, stride := fmt.Sprintf("%d.%d", stage+1, k+1), 1
			if stage > 0 && k == 0 {
				stride = 2
			}
			b := resnetBlock{}
			if len(e.blocks) > 0 {
				before := norm(name+".before", at.Channels)
				b.before = &before
			}
			at.Kernel, at.Stride, at.Pad = 3, stride, 1
			b.first = conv(name+".first", at, out)
			b.between, b.second = norm(name+".between", out), conv(name+".second", b.first.Next(3, 1, 1), out)
			if stride > 1 || at.Channels != out {
				at.Kernel, at.Pad = 1, 0
				past := conv(name+".past", at, out)
				b.past = &past
			}
			e.blocks, at = append(e.blocks, b), b.second.Next(3, 1, 1)
		}
	}
	e.last, e.places = norm("last", at.Channels), at.Height*at.Width
	e.out = nn.NewLinear("eco.embedding.out", at.Channels, c.Features, heNormal, s)
	return e
}

func (e *resnet) apply(g *op.Graph, x *op.Node, norm norming) *op.Node {
	x = g.MaxPool(g.ReLU(norm(g, e.stem.Apply(g, x), e.stemNorm)), e.pool)
	for _, b := range e.blocks {
		x = b.apply(g, x, norm)
	}
	return e.out.Apply(g, meanOfPlaces(g, g.ReLU(norm(g, x, e.last)), e.places))
}

func (b resnetBlock) apply(g *op.Graph, x *op.Node, norm norming) *op.Node {
	z := x
	if b.before != nil {
		z = g.ReLU(norm(g, x, *b.before))
	}
	z = b.second.Apply(g, g.ReLU(norm(g, b.first.Apply(g, z), b.between)))
	if b.past != nil {
		x = b.past.Apply(g, x)
	}
	return g.Add(x, z)
}

// meanOfPlaces is the mean [B,C] of each channel of images [B,places·C].
func meanOfPlaces(g *op.Graph, x *op.Node, places int) *op.Node {
	channels := x.Shape()[1] / places
	sum := g.Slice(x, 0, channels)
	for p := 1; p < places; p++ {
		sum = g.Add(sum, g.Slice(x, p*channels, (p+1)*channels))
	}
	return g.Scale(sum, 1/float64(places))
}

// convs are the convolutions, in the order in which they are saved.
func (e *resnet) convs() []nn.Conv {
	all := []nn.Conv{e.stem}
	for _, b := range e.blocks {
		all = append(all, b.first, b.second)
		if b.past != nil {
			all = append(all, *b.past)
		}
	}
	return all
}

func (e *resnet) params() (all []*op.Tensor) {
	for _, l := range e.convs() {
		all = append(all, l.Params()...)
	}
	return append(all, e.out.Params()...)
}

func (e *resnet) norms() []batchNorm {
	all := []batchNorm{e.stemNorm}
	for _, b := range e.blocks {
		if b.before != nil {
			all = append(all, *b.before)
		}
		all = append(all, b.between)
	}
	return append(all, e.last)
}

func (e *resnet) decayed() (all []*op.Tensor) {
	for _, l := range e.convs() {
		all = append(all, l.W)
	}
	return all
}

// resnetSize is embeddingSize for a resnet. Norms and ReLUs keep outputs of their own.
func (c ECOConfig) resnetSize(f Frames) (parameters, made float64) {
	channels := c.Channels
	if len(channels) == 0 {
		channels = resnetChannels
	}
	half := func(side int) int { return (side + 1) / 2 }
	conv := func(in, kernel, out int) {
		parameters += (float64(kernel*kernel)*float64(in)+1)*float64(out) + 2*float64(out)
	}
	side, before := half(f.Side), channels[0]
	conv(colours, 7, before)
	made = 3 * float64(side*side) * float64(before)
	side = half(side)
	for stage, out := range channels {
		if stage > 0 {
			side = half(side)
		}
		for range resnetStageBlocks {
			conv(before, 3, out)
			conv(out, 3, out)
			conv(before, 1, out)
			made += 8 * float64(side*side) * float64(max(out, before))
			before = out
		}
	}
	return parameters + nn.Parameters(before, c.Features), made
}

// levels maps bytes to their own values.
func levels() *window.Tone {
	t := new(window.Tone)
	for b := range t {
		t[b] = float32(b)
	}
	return t
}
