//go:build !nogpu && (amd64 || arm64)

package driver_test

import (
	"testing"

	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/testing/drivertest"
)

// This runs the same program as on the emulated driver.
func TestNativeContext(t *testing.T) {
	c, released := driver.OpenFake(t)
	drivertest.TestContext(t, c)
	if !released() {
		t.Error("memory was left when the context was released, or it was not released")
	}
}
