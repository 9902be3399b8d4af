package replica

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/source"
)

// sight holds what a replica sees if its learner sees frames.
type sight struct {
	side, stack int
	sampler     agent.Frames
	probes      agent.Frames // for the dormant ratio
	stacks      [][][]byte   // of each copy, for the next actions
	// Each copy's newest frame before and after the env step: see pass.
	before, after [][]byte
}

// newSight makes the memory of a replica's frames.
func (r *Replica) newSight() (*sight, error) {
	p := r.Config.Pixels
	s := &sight{side: p.Side, stack: p.Stack}
	s.sampler, s.probes = r.Observed.frames(r.streams.replay), r.Observed.frames(r.streams.dormant)
	s.stacks = source.NewStacks(r.World.Copies, s.stack)
	return s, nil
}

// pass returns each copy's newest frame before the env step, which the policy acted on, and the
// one after it.
func (s *sight) pass(from *source.Copies) (before, after [][]byte) {
	if s.before == nil {
		s.before, s.after = make([][]byte, len(s.stacks)), make([][]byte, len(s.stacks))
	}
	for i, stack := range s.stacks {
		s.before[i], s.after[i] = stack[len(stack)-1], from.Frame(i)
	}
	return s.before, s.after
}

// seen returns the stacks for which the next actions are chosen; nil if the learner sees no
// frames.
func (r *Replica) seen() [][][]byte {
	if r.sight == nil {
		return nil
	}
	for i, stack := range r.sight.stacks {
		r.Observed.log.Newest(i, stack)
	}
	return r.sight.stacks
}

// Frames returns what batches of frames are drawn from, and what D_real was made from if the
// learner has filled it (see agent.Encoder); nil if there are no frames.
func (r *Replica) Frames() agent.Frames {
	if r.sight == nil {
		return nil
	}
	return r.sight.sampler
}

// depth is how many frames an observation has; 0 if none are seen.
func (s *sight) depth() int {
	if s == nil {
		return 0
	}
	return s.stack
}

// recalled finds what the learner made the rows of D_real from.
type recalled struct{ *Replica }

// Seen implements replay.Sight.
func (r recalled) Seen(dst *replay.FrameRow, slot int) error {
	if r.Agent.Encoder == nil {
		return replay.ErrUnseen
	}
	return r.Agent.Encoder.Recall(dst, r.Frames(), slot)
}

// fill fills the batch of a model that learns from frames, with single env steps of all that
// from draws from, the newest ones included.
func fill(b *replay.Batch, from experience.Frames, update uint64) error {
	b.Unseen = nil
	for i := range b.Frames {
		if err := from.Draw(&b.Frames[i], 1, 0, update, i); err != nil {
			return fmt.Errorf("train a model: %w", err)
		}
	}
	return nil
}

// probed returns the policy's layers on that many real states; none if the policy does not show
// any.
func (o *Trial) probed(number uint64, rows int) ([]agent.Layer, error) {
	r := o.of
	if r.sight != nil {
		if r.Stepped == 0 {
			return nil, nil
		}
		return r.sight.probed(r.Agent, number, rows)
	}
	if r.Real.Len() == 0 {
		return nil, nil // the learner has not filled it yet
	}
	size := r.Real.Shape().Obs
	obs := make([]float32, rows*size)
	q := r.streams.dormant.At(number)
	for i := range rows {
		copy(obs[i*size:(i+1)*size], r.Real.Row(q.IntN(r.Real.Len()))[:size])
	}
	return r.Agent.Activations(agent.Looks{Rows: rows, Numbers: obs})
}

// probed returns a policy's layers on that many stacks of frames.
func (s *sight) probed(policy agent.Learner, number uint64, rows int) ([]agent.Layer, error) {
	stacks, row := source.NewStacks(rows, s.stack), replay.FrameRow{Next: make([][]byte, s.stack)}
	for i := range stacks {
		row.Stack = stacks[i]
		if err := s.probes.Draw(&row, 1, 0, number, i); err != nil {
			return nil, err
		}
	}
	return policy.Activations(agent.Looks{Rows: rows, Stacks: stacks})
}
