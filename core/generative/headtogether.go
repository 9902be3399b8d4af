package generative

import (
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// Together is that of the generator: the heads make as many steps at once.
func (d *Headed) Together() int { return Together(d.Model) }

// takeData brings what the heads learn into the device's memory: for each row x and y of all heads.
func (d *Headed) takeData(f *headFit) error {
	if d.tried == f {
		return d.data.current()
	}
	d.tried = f
	if err := d.dropData(); err != nil {
		return err
	}
	s := source{rows: f.rows.Len(), batch: d.config.Batch, stream: d.stream.Sub("rows")}
	for _, h := range d.heads {
		s.into = append(s.into, plan.Into{To: h.x, First: s.width}, plan.Into{To: h.y, First: s.width + h.in})
		s.width += h.in + h.out
	}
	s.write = func(dst []float32, i int) {
		row := f.rows.Row(i)
		for _, h := range d.heads {
			h.learns(dst[:h.in], dst[h.in:h.in+h.out], row)
			dst = dst[h.in+h.out:]
		}
	}
	var err error
	d.data, err = takeData(d.device, s, d.Together(), steps{step: d.step, own: []*op.Tensor{d.rate}})
	d.sampled = d.sampled || d.data != nil
	return err
}

// dropData gives back the memory of the last fit's data.
func (d *Headed) dropData() error {
	data := d.data
	d.data = nil
	return data.close()
}

// headSome makes some of up to n gradient steps of the heads, and returns how many.
func (d *Headed) headSome(f *headFit, n int) (made int, err error) {
	if err := d.takeData(f); err != nil {
		return 0, err
	}
	if !d.data.due(f.step, n) {
		return 1, d.headStep(f)
	}
	o := d.data
	made, _, err = o.run(func(i int) uint64 {
		o.sequence.Own(o.steps[i], d.rate)[0] = d.rateOf(f, f.step+i)
		return occasion(f.refit, f.step+i)
	})
	f.step += made
	return made, err
}
