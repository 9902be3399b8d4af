package replay

import "errors"

// ErrUnseen is the error for transitions without frames: they were generated, or their learner sees
// no frames.
var ErrUnseen = errors.New("there are no frames of such transitions")

// FrameRow is a row of a batch of frames, or the frames that another row was made from. It spans n
// env steps. The lengths of Stack and Next say how many frames an observation has; at the beginning
// of an episode its first frame is repeated. Frames and actions remain the memory of their owner.
type FrameRow struct {
	Stack, Next [][]byte  // of s, and of s′ n steps later: the oldest frame first
	Action      []float32 // [A], taken in s
	Return      float32   // Σ γⁱ·r over the n steps
	Discount    float32   // γⁿ; 0 if the episode came to a true end
	Respawned   bool      // one of the steps put the agent elsewhere
	// Places and NextPlaces are the places of the frames of Stack and Next in a copy of the memory
	// (Log.Copy). They are left as they are if they have another length.
	Places, NextPlaces []int
	// Obs and NextObs [O] are for a learner that sees numbers: Stack and Next are then empty.
	Obs, NextObs []float32
}

// Sight finds the frames that the rows of a ring were made from.
type Sight interface {
	// Seen writes the frames of the row in a slot to dst; an error says why there are none. The
	// frames remain the memory of their owner.
	Seen(dst *FrameRow, slot int) error
}

// See sets what Gather and GatherRange find the frames of rows with; nil: rows have no frames.
func (r *Ring) See(s Sight) { r.sight = s }

// Seen writes the frames that the row in a slot was made from to dst; an error says why there
// are none.
func (r *Ring) Seen(dst *FrameRow, slot int) error {
	if r.sight == nil {
		return ErrUnseen
	}
	return r.sight.Seen(dst, slot)
}

// NewFrameRows returns n rows of frames with room for stacks of that many frames.
func NewFrameRows(n, stack int) []FrameRow {
	rows, frames := make([]FrameRow, n), make([][]byte, 2*n*stack)
	for i := range rows {
		both := frames[2*i*stack : 2*(i+1)*stack]
		rows[i].Stack, rows[i].Next = both[:stack:stack], both[stack:]
	}
	return rows
}

// look writes the frames of the row in a slot to transition i of a batch that asks for them.
func (r *Ring) look(b *Batch, i, slot int) {
	if i == 0 {
		b.Unseen = nil
	}
	if b.Unseen == nil {
		b.Unseen = r.Seen(&b.Frames[i], slot)
	}
}
