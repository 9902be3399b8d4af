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
	o, n := e.shape.Obs, e.own.Elites*rows
	whole, err := e.outcomes(obs, act, rows)
	if err != nil {
		return fmt.Errorf("predict: %w", err)
	}
	for k, to := range [][]float32{means, variances} {
		for i := range n {
			copy(to[i*o:(i+1)*o], whole[k][i*(1+o)+1:]) // without the reward
		}
	}
	return nil
}

// outcomes returns what every elite predicts of [r, s'−s] or [r, s']: means and variances, [E,rows,1+O] each,
// standardised.
func (e *Ensemble) outcomes(obs, act []float32, rows int) (all [2][]float32, err error) {
	o, a := e.shape.Obs, e.shape.Act
	n, in := e.own.Elites*rows*(1+o), make([]float32, rows*(o+a))
	for i := range rows {
		copy(in[i*(o+a):], obs[i*o:(i+1)*o])
		copy(in[i*(o+a)+o:], act[i*a:(i+1)*a])
	}
	all = [2][]float32{make([]float32, n), make([]float32, n)}
	return all, e.model.Predict(all[0], all[1], in, rows)
}

// Foresee writes s' [rows,O] and r [rows] as the elites expect them on average, for rows observations [rows,O] and
// actions [rows,A]. next may be obs.
func (e *Ensemble) Foresee(next, reward, obs, act []float32, rows int) error {
	all, err := e.outcomes(obs, act, rows)
	if err != nil {
		return fmt.Errorf("foresee: %w", err)
	}
	o, scale := e.shape.Obs, e.model.Serving().Outcomes
	for i := range rows {
		for j := range 1 + o {
			mean := 0.0
			for elite := range e.own.Elites {
				mean += float64(all[0][(elite*rows+i)*(1+o)+j]) / float64(e.own.Elites)
			}
			v := float32(mean*scale.Deviation[j] + scale.Mean[j])
			switch {
			case j == 0:
				reward[i] = v
			case e.own.Target == TargetDelta:
				next[i*o+j-1] = obs[i*o+j-1] + v
			default:
				next[i*o+j-1] = v
			}
		}
	}
	return nil
}

// Unfitted is how many bytes a checkpoint will have of e beside those of now once it has been fitted and is
// fitted again.
func (e *Ensemble) Unfitted() int64 { return e.model.Unfitted() }
