package main

// near returns the lines that a kernel is to prefetch: one for every four steps of k, or every
// eight with three vectors, if A's rows and B's panel are packed.
func (x tile) near(blocks, k, ars, aks, ldb, lanes int, args map[string]uint64) (lines []uint64) {
	steps := map[int]int{2: 4, 3: 8}[x.vecs]
	if steps == 0 || aks != 1 || ldb != x.vecs*lanes {
		return nil
	}
	next, left := args["next"], args["left"]
	for range blocks * (k / steps) {
		lines = append(lines, next)
		next += args["step"]
		if left--; left == 0 {
			next, left = next+args["skip"], args["run"]
		}
	}
	return lines
}
