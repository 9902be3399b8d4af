package ppo

import (
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/testing/golden"
)

// given holds an agent's initial weights, a rollout and the orders of its minibatches: everything
// that PyTorch needs for the same iterations.
type given struct {
	Settings         Settings
	Gamma, Rate      float64
	Entropy          float64
	Copies, Obs, Act int
	Hidden           []int
	Weights          []weights
	States, Next     []float32
	Actions, Rewards []float32
	Ends             []int // 0 goes on, 1 ended
	// Frames replace States and Next for an agent that sees them; Side is their side.
	Side               int
	Frames, NextFrames []byte
	Orders             [][]int // of each epoch
	Left               float64 // share of rate and ε
}

type weights struct {
	Name  string
	Shape []int
	Data  []float32
}

// said holds PyTorch's results.
type said struct {
	Policy, Value, Mean []float64 // of each step
	After               [][]float32
}

// TestAnIterationAgreesWithPyTorch compares an iteration, its advantages and eight steps, with
// PyTorch 1.13 from the same weights, rows and orders. It covers ends and time limits, clipped and unclipped values, and values that an earlier iteration has moved,
// from observations and from frames. testdata/golden.py made the numbers. The tolerance of 1e-5
// allows for float32 sums in another order; a step moves a weight by some 1e-3.
func TestAnIterationAgreesWithPyTorch(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"baselines": func(*Config) {},
		"frames":    func(c *Config) { *c = sighted() },
		"short":     func(c *Config) { c.ValueClip, c.RewardScale, c.Clip, c.Anneal, c.Length = 0, 0.1, 0.2, 1, 64 },
	} {
		t.Run(name, func(t *testing.T) {
			c := small()
			change(&c)
			c.MaxNorm = 0.3
			x := newAgent(t, c, newDevice(t, 2))
			s := newSession(x)
			s.rates.Entropy = 0.01
			for x.iterations < 3 || !x.rollout.Full() {
				s.unit(t)
			}
			in := goldenInput(x, s)
			golden.Given(t, "testdata/"+name+"-input.json", in)
			if golden.Writing() {
				return
			}
			var want said
			golden.Read(t, "testdata/"+name+"-golden.json", &want)
			for i := range want.Policy {
				made := s.next(t)
				golden.Near(t, "policy loss", made.Losses.Actor, want.Policy[i], 2e-6)
				golden.Near(t, "value loss", made.Losses.Critic, want.Value[i], 2e-6)
				golden.Near(t, "mean value", c.RewardScale*made.Losses.QMean, want.Mean[i], 2e-6)
			}
			if s.total != 0 {
				t.Fatalf("%d units of %d are done", s.done, s.total)
			}
			for i, p := range x.nets.params() {
				for j, v := range p.Data {
					if !(math.Abs(float64(v-want.After[i][j])) <= 1e-5) {
						t.Fatalf("%s: number %d is %v, PyTorch says %v", p.Name, j, v, want.After[i][j])
					}
				}
			}
		})
	}
}

// next makes the next unit of the iteration that is due or under way.
func (s *session) next(t *testing.T) agent.UpdateResult {
	s.unit(t)
	return s.x.result[0]
}

// goldenInput describes an agent whose rollout is full. Its optimiser starts afresh.
func goldenInput(x *Agent, s *session) given {
	if err := x.adam.Reset(); err != nil {
		panic(err)
	}
	c, r := x.config, x.rollout
	in := given{
		Settings: c.Settings, Gamma: c.Gamma, Rate: s.rates.LRActor, Entropy: s.rates.Entropy, Copies: c.Copies, Obs: c.Shape.Obs, Act: c.Shape.Act, Hidden: c.Hidden,
		Ends: make([]int, r.Rows()), Left: c.left(s.step), Side: c.Side,
		States: []float32{}, Next: []float32{}, Frames: []byte{}, NextFrames: []byte{}, // not null in the file
	}
	for _, p := range x.nets.params() {
		in.Weights = append(in.Weights, weights{p.Name, p.Shape, append([]float32(nil), p.Data...)})
	}
	for i := range in.Ends {
		row := r.Row(i)
		in.States, in.Frames = append(in.States, row.Seen.Numbers...), append(in.Frames, row.Seen.Frame...)
		in.Actions, in.Rewards = append(in.Actions, row.Action...), append(in.Rewards, row.Observed)
		if i >= r.Rows()-c.Copies {
			in.Next, in.NextFrames = append(in.Next, row.Next.Numbers...), append(in.NextFrames, row.Next.Frame...)
		}
		if row.End != experience.Continues {
			in.Ends[i] = 1
		}
	}
	for epoch := range c.Epochs {
		in.Orders = append(in.Orders, append([]int(nil), x.order.of(x, epoch)...))
	}
	return in
}
