package bench

import (
	"pgrlab/core/device"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/generative"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// Switches are what a GPU does to need fewer launches, each of which can be off.
var Switches = kernel.Switches

// releaseRows is the number of transitions in the fits of the workloads of scale release.
const releaseRows = 20_000

// releaseChunk is the number of transitions that scale release samples at once.
const releaseChunk = 4096

// releaseModel begins a fit of the diffusion model of scale release on transitions of cheetah-run's sizes; it
// samples chunk transitions at once.
func releaseModel(dev device.Device, steps, chunk int) (*generative.Diffusion, error) {
	c := generative.Default()
	c.Chunk = chunk
	d, err := generative.New(c, replay.Shape{Obs: 17, Act: 6}, dev, 1)
	if err != nil {
		return nil, err
	}
	numbers := rng.New(1, "bench release")
	all := make([]float32, releaseRows*42)
	numbers.FillNormal(all, 0, 0)
	rows, scores := make(table, releaseRows), make([]float32, releaseRows)
	for i := range rows {
		rows[i] = all[i*42:][:42]
	}
	numbers.Sub("scores").FillUniform(scores, 0, 0)
	return d, d.StartFit(rows, scores, generative.FitKnobs{Steps: steps, LR: 3e-4, PUncond: 0.25}, 0)
}

// fitRelease makes ten gradient steps, with the average's update after the first one.
func fitRelease(dev device.Device) (func(uint64) error, float64, error) {
	const ten = 10
	d, err := releaseModel(dev, 1e9, releaseChunk)
	if err != nil {
		return nil, 0, err
	}
	step := func(uint64) error {
		_, _, err := d.FitSteps(ten)
		return err
	}
	return step, 6 * ten * 256 * float64(d.Parameters()), nil
}

// callRelease makes one call of the sampler for a chunk of that many rows: in turn two estimates of each row and one.
func callRelease(chunk int) func(dev device.Device) (func(uint64) error, float64, error) {
	return func(dev device.Device) (func(uint64) error, float64, error) {
		d, err := releaseModel(dev, 1, chunk)
		if err == nil {
			_, _, err = d.FitSteps(1)
		}
		if err != nil {
			return nil, 0, err
		}
		return calls(d, chunk), 1.5 * 2 * float64(chunk) * float64(d.Parameters()), nil
	}
}

// calls returns a function that makes the next call for a chunk of samples.
func calls(d *generative.Diffusion, chunk int) func(uint64) error {
	generations := uint64(0)
	under := false
	return func(uint64) error {
		if !under {
			generations++
			if err := d.StartGenerate(generative.GenKnobs{Samples: chunk, Steps: 128, Guidance: 1, TopFraction: 0.1, SChurn: 80}, generations); err != nil {
				return err
			}
		}
		_, done, total, err := d.GenerateSlice()
		under = done < total
		return err
	}
}

// copying copies a tensor of that many MB: as many are read and as many written.
func copying(mb int) maker {
	return func(dev device.Device) (*plan.Program, float64, error) {
		from, to := random("from", mb*250_000), op.NewTensor("to", mb*250_000)
		p, err := plan.Compile(nil, plan.Spec{Lerps: []plan.Lerp{{Dst: to, Src: from}}}, dev)
		if err != nil {
			return nil, 0, err
		}
		return p, 0, plan.Push(dev, from)
	}
}
