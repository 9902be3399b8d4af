package dreamer

import (
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/analysis"
	"pgrlab/core/experience"
	"pgrlab/core/rng"
)

// TestTheModelLearnsFrames is TestTheModelLearns of frames: a bright square that an action moves to and fro.
func TestTheModelLearnsFrames(t *testing.T) {
	c := sighted()
	c.Sequences, c.Deter, c.Hidden, c.Units, c.Stoch = 3, 64, 16, 16, 8
	const steps = 1000
	size := c.Side * c.Side * agent.Colours
	log := experience.NewLog(experience.Shape{Bytes: size, Act: 2, Copies: 1}, experience.Keep{Looks: 2 * steps, Steps: steps})
	at, act, s := 0, make([]float32, 2), rng.New(3, "square")
	look := func() experience.Look {
		frame := make([]byte, size)
		for y := range c.Side {
			for x := at; x < at+16; x++ {
				for k := range agent.Colours {
					frame[(y*c.Side+x)*agent.Colours+k] = 200
				}
			}
		}
		return experience.Look{Frame: frame}
	}
	log.Begin(0, look())
	for i := range steps {
		s.FillUniform(act, uint64(i), 0)
		act[0], act[1] = 2*act[0]-1, 0
		at = max(0, min(c.Side-16, at+int(math.Round(16*float64(act[0])))))
		log.Add(0, experience.Step{Action: act, Reward: float32(at) / 16, Next: look()})
	}
	of := session{x: newAgent(t, c, log, 1)}
	of.units(t, 160*of.x.units())
	all, err := of.x.OpenLoop(1)
	if err != nil || all == nil {
		t.Fatal(all, err)
	}
	m := analysis.MeasureOpenLoop(all.Seen, all.Foreseen, all.Rows, all.Steps, all.Context, size)
	t.Logf("horizons %v: error %.3f, held %.3f", m.Horizon, m.Error, m.Held)
	sum := func(of []float64) float64 { return of[0] + of[1] + of[2] }
	if !(sum(m.Error) <= 0.85*sum(m.Held)) {
		t.Errorf("without frames: error %v beside %v of the last one", m.Error, m.Held)
	}
}
