package replay

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"pgrlab/core/version"
)

// State is the state of a ring; together with the rows, oldest first, it restores the ring.
type State struct {
	Len, Next int    // rows held, slot of the next one
	Total     uint64 // rows ever added
	Noted     bool   // each row in the log is followed by its note
}

// State returns the state of the ring.
func (r *Ring) State() State { return State{r.length, r.next, r.total, r.noted} }

// AppendSince appends the rows that were added after the first total ones, as little-endian
// float32, oldest first, each with its note if the ring keeps notes. Rows that have been
// overwritten since are missing: what is appended is then all that the ring holds.
func (r *Ring) AppendSince(dst []byte, total uint64) []byte {
	fresh := min(r.total-min(total, r.total), uint64(r.length))
	return r.appendRows(dst, int(fresh)-1, 0)
}

// appendRows appends the rows of the ages from oldest down to newest, as AppendSince does.
func (r *Ring) appendRows(dst []byte, oldest, newest int) []byte {
	for age := oldest; age >= newest; age-- {
		slot := r.Newest(age)
		for _, v := range r.slot(slot) {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
		}
		if r.noted {
			dst, _ = binary.Append(dst, binary.LittleEndian, r.Note(slot)) // of a fixed size
		}
	}
	return dst
}

// First is how many rows were added before the oldest one that is held.
func (r *Ring) First() uint64 { return r.total - uint64(r.length) }

// RowBytes is the size of a row in a log.
func (r *Ring) RowBytes() int { return r.RowBytesIn(r.State()) }

// RowBytesIn is RowBytes for a ring of the same shape in state s.
func (r *Ring) RowBytesIn(s State) int {
	if s.Noted {
		return 4*r.width + binary.Size(Note{})
	}
	return 4 * r.width
}

// LoadLog restores the ring, which has the same shape and capacity, to state s from the rows that
// it held then, as AppendSince writes them. On an error the ring is empty.
func (r *Ring) LoadLog(src io.Reader, s State) (err error) {
	defer func() {
		if err != nil {
			r.length, r.next, r.total = 0, 0, 0
			err = fmt.Errorf("load transitions: %w", err)
		}
	}()
	if s.Len < 0 || s.Len > r.capacity || s.Next < 0 || s.Next >= r.capacity || s.Total < uint64(s.Len) || s.Len < r.capacity && s.Next != s.Len {
		return fmt.Errorf("%d rows of %d, next slot %d, %d in all: that is no state of this ring", s.Len, r.capacity, s.Next, s.Total)
	}
	if r.noted && !s.Noted {
		return version.ErrOther
	}
	r.noted, r.notes = s.Noted, r.notes[:0]
	raw := make([]byte, r.RowBytes())
	for i := range s.Len {
		if _, err := io.ReadFull(src, raw); err != nil {
			return fmt.Errorf("transition %d: %w", i, err)
		}
		slot := (s.Next - s.Len + i + r.capacity) % r.capacity
		// Rows of a full ring begin in its middle; memory grows from the front.
		for len(r.chunks) <= slot/chunkRows {
			r.grow(len(r.chunks) * chunkRows)
		}
		row := r.slot(slot)
		for j := range row {
			row[j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*j:]))
		}
		if r.noted {
			var n Note
			if _, err := binary.Decode(raw[4*r.width:], binary.LittleEndian, &n); err != nil {
				return fmt.Errorf("transition %d: its note: %w", i, err)
			}
			r.note(slot, n)
		}
	}
	r.length, r.next, r.total = s.Len, s.Next, s.Total
	return nil
}
