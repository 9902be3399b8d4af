package replay_test

import (
	"fmt"

	"pgrlab/core/replay"
)

// The paper's scaling keeps 128 real rows; the released code keeps the batch.
func ExampleHoldReal() {
	const plenty = 1_000_000
	for _, r := range []float64{0.5, 0.75, 0.875} {
		fmt.Println(r, replay.HoldReal(256, r, plenty), replay.HoldBatch(256, r, plenty))
	}
	fmt.Println("before the first generation", replay.HoldReal(256, 0.875, 0))
	// Output:
	// 0.5 {128 128} {128 128}
	// 0.75 {128 384} {64 192}
	// 0.875 {128 896} {32 224}
	// before the first generation {256 0}
}
