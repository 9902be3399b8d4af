package generative

import (
	"fmt"
	"testing"

	"pgrlab/core/nn"
	"pgrlab/core/rng"
)

// An evaluation in parts has the estimates of the whole network, at every noise level of a few that were
// embedded together. The layers are wide enough for what devices do in one pass.
func TestEstimatesInParts(t *testing.T) {
	const width, rows = 6, 100
	for _, architecture := range []string{ArchitecturePGR, ArchitectureSynthER} {
		for activation := range nonlinear {
			for _, conditional := range []bool{true, false} {
				c := tiny()
				c.Architecture, c.Activation, c.Conditional, c.Width, c.Normaliser = architecture, activation, conditional, 128, NormaliserStandard
				t.Run(fmt.Sprint(architecture, activation, conditional), func(t *testing.T) { estimatesInParts(t, c, width, rows) })
			}
		}
	}
}

func estimatesInParts(t *testing.T, c Config, width, rows int) {
	n := newNetwork(c, "served", width, rng.New(3, "weights"), nn.TorchDefault)
	calls := newCalls(n, width, rng.New(4, "noise"), newDevice(t))
	defer calls.Close()
	within := coordinates{spread: make([]float64, width)}
	for j := range within.spread {
		within.spread[j] = 0.5 + 0.1*float64(j)
	}
	if err := calls.serve(within); err != nil {
		t.Fatal(err)
	}
	x, prompts := make([]float32, rows*width), make([]float32, rows)
	rng.New(1, "x").FillNormal(x, 0, 0)
	rng.New(1, "prompts").FillNormal(prompts, 0, 0)
	of := map[blend]float64{withoutPrompt: 0}
	if c.Conditional {
		of[withPrompt] = 1
	}
	for blend, keep := range of {
		estimate := estimator(t, calls, blend, prompts)
		for _, sigma := range []float64{9, 0.3} {
			got := estimate(x, sigma)
			for i := range rows {
				own, scaled := x[i*width:(i+1)*width], make(vector, width)
				for j := range scaled {
					_, _, in := precondition(sigma, within.spread[j])
					scaled[j] = in * float64(own[j])
				}
				f := referenceNetwork(n, scaled, noiseInput(sigma), float64(prompts[i]), keep)
				for j, v := range own {
					skip, scale, _ := precondition(sigma, within.spread[j])
					near(t, "estimate", float64(got[i*width+j]), skip*float64(v)+scale*f[j], 1e-4)
				}
			}
		}
	}
}
