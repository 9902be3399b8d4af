package dreamer

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
	"pgrlab/core/testing/golden"
)

// gradients returns the recorded gradient of each parameter that is stepped, in the order of the optimiser.
func gradients(t *testing.T, x *Agent) (all []golden.Array) {
	t.Helper()
	var of struct{ Gradients map[string]golden.Array }
	golden.Recorded(t, "dreamer_agent_gradients.json", &of)
	names := map[*op.Tensor]string{}
	for name, p := range x.nets.names() {
		names[p] = name
	}
	for _, p := range x.optimiser.Params {
		a := of.Gradients[names[p]]
		if len(a.Data) != len(p.Data) {
			t.Fatalf("%d numbers are recorded of the gradient of %s, want %d", len(a.Data), names[p], len(p.Data))
		}
		all = append(all, a)
	}
	return all
}

// remember gives the optimiser moments of so many earlier steps. The second ones are about as large as the
// gradients' squares, so that a step depends on how large a gradient is, and not on its sign alone.
func remember(a *plan.Adam, gradients []golden.Array, made uint64) {
	a.T = made
	for i, g := range gradients {
		s := rng.New(made, a.Params[i].Name)
		s.FillNormal(a.M[i].Data, 0, 0)
		s.FillUniform(a.V[i].Data, 1, 0)
		size := norm(g.Data) * norm(g.Data) / float64(len(g.Data)) * (1 - math.Pow(a.Beta2, float64(made+1)))
		for j, v := range a.V[i].Data {
			a.V[i].Data[j] = float32((0.5 + float64(v)) * size)
		}
	}
}

func norm(x []float64) float64 {
	square := 0.0
	for _, v := range x {
		square += v * v
	}
	return math.Sqrt(square)
}

func float64s(x []float32) (y []float64) {
	for _, v := range x {
		y = append(y, float64(v))
	}
	return y
}

// laprop is the step of a tensor in float64 (embodied/jax/opt.py: clip_by_agc, scale_by_rms, scale_by_momentum),
// as that of number made. It returns the first moments and what is added to the parameters, for a rate of 1.
func laprop(w, g, m, v []float64, made uint64) (first, update []float64, clipped bool) {
	c, steps := plan.DefaultLaProp, float64(made+1)
	scale := min(1, c.ClipTensor*max(1e-3, norm(w))/norm(g))
	for j := range w {
		clip := scale * g[j]
		second := c.Beta2*v[j] + (1-c.Beta2)*clip*clip
		of := c.Beta1*m[j] + (1-c.Beta1)*clip/(math.Sqrt(second/(1-math.Pow(c.Beta2, steps)))+c.Eps)
		first, update = append(first, of), append(update, -of/(1-math.Pow(c.Beta1, steps)))
	}
	return first, update, scale < 1
}

// TestGoldenStep ends an update with its step along the recorded gradients: the first step, whose rate is 0, one
// while the rate rises, the first one at the full rate, and a later one. It compares parameters and moments with
// the same step in float64, and the slow critic with what follows the stepped critic.
func TestGoldenStep(t *testing.T) {
	const warmup, lr, tau = 4, 0.05, 0.3
	for made, share := range map[uint64]float64{0: 0, 1: 0.25, warmup: 1, warmup + 3: 1} {
		t.Run(fmt.Sprint(made), func(t *testing.T) {
			x, r := load(t)
			r.run(t, x)
			x.config.Warmup = warmup
			x.take(&agent.Work{Rates: agent.Rates{LRActor: lr, Tau: tau}})
			a, along := x.optimiser, gradients(t, x)
			remember(a, along, made)
			var firsts, updates [][]float64
			before, slow, clipped := copied(a.Params), copied(x.nets.slow.params()), 0
			for i, w := range before {
				first, update, clip := laprop(w, along[i].Data, float64s(a.M[i].Data), float64s(a.V[i].Data), made)
				firsts, updates = append(firsts, first), append(updates, update)
				if clip {
					clipped++
				}
			}
			if clipped == 0 || clipped == len(a.Params) {
				t.Errorf("%d of %d gradients are clipped", clipped, len(a.Params))
			}
			x.finish(t)
			for i, p := range a.Params {
				for j, v := range p.Data {
					golden.Near(t, fmt.Sprintf("move of %s[%d]", p.Name, j), float64(v)-before[i][j], share*lr*updates[i][j], 1e-3*lr*share+2e-6)
					golden.Near(t, fmt.Sprintf("first moment of %s[%d]", p.Name, j), float64(a.M[i].Data[j]), firsts[i][j], 1e-3)
				}
				if t.Failed() {
					return // one tensor is enough to read
				}
			}
			for i, p := range x.nets.slow.params() {
				for j, v := range x.nets.value.params()[i].Data {
					golden.Near(t, fmt.Sprintf("%s[%d]", p.Name, j), float64(p.Data[j]), slow[i][j]+tau*(float64(v)-slow[i][j]), 1e-6)
				}
			}
			if a.T != made+1 {
				t.Errorf("%d steps are counted, want %d", a.T, made+1)
			}
		})
	}
}

// copied are the numbers of tensors as they are now.
func copied(tensors []*op.Tensor) (all [][]float64) {
	for _, p := range tensors {
		all = append(all, float64s(p.Data))
	}
	return all
}

// finish makes the last unit of an update whose gradients are complete.
func (x *Agent) finish(t *testing.T) {
	t.Helper()
	x.now.done = x.units() - 1
	n, made, err := x.slice(&agent.Work{}, x.now.done)
	if err != nil || n != 1 || len(made) != 1 || !made[0].Stepped {
		t.Fatal(n, made, err)
	}
}

// TestGoldenCommit holds what later updates depend on to the recorded update: nothing of it changes before the
// last unit, and then the range of returns and the count of learned sequences do.
func TestGoldenCommit(t *testing.T) {
	x, r := load(t)
	r.run(t, x)
	x.now.fresh = []uint64{7}
	if x.returns != (span{r.RetnormBefore.Lo, r.RetnormBefore.Hi}) || x.memory.fresh[0] != 0 || x.updates != 0 {
		t.Errorf("before the update's end: %v, %v, %d updates", x.returns, x.memory.fresh, x.updates)
	}
	x.finish(t)
	golden.Near(t, "range, low", x.returns.Low, r.RetnormAfter.Lo, 1e-5)
	golden.Near(t, "range, high", x.returns.High, r.RetnormAfter.Hi, 1e-5)
	if !slices.Equal(x.memory.fresh, []uint64{7}) || x.updates != 1 || x.now.active {
		t.Errorf("after it: %v, %d updates, one is under way: %v", x.memory.fresh, x.updates, x.now.active)
	}
}
