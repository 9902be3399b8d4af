package dreamer

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/rng"
	"pgrlab/core/testing/golden"
)

// classes are what uniform numbers draw from the groups of a posterior's logits, in float64; not sure: a number is
// so close to the edge of a class that rounding decides.
func classes(logits []float64, u []float32, c Config) (index []float64, sure bool) {
	sure = true
	for g, u := range u {
		of, sum, below := logits[g*c.Classes:][:c.Classes], 0.0, 0.0
		for _, l := range of {
			sum += math.Exp(l)
		}
		for k, l := range of {
			chance := (1-unimix)*math.Exp(l)/sum + unimix/float64(c.Classes)
			if at := float64(u) - below; k == c.Classes-1 || at < chance {
				sure = sure && at > 1e-5 && at < chance-1e-5
				index = append(index, float64(k))
				break
			}
			below += chance
		}
	}
	return index, sure
}

// drawing returns an env step in which noise draws these classes from logits.
func drawing(t *testing.T, noise rng.Stream, logits, want []float64, c Config) uint64 {
	t.Helper()
	u := make([]float32, c.Stoch)
	for step := range uint64(1e6) {
		noise.Sub("u").FillUniform(u, step, 0)
		if index, sure := classes(logits, u, c); sure && slices.Equal(index, want) {
			return step
		}
	}
	t.Fatalf("%v is never drawn", want)
	return 0
}

// at is what an array [R,·] holds of row i.
func at(a golden.Array, i int, c Config) golden.Array {
	width := len(a.Data) / c.rows()
	return golden.Array{Data: a.Data[i*width:][:width]}
}

// state is what is remembered before look i of the recorded sequences: of an episode's first look, nothing.
func (r *recorded) state(x *Agent, i int) []float32 {
	c, d, z := x.config, x.config.Deter, x.config.groups()
	state := make([]float32, x.StateSize())
	if at(r.Batch["is_first"], i, c).Data[0] == 1 {
		return state
	}
	if row := i / c.Length; i%c.Length == 0 {
		copy(state, r.Carry["deter"].Float32()[row*d:][:d])
		copy(state[d:], r.Carry["stoch"].Float32()[row*z:][:z])
	} else {
		copy(state, at(r.Deter, i-1, c).Float32())
		choose(state[d:d+z], at(r.StochIndex, i-1, c).Data, c.Classes)
	}
	for j, v := range at(r.PrevAct, i, c).Float32() {
		state[d+z+j] = max(-1, min(1, v))
	}
	return state
}

// TestGoldenAct acts on the recorded looks, after the recorded actions, in env steps whose random numbers draw the
// classes that were drawn there. Latents and the policy's mean and deviation are those of the original.
func TestGoldenAct(t *testing.T) {
	x, r := load(t)
	c := x.config
	d, z := c.Deter, c.groups()
	means, deviations := column(r.Imagined["policy_mean"], c.rows(), 0), column(r.Imagined["policy_std"], c.rows(), 0)
	for i := range c.rows() {
		drawn, stoch := at(r.StochIndex, i, c).Data, make([]float32, z)
		choose(stoch, drawn, c.Classes)
		for mode, noise := range map[agent.Mode]rng.Stream{agent.Mean: x.streams.evaluate, agent.Sample: x.streams.evaluate, agent.Explore: x.streams.explore} {
			a := agent.Acting{
				Copies: 1, Obs: at(r.Batch["obs"], i, c).Float32(), Actions: make([]float32, c.Shape.Act), State: r.state(x, i), Episodes: make([]uint64, 1),
				Step: drawing(t, noise, at(r.PostLogits, i, c).Data, drawn, c), Mode: mode,
			}
			if err := x.Act(&a); err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("look %d, %s: ", i, mode)
			at(r.Deter, i, c).Close(t, what+"deter", a.State[:d], 1e-5)
			if !slices.Equal(a.State[d:d+z], stoch) || !slices.Equal(a.State[d+z:], a.Actions) {
				t.Errorf("%sthe state is %v, want classes %v and actions %v", what, a.State, stoch, a.Actions)
			}
			eps := make([]float32, c.Shape.Act)
			if mode != agent.Mean {
				noise.Sub("eps").FillNormal(eps, a.Step, 0)
			}
			for j, v := range a.Actions {
				want := at(means, i, c).Data[j] + at(deviations, i, c).Data[j]*float64(eps[j])
				golden.Near(t, what+"action", float64(v), max(-1, min(1, want)), 1e-5)
			}
		}
	}
}

// TestFramesAreSeenAsInUpdates acts on frames as the first ones of their episodes: the classes that are drawn are
// those of the logits that updates compute of the same frames.
func TestFramesAreSeenAsInUpdates(t *testing.T) {
	c := sighted()
	x := newAgent(t, c, nil, 1)
	if err := x.prepare(drawn); err != nil {
		t.Fatal(err)
	}
	n, side, d, z := c.Sequences, c.Side*c.Side*agent.Colours, c.Deter, c.groups()
	for i := range x.batch.frames {
		frame := make([]byte, side)
		for j := range frame {
			frame[j] = byte(rng.New(9, "frames").Block(uint64(i), uint64(j))[0]) >> (i % n) // some are dark
		}
		x.batch.frames[i], x.batch.first[i] = frame, true
	}
	if err := x.encode(0); err != nil {
		t.Fatal(err)
	}
	if err := x.observeAt(0); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for step := range uint64(100) {
		a := agent.Acting{Copies: n, Obs: make([]float32, n*c.Shape.Obs), Actions: make([]float32, n*c.Shape.Act), State: make([]float32, n*x.StateSize()), Episodes: make([]uint64, n), Step: step}
		for i := range n {
			a.Stacks = append(a.Stacks, x.batch.frames[i:i+1])
		}
		if err := x.Act(&a); err != nil {
			t.Fatal(err)
		}
		u, want := make([]float32, n*c.Stoch), make([]float32, z)
		x.streams.explore.Sub("u").FillUniform(u, step, 0)
		for i := range n {
			index, sure := classes(float64s(rowsAt(x.batch.logits, 0, c)[i*z:][:z]), u[i*c.Stoch:][:c.Stoch], c)
			if choose(want, index, c.Classes); !sure {
				continue
			}
			compared++
			if got := a.State[i*x.StateSize()+d:][:z]; !slices.Equal(got, want) {
				t.Fatalf("frame %d, step %d: the classes are %v, want %v", i, step, got, want)
			}
		}
	}
	if compared < 500 {
		t.Errorf("%d draws were compared", compared)
	}
}
