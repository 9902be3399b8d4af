package formula

import (
	"math"
	"slices"
)

const (
	radixBits = 11
	radix     = 1 << radixBits
)

// sortColumn sorts values in place by three passes of 11 bits each. It returns the memory that it
// used besides, for the next time.
func sortColumn(values, scratch []float32) []float32 {
	if len(values) < radix {
		slices.Sort(values)
		return scratch
	}
	scratch = slices.Grow(scratch[:0], len(values))[:len(values)]
	var counts [3][radix]int
	for _, x := range values {
		k := sortKey(x)
		counts[0][k%radix]++
		counts[1][k>>radixBits%radix]++
		counts[2][k>>(2*radixBits)]++
	}
	from, to := values, scratch
	for pass := range counts {
		at := 0
		for i, n := range counts[pass] {
			counts[pass][i] = at
			at += n
		}
		shift := pass * radixBits
		for _, x := range from {
			digit := sortKey(x) >> shift % radix
			to[counts[pass][digit]] = x
			counts[pass][digit]++
		}
		from, to = to, from
	}
	copy(values, from) // after three passes the result is in the scratch
	return scratch
}

// sortKey is a whole number in the order of the values: -0 and 0 are adjacent.
func sortKey(x float32) uint32 {
	bits := math.Float32bits(x)
	if bits>>31 != 0 {
		return ^bits
	}
	return bits | 1<<31
}
