package generative

import (
	"errors"
	"fmt"
)

// fit is a fit under way.
type fit struct {
	serving // becomes the served one when the fit is complete
	rows    Rows
	noise   *noisy // nil: steps learn rows as they are
	knobs   FitKnobs
	refit   uint64
	step    int // gradient steps made
}

// condition is that of a real transition; 0 in a fit without conditions.
func (f *fit) condition(row int) float32 {
	if f.conditions == nil {
		return 0
	}
	return f.conditions[row]
}

// steps calls some for up to n of the remaining gradient steps: it makes at least one of those left, and returns how
// many and the sum of their losses. steps returns the mean loss and whether the fit is complete. It stops at an error and does
// not count the failed step. f may be nil, which means that no fit is under way and is an error.
func (f *fit) steps(n int, some func(f *fit, left int) (made int, loss float64, err error)) (loss float64, done bool, err error) {
	if f == nil {
		return 0, false, errors.New("fit model: no fit is under way")
	}
	n = min(n, f.knobs.Steps-f.step)
	for left := n; left > 0; {
		made, l, err := some(f, left)
		if err != nil {
			return 0, false, fmt.Errorf("fit model: step %d: %w", f.step, err)
		}
		loss += l / float64(n)
		left -= made
	}
	return loss, f.step == f.knobs.Steps, nil
}
