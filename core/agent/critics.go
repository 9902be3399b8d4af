package agent

import (
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// critics are N networks Q(s,a), or their targets.
type critics struct{ layers nn.MLP }

// weights are what the layers of critics compute with in one graph.
type weights []struct{ w, b *op.Node } // [N,in,out] and [N,out]

func newCritics(name string, c Config, s rng.Stream) critics {
	sizes := append(append([]int{c.Obs + c.Act}, c.Hidden...), 1)
	return critics{nn.NewEnsembleMLP(name, c.Critics, sizes, nn.XavierUniform, nn.ReLU, s)}
}

// still are the weights as they are.
func (q critics) still(g *op.Graph) weights {
	all := make(weights, len(q.layers.Layers))
	for i, l := range q.layers.Layers {
		all[i].w, all[i].b = g.Bind(l.W), g.Bind(l.B)
	}
	return all
}

// apply draws Q of all members for pairs [B,O+A], as [N,B,1].
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

// applyAt draws Q of the members whose indices stand in members [M], as [M,B,1].
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

// value draws the mean over critics of Q(s,a), [B,1].
func (q critics) value(g *op.Graph, obs, action *op.Node, all weights) *op.Node {
	return g.MeanMembers(q.apply(g, g.Concat(obs, action), all))
}

// params are the trained tensors, in the order of a file.
func (q critics) params() []*op.Tensor { return q.layers.Params() }
