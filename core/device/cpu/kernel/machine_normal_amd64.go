package kernel

import "pgrlab/core/rng"

// fillNormal draws whole groups of blocks in assembly. Package rng draws the numbers before the
// first block and after the last, and everything shorter than a group.
func (x *machine) fillNormal(s rng.Stream, dst []float32, occasion, first uint64) {
	head := min(int(-first%4), len(dst))
	group := 2 * x.lanes
	blocks := (len(dst) - head) / 4 * 4
	if blocks < group {
		s.FillNormal(dst, occasion, first)
		return
	}
	s.FillNormal(dst[:head], occasion, first)
	end := head + blocks
	for i := head; i < end; {
		groups := min(chunk, end-i) / group
		if groups == 0 {
			// The remainder is less than a group, so the last group begins earlier. An item's
			// number depends only on its place, so this writes the same numbers there again.
			i, groups = end-group, 1
		}
		callNormals(x.normals, groups, at(dst, i), s.Key, occasion, first+uint64(i))
		i += groups * group
	}
	s.FillNormal(dst[end:], occasion, first+uint64(end))
}

//go:noinline
func callNormals(f func(groups int, dst *float32, k0, k1 uint32, occasion, first uint64), groups int, dst *float32, key [2]uint32, occasion, first uint64) {
	f(groups, dst, key[0], key[1], occasion, first)
}
