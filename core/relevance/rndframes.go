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

// FrameRND is RND for frames. Both networks look at the stack of s′ as it was seen, whitened pixel
// by pixel, through the convolutions of openai/random-network-distillation
// (policies/cnn_policy_param_matched.py). The layers after the convolutions are the same in both,
// as Wang et al. 2025 describe them: two layers of 512 and 512 features. An update of 256 stacks of
// 84×84 takes 24.8 GFLOP, a score 56 MFLOP; the update is made in parts: see Parted. A FrameRND
// belongs to one goroutine.
type FrameRND struct {
	frameTrainer
	config            RNDConfig
	frames            Frames
	target, predictor frameNet
	whitener          *frameWhitener

	parts []updatePart // of an update; their input is whitened s′ [rows, Side·Side·Stack·3]
	made  int          // parts made here of the update under way
	loss  float64      // of these
}

var _ Parted = (*FrameRND)(nil)

// frameNet is one of the two networks.
type frameNet struct {
	convs  convs
	layers nn.MLP
}

// frameConvs are the convolutions of both networks.
var frameConvs = []convLayer{{32, 8, 4, 0}, {64, 4, 2, 0}, {64, 3, 1, 0}}

const (
	leak         = 0.2 // slope of LeakyReLU, as in TensorFlow
	minFrameSide = 36  // the least side that leaves something for every convolution
)

// looks reports whether the function looks at the frames, if there are any.
func (c RNDConfig) looks(f Frames) bool { return f.Side > 0 && c.On != OnLatents }

// observes reports whether the function looks at observations and not at the rows that are made
// from them.
func (c RNDConfig) observes() bool { return c.On == OnObservations }

// ValidateFrames refuses frames that are too small for the convolutions.
func (c RNDConfig) ValidateFrames(f Frames) error {
	if c.looks(f) && f.Side < minFrameSide {
		return fmt.Errorf("rnd: its convolutions leave nothing of frames of %d×%d: want pixels.side %d or more, or rnd.on %q", f.Side, f.Side, minFrameSide, OnLatents)
	}
	return nil
}

// NewFrameRND samples the weights and compiles the update and the score.
func NewFrameRND(c RNDConfig, shape replay.Shape, f Frames, dev device.Device, seed uint64) (*FrameRND, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := c.ValidateFrames(f); err != nil {
		return nil, err
	}
	s := rng.New(seed, "rnd")
	m := &FrameRND{
		frameTrainer: newFrameTrainer("rnd", shape, f, c.Batch, dev),
		config:       c, frames: f,
		target: newFrameNet("rnd.target", c, f, s), predictor: newFrameNet("rnd.predictor", c, f, s),
		whitener: newFrameWhitener("rnd.whitener", f, dev),
	}
	m.state = append(m.networks(), m.whitener.state()...) // the whitener's tensors are on the host only
	if err := m.compile(); err != nil {
		m.Close()
		return nil, fmt.Errorf("rnd: %w", err)
	}
	return m, nil
}

func newFrameNet(name string, c RNDConfig, f Frames, s rng.Stream) (n frameNet) {
	init := nn.Orthogonal(math.Sqrt2)
	over, seen := windows(frameConvs, f, f.Side)
	n.convs = newConvs(name, frameConvs, over, init, s)
	n.layers = nn.NewMLP(name, []int{seen.Size(), c.Hidden, c.Hidden, c.Features}, init, nn.ReLU, s)
	return n
}

// apply returns the features [rows,K] of images.
func (n frameNet) apply(g *op.Graph, x *op.Node) *op.Node {
	return n.layers.Apply(g, n.convs.apply(g, x, func(g *op.Graph, z *op.Node) *op.Node { return g.LeakyReLU(z, leak) }))
}

func (n frameNet) params() []*op.Tensor { return append(n.convs.params(), n.layers.Params()...) }

func (m *FrameRND) compile() (err error) {
	c := m.config
	rows := partsOf(c.Batch, c.Slice, m.device)
	m.parts, err = m.learnInParts(m.networks(), m.predictor.params(), c.LR, rows, func(g *op.Graph, rows int) (in, loss *op.Node) {
		in, target, guess := m.build(g, rows)
		return in, g.SquaredError(guess, g.StopGradient(target), float64(c.Batch*c.Features))
	})
	if err != nil {
		return err
	}
	return m.scoreBy(min(m.config.ScoreRows, mostRows), m.compileScore)
}

