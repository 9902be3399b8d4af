package replica

import (
	"fmt"
	"math"
	"strconv"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/run"
)

// openLoopNumbers is how many numbers of an observation a line shows.
const openLoopNumbers = 6

// reportOpenLoop reports what the learner's model of the world predicts.
func (o *Trial) reportOpenLoop(number uint64) error {
	r := o.of
	if r.Agent.OpenLoop == nil {
		return nil
	}
	of, err := r.Agent.OpenLoop(number)
	if err != nil {
		return fmt.Errorf("open loop: %w", err)
	}
	if of == nil {
		return nil
	}
	width := len(of.Real) / of.Rows / of.Steps
	m := analysis.MeasureOpenLoop(of.Real, of.Predicted, of.Rows, of.Steps, of.Context, width)
	line := event.OpenLoop{Context: of.Context, Horizon: m.Horizon, Error: shortened(m.Error), Held: shortened(m.Held)}
	if rewards := analysis.MeasureOpenLoop(of.Reward, of.PredictedReward, of.Rows, of.Steps, of.Context, 1); !math.IsNaN(rewards.Each[0]) {
		line.Reward = shortened(rewards.Error)
	}
	for _, j := range m.Spread(openLoopNumbers) {
		n := event.OpenLoopNumber{Number: j, Error: short(m.Each[j])}
		for step := range of.Steps {
			n.Real = append(n.Real, short(float64(of.Real[step*width+j])))
			n.Predicted = append(n.Predicted, short(float64(of.Predicted[step*width+j])))
		}
		line.Shown = append(line.Shown, n)
	}
	r.emit(event.TypeOpenLoop, line)
	return nil
}

// short has as many digits as a picture needs.
func short(v float64) run.Float {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return run.Float(rounded)
}

func shortened(all []float64) (out []run.Float) {
	for _, v := range all {
		out = append(out, short(v))
	}
	return out
}
