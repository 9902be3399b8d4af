package experience

import "pgrlab/core/replay"

// Transitions are the newest env steps of a log of numbers as rows, in the slots that they would have
// in a ring of as many.
type Transitions struct {
	Log   *Log
	Steps int // env steps
}

// Len is how many rows there are.
func (v Transitions) Len() int {
	return v.Log.shape.Copies * int(min(v.Log.Steps(), uint64(v.Steps)))
}

// row returns the transition in a slot.
func (v Transitions) row(slot int) Met {
	k := v.Log.shape.Copies
	last, room := v.Log.Steps()*uint64(k)-1, uint64(v.Steps*k)
	n := last - (last-uint64(slot))%room
	m, held := v.Log.Met(v.Log.After(n/uint64(k), int(n%uint64(k))))
	if !held {
		panic("experience: a transition is forgotten")
	}
	return m
}

// Note is the note of the row in a slot.
func (v Transitions) Note(slot int) replay.Note { return v.row(slot).Note }

// Gather writes rows to a batch, one after the other, from transition at on. Their rewards are the
// task's, and none is a true end.
func (v Transitions) Gather(b *replay.Batch, at int, slots []int) {
	if b.Notes == nil {
		b.Notes = make([]replay.Note, b.Size)
	}
	for i, slot := range slots {
		m := v.row(slot)
		b.Set(at+i, replay.Transition{Obs: m.Seen.Numbers, Act: m.Action, Reward: m.Earned, Next: m.Next.Numbers, Note: m.Note})
	}
}