func (m *FrameRND) compileScore(rows int) (*scorer, error) {
	return newScorer("rnd score", rows, m.device, func(g *op.Graph) (inputs, *op.Node) {
		in, target, guess := m.build(g, rows)
		return inputs{next: in}, g.RowMeanSquare(guess, target)
	})
}

// build returns the input s′, f(s′) and f̂(s′) [rows,K].
func (m *FrameRND) build(g *op.Graph, rows int) (in, target, guess *op.Node) {
	in = g.Input("s'", rows, m.whitener.width)
	return in, m.target.apply(g, in), m.predictor.apply(g, in)
}

// Begin adds the frames of s′ of b to the statistics of the whitening if these have none yet: bytes as
// they are would be clipped to the bound, and their F has nothing to do with that of later frames.
func (m *FrameRND) Begin(b *replay.Batch, rows int) error {
	if m.whitener.count() > 0 {
		return nil
	}
	frames, err := framesOf(m.name, b, rows)
	if err != nil {
		return err
	}
	m.whitener.see(frames)
	return nil
}

// Train adds the frames of s′ of Batch to the statistics of the whitening, makes one Adam
// step of the predictor on them and returns its loss, the mean squared distance of the
// features.
func (m *FrameRND) Train() (loss float64, err error) {
	for part := range m.parts {
		if loss, err = m.TrainPart(part); err != nil {
			return 0, err
		}
	}
	return loss, nil
}

// Parts is how many parts an update has.
func (m *FrameRND) Parts() int { return len(m.parts) }

// TrainPart makes a part of what Train does. The first one adds the frames of all rows to the
// statistics, which a file has.
func (m *FrameRND) TrainPart(done int) (loss float64, err error) {
	rows, err := framesOf(m.name, m.batch, m.config.Batch)
	if err != nil {
		return 0, err
	}
	if done == 0 {
		m.whitener.see(rows)
		m.made, m.loss = 0, 0
	}
	m.whitener.prepare()
	for last := min(done, len(m.parts)-1); m.made <= last; m.made++ {
		p := &m.parts[m.made]
		m.whitener.whiten(p.program.Data(p.in), rows[p.first:p.first+p.rows])
		part, err := p.run(m.name)
		if err != nil {
			m.made, m.loss = 0, 0
			return 0, err
		}
		m.loss += part
	}
	if m.made < len(m.parts) {
		return math.NaN(), nil
	}
	loss, m.made, m.loss = m.loss, 0, 0
	return loss, nil
}

// Close releases the compiled programs.
func (m *FrameRND) Close() error {
	for i, p := range m.parts {
		if i == 0 || p.program != m.parts[i-1].program { // those in the middle share one
			p.program.Close()
		}
	}
	return m.trainer.Close()
}

// Score writes F = ‖f̂(s′) − f(s′)‖²/K, a mean as in the original's code. The paper writes ½‖·‖²,
// which is PaperScale times that. F of respawns is 0: see skipsRespawns.
func (m *FrameRND) Score(dst []float32, b *replay.Batch, rows int) error {
	frames, err := framesOf(m.name, b, rows)
	if err != nil {
		return err
	}
	m.whitener.prepare()
	err = m.score(dst, rows, func(s *scorer, first, n int) { m.whitener.whiten(s.Data(s.in.next), frames[first:first+n]) })
	if err != nil {
		return err
	}
	maskRespawns(dst, b, rows)
	return nil
}

// PaperScale is K/2, as for RND.
func (m *FrameRND) PaperScale() float64 { return float64(m.config.Features) / 2 }

func (m *FrameRND) networks() []*op.Tensor { return append(m.target.params(), m.predictor.params()...) }

// MemoryOfFrames estimates how many bytes both networks and the images that they look at take; the
// estimate is never much too high. It does not overflow.
func (c RNDConfig) MemoryOfFrames(shape replay.Shape, f Frames) float64 {
	if !c.looks(f) {
		return c.Memory(shape)
	}
	over, seen := windows(frameConvs, f, f.Side)
	weights, made := convNumbers(frameConvs, over)
	weights += nn.Parameters(seen.Size(), c.Hidden, c.Hidden, c.Features)
	image := float64(over[0].Size())
	rows := float64(c.Batch) + float64(min(c.ScoreRows, mostRows))
	numbers := 5*weights + 8*image + rows*(image+2*made+4*float64(c.Hidden))
	if c.Slice > 0 && c.Slice < c.Batch {
		numbers += weights // the gradients of the predictor, of all parts and of one
	}
	return 4 * numbers
}
