package lab

import (
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/testing/cputest"
)

// testDevice computes the same on every machine, on one thread.
func testDevice(t testing.TB) *cpu.Device {
	t.Helper()
	return cputest.New(t, cpu.Options{Threads: 1, Family: "go"})
}

// quick has the best kernels, since convolutions take long with the plain ones, and divides even
// small instructions among its threads.
func quick(t testing.TB, threads int) *cpu.Device {
	t.Helper()
	return cputest.New(t, cpu.Options{Threads: threads, LeastShare: 1})
}
