package relevance

import (
	"fmt"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// ecoEmbedding is the embedding E of the R-network.
type ecoEmbedding interface {
	// apply returns E [B,F] of observations [B,O].
	apply(g *op.Graph, x *op.Node, norm norming) *op.Node
	params() []*op.Tensor // without those of norms
	norms() []batchNorm
	// decayed are the weights whose squares are part of the loss, times weightDecay.
	decayed() []*op.Tensor
}

// The choices of ECOConfig.Embedding.
const (
	// EmbeddingSmall is three convolutions, of 16, 32 and 32 channels by default, and a linear
	// layer, on frames as bytes/255.
	EmbeddingSmall = "small"
	// EmbeddingResNet is that of google-research/episodic-curiosity: see resnet.
	EmbeddingResNet = "resnet18"
)

// newEmbedding samples E for that many numbers, or for frames if f is not zero.
func (c ECOConfig) newEmbedding(numbers int, f Frames, s rng.Stream) ecoEmbedding {
	if f.Side == 0 {
		return numberEmbedding{nn.NewMLP("eco.embedding", append(append([]int{numbers}, c.Hidden...), c.Features), nn.TorchDefault, nn.ReLU, s)}
	}
	if c.Embedding == EmbeddingResNet {
		return c.newResnet(f, s)
	}
	return c.newSmallEmbedding(f, s)
}

// tone maps the bytes of frames to the numbers that E is given.
func (c ECOConfig) tone() *window.Tone {
	if c.Embedding == EmbeddingResNet {
		return levels()
	}
	return window.NewTone(0)
}

// init samples the weights of the comparator.
func (c ECOConfig) init(f Frames) nn.Init {
	if f.Side > 0 && c.Embedding == EmbeddingResNet {
		return heNormal
	}
	return nn.TorchDefault
}

// numberEmbedding is a multilayer perceptron for numbers.
type numberEmbedding struct{ layers nn.MLP }

func (e numberEmbedding) apply(g *op.Graph, x *op.Node, _ norming) *op.Node {
	return e.layers.Apply(g, x)
}
func (e numberEmbedding) params() []*op.Tensor { return e.layers.Params() }
func (numberEmbedding) norms() []batchNorm     { return nil }
func (numberEmbedding) decayed() []*op.Tensor  { return nil }

// smallEmbedding is a few consecutive convolutions and a linear layer.
type smallEmbedding struct {
	convs []nn.Conv
	out   nn.Linear
}

// smallConvs are the windows of smallEmbedding, and its channels unless the settings give others.
var smallConvs = []struct{ out, kernel, stride int }{{16, 4, 2}, {32, 4, 2}, {32, 3, 2}}

// smallOver returns the convolutions of smallEmbedding over frames and their channels, or an error
// if they leave nothing of the frames.
func (c ECOConfig) smallOver(f Frames) (over []window.Geometry, channels []int, err error) {
	at := window.Geometry{Height: f.Side, Width: f.Side, Channels: colours}
	for i, l := range smallConvs {
		at.Kernel, at.Stride = l.kernel, l.stride
		if at.Height < l.kernel {
			return nil, nil, fmt.Errorf("eco: the convolutions of embedding %q leave nothing of frames of %d×%d: want pixels.side 18 or more", EmbeddingSmall, f.Side, f.Side)
		}
		out := l.out
		if len(c.Channels) > 0 {
			out = c.Channels[i]
		}
		over, channels = append(over, at), append(channels, out)
		at.Height, at.Width = at.Out()
		at.Channels = out
	}
	return over, channels, nil
}

// newSmallEmbedding samples a smallEmbedding for frames that ValidateFrames accepts.
func (c ECOConfig) newSmallEmbedding(f Frames, s rng.Stream) (e smallEmbedding) {
	over, channels, _ := c.smallOver(f)
	for i, o := range over {
		e.convs = append(e.convs, nn.NewConv(fmt.Sprintf("eco.embedding.conv%d", i+1), o, channels[i], nn.TorchDefault, s))
	}
	last := e.convs[len(e.convs)-1]
	e.out = nn.NewLinear("eco.embedding.out", last.Next(0, 0, 0).Size(), c.Features, nn.TorchDefault, s)
	return e
}

func (e smallEmbedding) apply(g *op.Graph, x *op.Node, _ norming) *op.Node {
	for _, l := range e.convs {
		x = g.ReLU(l.Apply(g, x))
	}
	return e.out.Apply(g, x)
}

func (e smallEmbedding) params() (all []*op.Tensor) {
	for _, l := range e.convs {
		all = append(all, l.Params()...)
	}
	return append(all, e.out.Params()...)
}
func (smallEmbedding) norms() []batchNorm    { return nil }
func (smallEmbedding) decayed() []*op.Tensor { return nil }

// embeddingSize counts the parameters of E, and the intermediate numbers that E computes for an
// observation.
func (c ECOConfig) embeddingSize(numbers int, f Frames) (parameters, made float64) {
	if f.Side == 0 {
		for _, w := range c.Hidden {
			made += float64(w)
		}
		return nn.Parameters(append(append([]int{numbers}, c.Hidden...), c.Features)...), made
	}
	if c.Embedding == EmbeddingResNet {
		return c.resnetSize(f)
	}
	over, channels, err := c.smallOver(f)
	if err != nil {
		return 0, 0
	}
	last := 0
	for i, o := range over {
		last = o.Places() * channels[i]
		made += float64(last)
		parameters += float64(o.Patch()+1) * float64(channels[i])
	}
	return parameters + nn.Parameters(last, c.Features), made
}

// embedded is how many observations are embedded together, given the number of copies.
func (c ECOConfig) embedded(f Frames, copies int) int {
	if f.Side == 0 {
		return embeddedRows
	}
	return min(embeddedRows, max(2, copies)) // accuracy is measured on pairs
}

// validateEmbedding says in one line what is wrong with the settings of E.
func (c ECOConfig) validateEmbedding() error {
	want := len(smallConvs)
	switch c.Embedding {
	case "", EmbeddingSmall:
	case EmbeddingResNet:
		want = resnetStages
	default:
		return fmt.Errorf("eco: embedding is %q, want %q or %q", c.Embedding, EmbeddingSmall, EmbeddingResNet)
	}
	if n := len(c.Channels); n != 0 && n != want {
		return fmt.Errorf("eco: channels are %v, want those of %d convolutions (%q) or %d stages (%q), or none for the embedding's own", c.Channels, len(smallConvs), EmbeddingSmall, resnetStages, EmbeddingResNet)
	}
	for _, n := range c.Channels {
		if n < 1 {
			return fmt.Errorf("eco: channels are %v, want at least 1 each", c.Channels)
		}
	}
	return nil
}

// ValidateFrames refuses frames that E cannot embed.
func (c ECOConfig) ValidateFrames(f Frames) error {
	if f.Side == 0 {
		return nil
	}
	if f.Stack != 1 {
		return fmt.Errorf("eco: pixels.stack is %d, want 1: single frames are compared", f.Stack)
	}
	if c.Embedding == EmbeddingResNet { // it leaves a place of any frame
		return nil
	}
	_, _, err := c.smallOver(f)
	return err
}

// looks reports whether frames are compared.
func (ECOConfig) looks(f Frames) bool { return f.Side > 0 }
