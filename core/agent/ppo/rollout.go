package ppo

import (
	"fmt"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/replay"
)

// rollout is what an iteration learns from: rows, those of an env step in the order of the
// copies, and what was computed from them.
type rollout struct {
	*agent.Rollout
	next []float32 // [Copies,O], after the newest env step, before any reset
	// If frames are seen, these replace the observations, [Rows,frame] and [Copies,frame].
	frames, nextFrames []byte
	version            uint64  // counts what the rows were full of
	limits             []limit // rows whose episode met its time limit, if the value after it counts
	// Computed when a full rollout is learned from, [Rows]; Return is then A + V_old.
	values, logp, advantages []float32
}

// limit is what was observed after a row.
type limit struct {
	row   int
	obs   []float32 // [O]
	frame []byte    // [frame]
}

func newRollout(c Config) *rollout {
	n, numbers := c.rows(), c.numbers()
	return &rollout{
		Rollout: agent.NewRollout(replay.Shape{Obs: numbers, Act: c.Shape.Act}, c.Copies, c.Steps), next: make([]float32, c.Copies*numbers),
		frames: make([]byte, n*c.frame()), nextFrames: make([]byte, c.Copies*c.frame()),
		values: make([]float32, n), logp: make([]float32, n), advantages: make([]float32, n),
	}
}

// Observe adds an env step.
func (x *Agent) Observe(e *agent.Experience) error {
	r, size := x.rollout, x.config.numbers()
	first := r.Filled
	if x.config.Side > 0 && (len(e.Seen) != e.Copies || len(e.NextSeen) != e.Copies) {
		return fmt.Errorf("agent: %d and %d frames of %d copies", len(e.Seen), len(e.NextSeen), e.Copies)
	}
	if err := r.Observe(e); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	copy(r.next, e.Next)
	keep(r.frames, first, e.Seen)
	keep(r.nextFrames, 0, e.NextSeen)
	if x.config.Limits != LimitsValue {
		return nil
	}
	for i, end := range e.Ends {
		if end == agent.Truncated {
			met := limit{row: first + i, obs: slices.Clone(e.Next[i*size : (i+1)*size])}
			if x.config.Side > 0 {
				met.frame = slices.Clone(e.NextSeen[i])
			}
			r.limits = append(r.limits, met)
		}
	}
	return nil
}

// rows returns what was observed in the rollout's rows, and behind what was observed after the
// newest env step.
func (r *rollout) rows() observed   { return observed{r.Obs, r.frames} }
func (r *rollout) behind() observed { return observed{r.next, r.nextFrames} }

// beyond returns what was observed after limits.
func (r *rollout) beyond() (all observed) {
	for _, l := range r.limits {
		all.numbers, all.frames = append(all.numbers, l.obs...), append(all.frames, l.frame...)
	}
	return all
}

// advantage computes A and R from the rows' values, the values last [Copies] after the newest
// env step, and the values behind after limits.
func (r *rollout) advantage(c Config, last, behind []float32) {
	after := make([]float64, r.Copies) // A of each copy's next env step
	next := make([]float64, r.Copies)  // V_old of each copy's next env step
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

// clear begins a new rollout.
func (r *rollout) clear() {
	r.version++
	r.Clear()
	r.limits = r.limits[:0]
}
