package replay

import (
	"encoding/binary"
	"fmt"
	"io"
)

// fileRows is how many rows one write contains.
const fileRows = 256

// fileHead begins a saved ring.
type fileHead struct {
	Sizes             [3]uint64 // observations, actions, capacity
	Held, Next, Total uint64    // see State
	Noted             bool
}

func (r *Ring) fileHead() fileHead {
	return fileHead{[3]uint64{uint64(r.shape.Obs), uint64(r.shape.Act), uint64(r.capacity)}, uint64(r.length), uint64(r.next), r.total, r.noted}
}

// Save writes the ring: its sizes and its state, little-endian, then its rows as AppendSince does.
func (r *Ring) Save(w io.Writer) error {
	err := binary.Write(w, binary.LittleEndian, r.fileHead())
	var block []byte
	for age := r.length - 1; err == nil && age >= 0; age -= fileRows {
		block = r.appendRows(block[:0], age, max(age-fileRows+1, 0))
		_, err = w.Write(block)
	}
	if err != nil {
		return fmt.Errorf("save transitions: %w", err)
	}
	return nil
}

// Load replaces the ring's transitions by those that Save wrote from a ring of
// the same shape and capacity. It reads no byte beyond them. On an error the ring
// is empty.
func (r *Ring) Load(src io.Reader) error {
	var h fileHead
	err := binary.Read(src, binary.LittleEndian, &h)
	if want := r.fileHead().Sizes; err == nil && h.Sizes != want {
		err = fmt.Errorf("the file is of %d observations, %d actions and room for %d transitions, the ring of %d, %d and %d",
			h.Sizes[0], h.Sizes[1], h.Sizes[2], want[0], want[1], want[2])
	}
	if err != nil {
		r.length, r.next, r.total = 0, 0, 0
		return fmt.Errorf("load transitions: %w", err)
	}
	return r.LoadLog(src, State{int(h.Held), int(h.Next), h.Total, h.Noted})
}
