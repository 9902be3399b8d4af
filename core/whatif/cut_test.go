package whatif

import (
	"slices"
	"testing"
)

// cutPoint is the task where a limit of its own cuts episodes off after 30 steps.
type cutPoint struct{ *point }

func (p cutPoint) Step(a, o []float32, r []float64, ended []bool) error {
	over := slices.Clone(ended)
	err := p.point.Step(a, o, r, ended)
	for i := range ended {
		if ended[i] = p.step >= 30; over[i] {
			r[i] = 0
		}
	}
	return err
}

func (p cutPoint) Truncated(int) bool { return p.step >= 30 }

// A limit that comes before the task's own is no end: the row before it has no TD error, and rows are judged
// whose complete future there is.
func TestEarlyTimeLimitIsNoEnd(t *testing.T) {
	s, p := subject(t), pointPlan()
	s.Gamma = 0.8 // a complete future has 21 steps
	s.Episodes = func(n int, _ uint64) (VecEnv, error) { return cutPoint{&point{x: make([]float32, n)}}, nil }
	x := &study{Subject: s, plan: p, breathe: onward, table: &Table{}}
	h, err := x.hold()
	if err != nil {
		t.Fatal(err)
	}
	whole := 30 - horizon(s.Gamma) + 1
	if n := p.Episodes; h.ends != 0 || slices.Contains(h.done, true) || h.rows != n*30 || len(h.judged) != n*whole || !h.cut[29] {
		t.Errorf("%d ends, %d rows, %d of them judged, want %d", h.ends, h.rows, len(h.judged), n*whole)
	}
}
