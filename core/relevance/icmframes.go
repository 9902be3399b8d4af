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

// FrameICM is the intrinsic curiosity model for frames (Pathak et al. 2017), as
// google-research/episodic-curiosity uses it with PPO (third_party/baselines/ppo2: ppo2.py,
// pathak_utils.py). The encoder φ has four convolutions of 32 channels on pictures of 42×42, each
// followed by ELU, and gives 288 numbers. A forward model with one hidden layer predicts φ(s′) from
// φ(s) and the action; an inverse model with one hidden layer predicts the action from φ(s) and
// φ(s′). The loss is
//
//	share·½‖g(φ(s),a) − φ(s′)‖² + (1−share)·CE(inverse(φ(s),φ(s′)), a)
//
// averaged over the rows. No gradient is stopped, so the target φ(s′) moves towards the prediction
// as well. The model has its own optimiser, Adam without gradient clipping. Adam's steps do not
// depend on factors of the whole loss, so those of the original (curiosity_loss_strength, and 20)
// are left out. The original reduces pictures by taking every second pixel of 84×84; here a pixel
// is the mean over its area.
//
// Actions are discrete, [A] with one 1. For single frames an update of 256 rows takes 5.9 GFLOP, a
// score 8 MFLOP. A FrameICM belongs to one goroutine.
type FrameICM struct {
	frameTrainer
	config   ICMConfig
	acts     int
	net      frameICMNet
	pictures *pictures
	in       inputs // of the update
}

// curiousConvs are the convolutions of φ.
//
// If a side is even, their windows begin one pixel outside the image and end on its last pixel;
// those of TensorFlow's SAME, which the original uses, do the same from the other end. Pictures are
// therefore rotated by 180°: see pictures. If a side is odd, both are symmetric.
var curiousConvs = []convLayer{{32, 3, 2, 1}, {32, 3, 2, 1}, {32, 3, 2, 1}, {32, 3, 2, 1}}

// looks reports whether the model looks at the frames, if there are any.
func (c ICMConfig) looks(f Frames) bool {
	return f.Side > 0 && (c.On == OnFrames || c.On == OnObservations)
}

// observes reports whether the model looks at observations and not at the rows that are made from
// them.
func (c ICMConfig) observes() bool { return c.On == OnObservations }

// ValidateFrames refuses settings that exist for numbers only.
func (c ICMConfig) ValidateFrames(f Frames) error {
	if c.looks(f) && c.NoiseShare > 0 {
		return fmt.Errorf("curiosity: noise_share is %g, and noise is of numbers: want 0 with curiosity.on %q", c.NoiseShare, c.On)
	}
	return nil
}

// NewFrameICM samples the weights and compiles the update and the score.
func NewFrameICM(c ICMConfig, shape replay.Shape, f Frames, dev device.Device, seed uint64) (*FrameICM, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := c.ValidateFrames(f); err != nil {
		return nil, err
	}
	m := &FrameICM{
		frameTrainer: newFrameTrainer("curiosity", shape, f, c.Batch, dev),
		config:       c, acts: shape.Act,
		net: newFrameICMNet(c, shape.Act, f, rng.New(seed, "curiosity")), pictures: newPictures(f, dev),
	}
	m.state = m.net.params()
	if err := m.compile(); err != nil {
		m.Close()
		return nil, fmt.Errorf("curiosity: %w", err)
	}
	return m, nil
}

func (m *FrameICM) compile() error {
	err := m.learn(m.state, m.state, m.config.LR, func(g *op.Graph) (loss *op.Node) {
		m.in, loss = m.net.loss(g, m.config)
		return loss
	})
	if err != nil {
		return err
	}
	return m.scoreBy(min(m.config.ScoreRows, mostRows), m.compileScore)
}

func (m *FrameICM) compileScore(rows int) (*scorer, error) {
	return newScorer("curiosity score", rows, m.device, func(g *op.Graph) (inputs, *op.Node) {
		in, now, next := m.net.seen(g, rows)
		return in, g.RowMeanSquare(m.net.forward.Apply(g, g.Concat(now, in.act)), next)
	})
}

// Train makes one Adam step on the frames and actions of Batch and returns its loss.
func (m *FrameICM) Train() (loss float64, err error) {
	rows, err := m.framesOf(m.batch, m.config.Batch)
	if err != nil {
		return 0, err
	}
	m.pictures.write(m.in.of(m.step), rows)
	return m.trainer.Train()
}

