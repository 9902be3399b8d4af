package replay

import "pgrlab/core/rng"

// scattered are the places of OneOf.
var scattered = rng.New(0, "one of")

// OneOf returns the row that stands for the rows first to next−1, the k-th such stretch of many: a
// random one, but always the same. Several copies of an environment store their transitions in
// turn, so a fixed place in each stretch, or evenly spaced rows, would leave out half of the copies
// or more.
func OneOf(k, first, next int) int { return first + scattered.At(uint64(k)).IntN(next-first) }

// Spread returns up to n slots in rising order, one of each of as many equal stretches of the ring.
func (r *Ring) Spread(n int) []int {
	slots := make([]int, min(n, r.Len()))
	for i := range slots {
		slots[i] = OneOf(i, i*r.Len()/len(slots), (i+1)*r.Len()/len(slots))
	}
	return slots
}
