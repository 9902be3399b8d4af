package dynamics

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"pgrlab/core/plan"
	"pgrlab/core/version"
)

// magic begins a saved ensemble.
const magic = 0x32304e59_44474750 // "PGGDYN02"

// header is the fixed part of a saved ensemble.
type header struct {
	Magic                           uint64
	Served, Fit, Fresh              uint8
	Rows, Steps, Refit, Step, Since uint64
	Rate                            float64
}

// Save writes the state, even in the middle of a fit, without the rows of the fit.
func (e *Ensemble) Save(w io.Writer) error {
	h := header{Magic: magic}
	if e.serving != nil {
		h.Served = 1
	}
	f := e.fit
	if f != nil {
		h.Fit, h.Rows, h.Steps, h.Refit, h.Rate = 1, uint64(f.data.Len()), uint64(f.Steps), f.Refit, f.Rate
		h.Step, h.Since = uint64(f.step), uint64(f.since)
	}
	if err := binary.Write(w, binary.LittleEndian, h); err != nil {
		return err
	}
	if err := errors.Join(plan.Save(e.device, w, e.model.params()), e.optimiser.Save(w)); err != nil {
		return err
	}
	if s := e.serving; s != nil {
		if err := plan.Save(e.device, w, e.served.params()); err != nil {
			return err
		}
		for _, part := range s.parts() {
			if err := binary.Write(w, binary.LittleEndian, part); err != nil {
				return err
			}
		}
		if err := binary.Write(w, binary.LittleEndian, s.Constant); err != nil {
			return err
		}
		for _, elite := range s.Elites {
			if err := binary.Write(w, binary.LittleEndian, int64(elite)); err != nil {
				return err
			}
		}
	}
	if f == nil {
		return nil
	}
	return errors.Join(binary.Write(w, binary.LittleEndian, f.best), binary.Write(w, binary.LittleEndian, f.kept))
}

// parts are the arrays of s, which have the sizes of the configuration.
func (s *Serving) parts() [][]float64 {
	return [][]float64{s.Inputs.Mean, s.Inputs.Deviation, s.Outcomes.Mean, s.Outcomes.Deviation, s.Errors}
}

// Load reads what an ensemble of the same configuration wrote, and no byte beyond. data holds the rows
// of a fit under way. After an error e must not be used any further.
func (e *Ensemble) Load(r io.Reader, data Data) error {
	var h header
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		return err
	}
	if h.Magic != magic {
		return version.ErrOther
	}
	if err := plan.Load(e.device, r, e.model.params()); err != nil {
		return err
	}
	if err := e.optimiser.Load(r); err != nil {
		return err
	}
	e.serving, e.fit = nil, nil
	if h.Served != 0 {
		if err := e.loadServing(r); err != nil {
			return err
		}
	}
	if h.Fit == 0 {
		return nil
	}
	return e.loadFit(r, h, data)
}

func (e *Ensemble) loadServing(r io.Reader) error {
	if err := plan.Load(e.device, r, e.served.params()); err != nil {
		return err
	}
	c := e.config
	s := &Serving{Inputs: unscaled(c.In), Outcomes: unscaled(c.Out), Errors: make([]float64, c.Members)}
	for _, part := range s.parts() {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	if err := binary.Read(r, binary.LittleEndian, &s.Constant); err != nil {
		return err
	}
	for range c.Elites {
		var elite int64
		if err := binary.Read(r, binary.LittleEndian, &elite); err != nil {
			return err
		}
		if elite < 0 || elite >= int64(c.Members) {
			return fmt.Errorf("elite %d of %d members", elite, c.Members)
		}
		s.Elites = append(s.Elites, int(elite))
	}
	e.serving = s
	return nil
}

func (e *Ensemble) loadFit(r io.Reader, h header, data Data) error {
	if data == nil || uint64(data.Len()) != h.Rows {
		return fmt.Errorf("a fit to %d real transitions was under way, and they are not given", h.Rows)
	}
	settings := Fit{Steps: int(h.Steps), Rate: h.Rate, Refit: h.Refit}
	if err := settings.validate(); err != nil {
		return err
	}
	if h.Step >= h.Steps || h.Since > h.Step {
		return fmt.Errorf("step %d of a fit of %d", h.Step, h.Steps)
	}
	f, err := e.newFit(data, settings, drawn{e.stream, h.Refit})
	if err != nil {
		return err
	}
	f.step, f.since = int(h.Step), int(h.Since)
	f.best, f.kept = make([]float64, e.config.Members), make([]float32, numbers(e.model.members()))
	e.fit = f
	return errors.Join(binary.Read(r, binary.LittleEndian, f.best), binary.Read(r, binary.LittleEndian, f.kept))
}

// Unfitted is how many bytes a saved ensemble will have beside those of now once it has been fitted and
// is fitted again: what is served, and the best weights so far.
func (e *Ensemble) Unfitted() int64 {
	more := numbers(e.served.params())
	if e.fit == nil {
		more += numbers(e.model.members())
	}
	if e.serving != nil {
		more -= numbers(e.served.params())
	}
	return 4 * int64(more)
}
