package generative

import (
	"pgrlab/core/generative/ondevice"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// Together is that of the generator: the heads make as many steps at once.
func (d *Headed) Together() int { return Together(d.Model) }

// CallsMade is that of the generator.
func (d *Headed) CallsMade() int { return CallsMade(d.Model) }

// takeData brings what the heads learn into the device's memory: for each row x and y of all heads.
func (d *Headed) takeData(f *headFit) error {
	if d.tried == f {
		return d.data.Current()
	}
	d.tried = f
	if err := d.dropData(); err != nil {
		return err
	}
	s := ondevice.Source{Rows: f.rows.Len(), Batch: d.config.Batch, Stream: d.stream.Sub("rows")}
	for _, h := range d.heads {
		s.Into = append(s.Into, plan.Into{To: h.x, First: s.Width}, plan.Into{To: h.y, First: s.Width + h.in})
		s.Width += h.in + h.out
	}
	s.Write = func(dst []float32, i int) {
		row := f.rows.Row(i)
		for _, h := range d.heads {
			h.learns(dst[:h.in], dst[h.in:h.in+h.out], row)
			dst = dst[h.in+h.out:]
		}
	}
	var err error
	d.data, err = ondevice.Take(d.device, s, d.Together(), ondevice.Steps{Step: d.step, Own: []*op.Tensor{d.rate}})
	d.sampled = d.sampled || d.data != nil
	return err
}

// dropData gives back the memory of the last fit's data.
func (d *Headed) dropData() error {
	data := d.data
	d.data = nil
	return data.Close()
}

// headSome makes some of up to n gradient steps of the heads. It returns how many, and the sum of their
// losses.
func (d *Headed) headSome(f *headFit, n int) (made int, loss float64, err error) {
	if err := d.takeData(f); err != nil {
		return 0, 0, err
	}
	if !d.data.Due(f.step, n) {
		err := d.headStep(f)
		return 1, d.step.Loss(), err
	}
	o := d.data
	made, loss, err = o.Run(func(i int) uint64 {
		o.Own(i, d.rate)[0] = d.rateOf(f, f.step+i)
		return occasion(f.refit, f.step+i)
	})
	f.step += made
	return made, loss, err
}
