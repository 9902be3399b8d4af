package bench

import (
	"pgrlab/core/device/cpu"
	"pgrlab/core/testing/cputest"
	"testing"
)

// Each product of a layer is timed alone, on operands of its own, and its operations are counted
// correctly.
func TestProductsOfALayer(t *testing.T) {
	dev := cputest.New(t, cpu.Options{Threads: 1})
	if len(Products) != 3*len(productLayers) {
		t.Fatalf("%d products", len(Products))
	}
	for i := range 3 {
		l := Layer{1, 64, 256, 512}
		step, flops, err := l.product(dev, i)
		held := [3]int{64*256 + 256*512 + 512, 64*512 + 256*512, 64*256 + 64*512}[i]
		if turns := (apart + held - 1) / held; err != nil || flops != float64(turns*2*64*256*512) {
			t.Fatalf("product %d: %g operations, %v", i, flops, err)
		}
		if err := step(0); err != nil {
			t.Error(err)
		}
	}
}
