package generative

import (
	"bytes"
	"math"
	"os"
	"slices"
	"testing"

	"pgrlab/core/rng"
)

// Conditions by rank are even from −1 to 1 and in the order of the scores, and equal scores have one
// condition, in the middle of theirs. Each leads back to its score.
func TestConditionsByRank(t *testing.T) {
	for _, c := range []struct {
		scores []float32
		want   []float32
	}{
		{[]float32{3}, []float32{0}},
		{[]float32{7, 7, 7, 7}, []float32{0, 0, 0, 0}},
		{[]float32{1e-12, 4e30, -2, 5}, []float32{-0.25, 0.75, -0.75, 0.25}},
		{[]float32{0, 1, 0, 0}, []float32{-0.25, 0.75, -0.25, -0.25}},
	} {
		got, err := conditions(c.scores, ConditionRank)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: conditions %v, %v, want %v", c.scores, got, err, c.want)
		}
		s := serving{ranked: slices.Sorted(slices.Values(c.scores))}
		for i, condition := range got {
			if back := s.score(condition, ConditionRank); back != c.scores[i] {
				t.Errorf("%v: condition %g leads to %g, want %g", c.scores, condition, back, c.scores[i])
			}
		}
	}
	if _, err := conditions([]float32{1, float32(math.NaN())}, ConditionRank); err == nil {
		t.Error("a score that is not a number has a rank")
	}
}

// A generator with conditions by rank is saved and loaded with the scores behind the ranks, in the
// middle of a fit and after it.
func TestRanksAreSaved(t *testing.T) {
	c := tiny()
	c.ConditionRange = ConditionRank
	rows, scores := randomRows(40)
	d := newDiffusion(t, c, tinyShape)
	startFit(t, d, rows, scores, tinyFit, 1)
	for range 2 {
		var saved bytes.Buffer
		if err := d.Save(&saved); err != nil {
			t.Fatal(err)
		}
		loaded := newDiffusion(t, c, tinyShape)
		if err := loaded.Load(bytes.NewReader(saved.Bytes()), table(rows)); err != nil {
			t.Fatal(err)
		}
		d = loaded
		if d.fit != nil {
			finishFit(t, d, 20)
		}
	}
	top := slices.Max(scores)
	asked := d.PromptScores(GenKnobs{Samples: 200, Steps: 4, Guidance: 1, TopFraction: 0.02}, 1, 200)
	if len(asked) != 200 || slices.Max(asked) != top || slices.Min(asked) != top {
		t.Errorf("the most relevant row has F %g, asked for are %g to %g", top, slices.Min(asked), slices.Max(asked))
	}
}

// Samples for the conditions of all rows (k = 1, ω = 1) should be the data. With F = exp(s) of a
// standard normal s, which is like curiosity early in a run, conditions of the range lie near −1 for
// most rows, and the samples have lost a part of the data's spread; conditions by rank keep it.
func TestRanksUnderAHeavyTail(t *testing.T) {
	const n = 4000
	var rows table
	var points [][]float32
	var scores []float32
	for i := range n {
		q := rng.New(5, "heavy tail").At(uint64(i))
		s, a := q.Norm(), 0.3*q.Norm()
		rows = append(rows, []float32{float32(s), float32(a), 0, float32(s + 0.3*a), 0})
		points = append(points, rows[i][:2])
		scores = append(scores, float32(math.Exp(s)))
	}
	distance := func(conditionRange string) float64 {
		c := learner(NormaliserStandard)
		c.Corrector, c.ConditionRange, c.Preconditioning = CorrectorFull, conditionRange, PreconditioningCovariance
		d := newDiffusion(t, c, planar)
		startFit(t, d, rows, scores, FitKnobs{Steps: 2500, LR: 1e-3, PUncond: 0.25}, 1)
		finishFit(t, d, 2500)
		samples := split(generateAll(t, d, GenKnobs{Samples: n, Steps: 16, Guidance: 1, TopFraction: 1}, 1), planar.Width())
		mean, deviation := moments(column(samples, 0))
		for i := range samples {
			samples[i] = samples[i][:2]
		}
		e := energy(samples[:1000], points[:1000])
		t.Logf("%s: s has mean %.3f and variance %.3f, energy distance %.4f", conditionRange, mean, deviation*deviation, e)
		return e
	}
	if e := distance(ConditionRank); e > 0.008 {
		t.Errorf("by rank the samples have an energy distance of %.4f from the data", e)
	}
	if os.Getenv("PGRLAB_SOAK") != "" {
		if e := distance(ConditionScaled); e < 0.02 {
			t.Errorf("by range it is %.4f: this test shows nothing", e)
		}
	}
}
