package dreamer

import (
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device/cpu"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
)

// filledLog returns a log of that many env steps of one copy, with an end of an episode after each length.
func filledLog(c Config, steps, length int) *experience.Log {
	of := experience.Shape{Numbers: c.Shape.Obs, Act: c.Shape.Act, Copies: 1}
	if c.Side > 0 {
		of.Numbers, of.Bytes = 0, c.Side*c.Side*agent.Colours
	}
	log := experience.NewLog(of, experience.Keep{Looks: 2 * steps, Steps: steps})
	obs, act := make([]float32, c.Shape.Obs), make([]float32, c.Shape.Act)
	s := rng.New(7, "log")
	look := func() experience.Look {
		if c.Side == 0 {
			return experience.Look{Numbers: obs}
		}
		frame := make([]byte, of.Bytes)
		for i := range frame {
			frame[i] = byte(128 + 40*obs[i%len(obs)])
		}
		return experience.Look{Frame: frame}
	}
	for i := range steps {
		s.FillNormal(obs, uint64(i), 0)
		if i%length == 0 {
			log.Begin(0, look())
		}
		s.Sub("act").FillUniform(act, uint64(i), 0)
		end := experience.Continues
		switch {
		case i%(2*length) == length-1:
			end = experience.Terminated
		case i%length == length-1:
			end = experience.Truncated
		}
		log.Add(0, experience.Step{Action: act, Reward: obs[0], Next: look(), End: end})
	}
	return log
}

// BenchmarkUpdate makes updates of the configuration with about a million parameters, on cheetah-run's sizes.
func BenchmarkUpdate(b *testing.B) {
	c := Config{Settings: DefaultSettings, Shape: replay.Shape{Obs: 17, Act: 6}, Copies: 1}
	dev := cputest.New(b, cpu.Options{Threads: 1})
	x, err := New(c, filledLog(c, 3000, 1000), dev, 1)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	if err := x.prepare(drawn); err != nil {
		b.Fatal(err)
	}
	for i, s := range c.stages() {
		b.Run([]string{"begin", "encode", "observe", "model", "decode", "imagine", "judge", "behave", "replayed", "back", "senses", "step"}[i], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for u := range s.units {
					x.now.span.High = 1
					if err := s.run(x, u); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkCompile makes the agent of that configuration: all its programs are built and compiled.
func BenchmarkCompile(b *testing.B) {
	c := Config{Settings: DefaultSettings, Shape: replay.Shape{Obs: 17, Act: 6}, Copies: 1}
	log := filledLog(c, 3000, 1000)
	for b.Loop() {
		dev, err := cpu.New(cpu.Options{Threads: 1})
		if err != nil {
			b.Fatal(err)
		}
		x, err := New(c, log, dev, 1)
		if err == nil {
			err = x.prepare(drawn)
		}
		if err != nil {
			b.Fatal(err)
		}
		x.Close()
		dev.Close()
	}
}