// Score writes F = ‖g(φ(s),a) − φ(s′)‖²/288, a mean like that of ICM. The original's bonus is
// ½‖·‖², which is PaperScale times that. F of respawns is 0: see skipsRespawns.
func (m *FrameICM) Score(dst []float32, b *replay.Batch, rows int) error {
	frames, err := m.framesOf(b, rows)
	if err != nil {
		return err
	}
	err = m.score(dst, rows, func(s *scorer, first, n int) { m.pictures.write(s.in.of(s.Program), frames[first:first+n]) })
	if err != nil {
		return err
	}
	maskRespawns(dst, b, rows)
	return nil
}

// framesOf are the frames of the first rows transitions of a batch, each with its action.
func (m *FrameICM) framesOf(b *replay.Batch, rows int) ([]replay.FrameRow, error) {
	frames, err := framesOf(m.name, b, rows)
	if err != nil {
		return nil, err
	}
	for i := range frames {
		if len(frames[i].Action) != m.acts {
			return nil, fmt.Errorf("relevance curiosity: row %d of frames has %d actions, want %d", i, len(frames[i].Action), m.acts)
		}
	}
	return frames, nil
}

// PaperScale is 288/2, the ratio of the original's ½‖·‖² to the mean that Score writes.
func (m *FrameICM) PaperScale() float64 { return float64(m.net.features) / 2 }

// frameICMNet holds the networks of a FrameICM.
type frameICMNet struct {
	image, features, acts int // sizes
	encoder               convs
	forward, inverse      nn.MLP
}

// newFrameICMNet samples weights as the original does: those of convolutions by Glorot's rule, with
// the fan-out of a whole window, and those of the other layers close to 0.
func newFrameICMNet(c ICMConfig, acts int, f Frames, s rng.Stream) (n frameICMNet) {
	over, seen := windows(curiousConvs, f, pictureSide)
	n.image, n.features, n.acts = over[0].Size(), seen.Size(), acts
	n.encoder = newConvs("curiosity.encoder", curiousConvs, over, func(w, b []float32, in, out int, s rng.Stream) {
		taps := over[0].Kernel * over[0].Kernel
		nn.XavierUniform(w, b, in, taps*out, s)
	}, s)
	small := nn.Columns(0.01)
	n.forward = nn.NewMLP("curiosity.forward", []int{n.features + acts, c.Hidden, n.features}, small, nn.ReLU, s)
	n.inverse = nn.NewMLP("curiosity.inverse", []int{2 * n.features, c.Hidden, acts}, small, nn.ReLU, s)
	return n
}

func (n frameICMNet) params() []*op.Tensor {
	return append(n.encoder.params(), append(n.forward.Params(), n.inverse.Params()...)...)
}

// seen returns s, a and s′ of that many rows, and φ(s) and φ(s′) [rows,288].
func (n frameICMNet) seen(g *op.Graph, rows int) (in inputs, now, next *op.Node) {
	in = inputs{obs: g.Input("s", rows, n.image), act: g.Input("a", rows, n.acts), next: g.Input("s'", rows, n.image)}
	return in, n.encoder.apply(g, in.obs, nn.ELU), n.encoder.apply(g, in.next, nn.ELU)
}

// loss is that of an update. It does not use SquaredError, which would stop the gradient at the
// target.
func (n frameICMNet) loss(g *op.Graph, c ICMConfig) (inputs, *op.Node) {
	in, now, next := n.seen(g, c.Batch)
	missed, rows := g.Sub(n.forward.Apply(g, g.Concat(now, in.act)), next), float64(c.Batch)
	return in, g.AddScalars(
		g.Sum(g.Square(missed), 2*rows/c.ForwardShare),
		g.CrossEntropy(n.inverse.Apply(g, g.Concat(now, next)), in.act, rows/(1-c.ForwardShare)))
}

// MemoryOfFrames estimates how many bytes the networks and the images that they look at take; the
// estimate is never much too high. It does not overflow.
func (c ICMConfig) MemoryOfFrames(shape replay.Shape, f Frames) float64 {
	if !c.looks(f) {
		return c.Memory(shape)
	}
	over, seen := windows(curiousConvs, f, pictureSide)
	weights, made := convNumbers(curiousConvs, over)
	weights += nn.Parameters(seen.Size()+shape.Act, c.Hidden, seen.Size()) + nn.Parameters(2*seen.Size(), c.Hidden, shape.Act)
	images, hidden := 2*float64(over[0].Size()), 4*float64(c.Hidden)
	updated, scored := float64(c.Batch), math.Min(float64(c.ScoreRows), mostRows)
	return 4 * (4*weights + updated*(images+4*made+hidden) + scored*(images+2*made+hidden))
}
