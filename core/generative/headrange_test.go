package generative

import (
	"math"
	"slices"
	"testing"
)

// A predicted s' is within the range of the real observations of its fit, and is what the regression
// predicts where that is within the range. An angle without limits is left as it is. Without bounds
// some of the same rows lie outside.
func TestPredictedStatesStayWithinTheRealOnes(t *testing.T) {
	rows, scores := randomRows(60)
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
	least, most := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, row := range rows {
		least, most = min(least, row[0], row[4]), max(most, row[0], row[4])
	}
	beyond, width := 0, tinyShape.Width()
	for i := range knobs.Samples {
		free, bound := made[BoundsNone][i*width:(i+1)*width], made[BoundsReal][i*width:(i+1)*width]
		if free[4] < least || free[4] > most {
			beyond++
		}
		if want := min(max(free[4], least), most); bound[4] != want {
			t.Errorf("row %d: s' is %g, want %g of %g within %g to %g", i, bound[4], want, free[4], least, most)
		}
		if !slices.Equal(free[:3], bound[:3]) || free[5] != bound[5] {
			t.Errorf("row %d is %v, without bounds %v", i, bound, free)
		}
	}
	if beyond == 0 || beyond == knobs.Samples {
		t.Errorf("without bounds %d of %d predictions are outside", beyond, knobs.Samples)
	}
}
