package replay

// chunkRows is how many rows the memory of a ring grows by.
const chunkRows = 4096

// Ring keeps the newest transitions, up to a capacity. Memory is allocated in chunks as rows
// arrive, so that an empty ring of a million rows costs nothing. A ring belongs to one goroutine
// while it is written to.
type Ring struct {
	shape    Shape
	width    int
	capacity int
	length   int    // rows held
	next     int    // slot of the next row
	total    uint64 // rows ever added
	chunks   [][]float32
	sight    Sight  // nil: rows were made from no frames
	noted    bool   // it keeps notes
	aged     bool   // it reports the ages of rows
	notes    []Note // by slots, as far as they were filled
}

// NewRing returns an empty ring. It panics if shape or capacity are not positive.
func NewRing(shape Shape, capacity int) *Ring {
	if err := shape.Validate(); err != nil {
		panic("replay: " + err.Error())
	}
	if capacity < 1 {
		panic("replay: a ring needs room for a transition")
	}
	return &Ring{shape: shape, width: shape.Width(), capacity: capacity}
}

// Shape is the shape of the transitions.
func (r *Ring) Shape() Shape { return r.shape }

// Len is the number of transitions held.
func (r *Ring) Len() int { return r.length }

// Cap is the number of transitions that fit; the next one replaces the oldest.
func (r *Ring) Cap() int { return r.capacity }

// Total is the number of transitions ever added, including those that were overwritten or cleared.
func (r *Ring) Total() uint64 { return r.total }

// Row is the transition in slot i, 0 ≤ i < Len, as [s, a, r, s', d]. It keeps its slot until it is
// overwritten, so that numbers computed for slots (scores) stay valid while nothing is added. The
// memory is the ring's own.
func (r *Ring) Row(i int) []float32 {
	if uint(i) >= uint(r.length) {
		panic("replay: row outside the ring")
	}
	return r.slot(i)
}

// Span returns the transitions from slot i on, 0 ≤ i < Len, that are contiguous in memory, at least
// one.
func (r *Ring) Span(i int) []float32 {
	if uint(i) >= uint(r.length) {
		panic("replay: row outside the ring")
	}
	rows := min(chunkRows-i%chunkRows, r.length-i)
	at := i % chunkRows * r.width
	return r.chunks[i/chunkRows][at : at+rows*r.width : at+rows*r.width]
}

func (r *Ring) slot(i int) []float32 {
	at := i % chunkRows * r.width
	return r.chunks[i/chunkRows][at : at+r.width : at+r.width]
}

// Newest is the slot of the row that was added age rows before the last one,
// 0 ≤ age < Len.
func (r *Ring) Newest(age int) int {
	if uint(age) >= uint(r.length) {
		panic("replay: row outside the ring")
	}
	return (r.next - 1 - age + r.capacity) % r.capacity
}

// Add appends a transition. It panics if its sizes are not those of the ring.
func (r *Ring) Add(t Transition) {
	slot := r.next
	r.shape.put(r.claim(), t)
	r.note(slot, t.Note)
}

// AddRows appends transitions that are already rows, one after the other, as a generator makes
// them. It panics if the last row is incomplete.
func (r *Ring) AddRows(rows []float32) {
	if len(rows)%r.width != 0 {
		panic("replay: the last row is not complete")
	}
	for ; len(rows) > 0; rows = rows[r.width:] {
		copy(r.claim(), rows)
	}
}

// AddNoted appends a transition that is already a row, with its note.
func (r *Ring) AddNoted(row []float32, n Note) {
	slot := r.next
	r.AddRows(row)
	r.note(slot, n)
}

// AddFrom appends the transition in slot i of another ring of the same shape, with its note.
func (r *Ring) AddFrom(from *Ring, i int) {
	slot := r.next
	copy(r.claim(), from.Row(i))
	r.note(slot, from.Note(i))
}

// claim returns the memory of the next row.
func (r *Ring) claim() []float32 {
	slot := r.next
	r.grow(slot)
	r.next = (slot + 1) % r.capacity
	r.length = min(r.length+1, r.capacity)
	r.total++
	r.note(slot, Note{})
	return r.slot(slot)
}

// grow makes sure that a slot has memory.
func (r *Ring) grow(slot int) {
	for len(r.chunks) <= slot/chunkRows {
		rows := min(chunkRows, r.capacity-len(r.chunks)*chunkRows)
		r.chunks = append(r.chunks, make([]float32, rows*r.width))
	}
}

// Clear forgets all transitions and keeps the memory for the next ones.
func (r *Ring) Clear() { r.length, r.next = 0, 0 }

// GatherRange copies n rows from slot first on to the beginning of b.
func (r *Ring) GatherRange(b *Batch, first, n int) {
	r.annotate(b)
	for i := range n {
		b.Put(i, r.shape, r.Row(first+i))
		if b.Notes != nil {
			b.Notes[i] = r.Note(first + i)
		}
		if b.Frames != nil {
			r.look(b, i, first+i)
		}
		r.age(b, i, first+i)
	}
}

// Ages makes Gather and GatherRange report the ages of rows.
func (r *Ring) Ages() { r.aged = true }

// age writes the age of the row in a slot to transition i of a batch that asks for it.
func (r *Ring) age(b *Batch, i, slot int) {
	switch {
	case b.Ages == nil:
	case r.aged:
		b.Ages[i] = float32((r.next - 1 - slot + r.capacity) % r.capacity)
	default:
		b.Ages[i] = 0
	}
}

// Oldest returns the slots of n transitions, oldest first, from the first-th oldest on.
func (r *Ring) Oldest(first, n int) []int {
	slots := make([]int, n)
	for i := range slots {
		slots[i] = r.Newest(r.Len() - 1 - first - i)
	}
	return slots
}
