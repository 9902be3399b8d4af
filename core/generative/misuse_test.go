package generative

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

func TestCancelKeepsTheLastGenerator(t *testing.T) {
	rows, scores := randomRows(40)
	d := newDiffusion(t, tiny(), tinyShape)
	startFit(t, d, rows, scores, tinyFit, 1)
	finishFit(t, d, 20)
	want := generateAll(t, d, tinyGenerate, 1)
	startFit(t, d, rows, scores, tinyFit, 2)
	if _, _, err := d.FitSteps(10); err != nil {
		t.Fatal(err)
	}
	d.Cancel()
	if d.fit != nil || !d.Fitted() {
		t.Errorf("after cancelling: fit %v, fitted %v", d.fit, d.Fitted())
	}
	if !slices.Equal(want, generateAll(t, d, tinyGenerate, 1)) {
		t.Error("an abandoned fit changed the generator")
	}
}

func TestMisuseIsAnError(t *testing.T) {
	rows, scores := randomRows(40)
	d := newDiffusion(t, tiny(), tinyShape)
	expect := func(what string, err error, part string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v, want one with %q", what, err, part)
		}
	}
	expect("generating first", d.StartGenerate(tinyGenerate, 0), "no fit is complete")
	_, _, err := d.FitSteps(1)
	expect("steps of no fit", err, "no fit is under way")
	_, _, _, err = d.GenerateSlice()
	expect("slice of no generation", err, "no generation is under way")
	expect("too few scores", d.StartFit(rows, scores[:3], tinyFit, 0), "3 scores for 40 transitions")
	expect("no steps", d.StartFit(rows, scores, FitKnobs{LR: 1}, 0), "generator_steps is 0")
	nan := slices.Clone(scores)
	nan[7] = float32(math.NaN())
	expect("NaN score", d.StartFit(rows, nan, tinyFit, 0), "transition 7")
	startFit(t, d, rows, scores, tinyFit, 0)
	expect("second fit", d.StartFit(rows, scores, tinyFit, 0), "under way")
	expect("generating during a fit", d.StartGenerate(tinyGenerate, 0), "under way")
	c := tiny()
	c.Conditional = false
	expect("scores without condition", newDiffusion(t, c, tinyShape).StartFit(rows, scores, tinyFit, 0), "without a condition")
	c.Blocks = 0
	_, err = New(c, tinyShape, newDevice(t), 1)
	expect("no blocks", err, "blocks is 0")
	_, err = New(tiny(), replay.Shape{Obs: 3}, newDevice(t), 1)
	expect("no action", err, "no action")
}

// A fit that diverges fails, and does not fill the buffer with its samples.
func TestDivergenceIsAnError(t *testing.T) {
	rows, scores := randomRows(40)
	c := tiny()
	c.ClipNorm = 0
	d := newDiffusion(t, c, tinyShape)
	startFit(t, d, rows, scores, FitKnobs{Steps: 50, LR: 1e30}, 0)
	_, _, err := d.FitSteps(50)
	var where *plan.NotFinite
	if !errors.As(err, &where) || where.Program != "denoiser fit" || where.Tensor == "" {
		t.Errorf("error %v, want one that says where", err)
	}
}
