package maps

import (
	"testing"

	"pgrlab/core/event"
)

// The grid has as many maps as can be read, with shapes near to that of their cells.
func TestMapGrid(t *testing.T) {
	for size, want := range map[[2]int][2]int{{158, 41}: {2, 2}, {80, 20}: {2, 2}, {62, 12}: {2, 1}, {58, 11}: {1, 1}, {40, 6}: {1, 1}, {200, 12}: {4, 1}, {120, 36}: {2, 2}} {
		if across, down := grid(size[0], size[1]); [2]int{across, down} != want {
			t.Errorf("%v: %d by %d, want %v", size, across, down, want)
		}
	}
}

// No row of a map occurs twice, at any size.
func TestMapRowsAreCells(t *testing.T) {
	for w := 30; w < 220; w += 7 {
		for h := 4; h < 70; h++ {
			across, down := grid(w, h)
			if rows := rowsOf(h, down); rows > event.MapRows || across*down < 1 {
				t.Fatalf("%dx%d: %d by %d maps of %d rows, and a map has %d", w, h, across, down, rows, event.MapRows)
			}
		}
	}
}
