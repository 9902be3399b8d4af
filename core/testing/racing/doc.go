// Package racing tells tests whether the race detector watches them: work takes ten times as
// long then, and what it has to see, it sees in less of it.
package racing

// Few is n, or as many of them as do for the race detector: one in so many, and at least one.
func Few(n, oneIn int) int {
	if On {
		return max(1, n/oneIn)
	}
	return n
}
