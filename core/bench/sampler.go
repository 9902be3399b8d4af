package bench

import (
	"pgrlab/core/device"
	"pgrlab/core/generative"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// table holds transitions of random numbers.
type table [][]float32

func (t table) Len() int            { return len(t) }
func (t table) Row(i int) []float32 { return t[i] }

// sampler is a whole generation: the guided, clamped, stochastic Heun sampler
// (Karras et al. 2022, Algorithm 2), with prompts and guidance 2.
func sampler(dev device.Device) (func(uint64) error, float64, error) { return samplerOf(dev, 256, 32) }

func samplerOf(dev device.Device, samples, levels int) (func(uint64) error, float64, error) {
	c := generative.Default()
	c.Width, c.Blocks, c.Embedding = 512, 4, 128
	d, err := generative.New(c, replay.Shape{Obs: obs, Act: act}, dev, 1)
	if err != nil {
		return nil, 0, err
	}
	numbers := rng.New(1, "bench sampler")
	rows, scores := make(table, 500), make([]float32, 500)
	numbers.FillUniform(scores, 0, 0)
	for i := range rows {
		rows[i] = make([]float32, width+1)
		numbers.FillNormal(rows[i], uint64(i), 0)
	}
	if err := d.StartFit(rows, scores, generative.FitKnobs{Steps: 1, LR: 3e-4, PUncond: 0.25}, 0); err != nil {
		return nil, 0, err
	}
	if _, _, err := d.FitSteps(1); err != nil {
		return nil, 0, err
	}
	knobs := generative.GenKnobs{Samples: samples, Steps: levels, Guidance: 2, TopFraction: 0.25, SChurn: 80}
	step := func(i uint64) error {
		if err := d.StartGenerate(knobs, i); err != nil {
			return err
		}
		for {
			if _, done, total, err := d.GenerateSlice(); err != nil || done == total {
				return err
			}
		}
	}
	// Each call has two halves of rows, with and without the prompt.
	return step, 2 * float64(d.Parameters()) * 2 * float64(samples*(2*levels-1)), nil
}
