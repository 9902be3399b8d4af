package bench

import (
	"pgrlab/core/agent"
	"pgrlab/core/agent/dreamer"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// worldModel is a whole update of DreamerV3 on sequences of cheetah-run's sizes.
func worldModel(dev device.Device) (func(uint64) error, float64, error) {
	c := dreamer.Config{Settings: dreamer.DefaultSettings, Shape: replay.Shape{Obs: 17, Act: 6}, Copies: 1}
	x, err := dreamer.New(c, sequences(c, 4000), dev, 1)
	if err != nil {
		return nil, 0, err
	}
	return updating(x.Phases()[0], &agent.Work{Rates: dreamer.DefaultRates}), dreamerOperations(c), nil
}

// sequences is a log of random env steps in episodes of 1,000.
func sequences(c dreamer.Config, steps int) *experience.Log {
	log := experience.NewLog(experience.Shape{Numbers: c.Shape.Obs, Act: c.Shape.Act, Copies: 1}, experience.Keep{Looks: 2 * steps, Steps: steps})
	obs, act, s := make([]float32, c.Shape.Obs), make([]float32, c.Shape.Act), rng.New(1, "bench sequences")
	for i := range steps {
		s.FillNormal(obs, uint64(i), 0)
		s.Sub("a").FillUniform(act, uint64(i), 0)
		if i%1000 == 0 {
			log.Begin(0, experience.Look{Numbers: obs})
		}
		end := experience.Continues
		if i%1000 == 999 {
			end = experience.Truncated
		}
		log.Add(0, experience.Step{Action: act, Reward: act[0], Next: experience.Look{Numbers: obs}, End: end})
	}
	return log
}

// dreamerOperations is the number of floating-point operations of an update's products: forward once, backward
// twice. What observing computes is computed again on the way back.
func dreamerOperations(c dreamer.Config) float64 {
	d, z, h, u, b := float64(c.Deter), float64(c.Stoch*c.Classes), float64(c.Hidden), float64(c.Units), float64(c.Blocks)
	o, a, bins, steps := float64(c.Shape.Obs), float64(c.Shape.Act), float64(c.Bins), float64(c.Imagine)
	f := d + z
	head := func(layers, out float64) float64 { return f*u + (layers-1)*u*u + u*out }
	inputs, core := o*u+2*u*u+a*h, d*h+z*h+b*(d/b+3*h)*(d/b)+b*(d/b)*(3*d/b)
	posterior, prior := (d+u)*h+h*z, d*h+h*h+h*z
	policy, value, reward, goesOn := head(3, 2*a), head(3, bins), head(1, bins), head(1, 1)
	row := 4*inputs + 4*(core+posterior) + 3*(prior+head(3, o)+reward+goesOn)
	row += steps*(core+a*h+prior+policy) + (steps+1)*(reward+goesOn+2*value) + 3*steps*(policy+value) + 3*value
	return 2 * row * float64(c.Sequences*c.Length)
}
