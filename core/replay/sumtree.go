package replay

// sumTree holds a weight for each slot and answers two questions in the time of
// its depth: which slot does a share of the total weight fall on, and what is the
// largest weight. Every node is computed from its two children and from nothing
// else, so that its sums do not drift and depend on the weights alone, not on the
// order in which they were set.
type sumTree struct {
	leaves  int       // a power of two, or 0
	sum     []float64 // sum[1] is the root, sum[i] = sum[2i] + sum[2i+1], leaf i is sum[leaves+i]
	largest []float64 // likewise, of maxima
}

// grow makes room for n leaves; new ones weigh nothing.
func (t *sumTree) grow(n int) {
	if n <= t.leaves {
		return
	}
	leaves := max(t.leaves, 1)
	for leaves < n {
		leaves *= 2
	}
	old := t.weights(t.leaves)
	*t = sumTree{leaves: leaves, sum: make([]float64, 2*leaves), largest: make([]float64, 2*leaves)}
	copy(t.sum[leaves:], old)
	copy(t.largest[leaves:], old)
	for i := leaves - 1; i > 0; i-- {
		t.join(i)
	}
}

// weights are the weights of the first n slots; the memory is the tree's.
func (t *sumTree) weights(n int) []float64 {
	if n == 0 {
		return nil
	}
	return t.sum[t.leaves : t.leaves+n]
}

func (t *sumTree) join(i int) {
	t.sum[i] = t.sum[2*i] + t.sum[2*i+1]
	t.largest[i] = max(t.largest[2*i], t.largest[2*i+1])
}

// set gives a slot a weight, which must be positive and finite.
func (t *sumTree) set(slot int, weight float64) {
	i := t.leaves + slot
	t.sum[i], t.largest[i] = weight, weight
	for i /= 2; i > 0; i /= 2 {
		t.join(i)
	}
}

// total is the sum of all weights.
func (t *sumTree) total() float64 {
	if t.leaves == 0 {
		return 0
	}
	return t.sum[1]
}

// most is the largest weight.
func (t *sumTree) most() float64 {
	if t.leaves == 0 {
		return 0
	}
	return t.largest[1]
}

// find is the slot that u, 0 ≤ u < total, falls on when the weights lie side by
// side. Rounding never leads to a slot without weight.
func (t *sumTree) find(u float64) int {
	i := 1
	for i < t.leaves {
		i *= 2
		if u >= t.sum[i] && t.sum[i+1] > 0 {
			u -= t.sum[i]
			i++
		}
	}
	return i - t.leaves
}
