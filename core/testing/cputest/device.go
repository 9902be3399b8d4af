// Package cputest makes CPU devices for tests.
package cputest

import (
	"testing"

	"pgrlab/core/device/cpu"
)

// New returns a device that is closed when the test ends.
func New(t testing.TB, o cpu.Options) *cpu.Device {
	t.Helper()
	dev, err := cpu.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}
