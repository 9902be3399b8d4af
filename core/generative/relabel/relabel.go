// Package relabel changes what the rows of a generator are made of, for experiments on which part of
// a synthetic transition helps: whose action it has, and whose outcome.
//
// A generator makes s and a as the data have them, actions of older policies included, and its own
// networks make s', r and d. With actions of the present policy a row is what MBPO learns from
// (Janner et al. 2019). With outcomes of the simulator it is free of model error. Over a control that
// repeats real transitions the two show what new states are worth.
package relabel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"pgrlab/core/analysis"
	"pgrlab/core/generative"
)

// Generator is a generator whose rows are changed as its configuration says. Of rows that the
// simulator does not take, because their observation determines no state, none is left. It belongs to
// one goroutine.
type Generator struct {
	generative.Model
	deps  generative.Deps
	label func(rows []float32) error // sets what the heads predict; nil: there are none
	sim   Simulator                  // nil: outcomes are the generator's
	count count
	obs   []float32 // of a call of the policy, [piece,O]
	act   []float32 // [piece,A]
}

// Simulator is the task, which can be set to the state that an observation describes.
type Simulator interface {
	analysis.Simulator
	Close() error
}

// count is how far a generation is.
type count struct {
	Occasion uint64 // of the generation
	Rows     uint64 // that the generator has finished
	LeftOut  uint64 // of these, those that the simulator did not take
}

// piece is how many rows the policy acts for at once.
const piece = 256

// acting keeps the noise of the policy in generations apart from that of env steps.
const acting = 1 << 63

// New changes the rows of g, which was made with these Deps. label is what sets the predictions of
// g's heads again once an action has changed, or nil. start makes the task; it is called, and its
// result closed, only if the configuration asks for outcomes of the simulator. New closes g if it
// fails.
func New(g generative.Generator, d generative.Deps, label func(rows []float32) error, start func() (Simulator, error)) (*Generator, error) {
	r := &Generator{Model: generative.ModelOf(g, d.Config.Chunk), deps: d, label: label}
	r.obs, r.act = make([]float32, piece*d.Shape.Obs), make([]float32, piece*d.Shape.Act)
	if d.Config.Outcomes != generative.OutcomesSimulator {
		return r, nil
	}
	var err error
	if r.sim, err = start(); err != nil {
		g.Close()
		return nil, fmt.Errorf("generator.outcomes %q: %w", generative.OutcomesSimulator, err)
	}
	return r, nil
}

// Together is that of the generator.
func (r *Generator) Together() int { return generative.Together(r.Model) }

// CallsMade is that of the generator.
func (r *Generator) CallsMade() int { return generative.CallsMade(r.Model) }

// StartGenerate begins a generation.
func (r *Generator) StartGenerate(knobs generative.GenKnobs, occasion uint64) error {
	if r.acts() && r.deps.Policy == nil {
		return fmt.Errorf("generate: generator.actions is %q, and there is no policy", generative.ActionsPolicy)
	}
	if err := r.Model.StartGenerate(knobs, occasion); err != nil {
		return err
	}
	r.count = count{Occasion: occasion}
	return nil
}

func (r *Generator) acts() bool { return r.deps.Config.Actions == generative.ActionsPolicy }

// GenerateSlice makes one slice of the generator and changes the rows that it finished.
func (r *Generator) GenerateSlice() (rows []float32, done, total int, err error) {
	return r.changed(&r.count)(r.Model.GenerateSlice())
}

// Sketch begins a small generation beside all others.
func (r *Generator) Sketch(knobs generative.GenKnobs, occasion uint64) (next func() (rows []float32, done, total int, err error), err error) {
	inner, err := r.Model.Sketch(knobs, occasion)
	if err != nil {
		return nil, err
	}
	change := r.changed(&count{Occasion: occasion})
	return func() ([]float32, int, int, error) { return change(inner()) }, nil
}

// changed returns what changes the rows of each slice of a generation that has come as far as n.
func (r *Generator) changed(n *count) func([]float32, int, int, error) ([]float32, int, int, error) {
	return func(rows []float32, done, total int, err error) ([]float32, int, int, error) {
		if err != nil {
			return nil, 0, 0, err
		}
		if r.acts() {
			if err := r.choose(n, rows); err != nil {
				return nil, 0, 0, fmt.Errorf("actions of generated rows: %w", err)
			}
		}
		made := uint64(len(rows) / r.deps.Shape.Width())
		if n.Rows += made; r.sim == nil {
			return rows, done, total, nil
		}
		s, err := analysis.Simulate(r.sim, r.deps.Shape, rows)
		n.LeftOut += uint64(s.Failed)
		if err == nil && done == total && n.LeftOut == n.Rows {
			err = errors.New("it takes none of them")
		}
		if err != nil {
			return nil, 0, 0, fmt.Errorf("generated rows in the simulator: %w", err)
		}
		return s.True, done, total, nil
	}
}

// choose gives rows the policy's actions, and predicts again what follows from them. The noise of a
// row belongs to its number in the generation, whatever slices the rows come in.
func (r *Generator) choose(n *count, rows []float32) error {
	shape := r.deps.Shape
	width, first := shape.Width(), int(n.Rows)
	for left := rows; len(left) > 0; {
		at := first % piece
		some := min(piece-at, len(left)/width)
		for i := range some {
			copy(r.obs[(at+i)*shape.Obs:(at+i+1)*shape.Obs], left[i*width:])
		}
		if err := r.deps.Policy.Sample(r.act, r.obs, piece, acting|n.Occasion<<31|uint64(first/piece)); err != nil {
			return err
		}
		for i := range some {
			copy(left[i*width+shape.Obs:(i+1)*width], r.act[(at+i)*shape.Act:(at+i+1)*shape.Act])
		}
		left, first = left[some*width:], first+some
	}
	if r.label == nil {
		return nil
	}
	return r.label(rows)
}

// PromptScores returns the scores that the first n samples of a generation were prompted with. Where
// the simulator left rows out, which scores those are is unknown, and there are none.
func (r *Generator) PromptScores(knobs generative.GenKnobs, occasion uint64, n int) []float32 {
	if r.count.LeftOut > 0 {
		return nil
	}
	return r.Model.PromptScores(knobs, occasion, n)
}

// Save writes the generator and how far a generation is.
func (r *Generator) Save(w io.Writer) error {
	if err := r.Model.Save(w); err != nil {
		return err
	}
	return binary.Write(w, binary.LittleEndian, r.count)
}

// Load reads what Save wrote; see generative.Generator.
func (r *Generator) Load(from io.Reader, real generative.Rows) error {
	if err := r.Model.Load(from, real); err != nil {
		return err
	}
	if err := binary.Read(from, binary.LittleEndian, &r.count); err != nil {
		return fmt.Errorf("load generator: %w", err)
	}
	return nil
}

// Close closes the generator and the simulator.
func (r *Generator) Close() error {
	err := r.Model.Close()
	if r.sim != nil {
		err = errors.Join(err, r.sim.Close())
	}
	return err
}
