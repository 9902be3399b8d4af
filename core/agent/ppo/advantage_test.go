package ppo

import (
	"math"
	"testing"

	"pgrlab/core/experience"
	"pgrlab/core/rng"
)

// Advantages are Σ (γλ)ᵏ·δ up to the end of the episode or of the rollout. A time limit is an end.
func TestAdvantages(t *testing.T) {
	c := small()
	c.RewardScale, c.Steps, c.Copies = 0.5, 12, 2
	r := newRollout(c, newLog(c))
	ends := make([]experience.End, r.Rows())
	ends[5], ends[8], ends[15], ends[22] = experience.Truncated, experience.Terminated, experience.Truncated, experience.Truncated
	numbers := func(name string, n int) []float32 {
		all := make([]float32, n)
		rng.New(2, name).FillNormal(all, 0, 0)
		return all
	}
	rewards := numbers("rewards", r.Rows())
	copy(r.values, numbers("values", r.Rows()))
	last := numbers("last", c.Copies)
	look := experience.Look{Numbers: make([]float32, c.Shape.Obs)}
	for i, end := range ends {
		if i < c.Copies || ends[i-c.Copies] != experience.Continues {
			r.Log.Begin(i%c.Copies, look)
		}
		r.Log.Add(i%c.Copies, experience.Step{Action: make([]float32, c.Shape.Act), Reward: rewards[i], Next: look, End: end})
	}
	r.advantage(c, last)
	for i := range ends {
		want, weight := 0.0, 1.0
		for j := i; ; j += c.Copies {
			next := 0.0 // after an end
			switch {
			case ends[j] == experience.Continues && j+c.Copies < r.Rows():
				next = float64(r.values[j+c.Copies])
			case ends[j] == experience.Continues:
				next = float64(last[j%c.Copies])
			}
			want += weight * (0.5*float64(rewards[j]) + c.Gamma*next - float64(r.values[j]))
			if weight *= c.Gamma * c.Lambda; ends[j] != experience.Continues || j+c.Copies >= r.Rows() {
				break
			}
		}
		if got := float64(r.advantages[i]); !(math.Abs(got-want) <= 1e-5) {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
		if got := float64(r.returns[i] - r.values[i]); !(math.Abs(got-want) <= 1e-5) {
			t.Errorf("row %d: a return %v above the value, want %v", i, got, want)
		}
	}
}
