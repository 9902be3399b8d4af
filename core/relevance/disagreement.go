package relevance

import (
	"fmt"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// DisagreementConfig describes an ensemble of models of the dynamics.
type DisagreementConfig struct {
	Cadence
	Members int     `toml:"members"` // N
	Hidden  int     `toml:"hidden"`  // width of the two hidden layers
	Batch   int     `toml:"-"`       // real transitions of an update (nnaisense/MAX: main.py)
	LR      float64 `toml:"lr"`      // of Adam(0.9, 0.999)
}

var _ = register(Spec{
	Name: "disagreement", Doc: "how much the models of an ensemble disagree on s′", Equation: "H₂(mean of pᵢ(s′|s,a)) − mean of H₂(pᵢ)",
	Source:   "Shyam et al. 2019, Jensen-Rényi divergence; nnaisense/MAX",
	Learning: LearnsInSteps,
	Config:   DefaultDisagreement(),
	New: func(d Deps) (Function, error) {
		return d.made(func(shape replay.Shape) (Trained, error) {
			return NewDisagreement(d.Config.(DisagreementConfig), shape, d.Device, d.Seed)
		})
	},
})

// DefaultDisagreement is a small ensemble: MAX has 32 networks of four layers of 512, which it fits
// again and again; here they learn beside the agent, as the curiosity model does.
func DefaultDisagreement() DisagreementConfig {
	return DisagreementConfig{Cadence: Cadence{Warmup: 500}, Members: 5, Hidden: 64, Batch: 256, LR: 1e-3}
}

// Validate says in one line what is wrong with c, or returns nil.
func (c DisagreementConfig) Validate() error {
	switch {
	case c.Members < 2 || c.Members > 64:
		return fmt.Errorf("disagreement: members is %d, want 2 to 64", c.Members)
	case c.Hidden < 1 || c.Batch < 1:
		return fmt.Errorf("disagreement: hidden is %d and batch %d, want at least 1", c.Hidden, c.Batch)
	case !(c.LR > 0):
		return fmt.Errorf("disagreement: lr is %g, want a positive number", c.LR)
	}
	return nil
}

// Memory covers weights, gradients and moments, and the units of an update and of a score.
func (c DisagreementConfig) Memory(s replay.Shape) float64 {
	units := float64(s.Width() + 2*c.Hidden + 4*s.Obs)
	return 4 * float64(c.Members) * (4*nn.Parameters(s.Obs+s.Act, c.Hidden, c.Hidden, 2*s.Obs) + 3*float64(c.Batch+disagreementRows)*units)
}

func (DisagreementConfig) skipsRespawns() {}
func (*Disagreement) skipsRespawns()      {}

// Log-variances are −5 + 4σ(·) (nnaisense/MAX: models.py).
const (
	lowestLogVariance  = -5
	rangeOfLogVariance = 4
)

// varianceShare is what is left of differences between variances, so that F is of the means: variances
// v become e^−1 − 0.1·(e^−1 − v) (nnaisense/MAX: utilities.py, decay 0.1).
const varianceShare = 0.1

// disagreementRows are scored by one run.
const disagreementRows = 1024

// Disagreement is the relevance function "disagreement": the Jensen-Rényi divergence of order 2 of N
// Gaussians over s'−s, which networks of their own predict from s and a, all of them whitened. It is 0
// if they agree, and at most ln N; it may fall a little below 0. Each network learns from half of each
// batch, drawn for itself. F does not depend on s', so that it is known of what has not happened yet.
// F of respawns is 0. A Disagreement belongs to one goroutine.
type Disagreement struct {
	trainer
	config         DisagreementConfig
	shape          replay.Shape
	net            nn.MLP
	inputs, change whitener
	halves         rng.Stream // by update

	lowest, floor *op.Tensor // constants of log-variances and compressed variances, [O]
	x, y, weights *op.Node   // of an update: [B,O+A], [B,O], [N,B,1]
	joined, moved []float32
}

// NewDisagreement samples the weights and compiles the update and the score.
func NewDisagreement(c DisagreementConfig, shape replay.Shape, dev device.Device, seed uint64) (*Disagreement, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s, in := rng.New(seed, "disagreement"), shape.Obs+shape.Act
	m := &Disagreement{
		trainer: trainer{name: "disagreement", device: dev, batch: replay.NewBatch(shape, c.Batch)}, config: c, shape: shape,
		net:    nn.NewEnsembleMLP("disagreement", c.Members, []int{in, c.Hidden, c.Hidden, 2 * shape.Obs}, nn.XavierUniform, nn.SiLU, s),
		inputs: newWhitener("disagreement.inputs", in), change: newWhitener("disagreement.change", shape.Obs), halves: s.Sub("halves"),
		joined: make([]float32, max(c.Batch, disagreementRows)*in), moved: make([]float32, c.Batch*shape.Obs),
	}
	m.lowest = constant("lowest log-variance", shape.Obs, lowestLogVariance)
	m.floor = newFloor(shape.Obs)
	m.state = append(append(m.net.Params(), m.inputs.state()...), m.change.state()...) // the whiteners' tensors are on the host only
	m.prepare = m.write
	if err := m.compile(); err != nil {
		m.Close()
		return nil, fmt.Errorf("disagreement: %w", err)
	}
	return m, nil
}

func (m *Disagreement) compile() error {
	c, in := m.config, m.shape.Obs+m.shape.Act
	err := m.learn(m.net.Params(), m.net.Params(), c.LR, func(g *op.Graph) *op.Node {
		m.x, m.y, m.weights = g.Input("x", c.Batch, in), g.Input("y", c.Batch, m.shape.Obs), g.Input("weights", c.Members, c.Batch, 1)
		mean, logVariance := m.split(g, m.net.Apply(g, m.x))
		miss := g.Mul(g.Square(g.Sub(mean, g.Members(m.y, c.Members))), g.Exp(g.Scale(logVariance, -1)))
		return g.Sum(g.RowScale(g.Add(miss, logVariance), m.weights), float64(m.shape.Obs))
	})
	if err != nil {
		return err
	}
	return m.scoreBy(disagreementRows, func(rows int) (*scorer, error) {
		return newScorer("disagreement score", rows, m.device, func(g *op.Graph) (inputs, *op.Node) {
			x := g.Input("x", rows, in)
			var means, variances []*op.Node
			for i := range c.Members {
				one := op.NewTensor(fmt.Sprintf("disagreement member %d", i), 1)
				one.Data[0] = float32(i)
				mean, logVariance := m.split(g, g.SumMembers(m.net.ApplyAt(g, x, g.Bind(one))))
				means, variances = append(means, mean), append(variances, compressed(g, g.Exp(logVariance), m.floor))
			}
			return inputs{obs: x}, jensenRenyi(g, means, variances)
		})
	})
}

// split divides the outputs of networks into means and log-variances.
func (m *Disagreement) split(g *op.Graph, y *op.Node) (mean, logVariance *op.Node) {
	d := m.shape.Obs
	return g.Slice(y, 0, d), shifted(g, g.Scale(g.Sigmoid(g.Slice(y, d, 2*d)), rangeOfLogVariance), m.lowest)
}

// newFloor returns what is added to a share of variances, see compressed: one number a column.
func newFloor(cols int) *op.Tensor {
	return constant("floor of variances", cols, (1-varianceShare)*math.Exp(lowestLogVariance+rangeOfLogVariance))
}

// compressed brings variances nearer to the bound that they have in MAX, see varianceShare.
func compressed(g *op.Graph, variance *op.Node, floor *op.Tensor) *op.Node {
	return shifted(g, g.Scale(variance, varianceShare), floor)
}

// constant returns a tensor of equal numbers.
func constant(name string, cols int, value float64) *op.Tensor {
	t := op.NewTensor(name, cols)
	for i := range t.Data {
		t.Data[i] = float32(value)
	}
	return t
}

// shifted is x + by, a constant of its columns.
func shifted(g *op.Graph, x *op.Node, by *op.Tensor) *op.Node {
	b := g.Bind(by)
	if shape := x.Shape(); len(shape) == 3 {
		b = g.Members(b, shape[0])
	}
	return g.ColAdd(x, b)
}

// jensenRenyi is the Jensen-Rényi divergence of order 2 of Gaussians with those means and diagonal
// variances, each [B,D], as [B,1] (Shyam et al. 2019, equation 8; the terms of 2π cancel):
//
//	−ln(1/N² Σᵢⱼ exp(−½ Σ_d ((μᵢ−μⱼ)²/(vᵢ+vⱼ) + ln(vᵢ+vⱼ)))) − 1/N Σᵢ ½ Σ_d ln vᵢ − (D/2)·ln 2
func jensenRenyi(g *op.Graph, means, variances []*op.Node) *op.Node {
	n, d := float64(len(means)), float64(means[0].Shape()[1])
	var overlaps []*op.Node
	var entropies *op.Node
	for i, mean := range means {
		own := g.SumColumns(g.Log(variances[i]))
		if i == 0 {
			entropies = own
		} else {
			entropies = g.Add(entropies, own)
		}
		for j, other := range means[:i+1] {
			both := g.Add(variances[i], variances[j])
			overlap := g.Scale(g.SumColumns(g.Add(g.Div(g.Square(g.Sub(mean, other)), both), g.Log(both))), -0.5)
			if overlaps = append(overlaps, overlap); j < i {
				overlaps = append(overlaps, overlap) // i, j and j, i
			}
		}
	}
	mixture := g.Scale(g.LogSumExp(g.Concat(overlaps...)), -1)
	return shifted(g, g.Sub(mixture, g.Scale(entropies, 0.5/n)), constant("divergence offset", 1, 2*math.Log(n)-d/2*math.Ln2))
}

// write adds the batch to the statistics of the whitening, and makes the step's inputs of it and of each
// member's share.
func (m *Disagreement) write() {
	rows, o := m.config.Batch, m.shape.Obs
	m.join(m.batch, 0, rows)
	for i, next := range m.batch.Next[:rows*o] {
		m.moved[i] = next - m.batch.Obs[i]
	}
	m.inputs.see(m.joined, rows)
	m.change.see(m.moved, rows)
	m.inputs.whiten(m.step.Data(m.x), m.joined, rows)
	m.change.whiten(m.step.Data(m.y), m.moved, rows)
	weights, from := m.step.Data(m.weights), m.halves.At(m.optimiser.T)
	for member := range m.config.Members {
		mine, taken := weights[member*rows:(member+1)*rows], 0
		for i := range mine {
			mine[i] = float32(from.Uint32() & 1)
			taken += int(mine[i])
		}
		for i := range mine {
			mine[i] /= float32(max(1, taken))
		}
	}
}

// Train makes an Adam step. It returns the mean over members and outputs of (Δ−μ)²/v + ln v.
func (m *Disagreement) Train() (loss float64, err error) {
	loss, err = m.trainer.Train()
	return loss / float64(m.config.Members), err
}

// join writes [s, a] of rows of b, from number first on.
func (m *Disagreement) join(b *replay.Batch, first, rows int) {
	o, a := m.shape.Obs, m.shape.Act
	for i := range rows {
		at := m.joined[i*(o+a) : (i+1)*(o+a)]
		copy(at, b.Obs[(first+i)*o:(first+i+1)*o])
		copy(at[o:], b.Act[(first+i)*a:(first+i+1)*a])
	}
}

// Score writes F of rows transitions.
func (m *Disagreement) Score(dst []float32, b *replay.Batch, rows int) error {
	err := m.score(dst, rows, func(s *scorer, first, n int) {
		m.join(b, first, n)
		m.inputs.whiten(s.Data(s.in.obs), m.joined, n)
	})
	if err != nil {
		return err
	}
	maskRespawns(dst, b, rows)
	return nil
}
