package ppo

import (
	"fmt"

	"pgrlab/core/agent"
)

// rollout is what an iteration learns from: rows, those of an env step in the order of the
// copies, and what was computed of them.
type rollout struct {
	*agent.Rollout
	next   []float32 // [Copies,O], behind the newest env step, before any reset
	limits []limit   // rows whose episode met its time limit, where what is behind it counts
	// Of a full one, when it is learned from, [Rows]; Return is A + V_old.
	values, logp, advantages []float32
}

// limit is what is behind a row.
type limit struct {
	row int
	obs []float32 // [O]
}

func newRollout(c Config) *rollout {
	n := c.rows()
	return &rollout{
		Rollout: agent.NewRollout(c.Shape, c.Copies, c.Steps), next: make([]float32, c.Copies*c.Shape.Obs),
		values: make([]float32, n), logp: make([]float32, n), advantages: make([]float32, n),
	}
}

// Observe adds an env step.
func (x *Agent) Observe(e *agent.Experience) error {
	r, size := x.rollout, x.config.Shape.Obs
	first := r.Filled
	if err := r.Observe(e); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	copy(r.next, e.Next)
	if x.config.Limits != LimitsValue {
		return nil
	}
	for i, end := range e.Ends {
		if end == agent.Truncated {
			r.limits = append(r.limits, limit{first + i, append([]float32(nil), e.Next[i*size:(i+1)*size]...)})
		}
	}
	return nil
}

// advantage computes A and R from values, those behind the newest env step [Copies] and
// those behind limits.
func (r *rollout) advantage(c Config, last, behind []float32) {
	after := make([]float64, r.Copies) // A of the env step behind, of each copy
	next := make([]float64, r.Copies)  // V_old of it
	for i, v := range last {
		next[i] = float64(v)
	}
	limits := len(r.limits)
	for i := r.Rows() - 1; i >= 0; i-- {
		copied, v := i%r.Copies, float64(r.values[i])
		if r.Last[i] != 0 {
			after[copied], next[copied] = 0, 0
		}
		if limits > 0 && r.limits[limits-1].row == i {
			limits--
			next[copied] = float64(behind[limits])
		}
		delta := c.RewardScale*float64(r.Rewards[i]) + c.Gamma*next[copied] - v
		after[copied] = delta + c.Gamma*c.Lambda*after[copied]
		next[copied] = v
		r.advantages[i], r.Return[i] = float32(after[copied]), float32(after[copied]+v)
	}
}

// clear begins a new one.
func (r *rollout) clear() {
	r.Clear()
	r.limits = r.limits[:0]
}
