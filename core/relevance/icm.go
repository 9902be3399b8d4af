package relevance

import (
	"fmt"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// rounds is the number of rounds in the forward model, of two residual blocks each.
const rounds = 4

// ICMConfig describes an intrinsic curiosity model.
type ICMConfig struct {
	Cadence
	Hidden    int     `toml:"hidden"` // H, the width of everything
	Batch     int     `toml:"batch"`  // real transitions of an update
	LR        float64 `toml:"lr"`     // of Adam(0.9, 0.999)
	Momentum  float64 `toml:"-"`      // of the running statistics of the batch norms
	ScoreRows int     `toml:"-"`      // transitions scored by one run of the network; at most 128 for frames

	// A learner with discrete actions may have a model of the frames that it sees: see FrameICM,
	// which has no Momentum.
	On           string  `toml:"on"` // "observations", "frames" or "latents" (also if empty): see OnObservations
	ForwardShare float64 `toml:"-"`  // for frames: the forward model's share of the loss

	// Noise is added to the observations and next observations of a part of each update's batch. It
	// shows how robust the method is against a bad dynamics model (Wang et al. 2025, appendix: 20 %
	// of the transitions; the paper does not give the size of the noise).
	NoiseShare float64 `toml:"noise_share"` // of the rows; 0: none
	NoiseStd   float64 `toml:"noise_std"`   // in multiples of the root of the dimensions' mean variance
}

var _ = register(Spec{
	Name: "curiosity", Doc: "error of a learned model of the dynamics", Equation: "½‖g(h(s),a) − h(s′)‖²",
	Source:   "Wang et al. 2025, equation 5; Pathak et al. 2017",
	Learning: LearnsInSteps,
	Config:   DefaultICM(),
	New: func(d Deps) (Function, error) {
		if c := d.Config.(ICMConfig); c.looks(d.Frames) {
			return NewFrameICM(c, d.Shape, d.Frames, d.Device, d.Seed)
		}
		return d.made(func(shape replay.Shape) (Trained, error) {
			return NewICM(d.Config.(ICMConfig), shape, d.Device, d.Seed)
		})
	},
})

// DefaultICM is the released configuration (renwang435/pgr:
// config/online/sac_cond_synther_dmc.gin). ForwardShare is that of
// google-research/episodic-curiosity: episodic_curiosity/train_policy.py, forward_inverse_ratio,
// Momentum that of BatchNorm1d in PyTorch. ScoreRows is our choice.
func DefaultICM() ICMConfig {
	return ICMConfig{
		Cadence: Cadence{Warmup: 1000}, Hidden: 256, Batch: 256, LR: 3e-4, Momentum: 0.1, ScoreRows: 1024,
		On: OnLatents, ForwardShare: 0.2,
	}
}

// Validate says in one line what is wrong with c, or returns nil.
func (c ICMConfig) Validate() error {
	switch {
	case c.Hidden < 1 || c.ScoreRows < 1:
		return fmt.Errorf("curiosity: hidden is %d and score_rows %d, want at least 1", c.Hidden, c.ScoreRows)
	case c.Batch < 2:
		return fmt.Errorf("curiosity: batch is %d, want at least 2: a batch norm needs a variance", c.Batch)
	case !(c.LR > 0) || !(c.Momentum > 0 && c.Momentum <= 1):
		return fmt.Errorf("curiosity: lr is %g and momentum %g, want a positive rate and a momentum in (0,1]", c.LR, c.Momentum)
	case !(c.NoiseShare >= 0 && c.NoiseShare <= 1) || !(c.NoiseStd >= 0) || math.IsInf(c.NoiseStd, 0):
		return fmt.Errorf("curiosity: noise_share is %g and noise_std %g, want a share from 0 to 1 and a number of at least 0", c.NoiseShare, c.NoiseStd)
	case c.NoiseShare > 0 && c.NoiseStd == 0:
		return fmt.Errorf("curiosity: noise_share is %g, but noise_std is 0, which is no noise: want a size, as 0.2, or noise_share 0", c.NoiseShare)
	case c.On != "" && c.On != OnObservations && c.On != OnFrames && c.On != OnLatents:
		return fmt.Errorf("curiosity: on is %q, want %q, %q or %q", c.On, OnObservations, OnFrames, OnLatents)
	case (c.On == OnFrames || c.On == OnObservations) && !(c.ForwardShare > 0 && c.ForwardShare < 1):
		return fmt.Errorf("curiosity: forward_share is %g, want a share between 0 and 1: each model needs its own", c.ForwardShare)
	}
	return nil
}

// ICM is the relevance function "curiosity", an intrinsic curiosity model (Pathak et al. 2017, as
// changed by renwang435/pgr: synther/online/conditional_nets.py). It has an encoder h, a forward
// model g that predicts h(s') from h(s) and a, and an inverse model that predicts a from h(s) and
// h(s') and keeps h from collapsing. An ICM belongs to one goroutine.
type ICM struct {
	trainer
	config  ICMConfig
	shape   replay.Shape
	net     *icmNet
	train   icmGraph
	noise   rng.Stream // by update
	normals []float32  // of the noise, [rows, 2·Obs]

	inverse plan.ByRows[*scorer] // actions that the inverse model predicts
}

// NewICM samples the weights and compiles the update and the score.
func NewICM(c ICMConfig, shape replay.Shape, dev device.Device, seed uint64) (*ICM, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := rng.New(seed, "curiosity")
	m := &ICM{config: c, shape: shape, net: newICMNet(c, shape, s), noise: s.Sub("noise")}
	m.trainer = trainer{name: "curiosity", device: dev, state: m.net.state(), prepare: m.disturb}
	m.normals = make([]float32, c.noisyRows()*2*shape.Obs)
	if err := m.compile(dev); err != nil {
		m.Close()
		return nil, fmt.Errorf("curiosity: %w", err)
	}
	m.batch = inputs{obs: m.train.obs, act: m.train.act, next: m.train.next}.batch(m.step, shape, c.Batch)
	return m, nil
}

// compile makes the programs. An update is an Adam step on the sum of the mean squared errors of the forward
// and the inverse model, in which the batch norms use the statistics of the batch and average them into
// the running ones.
func (m *ICM) compile(dev device.Device) error {
	err := plan.Push(dev, m.state...)
	if err != nil {
		return err
	}
	if m.train, err = buildICM("curiosity update", m.net, m.config.Batch, (*icmGraph).buildLoss); err != nil {
		return err
	}
	rate, momentum := op.NewTensor("curiosity rate", 1), op.NewTensor("curiosity momentum", 1)
	rate.Data[0], momentum.Data[0] = float32(m.config.LR), float32(m.config.Momentum)
	m.optimiser = plan.NewAdam(m.net.params(), plan.AdamConfig{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}, rate)
	var lerps []plan.Lerp
	for i, stats := range m.train.stats {
		lerps = append(lerps, plan.Lerp{Dst: m.net.norms[i].running, Node: stats, Rate: momentum})
	}
	if m.step, err = plan.Compile(m.train.graph, plan.Spec{Loss: m.train.loss, Optimiser: m.optimiser, Lerps: lerps}, dev); err != nil {
		return err
	}
	m.inverse.Compile = func(rows int) (*scorer, error) {
		return m.compileOut("curiosity inverse", rows, (*icmGraph).buildInverse)
	}
	return m.scoreBy(m.config.ScoreRows, func(rows int) (*scorer, error) {
		return m.compileOut("curiosity score", rows, (*icmGraph).buildScore)
	})
}

// compileOut compiles what build adds to the model as its output.
func (m *ICM) compileOut(name string, rows int, build func(p *icmGraph, g *op.Graph, rows int)) (*scorer, error) {
	return newScorer(name, rows, m.device, func(g *op.Graph) (inputs, *op.Node) {
		p := icmGraph{net: m.net}
		p.build(g, rows, build)
		return inputs{obs: p.obs, act: p.act, next: p.next}, p.out
	})
}

// Close releases the compiled programs.
func (m *ICM) Close() error { return plan.Close(&m.trainer, &m.inverse) }
