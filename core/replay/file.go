package replay

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"pgrlab/core/version"
)

// magic begins a saved ring, notedMagic one with notes; the digit is the version of the format.
const magic, notedMagic = "PGRR1\n", "PGRR2\n"

// fileRows is how many rows one write contains.
const fileRows = 256

// Save writes the ring: magic, then as little-endian uint64 observations, actions, capacity, rows
// held, next slot and rows ever added, then the rows by slots as float32, then the notes if the
// ring keeps them.
func (r *Ring) Save(w io.Writer) error {
	head := []byte(magic)
	if r.noted {
		head = []byte(notedMagic)
	}
	for _, v := range []uint64{uint64(r.shape.Obs), uint64(r.shape.Act), uint64(r.capacity), uint64(r.length), uint64(r.next), r.total} {
		head = binary.LittleEndian.AppendUint64(head, v)
	}
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("save transitions: %w", err)
	}
	buf := make([]byte, 0, fileRows*4*r.width)
	for i := range r.length {
		for _, v := range r.slot(i) {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
		}
		if i+1 < r.length && len(buf) < cap(buf) {
			continue
		}
		if _, err := w.Write(buf); err != nil {
			return fmt.Errorf("save transitions: %w", err)
		}
		buf = buf[:0]
	}
	return r.saveNotes(w)
}

// Load replaces the ring's transitions by those that Save wrote from a ring of
// the same shape and capacity. It reads no byte beyond them. On an error the ring
// is empty.
func (r *Ring) Load(src io.Reader) error {
	r.length, r.next, r.total = 0, 0, 0
	if err := r.load(src); err != nil {
		r.length, r.next, r.total = 0, 0, 0
		return fmt.Errorf("load transitions: %w", err)
	}
	return nil
}

func (r *Ring) load(src io.Reader) error {
	head := make([]byte, len(magic)+6*8)
	if _, err := io.ReadFull(src, head); err != nil {
		return err
	}
	noted := string(head[:len(magic)]) == notedMagic
	if !noted && string(head[:len(magic)]) != magic {
		return version.ErrOther
	}
	var field [6]uint64
	for i := range field {
		field[i] = binary.LittleEndian.Uint64(head[len(magic)+8*i:])
	}
	obs, act, capacity, length, next, total := field[0], field[1], field[2], field[3], field[4], field[5]
	if obs != uint64(r.shape.Obs) || act != uint64(r.shape.Act) {
		return fmt.Errorf("the file has %d observations and %d actions, the ring %d and %d", obs, act, r.shape.Obs, r.shape.Act)
	}
	if capacity != uint64(r.capacity) {
		return fmt.Errorf("the file has room for %d transitions, the ring for %d", capacity, r.capacity)
	}
	full := length == capacity
	if length > capacity || next >= capacity || total < length || !full && next != length {
		return fmt.Errorf("the file's counts contradict each other: %d rows of %d, next slot %d, %d in all", length, capacity, next, total)
	}
	if err := r.loadRows(src, int(length)); err != nil {
		return err
	}
	if err := r.loadNotes(src, int(length), noted); err != nil {
		return fmt.Errorf("notes: %w", err)
	}
	r.length, r.next, r.total = int(length), int(next), total
	return nil
}

// loadRows reads rows block by block, so that a short file takes little memory
// whatever it claims.
func (r *Ring) loadRows(src io.Reader, length int) error {
	buf := make([]byte, fileRows*4*r.width)
	for first := 0; first < length; first += fileRows {
		rows := min(fileRows, length-first)
		block := buf[:rows*4*r.width]
		if _, err := io.ReadFull(src, block); err != nil {
			return fmt.Errorf("transition %d: %w", first, err)
		}
		for i := range rows {
			r.grow(first + i)
			row := r.slot(first + i)
			for j := range row {
				row[j] = math.Float32frombits(binary.LittleEndian.Uint32(block[(i*r.width+j)*4:]))
			}
		}
	}
	return nil
}
