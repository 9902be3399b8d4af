package generative

import (
	"math"
	"slices"
	"testing"
)

// A predicted s' is within the range of the real observations of its fit, and is what the regression
// predicts where that is within the range, also for an angle without limits. Without bounds some of
// the same rows lie outside.
func TestPredictedStatesStayWithinTheRealOnes(t *testing.T) {
	rows, scores := randomRows(60)
	for _, row := range rows { // states grow up to a limit, which a regression is slow to learn
		for j := range tinyShape.Obs {
			row[4+j] = max(row[j], min(row[j]+1, 1))
		}
	}
	made := map[string][]float32{}
	knobs := tinyGenerate
	knobs.Samples = headRows + 44
	for _, bounds := range []string{BoundsNone, BoundsReal} {
		c, h := tiny(), tinyHead
		h.Bounds = bounds
		d := newHeaded(t, newDiffusion(t, c, tinyShape), h, c, tinyShape, 1)
		startFit(t, d, rows, scores, tinyFit, 1)
		finishFit(t, d, 3)
		made[bounds] = generateAll(t, d, knobs, 1)
	}
	width := tinyShape.Width()
	for j := range tinyShape.Obs {
		least, most, next := float32(math.Inf(1)), float32(math.Inf(-1)), tinyShape.Obs+tinyShape.Act+1+j
		for _, row := range rows {
			least, most = min(least, row[j], row[next]), max(most, row[j], row[next])
		}
		beyond := 0
		for i := range knobs.Samples {
			free, bound := made[BoundsNone][i*width:(i+1)*width], made[BoundsReal][i*width:(i+1)*width]
			if free[next] < least || free[next] > most {
				beyond++
			}
			if want := min(max(free[next], least), most); bound[next] != want {
				t.Errorf("row %d: coordinate %d of s' is %g, want %g of %g within %g to %g", i, j, bound[next], want, free[next], least, most)
			}
			if !slices.Equal(free[:3], bound[:3]) {
				t.Errorf("row %d is %v, without bounds %v", i, bound, free)
			}
		}
		if beyond == 0 || beyond == knobs.Samples {
			t.Errorf("without bounds %d of %d predictions of coordinate %d are outside", beyond, knobs.Samples, j)
		}
	}
}
