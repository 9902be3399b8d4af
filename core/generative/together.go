package generative

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/generative/ondevice"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// mostTogether bounds the gradient steps that a device makes at once: they take a GPU at most 20 ms, for which
// commands wait.
const mostTogether = 16

// Together is how many gradient steps of a fit a generator makes at once; slices of a fit should end at multiples
// of it. 0: it makes them one by one.
func Together(g Generator) int {
	if t, is := g.(interface{ Together() int }); is {
		return t.Together()
	}
	return 0
}

// CallsMade is how many units of a generation the newest slice of a generator had.
func CallsMade(g Generator) int {
	if c, is := g.(interface{ CallsMade() int }); is {
		return c.CallsMade()
	}
	return 1
}

// CallsMade implements what the function CallsMade asks for.
func (d *Diffusion) CallsMade() int { return d.made }

// Together implements what the function Together asks for: on a device that samples batches, whole intervals between updates of
// the average, so that all sequences of steps are alike.
func (d *Diffusion) Together() int {
	c := d.config
	if _, can := d.calls.device.(device.Sequencer); !can || c.NoiseShare > 0 && c.NoiseStd > 0 || c.EMAEvery > mostTogether {
		return 0
	}
	return mostTogether / c.EMAEvery * c.EMAEvery
}

// takeData brings the data of a fit into the device's memory.
func (d *Diffusion) takeData(f *fit) error {
	if d.tried == f {
		return d.data.Current()
	}
	d.tried = f
	if err := d.dropData(); err != nil {
		return err
	}
	p, width := d.program, d.layout.width()
	s := ondevice.Source{Rows: f.rows.Len(), Width: width + 1, Batch: d.config.Batch, Stream: d.stream.Sub("rows"), Into: []plan.Into{{To: p.batch.x}}}
	s.Write = func(dst []float32, i int) {
		f.normaliser.normalise(dst[:width], f.rows.Row(i))
		dst[width] = f.condition(i)
	}
	of := ondevice.Steps{Step: p.step, Average: p.average, Due: func(i int) bool { return emaDue(d.config, i+1) }, Own: []*op.Tensor{p.rate, p.blend}}
	if p.batch.condition != nil {
		s.Into, of.Own = append(s.Into, plan.Into{To: p.batch.condition, First: width}), append(of.Own, p.batch.keep)
	}
	data, err := ondevice.Take(d.calls.device, s, d.Together(), of)
	if err != nil {
		return fmt.Errorf("generator: %w", err)
	}
	d.data, p.sampled = data, p.sampled || data != nil
	return nil
}

// dropData gives back the memory of the last fit's data.
func (d *Diffusion) dropData() error {
	data := d.data
	d.data = nil
	return data.Close()
}

// fitSome makes some of up to n gradient steps, and returns how many and the sum of their losses.
func (d *Diffusion) fitSome(f *fit, n int) (made int, loss float64, err error) {
	if err := d.takeData(f); err != nil {
		return 0, 0, err
	}
	if !d.data.Due(f.step, n) {
		loss, err = d.fitStep(f)
		return 1, loss, err
	}
	o, p := d.data, d.program
	made, loss, err = o.Run(func(i int) uint64 {
		at := occasion(f.refit, f.step+i)
		o.Own(i, p.rate)[0] = d.rateOf(f, f.step+i)
		if p.batch.keep != nil {
			d.keep(o.Own(i, p.batch.keep), f, at)
		}
		if blend := o.OwnOfAverage(i, p.blend); blend != nil {
			blend[0] = float32(1 - emaDecay(d.config, f.step+i+1))
		}
		return at
	})
	f.step += made
	return made, loss, err
}
