package program

import (
	"errors"
	"fmt"
	"sync"

	"pgrlab/core/formula"
	"pgrlab/core/task"
)

// endRule says whether a transition ends an episode by itself; nil: none does, or it is unknown. It may be called from
// several goroutines.
type endRule = func(obs, act, next []float32) bool

// newEnds reads environment.outside.ends for a task whose observations have those sizes and names.
func newEnds(text string, obs, act int, names []string) (endRule, error) {
	if text == "" || text == task.NeverEnds {
		return nil, nil
	}
	words := endNames{sizes: [3]int{obs, act, obs}, names: names}
	read, err := formula.Parse(text)
	var p *formula.Program
	if err == nil {
		p, err = read.Truth(&words)
	}
	if err != nil {
		return nil, fmt.Errorf("environment.outside.ends: %w", err)
	}
	pool := sync.Pool{New: func() any {
		v := new(judgedRow)
		v.machine = p.Machine(v, 1)
		return v
	}}
	return func(obs, act, next []float32) bool {
		v := pool.Get().(*judgedRow)
		defer pool.Put(v)
		v.of = [3][]float32{obs, act, next}
		return v.machine.Truth()
	}, nil
}

// endNames are what the condition can name.
type endNames struct {
	sizes [3]int   // of endColumns
	names []string // of the numbers of an observation; nil: unknown
}

// endColumns are the parts of a transition, as formulas for F name them.
var endColumns = [3]string{"obs", "act", "next"}

// Names is of formula.Names.
func (t *endNames) Names() []string { return endColumns[:] }

// Quantity is of formula.Names.
func (t *endNames) Quantity(name, of string) (formula.Quantity, error) {
	if of != "" {
		return formula.Quantity{}, errors.New("elements are in square brackets, as in next[0]")
	}
	for i, column := range endColumns {
		if name == column {
			q := formula.Quantity{Slot: i, Width: t.sizes[i]}
			if name != "act" {
				q.Elements = t.names
			}
			return q, nil
		}
	}
	return formula.Quantity{}, formula.ErrUnknown
}

// judgedRow gives the condition the numbers of a transition.
type judgedRow struct {
	machine *formula.Machine
	of      [3][]float32
}

// Read is of formula.Values; there is one row.
func (v *judgedRow) Read(dst []float64, slot, element, _, _ int) {
	for i := range dst {
		dst[i] = float64(v.of[slot][element+i])
	}
}
