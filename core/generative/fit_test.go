package generative

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/testing/gradcheck"
)

// The average follows the model like the reference, step by step, and a complete fit serves it.
func TestAverageIsServed(t *testing.T) {
	rows, scores := randomRows(40)
	c := tiny() // copies up to step 5, averages every second step
	d := newDiffusion(t, c, tinyShape)
	startFit(t, d, rows, scores, FitKnobs{Steps: 40, LR: 1e-2, PUncond: 0.25}, 1)
	values := func(n *network) (all []float64) {
		for _, p := range n.Params() {
			for _, v := range p.Data {
				all = append(all, float64(v))
			}
		}
		return all
	}
	want := values(d.model)
	for step := 1; step <= 40; step++ {
		if _, _, err := d.FitSteps(1); err != nil {
			t.Fatal(err)
		}
		if (step-1)%2 == 0 {
			decay := 0.0
			if step > 7 { // the first average, after step 7, still finds both equal
				decay = math.Min(0.995, 1-math.Pow(1+float64(step-5), -2.0/3))
			}
			for i, v := range values(d.model) {
				want[i] = decay*want[i] + (1-decay)*v
			}
		}
		for i, v := range values(d.average) {
			if !(math.Abs(v-want[i]) <= 1e-5) {
				t.Fatalf("step %d: weight %d of the average is %g, want %g", step, i, v, want[i])
			}
		}
	}
	if got := values(d.served); !slices.Equal(got, values(d.average)) || slices.Equal(got, values(d.model)) {
		t.Error("the complete fit does not serve its average")
	}
	if !slices.Equal(d.served.Fourier.Data, d.model.Fourier.Data) {
		t.Error("the served network has other frequencies than the fitted one")
	}
}

// A batch's rows are normalised transitions, each with its own condition. The share PUncond of the
// conditions is dropped, and without scores all of them.
func TestBatches(t *testing.T) {
	rows, scores := randomRows(40)
	for name, relevance := range map[string][]float32{"with scores": scores, "without scores": nil} {
		d := newDiffusion(t, tiny(), tinyShape)
		startFit(t, d, rows, relevance, FitKnobs{Steps: 200, LR: 1e-3, PUncond: 0.7}, 1)
		f, width := d.fit, d.layout.width()
		kept, seen := 0, map[int]int{}
		for step := range 200 {
			if err := d.draw(f, occasion(1, step)); err != nil {
				t.Fatal(err)
			}
			b := d.program.batch
			x, condition, keep := b.x.Data, b.condition.Data, b.keep.Data
			for i := range d.config.Batch {
				row := slices.IndexFunc(rows, func(row []float32) bool {
					normalised := make([]float32, width)
					f.normaliser.normalise(normalised, row)
					return slices.Equal(normalised, x[i*width:(i+1)*width])
				})
				if row < 0 {
					t.Fatalf("%s: row %d of batch %d is no normalised transition", name, i, step)
				}
				seen[row]++
				switch {
				case relevance == nil && keep[i] != 0, keep[i] != 0 && keep[i] != 1:
					t.Fatalf("%s: row %d of batch %d has mask %v", name, i, step, keep[i])
				case keep[i] == 1 && condition[i] != f.conditions[row]:
					t.Fatalf("%s: transition %d has condition %v, want %v", name, row, condition[i], f.conditions[row])
				}
				kept += int(keep[i])
			}
		}
		sampled := float64(200 * d.config.Batch)
		if len(seen) != len(rows) {
			t.Errorf("%s: %d of %d transitions were in %g samples", name, len(seen), len(rows), sampled)
		}
		if relevance != nil { // five standard errors
			near(t, "share of kept conditions", float64(kept)/sampled, 0.3, 5*math.Sqrt(0.3*0.7/sampled))
		}
	}
}

// The first steps of a fit agree with AdamW with global clipping and the cosine schedule, written
// out in float64 (Loshchilov and Hutter 2019, Algorithm 2), on difference quotients of the
// reference's loss.
func TestOptimiserSteps(t *testing.T) {
	rows, scores := randomRows(40)
	c := tiny()
	c.Batch, c.ClipNorm = 6, 0.3 // below the norm of the gradients here
	d := newDiffusion(t, c, tinyShape)
	const steps, lr = 4, 1e-2
	startFit(t, d, rows, scores, FitKnobs{Steps: steps, LR: lr, PUncond: 0.25}, 1)
	params, tensor := d.model.Params(), d.program.graph.Tensor
	within := d.fit.normaliser.coordinates // the fit is gone after its last step
	var m, v [][]float64
	for _, p := range params {
		m, v = append(m, make([]float64, len(p.Data))), append(v, make([]float64, len(p.Data)))
	}
	for step := range steps {
		before := make([][]float32, len(params))
		for i, p := range params {
			before[i] = slices.Clone(p.Data)
		}
		if _, _, err := d.FitSteps(1); err != nil {
			t.Fatal(err)
		}
		after := make([][]float32, len(params))
		for i, p := range params {
			after[i] = slices.Clone(p.Data)
			copy(p.Data, before[i])
		}
		f := d.program.fitGraph
		entered := within.enter(f.batch.x.Data, d.layout.width())
		loss := func() float64 {
			return referenceLoss(d.model, within, entered, tensor(f.noise).Data, tensor(f.level).Data, f.batch.condition.Data, f.batch.keep.Data, d.layout.width())
		}
		grads, norm := make([][]float64, len(params)), 0.0
		for i, p := range params {
			for j := range p.Data {
				g := gradcheck.Quotient(&p.Data[j], loss)
				grads[i] = append(grads[i], g)
				norm += g * g
			}
		}
		if norm = math.Sqrt(norm); norm < c.ClipNorm {
			t.Fatalf("step %d: the gradient's norm %g is not clipped", step, norm)
		}
		rate := lr * (1 + math.Cos(math.Pi*float64(step)/steps)) / 2
		for i, p := range params {
			copy(p.Data, after[i])
			for j, g := range grads[i] {
				g *= c.ClipNorm / norm
				m[i][j] = 0.9*m[i][j] + 0.1*g
				v[i][j] = 0.99*v[i][j] + 0.01*g*g
				corrected := math.Sqrt(v[i][j]/(1-math.Pow(0.99, float64(step+1)))) + 1e-8
				move := rate * m[i][j] / (1 - math.Pow(0.9, float64(step+1))) / corrected
				// The sign of a gradient close to 0 is rounding.
				if math.Abs(g) > 1e-5 && math.Abs(float64(after[i][j]-before[i][j])+move) > 2e-2*lr {
					t.Errorf("step %d moves %s[%d] by %g, want %g", step, p.Name, j, after[i][j]-before[i][j], -move)
				}
				if got := float64(d.program.optimiser.M[i].Data[j]); !(math.Abs(got-m[i][j]) <= 1e-5) {
					t.Errorf("step %d: mean gradient of %s[%d] is %g, want %g", step, p.Name, j, got, m[i][j])
				}
				if got := float64(d.program.optimiser.V[i].Data[j]); !(math.Abs(got-v[i][j]) <= 1e-2*v[i][j]+1e-8) {
					t.Errorf("step %d: mean square of %s[%d] is %g, want %g", step, p.Name, j, got, v[i][j])
				}
			}
		}
	}
}
