package generative

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgrlab/core/rng"
)

// phasedConfig models s, a and the phases of angles.
func phasedConfig() Config {
	c := tiny()
	c.Vector, c.Angles = VectorPair, AnglesPhase
	return c
}

// phasedDiffusion treats the second coordinate of tinyShape as an angle without limits.
func phasedDiffusion(t *testing.T, c Config) *Diffusion {
	t.Helper()
	d, err := New(c, tinyShape, newDevice(t), 11, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// The vector has the angle's sine and cosine after s and a, and nothing else changes.
func TestVectorsHavePhases(t *testing.T) {
	rows := table{{1, 100, 0.5, 9, 9, 9, 0}, {-1, -0.25, 0.25, 9, 9, 9, 0}}
	l := newLayout(phasedConfig(), tinyShape, 1)
	if l.width() != 5 {
		t.Fatalf("width %d, want 5", l.width())
	}
	v := l.vectors(rows)
	if v.Len() != 2 {
		t.Errorf("%d vectors of 2 transitions", v.Len())
	}
	for i, row := range rows {
		sin, cos := math.Sincos(float64(row[1]))
		if want := []float32{row[0], row[1], row[2], float32(sin), float32(cos)}; !slices.Equal(v.Row(i)[:5], want) {
			t.Errorf("vector %v, want %v", v.Row(i), want)
		}
	}
	for name, same := range map[string]layout{
		"raw angles":        newLayout(func() Config { c := phasedConfig(); c.Angles = AnglesRaw; return c }(), tinyShape, 1),
		"whole transitions": newLayout(func() Config { c := phasedConfig(); c.Vector = VectorTransition; return c }(), tinyShape, 1),
		"no angles":         newLayout(phasedConfig(), tinyShape),
	} {
		if same.width() != 3 && name != "whole transitions" || len(same.phases) > 0 || &same.vectors(rows).Row(0)[0] != &rows[0][0] {
			t.Errorf("%s: other vectors than the transitions", name)
		}
	}
	if l.vectors(nil) != nil {
		t.Error("vectors of no transitions")
	}
}

// A finished angle is the one nearest to the sampled angle that has the sampled phase.
func TestFinishedAngles(t *testing.T) {
	l := newLayout(phasedConfig(), tinyShape, 1)
	for _, c := range []struct{ sampled, phase, want float64 }{
		{0, 0.3, 0.3}, {0.3, 0.3, 0.3}, {0, -3, -3}, {3, -3, 2*math.Pi - 3},
		{-40, 0.5, 0.5 - 12*math.Pi}, {101.7, 2, 2 + 32*math.Pi}, {2*math.Pi + 0.1, -0.1, 2*math.Pi - 0.1},
	} {
		for _, length := range []float64{1, 0.1, 3} { // only the direction counts
			row := []float32{7, float32(c.sampled), 0.5, float32(length * math.Sin(c.phase)), float32(length * math.Cos(c.phase)), 5, 5}
			l.finish(row, nil)
			near(t, "angle", float64(row[1]), c.want, 2e-5)
			if row[0] != 7 || row[2] != 0.5 || !slices.Equal(row[3:], make([]float32, 4)) {
				t.Errorf("finished %v", row)
			}
		}
	}
	row := []float32{7, 40, 0.5, 0, 0, 5, 5}
	if l.finish(row, nil); row[1] != 40 {
		t.Errorf("without a direction the angle is %g, want 40", row[1])
	}
}

// Of samples that are clamped an angle stays within the range of the rows: whole turns bring it back,
// or, where the rows make less than a turn, it stays at the end that it came to.
func TestFinishedAnglesStayInRange(t *testing.T) {
	l := newLayout(phasedConfig(), tinyShape, 1)
	for _, c := range []struct{ low, high, sampled, phase, want float64 }{
		{-20, 20, 20, 20.1, 20.1 - 2*math.Pi}, {-20, 20, -20, -20.5, 2*math.Pi - 20.5}, {-20, 20, 20, 19.9, 19.9},
		{-20, 20, 0, 1, 1}, {-0.5, 0.5, 0.5, 0.6, 0.5}, {-0.5, 0.5, -0.4, -2, -0.5}, {-0.5, 0.5, -0.4, 0.4, 0.4},
		{0, 7, 6.9, 0.7 + 2*math.Pi, 6.983185307}, {0, 7, 6.9, 0.8 + 2*math.Pi, 0.8},
	} {
		limits := &normaliser{centre: []float64{0, (c.low + c.high) / 2}, scale: []float64{1, (c.high - c.low) / 2}}
		row := []float32{7, float32(c.sampled), 0.5, float32(math.Sin(c.phase)), float32(math.Cos(c.phase)), 5, 5}
		l.finish(row, limits)
		near(t, "angle", float64(row[1]), c.want, 2e-5)
	}
}

// spinning makes an angle over many turns, and its direction: s = (cos θ + noise, θ).
func spinning(n int) (rows table) {
	draw := rng.New(3, "spinning").At(0)
	for range n {
		angle := 200 * draw.Float64()
		rows = append(rows, []float32{float32(math.Cos(angle)), float32(angle), float32(draw.Float64()), 0, 0, 0, 0})
	}
	return rows
}

// A coordinate that depends on the phase of an angle with many turns keeps this dependence if the
// phase is modelled, and loses it otherwise.
func TestPhasesKeepWhatHangsOnThem(t *testing.T) {
	rows := spinning(3000)
	apart := map[string]float64{}
	for _, angles := range []string{AnglesRaw, AnglesPhase} {
		c := phasedConfig()
		c.Angles, c.Width, c.Batch, c.Conditional = angles, 64, 64, false
		d := phasedDiffusion(t, c)
		startFit(t, d, rows, nil, FitKnobs{Steps: 1200, LR: 3e-3}, 1)
		finishFit(t, d, 100)
		knobs := tinyGenerate
		knobs.Samples, knobs.Steps, knobs.Guidance = 300, 16, 0
		made := generateAll(t, d, knobs, 1)
		least, most := math.Inf(1), math.Inf(-1)
		for i := range knobs.Samples {
			x, angle := float64(made[i*7]), float64(made[i*7+1])
			apart[angles] += (x - math.Cos(angle)) * (x - math.Cos(angle)) / float64(knobs.Samples)
			least, most = min(least, angle), max(most, angle)
		}
		if least > 30 || most < 170 {
			t.Errorf("%s: angles from %.0f to %.0f, those fitted to from 0 to 200", angles, least, most)
		}
	}
	t.Logf("mean square of s0 − cos θ: %v", apart)
	if !(apart[AnglesPhase] < 0.1 && apart[AnglesRaw] > 0.5) {
		t.Errorf("mean square of s0 − cos θ: %v, want less than 0.1 with phases and about 1 without", apart)
	}
}

// A fit with phases is resumed bit for bit, for both kinds of generators.
func TestPhasesResume(t *testing.T) {
	rows, scores := randomRows(40)
	c := phasedConfig()
	for name, one := range map[string]func() Model{
		"diffusion": func() Model { return phasedDiffusion(t, c) },
		"vae": func() Model {
			v, err := NewVAE(c, tinyVAE(), tinyShape, newDevice(t), 11, 1)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { v.Close() })
			return v
		},
	} {
		var saved bytes.Buffer
		whole, second := one(), one()
		startFit(t, whole, rows, scores, tinyFit, 1)
		if _, _, err := whole.FitSteps(2); err != nil {
			t.Fatal(err)
		}
		if err := whole.Save(&saved); err != nil {
			t.Fatal(err)
		}
		if err := second.Load(&saved, rows); err != nil {
			t.Fatal(err)
		}
		finishFit(t, whole, 20)
		finishFit(t, second, 20)
		want, got := generateAll(t, whole, tinyGenerate, 1), generateAll(t, second, tinyGenerate, 1)
		if !slices.Equal(want, got) {
			t.Errorf("%s: resumed %v, in one piece %v", name, got, want)
		}
	}
}
