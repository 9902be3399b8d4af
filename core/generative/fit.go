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

// steps calls step for up to n of the remaining gradient steps. It returns their mean loss
// and whether the fit is complete. It stops at an error and does not count the failed step.
// f may be nil, which means that no fit is under way and is an error.
func (f *fit) steps(n int, step func(*fit) (float64, error)) (loss float64, done bool, err error) {
	if f == nil {
		return 0, false, errors.New("fit model: no fit is under way")
	}
	n = min(n, f.knobs.Steps-f.step)
	for range n {
		l, err := step(f)
		if err != nil {
			return 0, false, fmt.Errorf("fit model: step %d: %w", f.step, err)
		}
		loss += l / float64(n)
	}
	return loss, f.step == f.knobs.Steps, nil
}
