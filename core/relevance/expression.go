package relevance

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"pgrlab/core/formula"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// Scope is what a formula is computed from.
type Scope struct {
	Shape replay.Shape
	Names []string // of the numbers of an observation; nil: unknown
	// Function returns the function of the registry of that name; nil: the formula is only checked.
	Function func(name string) (*Model, error)
	Values   Values // of the agent; nil if it has none
}

// NewFormula makes the function that is a formula. Errors about the formula are *formula.Error.
func NewFormula(name string, s Scope) (*Model, error) {
	r, err := read(name)
	if err != nil {
		return nil, err
	}
	e := &expression{name: name, scope: s}
	if e.columns, err = r.formula.Columns(e, e); err != nil {
		return nil, err
	}
	if s.Function == nil {
		return nil, nil
	}
	for _, need := range Named(name) {
		f, err := s.Function(need)
		if err != nil {
			return nil, fmt.Errorf("formula: %w", err)
		}
		e.of = append(e.of, f)
	}
	if r.whole {
		return Of(&measured{e}), nil
	}
	return Of(e), nil
}

// Check says what is wrong with a formula for rows of that shape; nil for other functions.
func Check(name string, shape replay.Shape, names []string) error {
	if !IsFormula(name) {
		return nil
	}
	_, err := NewFormula(name, Scope{Shape: shape, Names: names})
	return err
}

// expression is F by a formula. It reads the columns of a batch.
type expression struct {
	name    string
	scope   Scope
	columns *formula.Columns
	of      []*Model // the functions that it names

	batch *replay.Batch // that is scored
	rows  int
	made  [][]float32 // of each slot that is computed for a batch as a whole, its values; empty: not yet
	err   error       // of computing them
}

// The slots of quantities. Those of functions follow, in the order of Needs.
const (
	slotReward = iota
	slotDone
	slotObs
	slotNext
	slotAct
	slotObsNorm
	slotNextNorm
	slotActNorm
	slotMove
	slotAge
	slotQ
	slotQStd
	slotFunctions
)

var slots = map[string]int{
	"reward": slotReward, "done": slotDone, "obs": slotObs, "next": slotNext, "act": slotAct, "obs_norm": slotObsNorm, "next_norm": slotNextNorm,
	"action_norm": slotActNorm, "move": slotMove, "age": slotAge, "q": slotQ, "q_std": slotQStd,
}

func (e *expression) Name() string { return e.name }

// Names implements formula.Names.
func (e *expression) Names() []string { return Quantities() }

// Quantity implements formula.Names.
func (e *expression) Quantity(name, of string) (formula.Quantity, error) {
	if of != "" {
		return formula.Quantity{}, fmt.Errorf("%s takes no name in brackets: elements are in square brackets, as in obs[%q]", name, of)
	}
	function, known := quantities[name]
	if !known {
		return formula.Quantity{}, formula.ErrUnknown
	}
	if function != "" {
		return formula.Quantity{Slot: slotFunctions + slices.Index(Named(e.name), function)}, nil
	}
	q := formula.Quantity{Slot: slots[name]}
	switch q.Slot {
	case slotDone:
		q.Flag = true
	case slotObs, slotNext:
		q.Width, q.Elements = e.scope.Shape.Obs, e.scope.Names
	case slotAct:
		q.Width = e.scope.Shape.Act
	case slotQ, slotQStd:
		if _, can := e.scope.Values.(Critics); !can && e.scope.Function != nil {
			return q, fmt.Errorf("the run's learner has no critics of single actions, of which %s is", name)
		}
	}
	return q, nil
}

// Read implements formula.Values.
func (e *expression) Read(dst []float64, slot, element, row, rows int) {
	s := e.scope.Shape
	for len(dst) > 0 {
		out := dst[:rows]
		switch slot {
		case slotReward:
			widen(out, e.batch.Reward[row:], 1)
		case slotDone:
			widen(out, e.batch.Done[row:], 1)
		case slotObs:
			widen(out, e.batch.Obs[row*s.Obs+element:], s.Obs)
		case slotNext:
			widen(out, e.batch.Next[row*s.Obs+element:], s.Obs)
		case slotAct:
			widen(out, e.batch.Act[row*s.Act+element:], s.Act)
		case slotObsNorm:
			norms(out, e.batch.Obs[row*s.Obs:], nil, s.Obs)
		case slotNextNorm:
			norms(out, e.batch.Next[row*s.Obs:], nil, s.Obs)
		case slotActNorm:
			norms(out, e.batch.Act[row*s.Act:], nil, s.Act)
		case slotMove:
			norms(out, e.batch.Next[row*s.Obs:], e.batch.Obs[row*s.Obs:], s.Obs)
		case slotAge:
			clear(out)
			if e.batch.Ages != nil {
				widen(out, e.batch.Ages[row:], 1)
			}
		default:
			widen(out, e.computed(slot)[row:], 1)
		}
		dst, element = dst[rows:], element+1
	}
}

// widen copies every width-th number.
func widen(dst []float64, from []float32, width int) {
	for i := range dst {
		dst[i] = float64(from[i*width])
	}
}

// norms writes the lengths of the rows of a, or of a-b.
func norms(dst []float64, a, b []float32, width int) {
	for i := range dst {
		sum := 0.0
		for k := i * width; k < (i+1)*width; k++ {
			x := float64(a[k])
			if b != nil {
				x -= float64(b[k])
			}
			square := x * x
			sum += float64(square)
		}
		dst[i] = math.Sqrt(sum)
	}
}

// Critics are Values with estimates of single actions.
type Critics interface {
	// Value writes the mean over critics of Q(s,a) for rows observations and actions.
	Value(dst, obs, act []float32, rows int) error
	// Spread writes their standard deviation.
	Spread(dst, obs, act []float32, rows int) error
}

