package op

import (
	"slices"
	"testing"

	"pgrlab/core/window"
)

// Pixels stay whole, channels side by side; what lies between the images of a batch stays apart.
func TestUpsampleRepeatsPixels(t *testing.T) {
	over := window.Geometry{Height: 2, Width: 2, Channels: 2}
	x := matrix64([]float64{1, -1, 2, -2, 3, -3, 4, -4, 5, 0, 6, 0, 7, 0, 8, 0}, 2, 8)
	y := evaluate64(t, Upsample, over, x)
	want := []float64{
		1, -1, 1, -1, 2, -2, 2, -2, 1, -1, 1, -1, 2, -2, 2, -2, 3, -3, 3, -3, 4, -4, 4, -4, 3, -3, 3, -3, 4, -4, 4, -4,
		5, 0, 5, 0, 6, 0, 6, 0, 5, 0, 5, 0, 6, 0, 6, 0, 7, 0, 7, 0, 8, 0, 8, 0, 7, 0, 7, 0, 8, 0, 8, 0,
	}
	if !slices.Equal(y, want) {
		t.Errorf("got %v, want %v", y, want)
	}
}
