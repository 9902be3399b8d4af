package relevance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// countMagic begins a saved density.
const countMagic = 0x31544e43_52474750 // "PGGRCNT1"

// Save writes bins and trees, little-endian.
func (m *Count) Save(w io.Writer) error {
	parts := []any{uint64(countMagic), uint64(len(m.trees)), uint64(m.config.Bins), uint64(m.config.Depth), m.seen, m.low, m.step}
	for _, t := range m.trees {
		parts = append(parts, uint64(t.nodes()), t.counts, t.totals, t.stay, t.children)
	}
	for _, part := range parts {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("save count: %w", err)
		}
	}
	return nil
}

// Load reads what Save wrote for the same CountConfig. On an error m must not be used
// any further.
func (m *Count) Load(r io.Reader) error {
	if err := m.load(r); err != nil {
		return fmt.Errorf("load count: %w", err)
	}
	return nil
}

func (m *Count) load(r io.Reader) error {
	var head [5]uint64
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
		return err
	}
	if head[0] != countMagic {
		return errors.New("not a density, or of another version")
	}
	if int(head[1]) != len(m.trees) || int(head[2]) != m.config.Bins || int(head[3]) != m.config.Depth {
		return fmt.Errorf("the file has %d dimensions, %d bins and depth %d, this density %d, %d and %d",
			head[1], head[2], head[3], len(m.trees), m.config.Bins, m.config.Depth)
	}
	m.seen = head[4]
	if err := readAll(r, m.low, m.step); err != nil {
		return err
	}
	for i := range m.trees {
		t, err := m.loadTree(r)
		if err != nil {
			return fmt.Errorf("dimension %d: %w", i, err)
		}
		m.trees[i] = t
	}
	return nil
}

// loadTree reads and checks one tree.
func (m *Count) loadTree(r io.Reader) (*contextTree, error) {
	var nodes uint64
	if err := binary.Read(r, binary.LittleEndian, &nodes); err != nil {
		return nil, err
	}
	most, level := 1.0, 1.0 // a whole tree
	for range m.config.Depth {
		level *= float64(m.config.Bins)
		most += level
	}
	most = min(most, float64(m.config.Depth)*float64(m.seen)+1, math.MaxInt32/float64(m.config.Bins))
	if nodes < 1 || float64(nodes) > most {
		return nil, fmt.Errorf("%d nodes after %d transitions", nodes, m.seen)
	}
	n, s := int(nodes), m.config.Bins
	if rest, known := r.(interface{ Len() int }); known && n > rest.Len()/(8*s+12) {
		return nil, io.ErrUnexpectedEOF
	}
	t := &contextTree{symbols: s, depth: m.config.Depth,
		counts: make([]uint32, n*s), totals: make([]uint32, n), stay: make([]float64, n), children: make([]int32, n*s)}
	if err := readAll(r, t.counts, t.totals, t.stay, t.children); err != nil {
		return nil, err
	}
	for i, child := range t.children { // a child is younger than its parent
		if child != 0 && (int(child) <= i/s || int(child) >= n) {
			return nil, fmt.Errorf("node %d has child %d of %d", i/s, child, n)
		}
	}
	return t, nil
}

func readAll(r io.Reader, parts ...any) error {
	for _, part := range parts {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}
