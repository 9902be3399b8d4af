package relevance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"pgrlab/core/nn"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// ecoMagic begins a saved ECO. The first version does not know where entries were met.
const (
	ecoMagic  = 0x324f4345_524750 // "PGRECO2"
	ecoMagic1 = 0x314f4345_524750 // "PGRECO1"
)

// Save writes the networks, the history and the memories.
func (m *ECO) Save(w io.Writer) error {
	if err := m.save(w); err != nil {
		return fmt.Errorf("save eco: %w", err)
	}
	return nil
}

func (m *ECO) save(w io.Writer) error {
	for _, part := range []any{uint64(ecoMagic), m.rounds, m.accuracy, m.met, m.history.met} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	if err := plan.Save(m.device, w, m.net.state()); err != nil {
		return err
	}
	if err := m.programs.optimiser.Save(w); err != nil {
		return err
	}
	h, s := &m.history, &m.memories
	rows := h.filled() * h.copies
	parts := []any{h.seen[:rows*h.obs], h.last[:rows]}
	for i, n := range s.n {
		parts = append(parts, uint32(n), s.seenOf(i), s.keysOf(i), s.placesOf(i), s.joined[i])
	}
	for _, part := range parts {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

// Load reads what Save wrote for the same settings; a round that was under way goes on. On an
// error m must not be used any further.
func (m *ECO) Load(r io.Reader) error {
	if err := m.load(r); err != nil {
		return fmt.Errorf("load eco: %w", err)
	}
	return nil
}

func (m *ECO) load(r io.Reader) error {
	var magic uint64
	if err := readAll(r, &magic); err != nil {
		return err
	}
	if magic != ecoMagic && magic != ecoMagic1 {
		return errors.New("not episodic curiosity, or of another version")
	}
	if err := readAll(r, &m.rounds, &m.accuracy, &m.met, &m.history.met); err != nil {
		return err
	}
	m.pairs.of = 0
	if err := plan.Load(m.device, r, m.net.state()); err != nil {
		return err
	}
	if err := m.programs.optimiser.Load(r); err != nil {
		return err
	}
	h, s := &m.history, &m.memories
	rows := h.filled() * h.copies
	if err := readAll(r, h.seen[:rows*h.obs], h.last[:rows]); err != nil {
		return err
	}
	for i := range s.n {
		if err := s.load(r, i, magic); err != nil {
			return err
		}
	}
	return nil
}

// load reads a copy's memory from a file that begins with magic.
func (s *memories) load(r io.Reader, i int, magic uint64) error {
	var n uint32
	if err := readAll(r, &n); err != nil {
		return err
	}
	if int64(n) > int64(s.size) {
		return fmt.Errorf("a memory of %d observations, the most are %d", n, s.size)
	}
	s.n[i] = int(n)
	if err := readAll(r, s.seenOf(i), s.keysOf(i)); err != nil {
		return err
	}
	if magic == ecoMagic1 {
		s.joined[i] = -1
		for k := range s.placesOf(i) {
			s.placesOf(i)[k] = nan32
		}
		return nil
	}
	if err := readAll(r, s.placesOf(i), &s.joined[i]); err != nil {
		return err
	}
	if s.joined[i] < -1 || int64(s.joined[i]) >= int64(n) {
		return fmt.Errorf("the last env step made entry %d of %d", s.joined[i], n)
	}
	return nil
}

// MemoryIn is about how many bytes it takes in so many copies of the environment: never much more
// than it will. It does not overflow.
func (c ECOConfig) MemoryIn(shape replay.Shape, copies int) float64 {
	width, obs := float64(c.Comparator[0]), float64(shape.Obs)
	parameters := nn.Parameters(append(append([]int{shape.Obs}, c.Hidden...), c.Features)...) + nn.Parameters(append([]int{2 * c.Features}, c.Comparator...)...)
	units := 2 * obs
	for _, w := range append(append([]int{c.Features}, c.Hidden...), c.Comparator...) {
		units += 2 * float64(w)
	}
	numbers := 4*parameters + (4*float64(c.Batch)+embeddedRows+comparedRows)*units
	numbers += float64(copies) * float64(c.Entries) * (obs + width + 2)
	numbers += float64(c.History) * (obs + 0.25 + 1) // a pair for every two transitions at most: 12 bytes, and its place in an order
	return 4 * numbers
}

// Memory is MemoryIn one copy.
func (c ECOConfig) Memory(shape replay.Shape) float64 { return c.MemoryIn(shape, 1) }
