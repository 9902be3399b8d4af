package whatif

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// train trains with D_real and syn twice from the checkpoint: the critics alone, for the errors,
// and the whole agent, for the return. syn is nil for real rows only.
func (x *study) train(a *Arm, i int, syn *replay.Ring) error {
	mix := replay.Mix{Real: x.Mix(x.plan.Sampling.Samples).Size()}
	if syn != nil {
		mix = x.Mix(syn.Len())
		a.D = syn.Len()
	}
	x.Doing = a.Rows.String()
	if a.MadeBy == MadeBySimulator {
		x.Doing += ", by the simulator"
	}
	critics := x.Rates
	critics.LRActor = 0 // neither the policy nor α moves
	found := [3]float64{math.NaN(), math.NaN(), math.NaN()}
	alone, err := x.updated(i, mix, syn, critics, func(l Learner) (err error) {
		found[0], found[1], found[2], err = x.held.measure(l, x.Gamma)
		return err
	})
	if err != nil {
		return err
	}
	a.judge(found[0], found[1], found[2])
	mean := math.NaN()
	whole, err := x.updated(i, mix, syn, x.Rates, func(l Learner) (err error) {
		mean, err = x.play(l, i)
		return err
	})
	if err != nil {
		return err
	}
	a.Return = append(a.Return, run.Float(mean))
	if !alone || !whole {
		a.Diverged++
	}
	return nil
}

// judge records the errors of a repeat.
func (a *Arm) judge(td, value, bias float64) {
	scatter := math.Sqrt(max(0, value*value-bias*bias))
	a.TDError, a.ValueError = append(a.TDError, run.Float(td)), append(a.ValueError, run.Float(value))
	a.Bias, a.Scatter = append(a.Bias, run.Float(bias)), append(a.Scatter, run.Float(scatter))
}

// updatesPiece is how many updates make a piece of work.
const updatesPiece = 25

// updated makes the updates of a repeat from the checkpoint and then calls measure. It is not finite
// if an update was not: that is a result of the rows, which the other arms are not to be lost for.
func (x *study) updated(i int, mix replay.Mix, syn *replay.Ring, rates agent.Rates, measure func(Learner) error) (finite bool, err error) {
	s := x.stream(i)
	l, err := x.Learner(s.Sub("learner").At(0).Uint64())
	if err != nil {
		return false, err
	}
	defer l.Close()
	batch, err := l.Batch(mix.Size())
	if err != nil {
		return false, err
	}
	mixer := replay.NewMixer(s.Sub("batches"))
	for n := range x.plan.Updates {
		if err := mixer.Sample(batch, mix, x.Real, syn, uint64(n)); err != nil {
			return false, err
		}
		last := n%x.UTD == x.UTD-1 || n == x.plan.Updates-1
		_, _, err := l.Update(mix.Size(), rates, last)
		switch notFinite := (*plan.NotFinite)(nil); {
		case errors.As(err, &notFinite):
			return false, x.count((x.plan.Updates - n/updatesPiece*updatesPiece) * costUpdate)
		case err != nil:
			return false, fmt.Errorf("update %d: %w", n, err)
		}
		if (n+1)%updatesPiece == 0 {
			if err := x.count(updatesPiece * costUpdate); err != nil {
				return false, err
			}
		}
	}
	return true, measure(l)
}

// play is the mean return of the policy's mean action over the episodes of a repeat.
func (x *study) play(l Learner, i int) (float64, error) {
	n := x.plan.Episodes
	envs, err := x.Episodes(n, x.stream(i).Sub("evaluation").At(0).Uint64())
	if err != nil {
		return 0, err
	}
	defer envs.Close()
	obs, act := make([]float32, n*envs.ObsSize()), make([]float32, n*envs.ActSize())
	rewards, over := make([]float64, n), make([]bool, n)
	if err := envs.Reset(0, obs); err != nil {
		return 0, fmt.Errorf("evaluate: %w", err)
	}
	sum := 0.0
	for t := 0; t < x.EpisodeSteps && slices.Contains(over, false); t++ {
		if err := l.Act(&agent.Acting{Copies: n, Obs: obs, Actions: act, Mode: agent.Mean}); err != nil {
			return 0, err
		}
		if err := envs.Step(act, obs, rewards, over); err != nil {
			return 0, fmt.Errorf("evaluate: %w", err)
		}
		for _, r := range rewards {
			sum += r / float64(n)
		}
		if err := x.count(n * costStep); err != nil {
			return 0, err
		}
	}
	return sum, nil
}
