// Package racing says whether the race detector is on. Work then takes ten times as
// long, and a smaller amount of it is enough to find races.
package racing

import "testing"

// Skip leaves a test out under the race detector: what it does beside the test's own goroutine,
// shorter tests of its package do too.
func Skip(t testing.TB) {
	t.Helper()
	if On {
		t.Skip("takes long under the race detector, and has no goroutines that shorter tests lack")
	}
}

// Few is n without the race detector, and otherwise one in oneIn of them, but at least one.
func Few(n, oneIn int) int {
	if On {
		return max(1, n/oneIn)
	}
	return n
}
