// Package racing tells tests whether the race detector is on. Work then takes ten times as
// long, and a smaller amount of it is enough to find races.
package racing

// Few is n without the race detector, and otherwise one in oneIn of them, but at least one.
func Few(n, oneIn int) int {
	if On {
		return max(1, n/oneIn)
	}
	return n
}
