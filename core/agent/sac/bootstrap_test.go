package sac

import (
	"math"
	"testing"

	"pgrlab/core/agent"
)

func bootstrapped(critics int) Config {
	c := small()
	c.Critics, c.Exploration, c.Candidates = critics, ExploreBootstrap, 10
	return c
}

// Of its ten samples a copy takes the action that its episode's critic values most, according to
// the reference's policy and critics.
func TestAHeadActsByItsOwnValue(t *testing.T) {
	s := newAgent(t, bootstrapped(4), 1)
	r := sac64Of(s)
	obs, action := normal("obs", 2*5), make([]float32, 2*2)
	apart := 0
	for episode := range uint64(12) {
		step := 100 + episode
		x := agent.Acting{Copies: 2, Obs: obs, Actions: action, Episodes: []uint64{episode, episode + 20}, Step: step}
		if err := s.Act(&x); err != nil {
			t.Fatal(err)
		}
		noise := make([]float32, 2*10*2)
		s.actNoise.FillNormal(noise, step, 0)
		for i, e := range x.Episodes {
			best := make([][]float64, s.config.Critics)
			for k := range best {
				most := math.Inf(-1)
				for _, eps := range rows(noise[i*20:(i+1)*20], 2) {
					a, _ := policy64(r.pi, wide(obs[i*5:(i+1)*5]), eps)
					if q := r.q[k].forward(join(wide(obs[i*5:(i+1)*5]), a))[0]; q > most {
						most, best[k] = q, a
					}
				}
			}
			near(t, "action", action[i*2:(i+1)*2], best[s.Head(e)], 1e-5)
			if best[0][0] != best[1][0] || best[1][0] != best[2][0] || best[2][0] != best[3][0] {
				apart++
			}
		}
	}
	if apart == 0 {
		t.Error("all critics chose the same action: this test cannot tell them apart")
	}
	if n := testing.AllocsPerRun(20, func() { _ = act(s, action[:2], obs[:5], 1, 2) }); n > 0 {
		t.Errorf("acting allocates %v times", n)
	}
}

func TestEveryCriticHasItsEpisodes(t *testing.T) {
	s := newAgent(t, bootstrapped(5), 1)
	counts := make([]int, 5)
	for episode := range uint64(1000) {
		counts[s.Head(episode)]++
	}
	for k, n := range counts { // 200 ± 13
		if n < 140 || n > 260 {
			t.Errorf("critic %d acts in %d of 1000 episodes", k, n)
		}
	}
}

// Learning is REDQ's: the head that acts changes nothing in an update.
func TestHeadsLearnAsREDQ(t *testing.T) {
	plain := bootstrapped(4)
	plain.Exploration = ExplorePolicy
	a, b := newAgent(t, bootstrapped(4), 1), newAgent(t, plain, 1)
	train(t, a, 0, 20)
	train(t, b, 0, 20)
	sameBits(t, a, b)
}
