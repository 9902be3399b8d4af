package agent

import (
	"math"
	"testing"
)

func bootstrapped(critics int) Config {
	c := small()
	c.Critics, c.Exploration, c.Candidates = critics, ExploreBootstrap, 10
	return c
}

// The action is the one of ten samples that the episode's critic values most, by
// the reference's policy and critics.
func TestAHeadActsByItsOwnValue(t *testing.T) {
	s := newSAC(t, bootstrapped(4), 1)
	r := sac64Of(s)
	obs, action := normal("obs", 5), make([]float32, 2)
	apart := 0
	for episode := range uint64(12) {
		step := 100 + episode
		if err := s.Act(action, obs, step, episode); err != nil {
			t.Fatal(err)
		}
		noise := make([]float32, 10*2)
		s.actNoise.FillNormal(noise, step, 0)
		best := make([][]float64, s.config.Critics)
		for k := range best {
			most := math.Inf(-1)
			for _, eps := range rows(noise, 2) {
				a, _ := policy64(r.pi, wide(obs), eps)
				if q := r.q[k].forward(join(wide(obs), a))[0]; q > most {
					most, best[k] = q, a
				}
			}
		}
		near(t, "action", action, best[s.Head(episode)], 1e-5)
		if best[0][0] != best[1][0] || best[1][0] != best[2][0] || best[2][0] != best[3][0] {
			apart++
		}
	}
	if apart == 0 {
		t.Error("all critics chose the same action: this test cannot tell them apart")
	}
	if n := testing.AllocsPerRun(20, func() { _ = s.Act(action, obs, 1, 2) }); n > 0 {
		t.Errorf("acting allocates %v times", n)
	}
}

func TestEveryCriticHasItsEpisodes(t *testing.T) {
	s := newSAC(t, bootstrapped(5), 1)
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

// Learning is REDQ's: the way of acting changes nothing in an update.
func TestHeadsLearnAsREDQ(t *testing.T) {
	plain := bootstrapped(4)
	plain.Exploration = ExplorePolicy
	a, b := newSAC(t, bootstrapped(4), 1), newSAC(t, plain, 1)
	train(t, a, 0, 20)
	train(t, b, 0, 20)
	sameBits(t, a, b)
}
