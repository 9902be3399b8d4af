package ppo

import (
	"pgrlab/core/experience"
)

// rollout is what an iteration learns from, and what was computed from it when it was full, [Rows].
type rollout struct {
	experience.Rollout
	values, logp, advantages []float32
	returns                  []float32 // A + V_old

	// acted is what steps read of the rows: the numbers that were acted on, none of frames, and the
	// actions, [Rows,O+A]. Every epoch reads them in another order, so they are gathered once.
	acted    []float32
	gathered uint64 // of the rollout with this From plus one; 0: of none
}

// gather fills acted.
func (r *rollout) gather() {
	if r.gathered == r.From+1 {
		return
	}
	r.gathered, r.acted = r.From+1, r.acted[:0]
	for i := range r.Rows() {
		row := r.Row(i)
		r.acted = append(append(r.acted, row.Seen.Numbers...), row.Action...)
	}
}

func newRollout(c Config, log *experience.Log) *rollout {
	n := c.rows()
	return &rollout{
		Rollout: experience.Rollout{Log: log, Steps: c.Steps},
		values:  make([]float32, n), logp: make([]float32, n), advantages: make([]float32, n), returns: make([]float32, n),
	}
}

// Looks describes the log that an agent reads.
func (c Config) Looks() experience.Shape {
	return experience.Shape{Numbers: c.numbers(), Bytes: c.frame(), Act: c.Shape.Act, Copies: c.Copies}
}

// advantage computes A and R from the rows' values and the values last [copies] after the newest env
// step. A time limit is an end of the task.
func (r *rollout) advantage(c Config, last []float32) {
	after := make([]float64, c.Copies) // A of each copy's next env step
	next := make([]float64, c.Copies)  // V_old of each copy's next env step
	for i, v := range last {
		next[i] = float64(v)
	}
	for i := len(r.values) - 1; i >= 0; i-- {
		row, copied, v := r.Row(i), i%c.Copies, float64(r.values[i])
		if row.End != experience.Continues {
			after[copied], next[copied] = 0, 0
		}
		delta := c.RewardScale*float64(row.Observed) + c.Gamma*next[copied] - v
		after[copied] = delta + c.Gamma*c.Lambda*after[copied]
		next[copied] = v
		r.advantages[i], r.returns[i] = float32(after[copied]), float32(after[copied]+v)
	}
}
