package sac

import (
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// pointMass is a point in the square [-1,1]² that moves by a tenth of the action;
// the reward is 1 at the goal and falls to 0 at a distance of 1. An episode has 40
// steps, which is a time limit and no end of the task.
type pointMass struct {
	at [2]float64
	n  int
}

const pointSteps = 40

var goal = [2]float64{0.6, -0.4}

func (p *pointMass) reset(episode uint64) {
	q := rng.New(11, "point mass").At(episode)
	p.at, p.n = [2]float64{2*q.Float64() - 1, 2*q.Float64() - 1}, 0
}

func (p *pointMass) obs() []float32 { return []float32{float32(p.at[0]), float32(p.at[1])} }

func (p *pointMass) step(action []float32) (reward float64) {
	for i, a := range action {
		p.at[i] = math.Min(1, math.Max(-1, p.at[i]+0.1*float64(a)))
	}
	p.n++
	return math.Max(0, 1-math.Hypot(p.at[0]-goal[0], p.at[1]-goal[1]))
}

// meanReturn is the mean return of 20 episodes in which act chooses the actions.
func meanReturn(t *testing.T, act func(action, obs []float32)) float64 {
	t.Helper()
	total := 0.0
	action := make([]float32, 2)
	for episode := range uint64(20) {
		var p pointMass
		for p.reset(1000 + episode); p.n < pointSteps; {
			act(action, p.obs())
			total += p.step(action)
		}
	}
	return total / 20
}

// learnPointMass is the training loop without a generator.
func learnPointMass(t *testing.T, s *Agent, steps int) {
	t.Helper()
	const batch, start = 64, 200
	real := replay.NewRing(replay.Shape{Obs: 2, Act: 2}, steps)
	mixer := replay.NewMixer(rng.New(1, "mix"))
	random := rng.New(1, "random actions")
	live := agent.Rates{LRActor: 2e-3, LRCritic: 2e-3, Tau: 0.02}
	var p pointMass
	p.reset(0)
	action := make([]float32, 2)
	for step := range steps {
		before := p.obs()
		if step < start {
			random.FillUniform(action, uint64(step), 0)
			action[0], action[1] = 2*action[0]-1, 2*action[1]-1
		} else if err := act(s, action, before, uint64(step), 0); err != nil {
			t.Fatal(err)
		}
		reward := p.step(action)
		real.Add(replay.Transition{Obs: before, Act: action, Reward: float32(reward), Next: p.obs()})
		if p.n == pointSteps {
			p.reset(uint64(step))
		}
		if step < start {
			continue
		}
		b, err := s.Batch(batch)
		if err != nil {
			t.Fatal(err)
		}
		if err := mixer.Sample(b, replay.HoldBatch(batch, 0, 0), real, nil, s.Updates()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Update(batch, live, true); err != nil {
			t.Fatal(err)
		}
	}
}

// share places the policy's return between that of a random policy, 0, and that of the straight way
// to the goal, 1.
func TestSACLearnsAPointMass(t *testing.T) {
	c := DefaultConfig(2, 2)
	c.Hidden, c.Gamma = []int{32, 32}, 0.9
	s := newAgent(t, c, 1)
	policy := func(action, obs []float32) {
		if err := actMean(s, action, obs, 1); err != nil {
			t.Fatal(err)
		}
	}
	uniform := rng.New(2, "uniform").At(0)
	random := meanReturn(t, func(action, _ []float32) {
		for i := range action {
			action[i] = 2*uniform.Float32() - 1
		}
	})
	best := meanReturn(t, func(action, obs []float32) {
		for i := range action {
			action[i] = float32(math.Min(1, math.Max(-1, 10*(goal[i]-float64(obs[i])))))
		}
	})
	share := func() float64 { return (meanReturn(t, policy) - random) / (best - random) }
	before := share()
	learnPointMass(t, s, 3000)
	after := share()
	t.Logf("random %.1f, best %.1f; share of the way before %.2f, after %.2f, α %.3f", random, best, before, after, s.Alpha())
	if before > 0.5 {
		t.Errorf("the first weights reach %.2f: this test cannot fail", before)
	}
	if !(after > 0.85) {
		t.Errorf("after learning the policy reaches %.2f of the way from random to best, want 0.85", after)
	}
}
