package sweep

import (
	"context"
	"fmt"
)

// Said returns a result as one line of text.
func Said(r Result) string {
	text := fmt.Sprintf("%s: done", r.Name())
	if r.Return != nil {
		text += fmt.Sprintf(", return %.1f, best %.1f", *r.Return, *r.Best)
	}
	return text
}

// failed returns the jobs that failed.
func (e *Engine) failed() (all []Job) {
	for i, s := range e.States() {
		if s == Failed {
			all = append(all, e.Grid.Jobs[i])
		}
	}
	return all
}

// verdict returns the result of the whole sweep.
func (e *Engine) verdict(ctx context.Context) error {
	count := map[State]int{}
	for i, s := range e.States() {
		if _, done := e.Grid.Result(e.Grid.Jobs[i]); done { // another engine may have gone on with one that was stopped
			s = Done
		}
		count[s]++
	}
	missing := len(e.Grid.Jobs) - count[Done] - count[Left]
	switch {
	case missing == 0:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case count[Failed] > 0:
		return fmt.Errorf("%d of %d jobs failed: %s", count[Failed], len(e.Grid.Jobs), e.Grid.WhatHelps(e.failed(), "start the sweep again to try them again"))
	}
	return fmt.Errorf("%d of %d jobs are missing: start the sweep again", missing, len(e.Grid.Jobs))
}
