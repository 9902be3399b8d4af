package generative

import (
	"slices"
	"testing"
)

// A generator that repeats real transitions is fitted with the heads on it, slice by slice: its rows have
// the real s and a, and the outcomes that the heads predict.
func TestHeadsOnRepeatedTransitions(t *testing.T) {
	rows, _ := randomRows(40)
	d, sliced := newHeaded(t, newResampleModel(t), tinyHead, tiny(), tinyShape, 1), newHeaded(t, newResampleModel(t), tinyHead, tiny(), tinyShape, 1)
	knobs := tinyFit
	knobs.Steps = 200
	startFit(t, d, rows, nil, knobs, 1)
	first, done, err := d.FitSteps(40)
	if err != nil || done {
		t.Fatalf("done: %v, %v", done, err)
	}
	last, done, err := d.FitSteps(160)
	if err != nil || !done || !(last > 0 && last < first) {
		t.Fatalf("done: %v, %v, the loss is %g after %g", done, err, last, first)
	}
	startFit(t, sliced, rows, nil, knobs, 1)
	finishFit(t, sliced, 7)
	made := generateAll(t, d, tinyGenerate, 3)
	if !slices.Equal(made, generateAll(t, sliced, tinyGenerate, 3)) {
		t.Error("slices matter")
	}
	plain := newResample(t, 100)
	startFit(t, plain, rows, nil, tinyFit, 1)
	finishFit(t, plain, 1)
	predicted := slices.Collect(slices.Chunk(made, tinyShape.Width()))
	for i, real := range slices.Collect(slices.Chunk(generateAll(t, plain, tinyGenerate, 3), tinyShape.Width())) {
		if !slices.Equal(predicted[i][:3], real[:3]) || slices.Equal(predicted[i][3:6], real[3:6]) {
			t.Fatalf("%v of %v", predicted[i], real)
		}
	}
}

func newResampleModel(t *testing.T) Model { return ModelOf(newResample(t, 100), 8) }
