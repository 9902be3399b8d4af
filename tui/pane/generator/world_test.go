package generator

import "testing"

// Pictures fill the room evenly, and none is smaller than it may be.
func TestWorldGrid(t *testing.T) {
	for _, c := range []struct{ n, w, h, across, down int }{
		{6, 158, 40, 3, 2}, {5, 158, 40, 3, 2}, {6, 158, 7, 4, 1}, {6, 78, 20, 2, 3}, {6, 50, 6, 1, 1}, {2, 158, 40, 2, 1}, {1, 30, 3, 1, 1}, {6, 240, 40, 6, 1},
	} {
		if across, down := worldGrid(c.n, c.w, c.h); across != c.across || down != c.down {
			t.Errorf("%d pictures in %d by %d cells: %d across, %d down; want %d, %d", c.n, c.w, c.h, across, down, c.across, c.down)
		}
	}
}
