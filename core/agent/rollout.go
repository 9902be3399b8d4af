package agent

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"pgrlab/core/replay"
)

// Rollout keeps the env steps of all copies from which an on-policy learner learns next:
// Steps·Copies rows, those of an env step in the order of the copies. Its slices may be
// the inputs of a program; the caller may choose Obs [Rows,O] and Actions [Rows,A].
type Rollout struct {
	Steps, Copies         int
	Obs, Actions          []float32
	Rewards, Last, Return []float32 // [Rows]; Last is 1 where an episode ended for any reason
	Filled                int       // rows
}

// NewRollout returns an empty rollout of the given number of env steps, with memory of its own.
func NewRollout(shape replay.Shape, copies, steps int) *Rollout {
	n := steps * copies
	return &Rollout{
		Steps: steps, Copies: copies, Obs: make([]float32, n*shape.Obs), Actions: make([]float32, n*shape.Act),
		Rewards: make([]float32, n), Last: make([]float32, n), Return: make([]float32, n),
	}
}

// Rows is how many rows the rollout has room for.
func (r *Rollout) Rows() int { return r.Steps * r.Copies }

// Full says whether all its env steps were made. A full rollout is to be learned from, then
// cleared.
func (r *Rollout) Full() bool { return r.Filled == r.Rows() }

// Clear begins a new rollout.
func (r *Rollout) Clear() { r.Filled = 0 }

// Observe adds an env step of all copies.
func (r *Rollout) Observe(e *Experience) error {
	if r.Full() || e.Copies != r.Copies {
		return fmt.Errorf("rollout: an env step of %d copies behind %d of %d rows", e.Copies, r.Filled, r.Rows())
	}
	at, obs, act := r.Filled, len(r.Obs)/r.Rows(), len(r.Actions)/r.Rows()
	copy(r.Obs[at*obs:], e.Obs)
	copy(r.Actions[at*act:], e.Actions)
	copy(r.Rewards[at:], e.Rewards)
	for i, end := range e.Ends {
		r.Last[at+i] = 0
		if end != Continues {
			r.Last[at+i] = 1
		}
	}
	r.Filled += r.Copies
	return nil
}

// Discount writes each row's discounted return Σ γᵏ·r to Return. The sum ends with the
// episode or with the rollout: without values nothing is known of the rewards after it.
func (r *Rollout) Discount(gamma float64) {
	for i := r.Filled - 1; i >= 0; i-- {
		r.Return[i] = r.Rewards[i]
		if next := i + r.Copies; next < r.Filled && r.Last[i] == 0 {
			r.Return[i] += float32(gamma * float64(r.Return[next]))
		}
	}
}

// Standardise subtracts the mean from Return and divides it by the standard deviation, as a
// baseline.
func (r *Rollout) Standardise() {
	mean, square, n := 0.0, 0.0, float64(r.Filled)
	for _, v := range r.Return[:r.Filled] {
		mean += float64(v) / n
	}
	for _, v := range r.Return[:r.Filled] {
		square += (float64(v) - mean) * (float64(v) - mean) / n
	}
	for i, v := range r.Return[:r.Filled] {
		r.Return[i] = float32((float64(v) - mean) / (math.Sqrt(square) + 1e-8))
	}
}

// Save writes the rows and how many are filled.
func (r *Rollout) Save(w io.Writer) error {
	for _, part := range []any{int64(r.Filled), r.Obs, r.Actions, r.Rewards, r.Last, r.Return} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("save rollout: %w", err)
		}
	}
	return nil
}

// Load reads what Save wrote for a rollout of the same sizes, and no byte beyond.
func (r *Rollout) Load(in io.Reader) error {
	var filled int64
	for _, part := range []any{&filled, r.Obs, r.Actions, r.Rewards, r.Last, r.Return} {
		if err := binary.Read(in, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("load rollout: %w", err)
		}
	}
	if filled < 0 || filled > int64(r.Rows()) || filled%int64(r.Copies) != 0 {
		return fmt.Errorf("load rollout: %d rows of %d in %d copies", filled, r.Rows(), r.Copies)
	}
	r.Filled = int(filled)
	return nil
}
