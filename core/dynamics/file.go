package dynamics

import (
	"fmt"
	"io"

	"pgrlab/core/plan"
)

// header is the fixed part of a saved ensemble.
type header struct {
	Served, Fit                     bool
	Rows, Steps, Refit, Step, Since uint64
	Rate                            float64
}

// Save writes the state, even in the middle of a fit, without the rows of the fit.
func (e *Ensemble) Save(w io.Writer) error {
	h := header{Served: e.serving != nil, Fit: e.fit != nil}
	parts := append([]any{&h}, e.learned()...)
	if s := e.serving; s != nil {
		elites := make([]int64, len(s.Elites))
		for i, elite := range s.Elites {
			elites[i] = int64(elite)
		}
		parts = append(append(parts, e.serves(s)...), elites)
	}
	if f := e.fit; f != nil {
		h.Rows, h.Steps, h.Refit, h.Rate = uint64(f.data.Len()), uint64(f.Steps), f.Refit, f.Rate
		h.Step, h.Since = uint64(f.step), uint64(f.since)
		parts = append(parts, f.best, f.kept)
	}
	return plan.SaveAll(w, parts...)
}

// learned is what is trained.
func (e *Ensemble) learned() []any {
	return []any{plan.Tensors{Device: e.device, Of: e.model.params()}, e.optimiser}
}

// serves is what is served but for the elites, in arrays of the sizes of the configuration.
func (e *Ensemble) serves(s *Serving) []any {
	return []any{plan.Tensors{Device: e.device, Of: e.served.params()},
		s.Inputs.Mean, s.Inputs.Deviation, s.Outcomes.Mean, s.Outcomes.Deviation, s.Errors, &s.Constant}
}

// Load reads what an ensemble of the same configuration wrote, and no byte beyond. data holds the rows
// of a fit under way. After an error e must not be used any further.
func (e *Ensemble) Load(r io.Reader, data Data) error {
	var h header
	if err := plan.LoadAll(r, append([]any{&h}, e.learned()...)...); err != nil {
		return err
	}
	e.serving, e.fit = nil, nil
	if h.Served {
		if err := e.loadServing(r); err != nil {
			return err
		}
	}
	if !h.Fit {
		return nil
	}
	return e.loadFit(r, h, data)
}

func (e *Ensemble) loadServing(r io.Reader) error {
	c, elites := e.config, make([]int64, e.config.Elites)
	s := &Serving{Inputs: unscaled(c.In), Outcomes: unscaled(c.Out), Errors: make([]float64, c.Members)}
	if err := plan.LoadAll(r, append(e.serves(s), elites)...); err != nil {
		return err
	}
	for _, elite := range elites {
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
	return plan.LoadAll(r, f.best, f.kept)
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
