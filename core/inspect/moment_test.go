package inspect

import (
	"testing"

	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// rewarding is the relevance function F = r.
type rewarding struct{ relevance.Function }

func (rewarding) Name() string { return "reward" }

func (rewarding) Score(dst []float32, b *replay.Batch, rows int) error {
	copy(dst, b.Reward[:rows])
	return nil
}

// The moment is that of the first copy, whose picture is shown; its transition is found among those
// of the newest env step.
func TestTheMomentIsTheFirstCopys(t *testing.T) {
	shape := replay.Shape{Obs: 1, Act: 1}
	v := View{Real: replay.NewRing(shape, 10), F: relevance.Of(rewarding{}), Learned: true, Scratch: replay.NewBatch(shape, 1)}
	for i := range 6 {
		v.Real.Add(replay.Transition{Obs: []float32{float32(10 * i)}, Act: []float32{0}, Reward: float32(i), Next: []float32{0}})
	}
	value := func(dst, obs []float32, rows int) error { copy(dst, obs[:rows]); return nil }
	for copies, row := range map[int]float64{1: 5, 3: 3, 6: 0} {
		if m := Moment(v, copies, []float32{1}, value); m.F != row || m.Q != 10*row {
			t.Errorf("%d copies: F %v, Q %v, want those of row %v", copies, m.F, m.Q, row)
		}
	}
}
