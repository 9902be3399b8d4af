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
	step      *plan.Program
	optimiser *plan.Adam
	scores    *scorer
	few       map[int]*scorer // scorers for fewer rows than scores, by number of rows
	state     []*op.Tensor    // weights and statistics
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

// Train makes one Adam step on Batch and returns its loss.
func (t *trainer) Train() (loss float64, err error) {
	if err := t.step.Run(0); err != nil {
		return 0, fmt.Errorf("train %s: %w", t.name, err)
	}
	return t.step.Loss(), nil
}

// Score writes F of rows transitions.
func (t *trainer) Score(dst []float32, b *replay.Batch, rows int) error {
	if err := t.scores.run(dst, b, rows); err != nil {
		return fmt.Errorf("relevance %s: %w", t.name, err)
	}
	return nil
}

// scorer returns a program for that many rows: the one for the most rows, or a smaller one, which
// compile makes when it is first needed. Bonuses are computed for single env steps.
func (t *trainer) scorer(rows int, compile func(rows int) (*scorer, error)) (*scorer, error) {
	if rows < 1 || 2*rows > t.scores.rows {
		return t.scores, nil
	}
	n := 1 << bits.Len(uint(rows-1))
	if s, made := t.few[n]; made {
		return s, nil
	}
	s, err := compile(n)
	if err != nil {
		return nil, err
	}
	if t.few == nil {
		t.few = map[int]*scorer{}
	}
	t.few[n] = s
	return s, nil
}

// Close releases the compiled programs.
func (t *trainer) Close() error {
	if t.scores != nil {
		t.scores.program.Close()
	}
	for _, s := range t.few {
		s.program.Close()
	}
	return closed(t.step)
}

// Save writes weights, statistics and the optimiser.
func (t *trainer) Save(w io.Writer) error {
	if err := plan.Save(t.device, w, t.state); err != nil {
		return fmt.Errorf("save %s: %w", t.name, err)
	}
	if err := t.optimiser.Save(w); err != nil {
		return fmt.Errorf("save %s: %w", t.name, err)
	}
	return nil
}

// Load reads what Save wrote for the same settings. On an error the function must not
// be used any further.
func (t *trainer) Load(r io.Reader) error {
	if err := plan.Load(t.device, r, t.state); err != nil {
		return fmt.Errorf("load %s: %w", t.name, err)
	}
	if err := t.optimiser.Load(r); err != nil {
		return fmt.Errorf("load %s: %w", t.name, err)
	}
	return nil
}

// closed releases programs; nil ones were not compiled.
func closed(programs ...*plan.Program) error {
	for _, p := range programs {
		if p != nil {
			p.Close()
		}
	}
	return nil
}
