package agent

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"pgrlab/core/replay"
)

// A rollout of two copies: returns stop at ends and follow each copy separately, and a rollout that
// is saved in the middle goes on.
func TestRollout(t *testing.T) {
	r := NewRollout(replay.Shape{Obs: 2, Act: 1}, 2, 3)
	steps := []Experience{
		{Copies: 2, Obs: []float32{1, 2, 3, 4}, Actions: []float32{.1, .2}, Rewards: []float32{1, 10}, Ends: []End{Continues, Truncated}},
		{Copies: 2, Obs: []float32{5, 6, 7, 8}, Actions: []float32{.3, .4}, Rewards: []float32{2, 20}, Ends: []End{Continues, Continues}},
		{Copies: 2, Obs: []float32{9, 10, 11, 12}, Actions: []float32{.5, .6}, Rewards: []float32{4, 40}, Ends: []End{Terminated, Continues}},
	}
	for i := range steps {
		if r.Full() {
			t.Fatalf("full behind %d steps", i)
		}
		if err := r.Observe(&steps[i]); err != nil {
			t.Fatal(err)
		}
		var saved bytes.Buffer
		if err := r.Save(&saved); err != nil {
			t.Fatal(err)
		}
		again := NewRollout(replay.Shape{Obs: 2, Act: 1}, 2, 3)
		saved.WriteString("more")
		if err := again.Load(&saved); err != nil || !reflect.DeepEqual(again, r) || saved.String() != "more" {
			t.Fatalf("loaded %+v, %v with %q behind, want %+v", again, err, saved.String(), r)
		}
		r = again
	}
	r.Discount(0.5)
	if want := []float32{1 + .5*(2+.5*4), 10, 2 + .5*4, 20 + .5*40, 4, 40}; !slices.Equal(r.Return, want) || !r.Full() {
		t.Errorf("returns %v, want %v", r.Return, want)
	}
	if !slices.Equal(r.Obs[4:8], []float32{5, 6, 7, 8}) || !slices.Equal(r.Actions, []float32{.1, .2, .3, .4, .5, .6}) {
		t.Errorf("rows %v, %v", r.Obs, r.Actions)
	}
	r.Standardise()
	mean, square := float32(0), float32(0)
	for _, v := range r.Return {
		mean, square = mean+v/6, square+v*v/6
	}
	if mean*mean > 1e-10 || square < 0.999 || square > 1.001 || !(r.Return[1] < r.Return[5]) {
		t.Errorf("standardised to mean %g and variance %g: %v", mean, square, r.Return)
	}
	if err := r.Observe(&steps[0]); err == nil {
		t.Error("a full rollout takes another env step")
	}
	r.Clear()
	if err := r.Observe(&Experience{Copies: 1}); err == nil || r.Filled != 0 {
		t.Error("an env step of fewer copies is taken")
	}
}
