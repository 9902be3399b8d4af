package inspect

import (
	"testing"

	"pgrlab/core/event"
)

// A map counts every row once, in the cell of its observation.
func TestMapCountsRowsWhereTheyLie(t *testing.T) {
	p := &event.Mapped{X: 0, Y: 1, Low: [2]float64{-1, 0}, High: [2]float64{1, 10}}
	for _, c := range []struct {
		row       []float32
		col, line int
	}{{[]float32{-1, 0}, 0, 0}, {[]float32{1, 10}, event.MapColumns - 1, event.MapRows - 1}, {[]float32{0, 5}, event.MapColumns / 2, event.MapRows / 2}, {[]float32{9, -9}, event.MapColumns - 1, 0}} {
		if got := cellOf(p, c.row); got != c.line*event.MapColumns+c.col {
			t.Errorf("%v is in cell %d, want column %d of line %d", c.row, got, c.col, c.line)
		}
	}
	flat := &event.Mapped{X: 0, Y: 1}
	if got := cellOf(flat, []float32{3, 3}); got != event.MapRows/2*event.MapColumns+event.MapColumns/2 {
		t.Errorf("a plane without extent puts rows into cell %d", got)
	}
}
