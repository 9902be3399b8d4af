package dreamer

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/testing/golden"
)

// computedUpdates is testdata/dreamer_updates.json: updates of the recorded agent, the first of them with the
// recorded batch and draws, and the parameters after them.
type computedUpdates struct {
	Of       float64 `json:"total_of_the_recorded"` // the total of its losses
	Settings struct {
		Rate, Tau, Entropy float64
		Warmup             int
	}
	Served  []served // by all updates but the first
	Updates []struct {
		Losses  map[string]float64
		RetNorm struct{ Lo, Hi float64 }
		Norms   map[string]float64 `json:"gradient_norms"`
	}
	Params, Slow map[string]golden.Array
}

// TestGoldenFiveUpdates makes five updates with the optimiser's steps, the slow critic and the range of returns that
// are between them, and compares losses, gradients, ranges and what is left in the end with an independent program
// in float64 (testdata/updates.py), which agrees with all that is recorded of the first update. Its gradients are
// those of one graph that is unrolled over the sequence; ours come from programs that make an env step each.
//
// Rates are higher than an agent's, so that parameters move by about 0.02. Measured in float32 with the kernels
// avx512, avx2 and go: losses differ by up to 8e-8, norms of gradients by a share of 3e-6, ranges by 8e-9, and
// parameters, relative to 1+|w|, by 4e-7. Four to five times as much is allowed.
func TestGoldenFiveUpdates(t *testing.T) {
	const nearLoss, nearNorm, nearRange, nearParameter = 3e-7, 1.5e-5, 4e-8, 2e-6
	x, r := load(t)
	var of computedUpdates
	golden.Computed(t, "dreamer_updates.json", "updates.py", &of)
	if of.Of != r.Total {
		t.Fatal("dreamer_updates.json was computed from another dreamer_agent.json: run testdata/updates.py")
	}
	if len(of.Updates) != 5 || len(of.Served) != len(of.Updates)-1 {
		t.Fatalf("%d updates and %d batches are computed", len(of.Updates), len(of.Served))
	}
	x.config.Warmup = of.Settings.Warmup
	names := x.nets.names()
	for i, want := range of.Updates {
		in := &r.served
		if i > 0 {
			in = &of.Served[i-1]
			in.fill(x)
		}
		x.take(&agent.Work{Rates: agent.Rates{LRActor: of.Settings.Rate, Tau: of.Settings.Tau, Entropy: of.Settings.Entropy}})
		in.run(t, x)
		what := fmt.Sprintf("update %d: ", i+1)
		for name, got := range x.now.losses.names() {
			golden.Near(t, what+"loss "+name, got, want.Losses[name], nearLoss)
		}
		for name, p := range names {
			got, norms := norm(float64s(x.sums.Sums[slices.Index(x.sums.Params, p)].Data)), want.Norms[name]
			if !(math.Abs(got-norms) <= nearNorm*norms) {
				t.Errorf("%sthe norm of the gradient of %s is %v, want %v", what, name, got, norms)
			}
		}
		x.finish(t)
		golden.Near(t, what+"range, low", x.returns.Low, want.RetNorm.Lo, nearRange)
		golden.Near(t, what+"range, high", x.returns.High, want.RetNorm.Hi, nearRange)
		if t.Failed() {
			return // what follows would differ too
		}
	}
	after(t, names, of.Params, nearParameter)
	after(t, x.nets.followers(), of.Slow, nearParameter)
}

// after compares tensors with computed ones.
func after(t *testing.T, got map[string]*op.Tensor, want map[string]golden.Array, near float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d tensors, want %d", len(got), len(want))
	}
	for name, p := range got {
		if len(p.Data) != len(want[name].Data) {
			t.Errorf("%s has %d numbers, want %d", name, len(p.Data), len(want[name].Data))
			continue
		}
		for i, v := range want[name].Data {
			if d := math.Abs(float64(p.Data[i]) - v); !(d <= near*(1+math.Abs(v))) {
				t.Errorf("%s[%d] is %v, want %v", name, i, p.Data[i], v)
				break
			}
		}
	}
}
