package ppo

import (
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/rng"
)

// Advantages are Σ (γλ)ᵏ·δ up to the end of the episode or of the rollout, with a time limit
// counted in both ways that Limits offers.
func TestAdvantages(t *testing.T) {
	for _, limits := range []string{LimitsEnd, LimitsValue} {
		c := small()
		c.Limits, c.RewardScale, c.Steps, c.Copies = limits, 0.5, 12, 2
		r := newRollout(c)
		ends := make([]agent.End, r.Rows())
		ends[5], ends[8], ends[15], ends[22] = agent.Truncated, agent.Terminated, agent.Truncated, agent.Truncated
		numbers := func(name string, n int) []float32 {
			all := make([]float32, n)
			rng.New(2, name).FillNormal(all, 0, 0)
			return all
		}
		copy(r.Rewards, numbers("rewards", r.Rows()))
		copy(r.values, numbers("values", r.Rows()))
		last, behind := numbers("last", c.Copies), []float32(nil)
		worth := map[int]float64{}
		for i, end := range ends {
			if end != agent.Continues {
				r.Last[i] = 1
			}
			if end == agent.Truncated && limits == LimitsValue {
				v := numbers("behind", i+1)[i]
				r.limits, behind, worth[i] = append(r.limits, limit{row: i}), append(behind, v), float64(v)
			}
		}
		r.Filled = r.Rows()
		r.advantage(c, last, behind)
		for i := range ends {
			want, weight := 0.0, 1.0
			for j := i; ; j += c.Copies {
				next := worth[j] // 0 after an end without a value
				switch {
				case ends[j] == agent.Continues && j+c.Copies < r.Rows():
					next = float64(r.values[j+c.Copies])
				case ends[j] == agent.Continues:
					next = float64(last[j%c.Copies])
				}
				want += weight * (0.5*float64(r.Rewards[j]) + c.Gamma*next - float64(r.values[j]))
				if weight *= c.Gamma * c.Lambda; ends[j] != agent.Continues || j+c.Copies >= r.Rows() {
					break
				}
			}
			if got := float64(r.advantages[i]); math.Abs(got-want) > 1e-5 {
				t.Errorf("limits %s, row %d: %v, want %v", limits, i, got, want)
			}
			if got := float64(r.Return[i] - r.values[i]); math.Abs(got-want) > 1e-5 {
				t.Errorf("limits %s, row %d: a return %v above the value, want %v", limits, i, got, want)
			}
		}
	}
}
