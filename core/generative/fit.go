package generative

import (
	"errors"
	"fmt"
)

// fit is a fit under way.
type fit struct {
	serving // to be; without conditions every row loses its own
	rows    Rows
	knobs   FitKnobs
	refit   uint64
	step    int // gradient steps made
}

// steps makes up to n of the gradient steps that the fit still wants, each by step. It
// returns their mean loss and whether the fit is complete. An error ends it, and the step
// that failed is not counted. No fit is under way where f is nil.
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
