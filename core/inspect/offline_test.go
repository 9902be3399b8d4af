package inspect

import (
	"io"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// Every real transition is in exactly one part, and the same seed divides the same way.
func TestDivide(t *testing.T) {
	ring := replay.NewRing(replay.Shape{Obs: 1, Act: 1}, 4000)
	for range 4000 {
		ring.AddRows(make([]float32, ring.Shape().Width()))
	}
	train, out := divide(ring, 0.1, rng.New(1, "held out"))
	seen := map[int]int{}
	for _, slot := range append(append([]int(nil), train.slots...), out.slots...) {
		seen[slot]++
	}
	if len(seen) != 4000 || train.Len()+out.Len() != 4000 || math.Abs(float64(out.Len())-400) > 80 {
		t.Errorf("%d and %d, %d different", train.Len(), out.Len(), len(seen))
	}
	if again, _ := divide(ring, 0.1, rng.New(1, "held out")); !reflect.DeepEqual(again.slots, train.slots) {
		t.Error("another division")
	}
}

// linear is a system that can be set to its observation: s' = 0.9s + a in the first dimension, time
// in the second; the reward is the first number of s'.
type linear struct{ now []float32 }

func (e *linear) Place(obs []float32) error {
	e.now = slices.Clone(obs)
	return nil
}

func (e *linear) Step(action, obs []float32) (float64, bool, bool, error) {
	e.now = []float32{0.9*e.now[0] + action[0], e.now[1] + 1}
	copy(obs, e.now)
	return float64(obs[0]), false, false, nil
}

func (e *linear) Close() error { return nil }

// For real rows the results are known: they have no error and predict every event, and as copies of
// rows in the fit they cover nothing.
func TestJudgeOfRealRows(t *testing.T) {
	env, next, action := &linear{}, make([]float32, 2), make([]float32, 1)
	v := View{
		Real:      replay.NewRing(replay.Shape{Obs: 2, Act: 1}, 60),
		Simulator: &Simulator{Start: func() (io.Closer, error) { return &linear{}, nil }},
	}
	obs, noise := []float32{0, 0}, rng.New(1, "actions")
	for i := range 60 {
		noise.FillUniform(action, uint64(i), 0)
		env.Place(obs)
		reward, _, _, _ := env.Step(action, next)
		v.Real.Add(replay.Transition{Obs: obs, Act: action, Reward: float32(reward), Next: next})
		copy(obs, next)
	}
	var err error
	if v.F, err = relevance.New(none, relevance.Deps{}); err != nil {
		t.Fatal(err)
	}
	o, err := NewOffline(v, OfflineRefit{Knobs: knob.Settings{Relevance: none}, Rows: 40, HeldOut: 0.25}, 1, 0, atOnce)
	if err != nil {
		t.Fatal(err)
	}
	judged := func(of subset) *RefitGeneration {
		made := replay.NewRing(v.Real.Shape(), of.Len())
		for i := range of.Len() {
			made.AddRows(of.Row(i))
		}
		out := &RefitGeneration{}
		if err := o.judge(made, out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	trained, held := judged(o.train), judged(o.out)
	if trained.Copies != 1 || trained.Coverage != 0 || trained.Nearest != 0 || held.NearestReal != trained.NearestReal {
		t.Errorf("rows of the fit: %+v", trained)
	}
	if held.Nearest != held.NearestReal || held.Copies > 0.5 || held.Coverage < 0.5 {
		t.Errorf("held-out rows: %+v", held)
	}
	if d := trained.Dynamics; d.State > 1e-9 || d.Reward > 1e-9 {
		t.Errorf("errors of real rows: %+v", d)
	}
}

// early is a generator whose fit ends after three gradient steps.
type early struct {
	Fitter
	made int
}

func (e *early) StartFit(generative.Rows, []float32, generative.FitKnobs, uint64) error { return nil }
func (e *early) FitSteps(n int) (loss float64, done bool, err error) {
	e.made += n
	return float64(e.made), e.made >= 3, nil
}

// A fit that ends before its last tenth has a loss, and as many steps as it made.
func TestFitThatEndsEarly(t *testing.T) {
	loss, err := Fit(&early{}, nil, nil, &knob.Settings{GeneratorSteps: 100}, 0, 1, func(done, of int) error { return nil })
	if err != nil || !loss.Ended || loss.Steps != 3 || loss.Mean() == nil || *loss.Mean() != 3 {
		t.Errorf("%+v, %v", loss, err)
	}
}
