package generative

import (
	"math"
	"slices"
	"testing"
)

// sketchAll makes a whole sketch.
func sketchAll(t *testing.T, d fitted, knobs GenKnobs, occasion uint64) (all []float32) {
	t.Helper()
	next, err := d.Sketch(knobs, occasion)
	if err != nil {
		t.Fatal(err)
	}
	for done, total := 0, 1; done < total; {
		var rows []float32
		if rows, done, total, err = next(); err != nil {
			t.Fatal(err)
		}
		all = append(all, rows...)
	}
	return all
}

// A fit and a generation with sketches between their slices end in the same bits as without
// sketches. A sketch depends on its occasion, its knobs and the last complete fit.
func TestSketchesLeaveNoTrace(t *testing.T) {
	rows, scores := randomRows(40)
	knobs := tinyGenerate
	knobs.Samples = 20
	for name, build := range map[string]func() fitted{
		"diffusion": func() fitted { return newDiffusion(t, tiny(), tinyShape) },
		"vae":       func() fitted { return newVAE(t, tiny(), tinyShape) },
		"ensemble":  func() fitted { return newTinyEnsemble(t, asIs) },
		"resample":  func() fitted { return newResample(t, 20) },
	} {
		t.Run(name, func(t *testing.T) { sketchesLeaveNoTrace(t, rows, scores, knobs, build) })
	}
}

func sketchesLeaveNoTrace(t *testing.T, rows table, scores []float32, knobs GenKnobs, build func() fitted) {
	play := func(look func(d fitted)) ([]float32, []float32) {
		d := build()
		if _, err := d.Sketch(knobs, 1); err == nil {
			t.Fatal("a sketch without a generator")
		}
		startFit(t, d, rows, scores, tinyFit, 1)
		finishFit(t, d, 20)
		look(d)
		first := generateAll(t, d, tinyGenerate, 1)
		startFit(t, d, rows, scores, tinyFit, 2)
		for done := false; !done; {
			look(d)
			var err error
			if _, done, err = d.FitSteps(7); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.StartGenerate(tinyGenerate, 2); err != nil {
			t.Fatal(err)
		}
		var second []float32
		for done, total := 0, 1; done < total; {
			look(d)
			made, n, of, err := d.GenerateSlice()
			if err != nil {
				t.Fatal(err)
			}
			second, done, total = append(second, made...), n, of
		}
		return first, second
	}
	first, second := play(func(fitted) {})
	var sketched [][]float32
	lookedFirst, lookedSecond := play(func(d fitted) { sketched = append(sketched, sketchAll(t, d, knobs, 9)) })
	if !slices.Equal(first, lookedFirst) || !slices.Equal(second, lookedSecond) {
		t.Error("sketches changed what was fitted or generated")
	}
	if !slices.Equal(sketched[0], sketched[1]) {
		t.Error("the same sketch of the same generator differs")
	}
	if slices.Equal(sketched[0], sketched[len(sketched)-1]) {
		t.Error("the second fit does not show in a sketch")
	}
	if len(sketched[0]) != 20*tinyShape.Width() {
		t.Errorf("%d numbers in a sketch of 20", len(sketched[0]))
	}
}

func TestSketchesFollowTheirKnobs(t *testing.T) {
	rows, scores := randomRows(40)
	d := newDiffusion(t, tiny(), tinyShape)
	startFit(t, d, rows, scores, tinyFit, 1)
	finishFit(t, d, 20)
	plain := sketchAll(t, d, tinyGenerate, 1)
	guided := tinyGenerate
	guided.Guidance += 3
	for name, other := range map[string][]float32{
		"another guidance":         sketchAll(t, d, guided, 1),
		"another occasion":         sketchAll(t, d, tinyGenerate, 2),
		"the generation's numbers": generateAll(t, d, tinyGenerate, 1),
	} {
		if slices.Equal(plain, other) {
			t.Errorf("%s made the same transitions", name)
		}
	}
}

// PromptScores returns the scores that were asked for. They come from the top share of the data,
// and a generator that obeys returns rows with these scores.
func TestAskedScores(t *testing.T) {
	for _, conditionRange := range []string{ConditionPadded, ConditionFilled, ConditionScaled} {
		t.Run(conditionRange, func(t *testing.T) {
			c := tiny()
			c.ConditionRange = conditionRange
			testAskedScores(t, newDiffusion(t, c, tinyShape))
		})
	}
	if v := newVAE(t, tiny(), tinyShape); v.PromptScores(tinyGenerate, 1, 3) != nil {
		t.Error("something was asked of no generator")
	}
}

func testAskedScores(t *testing.T, d *Diffusion) {
	rows, scores := randomRows(40)
	if d.PromptScores(tinyGenerate, 1, 3) != nil {
		t.Error("something was asked of no generator")
	}
	startFit(t, d, rows, scores, tinyFit, 1)
	finishFit(t, d, 20)
	free := tinyGenerate
	if free.Guidance = 0; d.PromptScores(free, 5, 20) != nil {
		t.Error("something is asked for without guidance")
	}
	asked := d.PromptScores(tinyGenerate, 5, 20)
	top := slices.Clone(scores)
	slices.Sort(top)
	for i, f := range asked {
		nearest := 1.0
		for _, s := range top[30:] {
			nearest = min(nearest, math.Abs(float64(s-f)))
		}
		if nearest > 1e-5 {
			t.Errorf("sample %d is asked for %g, which is none of the ten largest scores", i, f)
		}
	}
	if err := d.StartGenerate(tinyGenerate, 5); err != nil {
		t.Fatal(err)
	}
	for i, c := range d.generation.sampler.chunk.prompts.Data {
		near(t, "prompt of the generation", float64(d.serving.score(c, d.config.ConditionRange)), float64(asked[i]), 1e-9)
	}
}
