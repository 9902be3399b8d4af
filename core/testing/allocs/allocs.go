// Package allocs counts what code allocates, apart from what the runtime does meanwhile.
package allocs

import "testing"

// series is the number of measurements of which the least counts.
const series = 5

// Least returns the least number of allocations of a call in some series of calls, as
// testing.AllocsPerRun counts them. The runtime allocates too, now and then, when goroutines wait
// for each other on few processors. Code that allocates does so in every series.
func Least(calls int, call func()) float64 {
	least := testing.AllocsPerRun(calls, call)
	for i := 1; i < series && least > 0; i++ {
		least = min(least, testing.AllocsPerRun(calls, call))
	}
	return least
}
