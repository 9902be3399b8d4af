package generative

import (
	"errors"
	"fmt"
)

// Models are an ensemble of models of the dynamics, which predict how a state changes.
type Models interface {
	// Members is how many models there are.
	Members() int
	// Fitted says whether they have learned anything; they cannot predict before.
	Fitted() bool
	// Predict writes what each of them predicts of s'−s for rows observations and actions: means and
	// variances, [N,rows,O] each, of changes that are standardised.
	Predict(means, variances, obs, act []float32, rows int) error
}

// modelsOf implements Spec.Models.
func modelsOf(s Settings, g Generator) (Models, error) {
	if c := s.(EnsembleConfig); c.Target != TargetDelta || c.TargetScale != ScaleEach {
		return nil, fmt.Errorf("generator.ensemble.target is %q and target_scale %q, and what its networks disagree on is compared in standardised changes of the state: want %q and %q",
			c.Target, c.TargetScale, TargetDelta, ScaleEach)
	}
	if g == nil {
		return nil, nil
	}
	return g.(*Ensemble), nil
}

// Members is the number of networks that are rolled out.
func (e *Ensemble) Members() int { return e.own.Elites }

// Fitted says whether a fit is complete.
func (e *Ensemble) Fitted() bool { return e.model.Serving() != nil }

// Predict implements Models, by the networks that are rolled out.
func (e *Ensemble) Predict(means, variances, obs, act []float32, rows int) error {
	if e.own.Target != TargetDelta || e.own.TargetScale != ScaleEach {
		return errors.New("predict: the networks learn something other than standardised changes of the state")
	}
	o, a, n := e.shape.Obs, e.shape.Act, e.own.Elites*rows
	in, whole := make([]float32, rows*(o+a)), [2][]float32{make([]float32, n*(1+o)), make([]float32, n*(1+o))}
	for i := range rows {
		copy(in[i*(o+a):], obs[i*o:(i+1)*o])
		copy(in[i*(o+a)+o:], act[i*a:(i+1)*a])
	}
	if err := e.model.Predict(whole[0], whole[1], in, rows); err != nil {
		return fmt.Errorf("predict: %w", err)
	}
	for k, to := range [][]float32{means, variances} {
		for i := range n {
			copy(to[i*o:(i+1)*o], whole[k][i*(1+o)+1:]) // without the reward
		}
	}
	return nil
}

// Unfitted is how many bytes a checkpoint will have of e beside those of now once it has been fitted and is
// fitted again.
func (e *Ensemble) Unfitted() int64 { return e.model.Unfitted() }
