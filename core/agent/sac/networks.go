package sac

import (
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// networks are the policy, the critics and the targets, with Xavier-uniform
// weights and zero biases everywhere (watchernyu/REDQ: redq/algos/core.py).
type networks struct {
	act             int
	policy          nn.MLP // [B,O] → [B,2A], [μ | raw log σ]
	critics, target critics
}

func newNetworks(c Config, s rng.Stream) networks {
	trunk := append([]int{c.Obs}, c.Hidden...)
	last := c.Hidden[len(c.Hidden)-1]
	n := networks{act: c.Act, policy: nn.NewMLP("policy", trunk, nn.XavierUniform, nn.ReLU, s)}
	n.policy.Layers = append(n.policy.Layers, nn.NewLinear("policy.heads", last, 2*c.Act, twoHeads, s))
	n.critics, n.target = newCritics("critics", c, s), newCritics("target", c, s)
	nn.Copy(n.target.params(), n.critics.params())
	return n
}

// twoHeads initialises one layer [in, 2A] as two separate heads for μ and log σ, each
// with the fan-out A: as one layer of 2A their weights would be smaller.
func twoHeads(w, b []float32, in, out int, s rng.Stream) {
	half := out / 2
	for h, name := range []string{"mu", "log_std"} {
		head := make([]float32, in*half)
		nn.XavierUniform(head, b[h*half:(h+1)*half], in, half, s.Sub(name))
		for i := range in {
			copy(w[i*out+h*half:], head[i*half:(i+1)*half])
		}
	}
}

// sample is a policy sample: the action [B,A] and log π [B,1].
func (n networks) sample(g *op.Graph, obs, noise *op.Node) (action, logp *op.Node) {
	both := g.TanhGaussian(n.policy.Apply(g, obs), noise)
	return g.Slice(both, 0, n.act), g.Slice(both, n.act, n.act+1)
}

// mean is the action without noise, tanh μ [B,A].
func (n networks) mean(g *op.Graph, obs *op.Node) *op.Node {
	return g.Tanh(g.Slice(n.policy.Apply(g, obs), 0, n.act))
}

// state are all parameters, in the order of a file.
func (n networks) state() []*op.Tensor {
	all := n.policy.Params()
	all = append(all, n.critics.params()...)
	return append(all, n.target.params()...)
}
