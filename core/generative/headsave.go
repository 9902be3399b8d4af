package generative

import (
	"encoding/binary"
	"fmt"
	"io"

	"pgrlab/core/plan"
	"pgrlab/core/version"
)

// headHeader holds everything of fixed size that a checkpoint stores of the heads.
type headHeader struct {
	Magic                  uint64
	Served, Fit            uint8
	Low, High              float64 // range of rewards of the served fit
	FitLow, FitHigh        float64
	Refit, Step, Steps, Of uint64
	LR, PUncond            float64
}

// Save writes the generator and then its heads, even in the middle of a fit.
func (d *Headed) Save(w io.Writer) error {
	if err := d.Model.Save(w); err != nil {
		return err
	}
	if err := d.save(w); err != nil {
		return fmt.Errorf("save heads: %w", err)
	}
	return nil
}

func (d *Headed) save(w io.Writer) error {
	h := headHeader{Magic: headMagic, Low: d.ranges.reward.Low, High: d.ranges.reward.High}
	ranges := [][]interval{d.ranges.states}
	if d.served {
		h.Served = 1
	}
	if f := d.fit; f != nil {
		h.Fit, h.FitLow, h.FitHigh = 1, f.ranges.reward.Low, f.ranges.reward.High
		h.Refit, h.Step, h.Steps, h.Of = f.refit, uint64(f.step), uint64(f.knobs.Steps), uint64(f.rows.Len())
		h.LR, h.PUncond = f.knobs.LR, f.knobs.PUncond
		ranges = append(ranges, f.ranges.states)
	}
	if err := binary.Write(w, binary.LittleEndian, h); err != nil {
		return err
	}
	for _, states := range ranges { // without elements where heads leave s' unbounded
		if err := binary.Write(w, binary.LittleEndian, states); err != nil {
			return err
		}
	}
	for _, one := range d.heads {
		for _, part := range one.statistics() {
			if err := binary.Write(w, binary.LittleEndian, part); err != nil {
				return err
			}
		}
		if err := plan.Save(d.device, w, append(one.model.Params(), one.serving.Params()...)); err != nil {
			return err
		}
	}
	return d.optimiser.Save(w)
}

// statistics returns the numbers of a head that are not weights.
func (h *head) statistics() (parts []any) {
	for _, s := range []scaling{h.reads, h.writes, h.served[0], h.served[1]} {
		parts = append(parts, s.mean, s.scale)
	}
	return parts
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
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		return err
	}
	if h.Magic != headMagic {
		return version.ErrOther
	}
	served, fit := newRealRanges(d.config, d.layout), newRealRanges(d.config, d.layout)
	served.reward, fit.reward = interval{h.Low, h.High}, interval{h.FitLow, h.FitHigh}
	if err := binary.Read(r, binary.LittleEndian, served.states); err != nil {
		return err
	}
	if h.Fit != 0 {
		if err := binary.Read(r, binary.LittleEndian, fit.states); err != nil {
			return err
		}
	}
	for _, one := range d.heads {
		for _, part := range one.statistics() {
			if err := binary.Read(r, binary.LittleEndian, part); err != nil {
				return err
			}
		}
		if err := plan.Load(d.device, r, append(one.model.Params(), one.serving.Params()...)); err != nil {
			return err
		}
	}
	if err := d.optimiser.Load(r); err != nil {
		return err
	}
	d.served, d.ranges, d.fit = h.Served != 0, served, nil
	if h.Fit == 0 {
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
