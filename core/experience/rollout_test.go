package experience

import (
	"bytes"
	"slices"
	"testing"
)

// A rollout of two copies: returns stop at ends and follow each copy separately. A rollout that is
// saved in the middle goes on, and one that the log contradicts is refused.
func TestRollout(t *testing.T) {
	log := NewLog(Shape{Numbers: 2, Act: 1, Copies: 2}, Keep{Looks: 20, Steps: 3})
	r := &Rollout{Log: log, Steps: 3}
	steps := [3][2]Step{
		{{Action: []float32{.1}, Reward: 1, Next: Look{Numbers: []float32{5, 6}}}, {Action: []float32{.2}, Reward: 10, Next: Look{Numbers: []float32{0, 0}}, End: Truncated}},
		{{Action: []float32{.3}, Reward: 2, Next: Look{Numbers: []float32{9, 10}}}, {Action: []float32{.4}, Reward: 20, Next: Look{Numbers: []float32{11, 12}}}},
		{{Action: []float32{.5}, Reward: 4, Next: Look{Numbers: []float32{0, 0}}, End: Terminated}, {Action: []float32{.6}, Reward: 40, Next: Look{Numbers: []float32{0, 0}}}},
	}
	log.Begin(0, Look{Numbers: []float32{1, 2}})
	log.Begin(1, Look{Numbers: []float32{3, 4}})
	for i, both := range steps {
		if r.Full() {
			t.Fatalf("full after %d steps", i)
		}
		for copied, s := range both {
			log.Add(copied, s)
		}
		log.SetRewards([]float32{both[0].Reward, both[1].Reward})
		if i == 0 {
			log.Begin(1, Look{Numbers: []float32{7, 8}})
		}
		var saved bytes.Buffer
		if err := r.Save(&saved); err != nil {
			t.Fatal(err)
		}
		again := &Rollout{Log: log, Steps: 3}
		saved.WriteString("more")
		if err := again.Load(&saved); err != nil || again.Filled() != i+1 || saved.String() != "more" {
			t.Fatalf("loaded %+v, %v with %q after it", again, err, saved.String())
		}
		r = again
	}
	obs, act, returns := make([]float32, 12), make([]float32, 6), make([]float32, 6)
	r.Fill(obs, act)
	if r.Returns(returns, 0.5); !slices.Equal(returns, []float32{1 + .5*(2+.5*4), 10, 2 + .5*4, 20 + .5*40, 4, 40}) || !r.Full() {
		t.Errorf("returns %v", returns)
	}
	if !slices.Equal(obs, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) || !slices.Equal(act, []float32{.1, .2, .3, .4, .5, .6}) {
		t.Errorf("rows %v, %v", obs, act)
	}
	order := slices.Clone(returns)
	Standardise(returns)
	mean, square := float32(0), float32(0)
	for i, v := range returns {
		mean, square = mean+v/6, square+v*v/6
		if (order[i] < order[0]) != (v < returns[0]) {
			t.Errorf("%v are standardised to %v", order, returns)
		}
	}
	if mean*mean > 1e-10 || square < 0.999 || square > 1.001 {
		t.Errorf("standardised to mean %g and variance %g: %v", mean, square, returns)
	}
	for _, from := range []uint64{4, 100} {
		if r.Begun(from) == nil {
			t.Errorf("a rollout after %d of 3 env steps", from)
		}
	}
	if err := (&Rollout{Log: log, Steps: 2}).Begun(0); err == nil {
		t.Error("a rollout of two env steps has three")
	}
	if r.Clear(); r.Filled() != 0 || r.From != 3 {
		t.Errorf("cleared it is %+v", r)
	}
}
