package replay

// Note is what was recorded about a transition when it was met, beside its row.
type Note struct {
	// Met says that an env step produced the transition. Generated rows have not been met.
	Met bool
	// Respawned says that the environment put the agent at s' within its episode, as at a goal: s'
	// does not follow from s and a.
	Respawned bool
	// F is the relevance that was computed when the transition was met, see relevance.Episodic; NaN
	// if there was nothing that could judge it. Of a generated row it is that which the row had then, for
	// learners that learn from it.
	F float32
}

// Annotate makes the ring keep notes from here on.
func (r *Ring) Annotate() { r.noted = true }

// Note is the note of the row in slot i; zero if there is none, as for generated rows.
func (r *Ring) Note(i int) Note {
	if i >= len(r.notes) {
		return Note{}
	}
	return r.notes[i]
}

// note stores the note of the row in a slot, if the ring keeps notes.
func (r *Ring) note(slot int, n Note) {
	if !r.noted {
		return
	}
	for len(r.notes) <= slot {
		r.notes = append(r.notes, Note{})
	}
	r.notes[slot] = n
}

// annotate makes room in a batch for the notes of the ring's rows. Batches that were never
// filled from a ring with notes have none.
func (r *Ring) annotate(b *Batch) {
	if r.noted && b.Notes == nil {
		b.Notes = make([]Note, b.Size)
	}
}
