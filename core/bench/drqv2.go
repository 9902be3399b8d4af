package bench

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// drqv2 is the shape of a whole update of DrQ-v2 (Yarats et al. 2022) on pixels.
type drqv2 struct {
	pixels
	hidden int
}

// Sizes and constants of its networks.
const (
	pixelFeature = 50 // of a trunk
	pixelAct     = 6
	pixelNoise   = 0.2
	pixelGamma   = 0.99 * 0.99 * 0.99 // three steps
)

// drqv2Nets are its networks. There is no average of the encoder.
type drqv2Nets struct {
	encoder               []nn.Conv
	critic, actor, target pixelTrunk
	q, qTarget, policy    nn.MLP
	flat                  int
}

// pixelTrunk is a layer, its norm and a tanh.
type pixelTrunk struct {
	layer nn.Linear
	norm  nn.LayerNorm
}

func newPixelTrunk(name string, in int) pixelTrunk {
	return pixelTrunk{nn.NewLinear(name, in, pixelFeature, nn.Orthogonal(1), rng.New(1, "bench")), nn.NewLayerNorm(name+".norm", 1e-5, pixelFeature)}
}

func (t pixelTrunk) apply(g *op.Graph, h *op.Node) *op.Node {
	return g.Tanh(t.norm.Apply(g, t.layer.Apply(g, h)))
}

func (t pixelTrunk) params() []*op.Tensor { return append(t.layer.Params(), t.norm.Params()...) }

func (d drqv2) nets() drqv2Nets {
	s := rng.New(1, "bench")
	encoder, flat := d.encoder()
	sizes := []int{pixelFeature + pixelAct, d.hidden, d.hidden, 1}
	return drqv2Nets{
		encoder: encoder, flat: flat,
		critic: newPixelTrunk("critic", flat), actor: newPixelTrunk("actor", flat), target: newPixelTrunk("target", flat),
		q: nn.NewEnsembleMLP("q", 2, sizes, nn.Orthogonal(1), nn.ReLU, s), qTarget: nn.NewEnsembleMLP("q target", 2, sizes, nn.Orthogonal(1), nn.ReLU, s),
		policy: nn.NewMLP("policy", []int{pixelFeature, d.hidden, d.hidden, pixelAct}, nn.Orthogonal(1), nn.ReLU, s),
	}
}

// act is the policy's action with clipped noise.
func (n drqv2Nets) act(g *op.Graph, z, noise *op.Node) *op.Node {
	mean := g.Tanh(n.policy.Apply(g, z))
	return g.Clamp(g.Add(mean, g.Clamp(g.Scale(noise, pixelNoise), -0.3, 0.3)), -1, 1)
}

// drqv2Batch is what an update learns from: images as float32, of frames as bytes.
type drqv2Batch struct {
	images          [2]*op.Tensor // s and s′
	action, rewards *op.Tensor
	frames          window.Frames
	stacks          [][][]byte // a few, that rows take in turn
	tone            *window.Tone
	stack           func()
	occasion        uint64
}

func (d drqv2) data(dev device.Device, size int) *drqv2Batch {
	b := &drqv2Batch{
		images: [2]*op.Tensor{random("s", d.batch, size), random("s'", d.batch, size)}, action: random("a", d.batch, pixelAct), rewards: random("r", d.batch, 1),
		frames: window.Frames{Height: d.side, Width: d.side, Channels: 3, Pad: 4}, tone: window.NewTone(-0.5),
	}
	for i := range 2 * d.batch {
		stack := make([][]byte, 3)
		for f := range stack {
			stack[f] = make([]byte, b.frames.Size())
			for j := range stack[f] {
				stack[f][j] = byte(i*31 + f*17 + j*7)
			}
		}
		b.stacks = append(b.stacks, stack)
	}
	work := func(part, parts int) {
		for i := d.batch * part / parts; i < d.batch*(part+1)/parts; i++ {
			for k, x := range b.images {
				shift := int(b.occasion*7+uint64(i*5+k*3)) % (b.frames.Shifts() * b.frames.Shifts())
				b.frames.Stack(x.Data[i*size:(i+1)*size], b.stacks[k*d.batch+i], shift/b.frames.Shifts(), shift%b.frames.Shifts(), b.tone)
			}
		}
	}
	b.stack = func() { work(0, 1) }
	if s, shares := dev.(device.Sharer); shares {
		b.stack = s.Share(work)
	}
	return b
}