// computed returns a slot that is computed for all rows of the batch at once.
func (e *expression) computed(slot int) []float32 {
	at := slot - slotQ
	for len(e.made) <= at {
		e.made = append(e.made, nil)
	}
	if len(e.made[at]) > 0 {
		return e.made[at]
	}
	if cap(e.made[at]) < e.rows {
		e.made[at] = make([]float32, e.rows)
	}
	out := e.made[at][:e.rows]
	e.made[at] = out
	var err error
	critics, _ := e.scope.Values.(Critics)
	switch slot {
	case slotQ:
		err = critics.Value(out, e.batch.Obs, e.batch.Act, e.rows)
	case slotQStd:
		err = critics.Spread(out, e.batch.Obs, e.batch.Act, e.rows)
	default:
		err = e.of[slot-slotFunctions].Score(out, e.batch, e.rows)
	}
	e.err = errors.Join(e.err, err)
	return out
}

// on makes the rows of a batch what the formula reads.
func (e *expression) on(b *replay.Batch, rows int) {
	e.batch, e.rows, e.err = b, rows, nil
	for i := range e.made {
		e.made[i] = e.made[i][:0]
	}
}

// Score writes the formula's values.
func (e *expression) Score(dst []float32, b *replay.Batch, rows int) error {
	e.on(b, rows)
	e.columns.Score(dst[:rows])
	return e.err
}

// inherit gives a model of the formula what it has from the functions that it names.
func (e *expression) inherit(m *Model) {
	for _, f := range e.of {
		m.Sees, m.skips = m.Sees || f.Sees, m.skips || f.skips
		if f.Slice > 0 && (m.Slice == 0 || f.Slice < m.Slice) {
			m.Slice = f.Slice
		}
	}
	m.Begin = func(b *replay.Batch, rows int) error {
		for _, f := range e.of {
			if f.Begin != nil {
				if err := f.Begin(b, rows); err != nil {
					return err
				}
			}
		}
		return nil
	}
	m.Prepare = func(rows int) error {
		for _, f := range e.of {
			if f.Prepare != nil {
				if err := f.Prepare(rows); err != nil {
					return err
				}
			}
		}
		return nil
	}
	m.Terms = e
}

// Terms is what a formula says about its values.
type Terms interface {
	// Terms lists the terms of the sum that the formula is, one if it is none.
	Terms() []string
	// ScoreTerms returns the values of each for rows transitions.
	ScoreTerms(b *replay.Batch, rows int) ([][]float32, error)
	// Trouble says why the value of one of rows transitions is not finite, "" if it is.
	Trouble(b *replay.Batch, rows, row int) string
}

func (e *expression) Terms() []string { return e.columns.Terms() }

func (e *expression) ScoreTerms(b *replay.Batch, rows int) ([][]float32, error) {
	e.on(b, rows)
	out := make([][]float32, len(e.Terms()))
	for i := range out {
		out[i] = make([]float32, rows)
	}
	e.columns.ScoreTerms(out, rows)
	return out, e.err
}

// Trouble says why the value of a row of b is not finite: "log of -0.2 (column 9)".
func (e *expression) Trouble(b *replay.Batch, rows, row int) string {
	e.on(b, rows)
	return e.columns.Trouble(row)
}

// measured is F by a formula with functions of a whole column.
type measured struct{ *expression }

var _ Measured = (*measured)(nil)

func (m *measured) Passes() int        { return m.columns.Passes() }
func (m *measured) BeginPass(pass int) { m.columns.Begin(pass) }
func (m *measured) EndPass(pass int)   { m.columns.End(pass) }
func (m *measured) Measured() bool     { return m.columns.Known() }
func (m *measured) Close() error       { return nil }

func (m *measured) Observe(pass int, b *replay.Batch, rows int) error {
	m.on(b, rows)
	m.columns.Observe(pass, rows)
	return m.err
}

// Save writes what was measured, Load reads it.
func (m *measured) Save(w io.Writer) error {
	if err := m.columns.Save(w); err != nil {
		return fmt.Errorf("save formula: %w", err)
	}
	return nil
}

func (m *measured) Load(r io.Reader) error {
	if err := m.columns.Load(r); err != nil {
		return fmt.Errorf("load formula: %w", err)
	}
	return nil
}

// Undefined is the error of a formula whose values are not finite for some transitions.
type Undefined struct {
	Said string // "F is NaN for 3 of 20,000 transitions, first at 812: log of -0.2 (column 9)"
	at   plan.NotFinite
}

func (e *Undefined) Error() string { return e.Said }

// Unwrap is the error of every other number that is not finite.
func (e *Undefined) Unwrap() error { return &e.at }

// Finite returns an Undefined if some scores of a formula are not finite; transition returns a batch with
// one of the scored transitions, and its row. Other functions find such numbers themselves.
func (m *Model) Finite(scores []float32, count func(int) string, transition func(i int) (*replay.Batch, int)) error {
	if m.Terms == nil {
		return nil
	}
	bad, first := 0, 0
	for i, x := range scores {
		if x-x != 0 {
			if bad++; bad == 1 {
				first = i
			}
		}
	}
	if bad == 0 {
		return nil
	}
	value := strconv.FormatFloat(float64(scores[first]), 'g', -1, 32)
	said := fmt.Sprintf("F is %s for %s of %s transitions, first at %s", value, count(bad), count(len(scores)), count(first))
	b, row := transition(first)
	if cause := m.Terms.Trouble(b, row+1, row); cause != "" {
		said += ": " + cause
	}
	return &Undefined{Said: said, at: plan.NotFinite{Program: "formula", Op: "F", Tensor: m.Name(), Row: first, Value: float64(scores[first])}}
}
