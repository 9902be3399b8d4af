package relevance

import (
	"fmt"
	"io"
	"math/bits"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// trainer is what functions that learn in steps have in common: a batch, the program of an update
// with its optimiser, a program that scores, and the state that is saved.
type trainer struct {
	name      string // the function's
	device    device.Device
	batch     *replay.Batch
	prepare   func() // the inputs of the step from the batch; nil if there is nothing to do
	started   bool   // the step is under way
	step      *plan.Program
	optimiser *plan.Adam
	scorers   plan.ByRows[*scorer]
	rows      int          // scored by one run of the largest scorer
	state     []*op.Tensor // weights and statistics
}

// Name is the function's name in the registry.
func (t *trainer) Name() string { return t.name }

// learn compiles the update, an Adam step of the trained tensors on the loss that build returns;
// weights are all tensors that its graph binds.
func (t *trainer) learn(weights, trained []*op.Tensor, lr float64, build func(g *op.Graph) (loss *op.Node)) error {
	if err := plan.Push(t.device, weights...); err != nil {
		return err
	}
	var loss *op.Node
	g, err := op.Build(t.name+" update", func(g *op.Graph) { loss = build(g) })
	if err != nil {
		return err
	}
	t.optimise(trained, lr)
	t.step, err = plan.Compile(g, plan.Spec{Loss: loss, Optimiser: t.optimiser}, t.device)
	return err
}

// optimise makes the optimiser of the trained tensors.
func (t *trainer) optimise(trained []*op.Tensor, lr float64) {
	rate := op.NewTensor(t.name+" rate", 1)
	rate.Data[0] = float32(lr)
	t.optimiser = plan.NewAdam(trained, plan.DefaultAdam, rate)
}

// Batch is the memory that Train reads: real transitions only, sampled by the caller.
func (t *trainer) Batch() *replay.Batch { return t.batch }

// Train makes one Adam step on Batch, or ends the one that Start has begun, and returns its loss.
func (t *trainer) Train() (loss float64, err error) {
	if t.prepare != nil && !t.started {
		t.prepare()
	}
	t.started = false
	if err := t.step.Run(0); err != nil {
		return 0, fmt.Errorf("train %s: %w", t.name, err)
	}
	return t.step.Loss(), nil
}

// Beside implements Starter.
func (t *trainer) Beside() bool { return t.step.Beside() }

// Start implements Starter.
func (t *trainer) Start() error {
	if t.prepare != nil {
		t.prepare()
	}
	if err := t.step.Start(0); err != nil {
		return fmt.Errorf("train %s: %w", t.name, err)
	}
	t.started = true
	return nil
}

// scoreBy makes compile the one that compiles scorers, of at most that many rows, and compiles the
// largest.
func (t *trainer) scoreBy(rows int, compile func(rows int) (*scorer, error)) error {
	t.rows, t.scorers.Compile = rows, compile
	_, err := t.scorers.Of(rows)
	return err
}

// scorer returns the program that scores that many rows: the one for the most rows, or a smaller one.
// Bonuses are computed for single env steps.
func (t *trainer) scorer(rows int) (*scorer, error) {
	if rows < 1 || 2*rows > t.rows {
		return t.scorers.Of(t.rows)
	}
	return t.scorers.Of(1 << bits.Len(uint(rows-1)))
}

// Score writes F of rows transitions, computed from their columns.
func (t *trainer) Score(dst []float32, b *replay.Batch, rows int) error {
	return t.score(dst, rows, func(s *scorer, first, n int) { s.set(b, first, n) })
}

// score is Score where write sets the inputs of a scorer for the n rows that begin with row first.
func (t *trainer) score(dst []float32, rows int, write func(s *scorer, first, n int)) error {
	s, err := t.scorer(rows)
	if err == nil {
		err = s.Each(0, rows, func(first, n int) { write(s, first, n) }, dst)
	}
	if err != nil {
		return fmt.Errorf("relevance %s: %w", t.name, err)
	}
	return nil
}

// Close releases the compiled programs.
func (t *trainer) Close() error { return plan.Close(t.step, &t.scorers) }

// Save writes weights, statistics and the optimiser.
func (t *trainer) Save(w io.Writer) error {
	if err := plan.SaveAll(w, plan.Tensors{Device: t.device, Of: t.state}, t.optimiser); err != nil {
		return fmt.Errorf("save %s: %w", t.name, err)
	}
	return nil
}

// Load reads what Save wrote for the same settings. On an error the function must not
// be used any further.
func (t *trainer) Load(r io.Reader) error {
	if err := plan.LoadAll(r, plan.Tensors{Device: t.device, Of: t.state}, t.optimiser); err != nil {
		return fmt.Errorf("load %s: %w", t.name, err)
	}
	return nil
}

// frameTrainer is a trainer of a function of frames.
type frameTrainer struct{ trainer }

// mostRows is the most stacks in one run of networks with convolutions: 7 GFLOP for those of FrameRND.
const mostRows = 128

func newFrameTrainer(name string, shape replay.Shape, f Frames, batch int, dev device.Device) frameTrainer {
	t := frameTrainer{trainer{name: name, device: dev, batch: replay.NewBatch(shape, batch)}}
	t.batch.Frames = replay.NewFrameRows(batch, f.Stack)
	return t
}

// Prepare compiles the program that scores that many rows, which otherwise happens when they are
// first scored.
func (t *frameTrainer) Prepare(rows int) error {
	_, err := t.scorer(rows)
	return err
}

// Slice is how many transitions one run of the networks scores.
func (t *frameTrainer) Slice() int { return t.rows }
