package dreamer

import (
	"math"
	"testing"

	"pgrlab/core/analysis"
	"pgrlab/core/experience"
	"pgrlab/core/rng"
)

// turning is a log of a wheel: cosine and sine of its angle, and its speed, which the action changes.
func turning(c Config, steps int) *experience.Log {
	log := experience.NewLog(experience.Shape{Numbers: 3, Act: 2, Copies: 1}, experience.Keep{Looks: 2 * steps, Steps: steps})
	angle, speed, act, s := 0.0, 0.3, make([]float32, 2), rng.New(3, "wheel")
	look := func() experience.Look {
		return experience.Look{Numbers: []float32{float32(math.Cos(angle)), float32(math.Sin(angle)), float32(speed)}}
	}
	log.Begin(0, look())
	for i := range steps {
		s.FillUniform(act, uint64(i), 0)
		act[0], act[1] = 2*act[0]-1, 2*act[1]-1
		speed = 0.9*speed + 0.1*float64(act[0]) + 0.03
		angle += speed
		log.Add(0, experience.Step{Action: act, Reward: float32(math.Cos(angle)), Next: look()})
	}
	return log
}

// TestTheModelLearns fits the model to a wheel, and compares what it then predicts without observations with the
// last one it saw.
func TestTheModelLearns(t *testing.T) {
	c := small()
	c.Deter, c.Hidden, c.Units, c.Stoch = 64, 16, 16, 8
	s := session{x: newAgent(t, c, turning(c, 2000), 1)}
	s.units(t, 250*s.x.units())
	all, err := s.x.OpenLoop(1)
	if err != nil || all == nil {
		t.Fatal(all, err)
	}
	m := analysis.MeasureOpenLoop(all.Real, all.Predicted, all.Rows, all.Steps, all.Context, 1)
	reward := analysis.MeasureOpenLoop(all.Reward, all.PredictedReward, all.Rows, all.Steps, all.Context, 1)
	t.Logf("horizons %v: error %.3f, held %.3f, reward %.3f", m.Horizon, m.Error, m.Held, reward.Error)
	if last := len(m.Horizon) - 1; !(m.Error[last] <= 0.6*m.Held[last] && m.Error[last] <= 0.8 && reward.Error[last] <= 0.7) {
		t.Errorf("after %d steps without observations: error %v beside %v of the last observation, reward %v", m.Horizon[last], m.Error[last], m.Held[last], reward.Error[last])
	}
	again, err := s.x.OpenLoop(1)
	if err != nil || again.Predicted[5] != all.Predicted[5] || again.Real[7] != all.Real[7] {
		t.Error("the same prediction differs", err)
	}
}
