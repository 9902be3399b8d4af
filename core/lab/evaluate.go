package lab

import (
	"fmt"
	"math"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/analysis"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// evaluationSteps is a slice of an evaluation.
const evaluationSteps = 25

// evaluation is an evaluation under way.
type evaluation struct {
	acting       agent.Acting
	obs, actions []float32 // those of acting
	rewards      []float64
	ended        []bool
	returns      []float64

	// Of the critics' bias, where there are analyses.
	q          []float32 // value of the first states
	discounted []float64 // Σγᵗr
	weight     float64   // γᵗ
}

// evaluate plays whole episodes with the policy's mean action, in an environment
// of its own, and writes the lines of the step. The episodes are numbered by the
// evaluation, so that the same evaluation of two runs starts in the same states. The
// one at the end of a run that is not on the cadence has the number of the next one
// that is, which such a run does not have.
func (x *experiment) evaluate() phase {
	return phase{
		Phase: knob.Evaluate, doing: "evaluate",
		due: x.evaluationDue,
		begin: func() error {
			for _, m := range x.members {
				if err := x.startEvaluation(m); err != nil {
					return err
				}
			}
			x.total = x.task.EpisodeSteps
			return nil
		},
		slice: func(done int) (n int, complete bool, err error) {
			n, over, err := x.evaluateSlice(x.total - done)
			return n, over || done+n >= x.total, err
		},
		end: func() error {
			for _, m := range x.members {
				if err := x.report(m, m.evaluation); err != nil {
					return err
				}
				m.evaluation = nil
			}
			x.emit(event.TypePerf, event.NoMember, x.meter.Perf(&x.Settings))
			return nil
		},
	}
}

// evaluationNumber numbers the evaluation of the present env step.
func (x *experiment) evaluationNumber() uint64 {
	every := x.config.Evaluation.Every
	return uint64((x.Step + every - 1) / every)
}

func newEvaluation(evalEnv task.VecEnv, policy agent.Policy, e config.Evaluation) *evaluation {
	n := evalEnv.Size()
	mode, _ := e.Mode() // Validate has looked at it
	t := &evaluation{
		obs: make([]float32, n*evalEnv.ObsSize()), actions: make([]float32, n*evalEnv.ActSize()),
		rewards: make([]float64, n), ended: make([]bool, n), returns: make([]float64, n), discounted: make([]float64, n), weight: 1,
	}
	t.acting = agent.Acting{Copies: n, Obs: t.obs, Actions: t.actions, State: make([]float32, n*policy.StateSize()), Episodes: make([]uint64, n), Mode: mode}
	return t
}

// startEvaluation begins the member's evaluation; errAgain: it is given up, and that was
// said.
func (x *experiment) startEvaluation(m *member) error {
	m.evaluation = newEvaluation(m.evalEnv, m.agent, x.config.Evaluation)
	m.evaluation.acting.Step = x.evaluationNumber() * uint64(x.task.EpisodeSteps)
	if err := m.evalEnv.Reset(x.evaluationNumber(), m.evaluation.obs); err != nil {
		if err := x.failedEvaluation(m, fmt.Errorf("reset: %w", err)); err != nil {
			return err
		}
		return errAgain
	}
	if !x.config.Analyses() {
		return nil
	}
	return x.value(m, m.evaluation)
}

// evaluateSlice makes up to evaluationSteps lockstep steps of every member; over
// says that all episodes are.
func (x *experiment) evaluateSlice(left int) (n int, over bool, err error) {
	defer x.meter.Measure(knob.Evaluate, &n)()
	over = true
	for _, m := range x.members {
		t := m.evaluation
		for n = 0; n < min(evaluationSteps, left) && !t.over(); n++ {
			if err := t.step(x, m); err != nil {
				return 0, false, err
			}
		}
		over = over && t.over()
	}
	return min(evaluationSteps, left), over, nil
}

// step makes one lockstep step with one call of the policy.
func (t *evaluation) step(x *experiment, m *member) error {
	if err := m.agent.Act(&t.acting); err != nil {
		return err
	}
	t.acting.Step++
	was := slices.Clone(t.ended)
	if err := m.evalEnv.Step(t.actions, t.obs, t.rewards, t.ended); err != nil && !x.tolerateLostEpisode(m, err) {
		if err = x.failedEvaluation(m, err); err == nil {
			err = errAgain
		}
		return err
	}
	for i, r := range t.rewards {
		if !was[i] {
			t.returns[i] += r
			t.discounted[i] += t.weight * r
		}
	}
	t.weight *= x.config.Agent.Gamma
	return nil
}

func (t *evaluation) over() bool { return !slices.Contains(t.ended, false) }

// report writes the lines of an evaluation.
func (x *experiment) report(m *member, t *evaluation) error {
	number := x.evaluationNumber()
	mean, std := meanStd(t.returns)
	m.LastReturn = &mean
	x.emit(event.TypeEvaluated, m.index, event.Evaluated{
		ReturnMean: run.Float(mean), ReturnStd: run.Float(std),
		Returns: run.Floats(t.returns), Episodes: len(t.returns),
	})
	x.reportBias(m, t)
	if err := x.reportDormant(m, number); err != nil {
		return err
	}
	if losses, some := m.Losses.take(); some {
		x.emit(event.TypeLosses, m.index, losses)
	}
	return x.reportScores(m, number)
}

// meanStd is the mean and the standard deviation of a population.
func meanStd(v []float64) (mean, std float64) {
	for _, r := range v {
		mean += r / float64(len(v))
	}
	for _, r := range v {
		std += (r - mean) * (r - mean) / float64(len(v))
	}
	return mean, math.Sqrt(std)
}

// reportDormant measures the policy's dormant neurons on real states.
func (x *experiment) reportDormant(m *member, number uint64) error {
	if m.real.Len() == 0 {
		return nil // the learner has not filled it yet
	}
	rows, size := x.config.Evaluation.DormantStates, m.real.Shape().Obs
	obs := make([]float32, rows*size)
	q := m.streams.dormant.At(number)
	for i := range rows {
		copy(obs[i*size:(i+1)*size], m.real.Row(q.IntN(m.real.Len()))[:size])
	}
	layers, err := m.agent.Activations(obs, rows)
	if err != nil || len(layers) == 0 {
		return err
	}
	tau := x.config.Evaluation.DormantTau
	shown := analysisLayers(layers)
	x.emit(event.TypeDormant, m.index, event.Dormant{
		Ratio: run.Float(analysis.DormantSokar(shown, tau)), RatioDrM: run.Float(analysis.DormantDrM(shown, tau)), Tau: run.Float(tau),
	})
	return nil
}

func analysisLayers(layers []agent.Layer) []analysis.Layer {
	shown := make([]analysis.Layer, len(layers))
	for i, l := range layers {
		shown[i] = analysis.Layer{Name: l.Name, Pre: l.Pre, Post: l.Post, Rows: l.Rows, Units: l.Units, Output: l.Output}
	}
	return shown
}
