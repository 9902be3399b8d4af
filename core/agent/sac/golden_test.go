package sac

import (
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/rng"
	"pgrlab/core/testing/golden"
)

// givenUpdates is what the authors' agent needs for the same updates.
type givenUpdates struct {
	Obs, Act, Critics, Subset, UTD, Delay int
	Hidden                                []int
	Gamma, LR, Tau, Alpha                 float64
	Weights                               []golden.Tensor
	Updates                               []givenUpdate
}

type givenUpdate struct {
	Obs, Act, Reward, Next, Done, TargetNoise, ActorNoise []float32
	Subset                                                []int
}

// TestGoldenUpdates compares the updates of three env steps, and all weights after them, with the authors' own
// agent from the same weights, batches and noise (testdata/golden.py imports it): with three critics of which
// two are in a target, as REDQ, and with two, as SynthER and PGR.
func TestGoldenUpdates(t *testing.T) {
	const size, utd, updates = 8, 4, 12
	for name, critics := range map[string]int{"redq": 3, "sac": 2} {
		t.Run(name, func(t *testing.T) {
			c := small()
			c.Critics, c.Subset, c.PolicyDelay = critics, 2, 3
			s := newAgent(t, c, 3)
			rates := agent.Rates{LRActor: 2e-3, LRCritic: 2e-3, Tau: 0.05}
			given := givenUpdates{
				Obs: c.Obs, Act: c.Act, Critics: c.Critics, Subset: c.Subset, UTD: utd, Delay: c.PolicyDelay, Hidden: c.Hidden,
				Gamma: c.Gamma, LR: rates.LRActor, Tau: rates.Tau, Alpha: c.InitialAlpha, Weights: golden.Tensors(s.nets.state()),
			}
			for i := range uint64(updates) {
				given.Updates = append(given.Updates, givenUpdateOf(t, s, size, i))
			}
			golden.Given(t, "testdata/"+name+"-input.json", given)
			var want struct {
				Critic, Actor, Alpha, AlphaLoss, QMean []float64
				Stepped                                []bool
				Weights                                []golden.Tensor
			}
			golden.Read(t, "testdata/"+name+"-golden.json", &want)
			if golden.Writing() {
				return
			}
			if len(want.Critic) != updates {
				t.Fatalf("they made %d updates", len(want.Critic))
			}
			for i := range updates {
				fill(t, s, size, uint64(i))
				got, stepped, err := s.Update(size, rates, i%utd == utd-1)
				if err != nil || stepped != want.Stepped[i] {
					t.Fatalf("update %d: the policy stepped: %v, theirs %v; %v", i, stepped, want.Stepped[i], err)
				}
				golden.Near(t, "critics' loss", got.Critic, want.Critic[i], 1e-5)
				golden.Near(t, "mean of Q", got.QMean, want.QMean[i], 1e-5)
				golden.Near(t, "α", got.AlphaValue, want.Alpha[i], 1e-6)
				if stepped {
					golden.Near(t, "policy's loss", got.Actor, want.Actor[i], 1e-5)
					golden.Near(t, "loss of α", got.Alpha, want.AlphaLoss[i], 1e-5)
				}
			}
			golden.NearTensors(t, "after", s.nets.state(), want.Weights, 5e-5)
		})
	}
}

// givenUpdateOf is what an agent's update of that number reads.
func givenUpdateOf(t *testing.T, s *Agent, size int, i uint64) (u givenUpdate) {
	fill(t, s, size, i)
	b, err := s.Batch(size)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		to   *[]float32
		from []float32
	}{{&u.Obs, b.Obs}, {&u.Act, b.Act}, {&u.Reward, b.Reward}, {&u.Next, b.Next}, {&u.Done, b.Done}} {
		*x.to = slices.Clone(x.from)
	}
	for _, x := range []struct {
		to   *[]float32
		from rng.Stream
	}{{&u.TargetNoise, s.targetNoise}, {&u.ActorNoise, s.actorNoise}} {
		*x.to = make([]float32, size*s.config.Act)
		x.from.FillNormal(*x.to, i, 0)
	}
	u.Subset = []int{0, 1}
	if s.config.Subset < s.config.Critics {
		s.subsets.At(i).Choose(u.Subset, s.config.Critics)
	}
	return u
}
