package dynamics

import (
	"fmt"
	"slices"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// Config describes an ensemble.
type Config struct {
	In, Out int // numbers of an input [s, a] and of an outcome
	Members int // N
	Elites  int // members that serve predictions
	Width   int // of a hidden layer
	Layers  int // hidden layers
	Batch   int // rows of a gradient step, for each member its own
	// Patience is after how many epochs in a row without improvement of any member the fit goes on;
	// one more ends it.
	Patience int
	// Scaled says that each output is standardised, so that all weigh alike in the loss. The
	// original does not: a velocity of large spread outweighs the reward
	// (Barkley and Fridovich-Keil 2024).
	Scaled bool
}

// Validate says in one line what is wrong with c, or returns nil.
func (c Config) Validate() error {
	for _, least := range []struct {
		name       string
		value, min int
	}{
		{"in", c.In, 1}, {"out", c.Out, 1}, {"members", c.Members, 1}, {"elites", c.Elites, 1}, {"width", c.Width, 1},
		{"layers", c.Layers, 1}, {"batch", c.Batch, 1}, {"patience", c.Patience, 0},
	} {
		if least.value < least.min {
			return fmt.Errorf("ensemble: %s is %d, want at least %d", least.name, least.value, least.min)
		}
	}
	if c.Elites > c.Members {
		return fmt.Errorf("ensemble: elites is %d, more than members, %d", c.Elites, c.Members)
	}
	return nil
}

// sizes are the widths of a member.
func (c Config) sizes() []int {
	sizes := []int{c.In}
	for range c.Layers {
		sizes = append(sizes, c.Width)
	}
	return append(sizes, 2*c.Out)
}

// Parameters is the number of weights and biases of all members.
func (c Config) Parameters() float64 { return float64(c.Members) * nn.Parameters(c.sizes()...) }

// decay returns c of layer i of n (jannerm/mbpo: mbpo/models/constructor.py).
func decay(i, n int) float64 {
	switch i {
	case 0:
		return 2.5e-5
	case n - 1:
		return 1e-4
	case 1:
		return 5e-5
	}
	return 7.5e-5
}

// The bounds of the log-variances begin here (mbpo/models/bnn.py).
const (
	firstMax = 0.5
	firstMin = -10
	// boundsWeight is the weight of the bounds' distance in the loss.
	boundsWeight = 0.01
)

// network is an ensemble as a graph sees it.
type network struct {
	mlp      nn.MLP
	min, max *op.Tensor // [D], shared by all members
	out      int
}

func newNetwork(name string, c Config, members int, s rng.Stream) *network {
	n := &network{
		mlp: nn.NewEnsembleMLP(name, members, c.sizes(), initial, nn.SiLU, s),
		min: op.NewTensor(name+".min", c.Out), max: op.NewTensor(name+".max", c.Out), out: c.Out,
	}
	for j := range c.Out {
		n.min.Data[j], n.max.Data[j] = firstMin, firstMax
	}
	return n
}

// initial samples weights from a normal distribution of deviation 1/(2√in) that is cut off at twice
// that; biases are 0 (mbpo/models/fc.py).
var initial = nn.TruncatedNormal(0.5)

// params are the trained tensors; the bounds come last.
func (n *network) params() []*op.Tensor { return append(n.mlp.Params(), n.max, n.min) }

// members are the tensors that belong to members, [N, …] each.
func (n *network) members() []*op.Tensor { return n.mlp.Params() }

// apply builds the means and log-variances [N,B,D] of inputs [B,I], or [N,B,I] with rows of each
// member's own.
func (n *network) apply(g *op.Graph, x *op.Node) (mean, logVariance *op.Node) {
	y := n.mlp.Apply(g, x)
	members := y.Shape()[0]
	highest, lowest := g.Members(g.Bind(n.max), members), g.Members(g.Bind(n.min), members)
	raw := g.Slice(y, n.out, 2*n.out)
	below := g.ColAdd(g.Scale(g.Softplus(g.ColAdd(g.Scale(raw, -1), highest)), -1), highest) // max − softplus(max − ℓ)
	above := g.ColAdd(g.Softplus(g.ColAdd(below, g.Scale(lowest, -1))), lowest)              // min + softplus(ℓ − min)
	return g.Slice(y, 0, n.out), above
}

// loss builds the loss of the package documentation without its decay, which decays has, for outcomes y
// [N,B,D]; the weights [B,1] of the rows sum to 1.
func (n *network) loss(g *op.Graph, x, y, weights *op.Node) *op.Node {
	mean, logVariance := n.apply(g, x)
	miss := g.Mul(g.Square(g.Sub(mean, y)), g.Exp(g.Scale(logVariance, -1)))
	likelihood := g.Sum(g.RowScale(g.Add(miss, logVariance), weights), float64(n.out))
	return g.AddScalars(likelihood, g.Sum(g.Sub(g.Bind(n.max), g.Bind(n.min)), 1/boundsWeight))
}

// decays are the factors c of ½c‖W‖² for each tensor of params.
func (n *network) decays() []float64 {
	of := make([]float64, len(n.params()))
	for i, t := range n.params() {
		if layer := slices.IndexFunc(n.mlp.Layers, func(l nn.Linear) bool { return l.W == t }); layer >= 0 {
			of[i] = decay(layer, len(n.mlp.Layers))
		}
	}
	return of
}
