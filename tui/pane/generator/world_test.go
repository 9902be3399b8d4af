package generator

import (
	"slices"
	"testing"
)

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

// With little room the last frame that was seen, the next one and the last one are left.
func TestShownFrames(t *testing.T) {
	steps := []int{-2, -1, 0, 1, 2, 4, 8, 16}
	for n, want := range map[int][]int{9: {0, 1, 2, 3, 4, 5, 6, 7}, 8: {0, 1, 2, 3, 4, 5, 6, 7}, 7: {1, 2, 3, 4, 5, 6, 7}, 6: {2, 3, 4, 5, 6, 7}, 4: {2, 3, 5, 7}} {
		if got := shownFrames(steps, n); !slices.Equal(got, want) {
			t.Errorf("%d of %v: %v, want %v", n, steps, got, want)
		}
	}
	if got := shownFrames([]int{1, 2}, 4); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("nothing was seen: %v", got)
	}
}
