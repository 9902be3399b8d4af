package analysis

import (
	"math"

	"pgrlab/core/replay"
)

// Detection says how well generated transitions detect an event of the true system.
type Detection struct {
	True      int     // rows for which the event happens in the true system
	Predicted int     // rows that predict the event
	Precision float64 // share of the predicted rows that are true; NaN if none is predicted
	Recall    float64 // share of the true rows that are predicted; NaN if none is true
}

// RareRewards is the detection of rewards above ref.Rare.
func (s Simulated) RareRewards(shape replay.Shape, ref Reference) Detection {
	reward := shape.Obs + shape.Act
	return s.detect(shape, func(row []float32) bool { return float64(row[reward]) > ref.Rare })
}

// Ends is the detection of terminal transitions; a raw terminal flag counts above one half.
func (s Simulated) Ends(shape replay.Shape) Detection {
	last := shape.Width() - 1
	return s.detect(shape, func(row []float32) bool { return row[last] > 0.5 })
}

func (s Simulated) detect(shape replay.Shape, event func(row []float32) bool) Detection {
	var d Detection
	both, width := 0, shape.Width()
	for i := range s.Rows(shape) {
		predicted, truth := event(s.Predicted[i*width:(i+1)*width]), event(s.True[i*width:(i+1)*width])
		if predicted {
			d.Predicted++
		}
		if truth {
			d.True++
		}
		if predicted && truth {
			both++
		}
	}
	d.Precision, d.Recall = math.NaN(), math.NaN()
	if d.Predicted > 0 {
		d.Precision = float64(both) / float64(d.Predicted)
	}
	if d.True > 0 {
		d.Recall = float64(both) / float64(d.True)
	}
	return d
}
