package replica

import (
	"slices"
	"testing"

	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/testing/tiny"
	"pgrlab/presets"
)

// A generator's samples of the policy depend on the occasion and are the same for the same
// occasion.
func TestGeneratorsSampleThePolicy(t *testing.T) {
	c := tiny.Config()
	p, err := NewParts(&c, tiny.Task(), tiny.Device(t))
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Learner(nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	obs := make([]float32, 3*tiny.Obs)
	sampled := func(occasion uint64) []float32 {
		dst := make([]float32, 3*tiny.Act)
		if err := (&sampling{policy: l}).Sample(dst, obs, 3, occasion); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	first := sampled(1)
	if !slices.Equal(first, sampled(1)) || slices.Equal(first, sampled(2)) || first[0] == first[tiny.Act] {
		t.Errorf("samples %v, again %v, of the next occasion %v", first, sampled(1), sampled(2))
	}
}

// The rows of the controls are real rows at every scale, of states and of latents.
func TestControlsRepeatRealRows(t *testing.T) {
	dev := tiny.Device(t)
	for _, scale := range presets.Scales() {
		for _, method := range []string{"resample", "pgr-resample"} {
			for _, observation := range presets.Observations(method) {
				c, err := presets.Resolve(presets.Choice{Task: "walker-walk", Method: method, Scale: scale.Name, Observation: observation})
				if err != nil {
					t.Fatal(err)
				}
				p, err := NewParts(&c, tiny.Task(), dev)
				if err != nil {
					t.Fatal(err)
				}
				g, err := p.Generator(nil, 3)
				if err != nil {
					t.Fatal(err)
				}
				if !onlyRepeats(t, g, p.Shape, &c.Knobs) {
					t.Errorf("%s of %s at %s makes other rows", method, observation, scale.Name)
				}
				g.Close()
			}
		}
	}
}

// onlyRepeats says whether every row that a generator makes of three rows is one of them.
func onlyRepeats(t *testing.T, g generative.Generator, shape replay.Shape, k *knob.Settings) bool {
	t.Helper()
	real := replay.NewRing(shape, 3)
	for i := range 3 {
		row := make([]float32, shape.Width())
		for j := range row {
			row[j] = float32(i*len(row) + j)
		}
		real.AddRows(row)
	}
	if err := g.StartFit(real, nil, generative.FitKnobs{Steps: 2, LR: k.LRGenerator}, 1); err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		var err error
		if _, done, err = g.FitSteps(1); err != nil {
			t.Fatal(err)
		}
	}
	asked := k.Generation()
	asked.Samples = 20
	if err := g.StartGenerate(asked, 1); err != nil {
		t.Fatal(err)
	}
	made, _, _, err := g.GenerateSlice()
	if err != nil || len(made) != 20*shape.Width() {
		t.Fatalf("%d numbers, %v", len(made), err)
	}
	for row := range slices.Chunk(made, shape.Width()) {
		if !slices.Equal(row, real.Row(0)) && !slices.Equal(row, real.Row(1)) && !slices.Equal(row, real.Row(2)) {
			return false
		}
	}
	return true
}
