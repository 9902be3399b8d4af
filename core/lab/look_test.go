package lab

import (
	"math"
	"testing"

	"pgrlab/core/event"
)

// A map counts every row once, and the cells lie where the observations do.
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

// Asking for maps and moments in the middle of a run changes nothing of it, and the
// answers are in the snapshot.
func TestLookingChangesNothing(t *testing.T) {
	c := newWorld().config()
	_, quiet := previewed(t, newWorld(), c, nil)
	looks := map[int][]event.Command{}
	for step := 1; step < c.Steps; step++ {
		looks[step] = []event.Command{event.Map{X: 0, Y: 1}, event.Watch{}}
	}
	l, looked := previewed(t, newWorld(), c, looks)
	if quiet.canonical(t) != looked.canonical(t) {
		t.Error("the journal differs")
	}
	s := l.Snapshot()
	if s.Map == nil || s.Moment == nil {
		t.Fatal("no answer")
	}
	n := 0
	for _, k := range s.Map.Real {
		n += k
	}
	if n != s.Map.RealN || n == 0 {
		t.Errorf("%d rows in cells, %d counted", n, s.Map.RealN)
	}
	if math.IsNaN(s.Moment.Q) || math.IsNaN(s.Moment.F) || len(s.Moment.Action) == 0 {
		t.Errorf("moment %+v", s.Moment)
	}
}
