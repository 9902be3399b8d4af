package charts

import (
	"testing"

	"pgrlab/tui/chart"
)

// The smoothed mean begins at the first point, without the bias towards it.
func TestSmoothing(t *testing.T) {
	points := []chart.Point{{X: 0, Y: 10}, {X: 1000, Y: 30}, {X: 2000, Y: 20}}
	smooth := smoothed(points, 0.6)
	if len(smooth) != len(points) || smooth[0].Y != points[0].Y {
		t.Fatalf("%d points of %d, the first %v of %v", len(smooth), len(points), smooth[0].Y, points[0].Y)
	}
	want := (0.6*0.4*points[0].Y + 0.4*points[1].Y) / (0.6*0.4 + 0.4)
	if d := smooth[1].Y - want; d > 1e-9 || d < -1e-9 {
		t.Errorf("the second is %v, want %v", smooth[1].Y, want)
	}
}
