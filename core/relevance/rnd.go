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

// RNDConfig describes a pair of networks for random network distillation.
type RNDConfig struct {
	Cadence
	Hidden    int     `toml:"hidden"`   // width of the hidden layers
	Features  int     `toml:"features"` // K, outputs of both networks
	Batch     int     `toml:"batch"`    // real transitions of an update
	LR        float64 `toml:"lr"`       // of Adam(0.9, 0.999)
	ScoreRows int     `toml:"-"`        // transitions scored by one run of the networks; at most 128 for frames
	Slice     int     `toml:"slice"`    // for frames: most rows of an update for which a command has to wait; 0: all. The results depend on it. Updates on a GPU are not cut
	On        string  `toml:"on"`       // "observations", "frames" or "latents": see OnObservations
}

var _ = register(Spec{
	Name: "rnd", Doc: "distance between a trained network and a random one", Equation: "½‖f̂(s′) − f(s′)‖²",
	Source:   "Wang et al. 2025, equation 6; Burda et al. 2018",
	Learning: LearnsInSteps,
	Config:   DefaultRND(),
	New: func(d Deps) (Function, error) {
		if c := d.Config.(RNDConfig); c.looks(d.Frames) {
			return NewFrameRND(c, d.Shape, d.Frames, d.Device, d.Seed)
		}
		return d.made(func(shape replay.Shape) (Trained, error) {
			return NewRND(d.Config.(RNDConfig), shape, d.Device, d.Seed)
		})
	},
})

// DefaultRND has the sizes that the paper gives for the layers after the convolutions on images
// (two layers of 512, 512 features), and the learning rate of openai/random-network-distillation:
// run_atari.py. ScoreRows is our choice, as for the curiosity model.
func DefaultRND() RNDConfig {
	return RNDConfig{Cadence: Cadence{Warmup: 1000}, Hidden: 512, Features: 512, Batch: 256, LR: 1e-4, ScoreRows: 1024, On: OnFrames}
}

// Validate says in one line what is wrong with c, or returns nil.
func (c RNDConfig) Validate() error {
	switch {
	case c.Hidden < 1 || c.Features < 1 || c.ScoreRows < 1 || c.Batch < 1:
		return fmt.Errorf("rnd: hidden is %d, features %d, batch %d and score_rows %d, want at least 1", c.Hidden, c.Features, c.Batch, c.ScoreRows)
	case c.Slice < 0:
		return fmt.Errorf("rnd: slice is %d, want rows, or 0 for all of an update", c.Slice)
	case !(c.LR > 0):
		return fmt.Errorf("rnd: lr is %g, want a positive number", c.LR)
	case c.On != "" && c.On != OnObservations && c.On != OnFrames && c.On != OnLatents:
		return fmt.Errorf("rnd: on is %q, want %q, %q or %q", c.On, OnObservations, OnFrames, OnLatents)
	}
	return nil
}

// RND is random network distillation (Burda et al. 2018) of the next observation. A predictor f̂
// learns on real transitions to match a target network f, whose weights stay as they were
// initialised; relevance is the distance between the two. Here both are MLPs on the whitened s',
// where the original begins with convolutions. As there, the predictor is two layers deeper, which
// deviates from Wang et al. 2025, where both networks have the same layers, as in FrameRND, the variant
// for frames. An RND belongs to one goroutine.
type RND struct {
	trainer
	config            RNDConfig
	width             int // of an observation
	target, predictor nn.MLP
	whitener          whitener

	stepNext *op.Node // whitened s' [B,O]
}

// NewRND samples the weights and compiles the update and the score.
func NewRND(c RNDConfig, shape replay.Shape, dev device.Device, seed uint64) (*RND, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s, init, h := rng.New(seed, "rnd"), nn.Orthogonal(math.Sqrt2), c.Hidden
	m := &RND{
		trainer:   trainer{name: "rnd", device: dev, batch: replay.NewBatch(shape, c.Batch)},
		config:    c,
		width:     shape.Obs,
		target:    nn.NewMLP("rnd.target", []int{shape.Obs, h, h, c.Features}, init, nn.ReLU, s),
		predictor: nn.NewMLP("rnd.predictor", []int{shape.Obs, h, h, h, h, c.Features}, init, nn.ReLU, s),
		whitener:  newWhitener("rnd.whitener", shape.Obs),
	}
	m.state = append(m.networks(), m.whitener.state()...) // the whitener's tensors are on the host only
	m.prepare = m.whiten
	if err := m.compile(); err != nil {
		m.Close()
		return nil, fmt.Errorf("rnd: %w", err)
	}
	return m, nil
}

func (m *RND) compile() error {
	c := m.config
	err := m.learn(m.networks(), m.predictor.Params(), c.LR, func(g *op.Graph) *op.Node {
		in, target, guess := m.build(g, c.Batch)
		m.stepNext = in
		return g.SquaredError(guess, g.StopGradient(target), float64(c.Batch*c.Features))
	})
	if err != nil {
		return err
	}
	return m.scoreBy(c.ScoreRows, m.compileScore)
}

func (m *RND) compileScore(rows int) (*scorer, error) {
	return newScorer("rnd score", rows, m.device, func(g *op.Graph) (inputs, *op.Node) {
		in, target, guess := m.build(g, rows)
		return inputs{next: in}, g.RowMeanSquare(guess, target)
	})
}

// build returns the input s', f(s') and f̂(s') [rows,K].
func (m *RND) build(g *op.Graph, rows int) (in, target, guess *op.Node) {
	in = g.Input("s'", rows, m.width)
	return in, m.target.Apply(g, in), m.predictor.Apply(g, in)
}

// whiten adds the next observations of Batch to the statistics of the whitening, and makes the step's input
// of them.
func (m *RND) whiten() {
	m.whitener.see(m.batch.Next, m.config.Batch)
	m.whitener.whiten(m.step.Data(m.stepNext), m.batch.Next, m.config.Batch)
}

// Score writes F = ‖f̂(s') − f(s')‖²/K, a mean as in the original's code. The paper writes ½‖·‖²,
// which is PaperScale times that. F of respawns is 0: see skipsRespawns.
func (m *RND) Score(dst []float32, b *replay.Batch, rows int) error {
	o := m.width
	err := m.score(dst, rows, func(s *scorer, first, n int) { m.whitener.whiten(s.Data(s.in.next), b.Next[first*o:], n) })
	if err != nil {
		return err
	}
	maskRespawns(dst, b, rows)
	return nil
}

// PaperScale is K/2, the ratio of the paper's ½‖·‖² to the mean that Score writes.
func (m *RND) PaperScale() float64 { return float64(m.config.Features) / 2 }

func (m *RND) networks() []*op.Tensor { return append(m.target.Params(), m.predictor.Params()...) }