// critics is the first program: the target, the critics' and the encoder's step. features
// keeps what the encoder said before it, which the actor learns from.
func (d drqv2) critics(dev device.Device, n drqv2Nets, b *drqv2Batch, features *op.Tensor) (*plan.Program, error) {
	var spec plan.Spec
	g, err := op.Build("drqv2 critic", func(g *op.Graph) {
		h := encode(g, n.encoder, g.Bind(b.images[0]))
		next := encode(g, n.encoder, g.Bind(b.images[1]))
		noise := g.Input("noise", d.batch, pixelAct)
		spec.Fills = []plan.Fill{{Node: noise, Stream: rng.New(1, "bench noise")}}
		action := n.act(g, n.actor.apply(g, next), noise)
		value := g.MinMembers(n.qTarget.Apply(g, g.Concat(n.target.apply(g, next), action)))
		y := g.StopGradient(g.Add(g.Bind(b.rewards), g.Scale(value, pixelGamma)))
		q := n.q.Apply(g, g.Concat(n.critic.apply(g, h), g.Bind(b.action)))
		spec.Loss = g.SquaredError(q, y, float64(d.batch))
		spec.Lerps = []plan.Lerp{{Dst: features, Node: h}}
	})
	if err != nil {
		return nil, err
	}
	params := append(n.critic.params(), n.q.Params()...)
	for _, l := range n.encoder {
		params = append(params, l.Params()...)
	}
	spec.Optimiser = plan.NewAdam(params, plan.DefaultAdam, pixelRate("critic rate"))
	return plan.Compile(g, spec, dev)
}

func pixelRate(name string) *op.Tensor {
	rate := op.NewTensor(name, 1)
	rate.Data[0] = 1e-4
	return rate
}

// policies is the second program: the actor's step by the critics after theirs, and the
// averages.
func (d drqv2) policies(dev device.Device, n drqv2Nets, features *op.Tensor) (*plan.Program, error) {
	var spec plan.Spec
	g, err := op.Build("drqv2 actor", func(g *op.Graph) {
		h, noise := g.Bind(features), g.Input("noise", d.batch, pixelAct)
		spec.Fills = []plan.Fill{{Node: noise, Stream: rng.New(1, "bench actor noise")}}
		action := n.act(g, n.actor.apply(g, h), noise)
		q := g.MinMembers(n.q.Apply(g, g.Concat(g.StopGradient(n.critic.apply(g, h)), action)))
		spec.Loss = g.Scale(g.Mean(q), -1)
	})
	if err != nil {
		return nil, err
	}
	spec.Optimiser = plan.NewAdam(append(n.actor.params(), n.policy.Params()...), plan.DefaultAdam, pixelRate("actor rate"))
	rate := op.NewTensor("tau", 1)
	rate.Data[0] = 0.01
	from, to := append(n.critic.params(), n.q.Params()...), append(n.target.params(), n.qTarget.Params()...)
	for i := range from {
		spec.Lerps = append(spec.Lerps, plan.Lerp{Dst: to[i], Src: from[i], Rate: rate})
	}
	return plan.Compile(g, spec, dev)
}

// flops are those of an update: the encoder on s and s′, and backwards on s; eight passes
// of a trunk; the heads.
func (d drqv2) flops(n drqv2Nets) float64 {
	e, h := flops(n.encoder), float64(d.hidden)
	q, policy := 2*((pixelFeature+pixelAct)*h+h*h+h), 2*(pixelFeature*h+h*h+pixelAct*h)
	return float64(d.batch) * (4*e - flops(n.encoder[:1]) + 16*float64(n.flat)*pixelFeature + 12*q + 4*policy)
}

// update is a whole update, frames to averages, without sampling.
func (d drqv2) update(dev device.Device) (func(uint64) error, float64, error) {
	n := d.nets()
	b := d.data(dev, n.encoder[0].Over.Size())
	features := op.NewTensor("features", d.batch, n.flat)
	critic, err := d.critics(dev, n, b, features)
	if err != nil {
		return nil, 0, err
	}
	actor, err := d.policies(dev, n, features)
	if err != nil {
		return nil, 0, err
	}
	return func(i uint64) error {
		b.occasion = i
		b.stack()
		if err := critic.Run(i); err != nil {
			return fmt.Errorf("critic: %w", err)
		}
		return actor.Run(i)
	}, d.flops(n), nil
}
