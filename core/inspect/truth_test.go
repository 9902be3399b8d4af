package inspect

import (
	"errors"
	"io"
	"math"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// posedEnv is a countingEnv whose body lies where its state is; it takes no state below 0.
type posedEnv struct{ countingEnv }

func (e *posedEnv) Place(obs []float32) error {
	if obs[0] < 0 {
		return errors.New("no such state")
	}
	return e.countingEnv.Place(obs)
}

func (e *posedEnv) Pose(dst []float64) []float64 { return append(dst, float64(e.at[0])) }

// A row of states is shown beside what the task makes of it, each with its pose, and its error is in
// deviations of the real changes. What the task does not take has no truth.
func TestADreamBesideTheTruth(t *testing.T) {
	v := View{
		Step: 7,
		// s'₀ − s₀ is 1 and 5, with a deviation of 2; s'₁ − s₁ is always 1.
		Real: ringOf([]float32{0, 0, 0, 0, 1, 1, 0}, []float32{0, 0, 0, 0, 5, 1, 0}),
		Syn: ringOf(
			[]float32{5, 1, 1, 9, 10, 2, 0}, // r is 5 and s' is [6, 2]
			[]float32{3, 1, 1, 3, -1, 2, 0}, // such an s' has no pose
			[]float32{-4, 1, 1, 2, 3, 2, 0}, // and such an s no successor
			[]float32{2, 2, 1, 1, 3, 3, 0}), // exact, but for r
		F: relevance.Of(noF{}), Simulator: &Simulator{Start: func() (io.Closer, error) { return &posedEnv{countingEnv{closed: new(int)}}, nil }},
	}
	d := Dreams{}
	got, err := d.Look(v, 4)
	if err != nil {
		t.Fatal(err)
	}
	if got.Side != 0 || got.Order != event.DreamsByReturn || got.Looked != 4 || got.Left != 0 || len(got.Rows) != 4 {
		t.Fatalf("%+v", got)
	}
	first, poseless, failed, exact := got.Rows[0].Truth, got.Rows[1].Truth, got.Rows[2].Truth, got.Rows[3].Truth
	if first.Predicted[0] != 10 || first.True[0] != 6 || first.Reward != 5 || first.Errors[0] != 2 || !math.IsNaN(first.Errors[1]) || first.Off != 2 {
		t.Errorf("%+v", first)
	}
	if first.Poses[0][0] != 5 || first.Poses[1][0] != 10 || first.Poses[2][0] != 6 {
		t.Errorf("poses %v", first.Poses)
	}
	if poseless.Off != 2.5 || poseless.Poses[1] != nil || poseless.Poses[2][0] != 4 {
		t.Errorf("%+v", poseless)
	}
	if failed.True != nil || failed.Errors != nil || !math.IsNaN(failed.Off) || !math.IsNaN(failed.Reward) || failed.Poses[0] != nil || failed.Poses[1][0] != 3 {
		t.Errorf("%+v", failed)
	}
	if exact.Off != 0 || exact.Reward != 2 {
		t.Errorf("%+v", exact)
	}
	if again, err := d.Look(v, 4); err != nil || again != got {
		t.Errorf("what has not changed is looked for again: %v", err)
	}
	v.Syn.Row(0)[0] = 1 // the answer is a copy
	if first.State[0] != 5 {
		t.Error("an answer changed with D_syn")
	}
	v.Simulator = &Simulator{Start: func() (io.Closer, error) { return io.NopCloser(nil), nil }}
	if got, err := (&Dreams{}).Look(v, 1); err != nil || got.Rows[0].Truth.True != nil || got.Rows[0].Truth.Predicted == nil {
		t.Errorf("a task that cannot be set: %+v, %v", got, err)
	}
}

// The twin of a transition is the synthetic row of the nearest s and a, in deviations of D_real, in
// which a number that never varies does not count.
func TestTheTwinOfATransition(t *testing.T) {
	v := View{
		Real: ringOf([]float32{0, 7, 1, 0, 0, 0, 0}, []float32{10, 7, 3, 4, 0, 0, 0}), // deviations 5, 0 and 1
		Syn: ringOf(
			[]float32{10, 7, 1, 5, 0, 0, 0},  // off by 2 in a
			[]float32{5, 900, 3, 6, 0, 0, 0}, // off by 1 in s₀
		),
		F: relevance.Of(rewarding{}), Learned: true,
	}
	v.Scratch = replay.NewBatch(v.Real.Shape(), 4)
	m := Moment(v, 1, nil, nil)
	if m.Reward != 4 || m.F != 4 || m.Twin == nil || m.Twin.Reward != 6 || m.Twin.F != 6 || math.Abs(m.Twin.Distance-math.Sqrt(0.5)) > 1e-9 {
		t.Errorf("%+v, twin %+v", m, m.Twin)
	}
	v.F = relevance.Of(noF{})
	if m := Moment(v, 1, nil, nil); m.Twin == nil || !math.IsNaN(m.Twin.F) {
		t.Errorf("without F: %+v", m.Twin)
	}
	v.Syn.Clear()
	if m := Moment(v, 1, nil, nil); m.Twin != nil {
		t.Errorf("no rows have a twin %+v", m.Twin)
	}
}
