package cuda

import (
	"fmt"
	"testing"

	"pgrlab/core/agent"
	imagination "pgrlab/core/agent/dreamer"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// TestImagination makes updates of a world model and a policy that learns in it, and acts.
func TestImagination(t *testing.T) {
	own := imagination.DefaultSettings
	own.Deter, own.Stoch, own.Classes, own.Hidden, own.Units, own.Bins = 16, 3, 4, 6, 7, 11
	own.Sequences, own.Length, own.Imagine, own.TrainRatio, own.Warmup = 3, 4, 2, 12, 1
	c := imagination.Config{Settings: own, Shape: replay.Shape{Obs: 3, Act: 2}, Copies: 1}
	t.Run("observations", func(t *testing.T) { agree(t, imagining(t, c, card(t, Options{})), imagining(t, c, onCPU(t)), 1e-5) })
	if !onGPU && !soak {
		return // convolutions take a minute in the interpreter; those of other learners have shorter tests
	}
	c.Side, c.Depth, c.Sequences, c.Length, c.TrainRatio, c.Begin = 48, 2, 2, 2, 4, 10
	t.Run("frames", func(t *testing.T) { agree(t, imagining(t, c, card(t, Options{})), imagining(t, c, onCPU(t)), 1e-5) })
}

func imagining(t *testing.T, c imagination.Config, dev device.Device) (s said) {
	t.Helper()
	of, numbers := experience.Shape{Numbers: c.Shape.Obs, Act: c.Shape.Act, Copies: 1}, rng.New(5, "env steps")
	if c.Side > 0 {
		of.Numbers, of.Bytes = 0, c.Side*c.Side*agent.Colours
	}
	log := experience.NewLog(of, experience.Keep{Looks: 100, Steps: 50})
	x, err := imagination.New(c, log, dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	act := agent.Acting{Copies: 1, Obs: make([]float32, c.Shape.Obs), Actions: make([]float32, c.Shape.Act), State: make([]float32, x.StateSize()), Episodes: []uint64{0}}
	phase := x.Phases()[0]
	for step := range 17 {
		numbers.FillNormal(act.Obs, uint64(step), 0)
		look := experience.Look{Numbers: act.Obs}
		if of.Bytes > 0 {
			frame := make([]byte, of.Bytes)
			for i := range frame {
				frame[i] = byte(128 + 30*act.Obs[i%len(act.Obs)] + float32(i%7))
			}
			look, act.Stacks = experience.Look{Frame: frame}, [][][]byte{{frame}}
		}
		switch {
		case step%9 == 0:
			log.Begin(0, look)
			clear(act.State)
		default:
			end := experience.Continues
			if step%9 == 8 {
				end = experience.Terminated
			}
			log.Add(0, experience.Step{Action: act.Actions, Reward: act.Obs[0], Next: look, End: end})
		}
		act.Step = uint64(step)
		if err := x.Act(&act); err != nil {
			t.Fatal(err)
		}
		s.say(fmt.Sprintf("action %d", step), 3, act.Actions...)
		w := &agent.Work{Step: step, Rates: agent.Rates{LRActor: 1e-3, Tau: 0.02, Entropy: 3e-4}}
		if !phase.Due(w) {
			continue
		}
		total, err := phase.Start(w)
		if err != nil {
			t.Fatal(err)
		}
		for done := range total {
			_, made, err := phase.Slice(w, done)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range made {
				if m.Err != nil {
					t.Fatal(m.Err)
				}
				l := m.Losses
				s.say(fmt.Sprintf("update %d", step), 10, float32(l.Critic), float32(l.Actor), float32(l.World.Observation), float32(l.World.Dynamics), float32(l.World.Imagined))
			}
		}
	}
	return s
}
