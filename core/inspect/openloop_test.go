package inspect

import (
	"bytes"
	"image/jpeg"
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// drifting is a model of a state that moves by its action each step, and is paid what it reaches. It is wrong by off.
type drifting struct {
	Generator
	off float32
}

func (g drifting) Foresee(next, reward, obs, act []float32, rows int) error {
	for i := range rows {
		next[i] = obs[i] + act[i] + g.off
		reward[i] = 2 * next[i]
	}
	return nil
}

// drifted is a D_real of copies of such a state. Copy i has episodes of 20 + 7·i env steps, of which every other ends
// by itself.
func drifted(copies, steps int) *replay.Ring {
	ring := replay.NewRing(replay.Shape{Obs: 1, Act: 1}, copies*steps*3/4) // the oldest are overwritten
	s, at := rng.New(3, "drift"), make([]float32, copies)
	for step := range steps {
		for c := range copies {
			length := 20 + 7*c
			word := s.Block(uint64(step), uint64(c))
			if step%length == 0 {
				at[c] = float32(word[0] % 100)
			}
			act := float32(int(word[1]%9) - 4)
			next := at[c] + act
			ring.Add(replay.Transition{
				Obs: []float32{at[c]}, Act: []float32{act}, Reward: 2 * next, Next: []float32{next}, Done: step%length == length-1 && step/length%2 == 0,
			})
			at[c] = next
		}
	}
	return ring
}

// TestRolledOut compares a model with sequences of D_real: one that is right errs nowhere, so no sequence goes beyond an
// episode, or from one copy to another; and one that is wrong by as much each step errs by as many times that.
func TestRolledOut(t *testing.T) {
	for _, copies := range []int{1, 3} {
		v := View{Real: drifted(copies, 600), Copies: copies, Gen: drifting{}, Fitted: true, Stream: rng.New(1, "preview")}
		right, err := v.OpenLoop(4)
		if err != nil || right == nil {
			t.Fatal(right, err)
		}
		for i := range right.Horizon {
			if right.Error[i] != 0 || right.Reward[i] != 0 || !(right.Held[i] > 0) {
				t.Errorf("%d copies: the truth errs by %v and %v after %d steps, held by %v", copies, right.Error[i], right.Reward[i], right.Horizon[i], right.Held[i])
			}
		}
		v.Gen = drifting{off: 0.5}
		wrong, err := v.OpenLoop(4)
		if err != nil {
			t.Fatal(err)
		}
		one := float64(wrong.Error[0])
		for i, h := range wrong.Horizon {
			if got := float64(wrong.Error[i]); math.Abs(got-float64(h)*one) > 1e-3*got {
				t.Errorf("%d copies: error %v after %d steps, %v after one", copies, got, h, one)
			}
		}
		if other, _ := v.OpenLoop(5); slices.Equal(other.Shown[0].Real, wrong.Shown[0].Real) {
			t.Error("another number, the same sequence")
		}
	}
}

// TestNothingIsRolledOut has no model, none that is fitted, or no sequence that is long enough.
func TestNothingIsRolledOut(t *testing.T) {
	short, still := replay.NewRing(replay.Shape{Obs: 1, Act: 1}, 1000), replay.NewRing(replay.Shape{Obs: 1, Act: 1}, 1000)
	for i := range 500 {
		short.Add(replay.Transition{Obs: []float32{0}, Act: []float32{0}, Next: []float32{0}, Done: i%(rolledSteps-1) == 0})
		still.Add(replay.Transition{Obs: []float32{1}, Act: []float32{0}, Next: []float32{1}})
	}
	for name, v := range map[string]View{
		"no model":       {Real: drifted(1, 100), Copies: 1},
		"not fitted":     {Real: drifted(1, 100), Copies: 1, Gen: drifting{}},
		"little":         {Real: drifted(1, 16), Copies: 1, Gen: drifting{}, Fitted: true},
		"short episodes": {Real: short, Copies: 1, Gen: drifting{}, Fitted: true},
		"nothing varies": {Real: still, Copies: 1, Gen: drifting{}, Fitted: true},
		"no prediction":  {Foresees: func(uint64) (*agent.OpenLoop, error) { return nil, nil }},
	} {
		if line, err := v.OpenLoop(1); line != nil || err != nil {
			t.Errorf("%s: %v, %v", name, line, err)
		}
	}
}

// TestFramesOfAnOpenLoop shows frames of one colour each, by their steps, where they belong.
func TestFramesOfAnOpenLoop(t *testing.T) {
	const side, rows, steps, context = 16, 2, 12, 5
	size := side * side * agent.Colours
	of := &agent.OpenLoop{Rows: rows, Steps: steps, Context: context, Side: side, Reward: make([]float32, rows*steps), PredictedReward: make([]float32, rows*steps)}
	for i := range rows * steps {
		of.Seen = append(of.Seen, bytes.Repeat([]byte{byte(20 * (i % steps))}, size)...)
		of.Foreseen = append(of.Foreseen, bytes.Repeat([]byte{byte(20*(i%steps) + 10)}, size)...)
	}
	v := View{Foresees: func(uint64) (*agent.OpenLoop, error) { return of, nil }}
	line, err := v.OpenLoop(1)
	if err != nil {
		t.Fatal(err)
	}
	deviation := 20 * math.Sqrt((steps*steps-1)/12.)
	if want := []int{-2, -1, 0, 1, 2, 4, 7}; !slices.Equal(line.Frames.Steps, want) || line.Shown != nil || line.Reward != nil {
		t.Fatalf("steps %v, numbers %v, reward %v", line.Frames.Steps, line.Shown, line.Reward)
	}
	for i, h := range line.Horizon {
		if math.Abs(float64(line.Error[i])-10/deviation) > 1e-3 || math.Abs(float64(line.Held[i])-20*float64(h)/deviation) > 1e-3 {
			t.Errorf("after %d steps: error %v, held %v; deviation %v", h, line.Error[i], line.Held[i], deviation)
		}
	}
	img, err := jpeg.Decode(bytes.NewReader(line.Frames.Image))
	if err != nil || img.Bounds().Dx() != side*7 || img.Bounds().Dy() != 2*side {
		t.Fatal(err, img.Bounds())
	}
	for i, step := range line.Frames.Steps {
		for y, more := range []int{0, 10} {
			r, _, _, _ := img.At(i*side+side/2, y*side+side/2).RGBA()
			if want := 20*(context-1+step) + more; math.Abs(float64(r>>8)-float64(want)) > 2 {
				t.Errorf("step %d, row %d: %d, want %d", step, y, r>>8, want)
			}
		}
	}
}
