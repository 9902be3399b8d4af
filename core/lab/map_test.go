package lab

import (
	"math"
	"testing"

	"pgrlab/core/event"
)

// Maps, moments and dreams that are asked for in the middle of a run do not change it, and the answers
// are in the snapshot.
func TestLookingChangesNothing(t *testing.T) {
	c := newWorld().config()
	_, quiet := previewed(t, newWorld(), c, nil)
	looks := map[int][]event.Command{}
	for step := 1; step < c.Steps; step++ {
		looks[step] = []event.Command{event.Map{X: 0, Y: 1}, event.Watch{}, event.Dreams{Rows: 4}}
	}
	l, looked := previewed(t, newWorld(), c, looks)
	if quiet.canonical(t) != looked.canonical(t) {
		t.Error("the journal differs")
	}
	s := l.Snapshot()
	if s.Map == nil || s.Moment == nil {
		t.Fatal("no answer")
	}
	if m := s.Moment; m.Twin == nil || math.IsNaN(m.Twin.F) || math.IsNaN(m.Reward) {
		t.Errorf("moment %+v, twin %+v", m, m.Twin)
	}
	if d := s.Dreamt; d == nil || d.Unknown != "" || len(d.Rows) != 4 || d.Rows[0].Truth == nil {
		t.Errorf("dreams %+v", d)
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
