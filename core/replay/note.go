package replay

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Note is what is known of a transition beside its row, from when it was met.
type Note struct {
	// Met says that an env step gave it. A generated row has not been met.
	Met bool
	// Respawned says that s' is where the environment put the agent within its episode, at a
	// goal: it does not follow from s and a.
	Respawned bool
	// F is relevance that was told of it as it was met: see relevance.Episodic. 0 where nothing
	// was.
	F float32
}

// Annotate has the ring keep notes of what is added from here on, of transitions that were met.
func (r *Ring) Annotate() { r.noted = true }

// Note is that of the row in slot i; zero where there is none, as of generated rows.
func (r *Ring) Note(i int) Note {
	if i >= len(r.notes) {
		return Note{}
	}
	return r.notes[i]
}

// note keeps that of the row in a slot.
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

// saveNotes writes the notes by slots, where the ring keeps some.
func (r *Ring) saveNotes(w io.Writer) error {
	if !r.noted {
		return nil
	}
	if err := binary.Write(w, binary.LittleEndian, r.notes[:r.length]); err != nil {
		return fmt.Errorf("save transitions: %w", err)
	}
	return nil
}

// loadNotes reads what saveNotes wrote of so many rows; of a
// file without notes it is known that its rows were met.
func (r *Ring) loadNotes(src io.Reader, length int, saved bool) error {
	r.notes = r.notes[:0]
	if saved {
		r.noted = true
	}
	if !r.noted {
		return nil
	}
	r.notes = append(r.notes, make([]Note, length)...)
	if !saved {
		for i := range r.notes {
			r.notes[i].Met = true
		}
		return nil
	}
	return binary.Read(src, binary.LittleEndian, r.notes)
}
