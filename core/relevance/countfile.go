package relevance

import (
	"fmt"
	"io"
	"math"

	"pgrlab/core/plan"
)

// Save writes bins and trees, little-endian.
func (m *Count) Save(w io.Writer) error {
	return saveTrees(w, m.config, m.seen, m.trees, m.low, m.step)
}

// Load reads what Save wrote for the same CountConfig. On an error m must not be used
// any further.
func (m *Count) Load(r io.Reader) (err error) {
	m.seen, err = loadTrees(r, m.config, m.trees, m.low, m.step)
	return err
}

// saveTrees writes a density that has seen that many observations: its own numbers, and a tree for
// each dimension.
func saveTrees(w io.Writer, c CountConfig, seen uint64, trees []*contextTree, own ...any) error {
	parts := append([]any{uint64(len(trees)), uint64(c.Bins), uint64(c.Depth), seen}, own...)
	for _, t := range trees {
		parts = append(parts, uint64(t.nodes()), t.counts, t.totals, t.stay, t.children)
	}
	if err := plan.SaveAll(w, parts...); err != nil {
		return fmt.Errorf("save count: %w", err)
	}
	return nil
}

// loadTrees reads what saveTrees wrote for the same settings.
func loadTrees(r io.Reader, c CountConfig, trees []*contextTree, own ...any) (seen uint64, err error) {
	seen, err = readTrees(r, c, trees, own)
	if err != nil {
		return seen, fmt.Errorf("load count: %w", err)
	}
	return seen, nil
}

func readTrees(r io.Reader, c CountConfig, trees []*contextTree, own []any) (seen uint64, err error) {
	var head [4]uint64
	if err := plan.LoadAll(r, &head); err != nil {
		return 0, err
	}
	if int(head[0]) != len(trees) || int(head[1]) != c.Bins || int(head[2]) != c.Depth {
		return 0, fmt.Errorf("the file has %d dimensions, %d bins and depth %d, this density %d, %d and %d",
			head[0], head[1], head[2], len(trees), c.Bins, c.Depth)
	}
	if err := plan.LoadAll(r, own...); err != nil {
		return 0, err
	}
	for i := range trees {
		if trees[i], err = readTree(r, c, head[3]); err != nil {
			return 0, fmt.Errorf("dimension %d: %w", i, err)
		}
	}
	return head[3], nil
}

// readTree reads and checks one tree that has seen that many symbols.
func readTree(r io.Reader, c CountConfig, seen uint64) (*contextTree, error) {
	var nodes uint64
	if err := plan.LoadAll(r, &nodes); err != nil {
		return nil, err
	}
	most, level := 1.0, 1.0 // nodes of a complete tree
	for range c.Depth {
		level *= float64(c.Bins)
		most += level
	}
	most = min(most, float64(c.Depth)*float64(seen)+1, math.MaxInt32/float64(c.Bins))
	if nodes < 1 || float64(nodes) > most {
		return nil, fmt.Errorf("%d nodes after %d transitions", nodes, seen)
	}
	n, s := int(nodes), c.Bins
	if rest, known := r.(interface{ Len() int }); known && n > rest.Len()/(8*s+12) {
		return nil, io.ErrUnexpectedEOF
	}
	t := &contextTree{symbols: s, depth: c.Depth,
		counts: make([]uint32, n*s), totals: make([]uint32, n), stay: make([]float64, n), children: make([]int32, n*s)}
	if err := plan.LoadAll(r, t.counts, t.totals, t.stay, t.children); err != nil {
		return nil, err
	}
	for i, child := range t.children { // a child is younger than its parent
		if child != 0 && (int(child) <= i/s || int(child) >= n) {
			return nil, fmt.Errorf("node %d has child %d of %d", i/s, child, n)
		}
	}
	return t, nil
}
