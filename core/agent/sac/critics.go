package sac

import (
	"fmt"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// critics are N networks Q(s,a), or their targets.
type critics struct {
	layers nn.MLP
	noisy  []nn.Noisy // under ExploreNoisy the same layers with their deviations
	noise  rng.Stream // of the noisy layers, by update
}

// weights are the weights and biases that the layers of critics use in one graph.
type weights []struct{ w, b *op.Node } // [N,in,out] and [N,out]

func newCritics(name string, c Config, s rng.Stream) critics {
	sizes := append(append([]int{c.Obs + c.Act}, c.Hidden...), 1)
	if c.Exploration != ExploreNoisy {
		return critics{layers: nn.NewEnsembleMLP(name, c.Critics, sizes, nn.XavierUniform, nn.ReLU, s)}
	}
	q := critics{layers: nn.MLP{Act: nn.ReLU}, noise: s.Sub(name + " noise")}
	for i := range sizes[1:] {
		l := nn.NewNoisy(fmt.Sprintf("%s.%d", name, i+1), c.Critics, sizes[i], sizes[i+1], c.NoisySigma, s)
		q.noisy, q.layers.Layers = append(q.noisy, l), append(q.layers.Layers, l.Mean)
	}
	return q
}

// perturbed returns the weights that updates use: with a sample of the noise if the networks
// are noisy. All programs get the same sample for the same update. The fills are for the
// program's spec.
func (q critics) perturbed(g *op.Graph) (weights, []plan.Fill) {
	all := q.unperturbed(g)
	var fills []plan.Fill
	for i, l := range q.noisy {
		e := l.Inputs(g, fmt.Sprintf("noise of %s", l.Mean.W.Name))
		all[i].w, all[i].b = l.Perturbed(g, e)
		in, out := q.noise.Sub(fmt.Sprintf("in %d", i)), q.noise.Sub(fmt.Sprintf("out %d", i))
		fills = append(fills, plan.Fill{Node: e.In, Stream: in}, plan.Fill{Node: e.Out, Stream: out}, plan.Fill{Node: e.Bias, Stream: out})
	}
	return all, fills
}

// unperturbed returns the weights without noise, for values that serve as judgements.
func (q critics) unperturbed(g *op.Graph) weights {
	all := make(weights, len(q.layers.Layers))
	for i, l := range q.layers.Layers {
		all[i].w, all[i].b = g.Bind(l.W), g.Bind(l.B)
	}
	return all
}

// apply is Q of all members for pairs [B,O+A], as [N,B,1].
func (q critics) apply(g *op.Graph, pair *op.Node, all weights) *op.Node {
	x := pair
	for i, layer := range all {
		if i > 0 {
			x = q.layers.Act(g, x)
		}
		x = g.Linear(x, layer.w, layer.b)
	}
	return x
}

// applyAt is Q of the members whose indices are in members [M], as [M,B,1].
func (q critics) applyAt(g *op.Graph, pair, members *op.Node, all weights) *op.Node {
	x := pair
	for i, layer := range all {
		if i > 0 {
			x = q.layers.Act(g, x)
		}
		x = g.LinearAt(x, layer.w, layer.b, members)
	}
	return x
}

// value is the mean over critics of Q(s,a), [B,1].
func (q critics) value(g *op.Graph, obs, action *op.Node, all weights) *op.Node {
	return g.MeanMembers(q.apply(g, g.Concat(obs, action), all))
}

// params are the trained tensors, in the order of a file.
func (q critics) params() []*op.Tensor {
	if len(q.noisy) == 0 {
		return q.layers.Params()
	}
	var all []*op.Tensor
	for _, l := range q.noisy {
		all = append(all, l.Params()...)
	}
	return all
}
