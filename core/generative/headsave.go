package generative

import (
	"fmt"
	"io"

	"pgrlab/core/plan"
)

// headHeader holds everything of fixed size that a checkpoint stores of the heads.
type headHeader struct {
	Served, Fit            bool
	Low, High              float64 // range of rewards of the served fit
	FitLow, FitHigh        float64
	Refit, Step, Steps, Of uint64
	LR, PUncond            float64
}

// Save writes the generator and then its heads, even in the middle of a fit.
func (d *Headed) Save(w io.Writer) error {
	h := headHeader{Served: d.served, Low: d.ranges.reward.Low, High: d.ranges.reward.High}
	parts := []any{d.Model, &h, d.ranges.states} // states have no elements where heads leave s' unbounded
	if f := d.fit; f != nil {
		h.Fit, h.FitLow, h.FitHigh = true, f.ranges.reward.Low, f.ranges.reward.High
		h.Refit, h.Step, h.Steps, h.Of = f.refit, uint64(f.step), uint64(f.knobs.Steps), uint64(f.rows.Len())
		h.LR, h.PUncond = f.knobs.LR, f.knobs.PUncond
		parts = append(parts, f.ranges.states)
	}
	return plan.SaveAll(w, append(parts, d.networks()...)...)
}

// networks returns what a checkpoint stores of the heads beside the header and ranges.
func (d *Headed) networks() (parts []any) {
	for _, one := range d.heads {
		for _, s := range []scaling{one.reads, one.writes, one.served[0], one.served[1]} {
			parts = append(parts, s.mean, s.scale)
		}
		parts = append(parts, plan.Tensors{Device: d.device, Of: append(one.model.Params(), one.serving.Params()...)})
	}
	return append(parts, d.optimiser)
}

// Load reads what Save wrote for the same configuration; see Diffusion.Load.
func (d *Headed) Load(r io.Reader, real Rows) error {
	if err := d.Model.Load(r, real); err != nil {
		return err
	}
	if err := d.load(r, real); err != nil {
		return fmt.Errorf("load heads: %w", err)
	}
	return nil
}

func (d *Headed) load(r io.Reader, real Rows) error {
	var h headHeader
	if err := plan.LoadAll(r, &h); err != nil {
		return err
	}
	served, fit := newRealRanges(d.config, d.layout), newRealRanges(d.config, d.layout)
	served.reward, fit.reward = interval{h.Low, h.High}, interval{h.FitLow, h.FitHigh}
	parts := []any{served.states}
	if h.Fit {
		parts = append(parts, fit.states)
	}
	if err := plan.LoadAll(r, append(parts, d.networks()...)...); err != nil {
		return err
	}
	d.served, d.ranges, d.fit = h.Served, served, nil
	if !h.Fit {
		return nil
	}
	f := &headFit{
		rows: real, refit: h.Refit, step: int(h.Step), ranges: fit,
		knobs: FitKnobs{Steps: int(h.Steps), LR: h.LR, PUncond: h.PUncond},
	}
	if err := f.knobs.validate(); err != nil {
		return err
	}
	if real == nil || uint64(real.Len()) != h.Of || f.step < 0 || f.step > f.knobs.Steps {
		return fmt.Errorf("step %d of a fit of %d to %d real transitions, which are not given", h.Step, h.Steps, h.Of)
	}
	d.fit = f
	d.disturb(real)
	return nil
}
