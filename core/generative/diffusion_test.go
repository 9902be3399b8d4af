package generative

import (
	"bytes"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
)

// newDevice has one worker in tests, because their programs are too small to share and the machine
// is busy; in benchmarks it has all that the machine offers.
func newDevice(t testing.TB) device.Device {
	t.Helper()
	threads := 1
	if _, ok := t.(*testing.B); ok {
		threads = 0
	}
	return cputest.New(t, cpu.Options{Threads: threads})
}

func newDiffusion(t testing.TB, c Config, shape replay.Shape) *Diffusion {
	t.Helper()
	d, err := New(c, shape, newDevice(t), 11)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

var tinyShape = replay.Shape{Obs: 2, Act: 1}

// tiny is a generator of a few hundred weights.
func tiny() Config {
	c := small(ArchitecturePGR, "mish", true)
	c.Batch, c.Chunk, c.SigmaData, c.EMAAfter, c.EMAEvery = 16, 8, 1, 4, 2
	return c
}

// randomRows makes n transitions of tinyShape with positive scores.
func randomRows(n int) (table, []float32) {
	rows, scores := make(table, n), make([]float32, n)
	s := rng.New(9, "rows")
	for i := range rows {
		rows[i] = make([]float32, tinyShape.Width())
		s.FillNormal(rows[i], uint64(i), 0)
		rows[i][tinyShape.Width()-1] = float32(i % 2)
	}
	s.Sub("scores").FillUniform(scores, 0, 0)
	return rows, scores
}

// fitted is any of the generators.
type fitted interface {
	StartFit(real Rows, scores []float32, knobs FitKnobs, refit uint64) error
	FitSteps(n int) (loss float64, done bool, err error)
	StartGenerate(knobs GenKnobs, occasion uint64) error
	GenerateSlice() (rows []float32, done, total int, err error)
	Sketch(knobs GenKnobs, occasion uint64) (next func() (rows []float32, done, total int, err error), err error)
}

func startFit(t testing.TB, d fitted, rows Rows, scores []float32, knobs FitKnobs, refit uint64) {
	t.Helper()
	if err := d.StartFit(rows, scores, knobs, refit); err != nil {
		t.Fatal(err)
	}
}

// finishFit runs the rest of a fit in slices and returns the losses of the slices.
func finishFit(t testing.TB, d fitted, slice int) (losses []float64) {
	t.Helper()
	for {
		loss, done, err := d.FitSteps(slice)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, loss)
		if done {
			return losses
		}
	}
}

// finishGeneration runs the rest of a generation and returns its transitions.
func finishGeneration(t testing.TB, d fitted) (rows []float32) {
	t.Helper()
	for {
		made, done, total, err := d.GenerateSlice()
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, made...)
		if done == total {
			return rows
		}
	}
}

func generateAll(t testing.TB, d fitted, knobs GenKnobs, occasion uint64) []float32 {
	t.Helper()
	if err := d.StartGenerate(knobs, occasion); err != nil {
		t.Fatal(err)
	}
	return finishGeneration(t, d)
}

var (
	tinyFit      = FitKnobs{Steps: 20, LR: 1e-3, PUncond: 0.25}
	tinyGenerate = GenKnobs{Samples: 20, Steps: 4, Guidance: 2, TopFraction: 0.25, SChurn: 2}
)

// However a fit is sliced, and whatever was fitted before it, the same refit of the same data gives
// the same generator, and another refit number gives another.
func TestFitDependsOnItsNumberAlone(t *testing.T) {
	rows, scores := randomRows(40)
	a, b := newDiffusion(t, tiny(), tinyShape), newDiffusion(t, tiny(), tinyShape)
	startFit(t, a, rows, scores, tinyFit, 3)
	one := finishFit(t, a, 1)
	startFit(t, b, rows, nil, tinyFit, 2)
	finishFit(t, b, 20)
	other := generateAll(t, b, tinyGenerate, 1)
	startFit(t, b, rows, scores, tinyFit, 3)
	seven := finishFit(t, b, 7)
	if len(one) != 20 || len(seven) != 3 {
		t.Fatalf("%d and %d slices, want 20 and 3", len(one), len(seven))
	}
	sum := 0.0
	for _, l := range one[:7] {
		sum += l / 7
	}
	near(t, "mean loss of a slice", seven[0], sum, 1e-12)
	want := generateAll(t, a, tinyGenerate, 1)
	if got := generateAll(t, b, tinyGenerate, 1); !slices.Equal(got, want) {
		t.Error("the same refit, sliced otherwise, generates otherwise")
	}
	if slices.Equal(want, other) {
		t.Error("another refit generates the same")
	}
	if slices.Equal(want, generateAll(t, a, tinyGenerate, 2)) {
		t.Error("another generation gives the same")
	}
}

// A sample's noise and prompt depend on the sample, not on its chunk.
func TestChunksDoNotChangeSamples(t *testing.T) {
	rows, scores := randomRows(40)
	var first []float32
	for _, chunk := range []int{8, 20, 32} {
		c := tiny()
		c.Chunk = chunk
		d := newDiffusion(t, c, tinyShape)
		startFit(t, d, rows, scores, tinyFit, 1)
		finishFit(t, d, 20)
		got := generateAll(t, d, tinyGenerate, 4)
		if len(got) != 20*tinyShape.Width() {
			t.Fatalf("chunk %d: %d numbers, want 20 transitions of %d", chunk, len(got), tinyShape.Width())
		}
		if first == nil {
			first = got
			continue
		}
		for i, v := range got {
			near(t, "sample in another chunk", float64(v), float64(first[i]), 1e-4)
		}
	}
}

// A fit and a generation that are saved in the middle and loaded into a new object go on bit for
// bit.
func TestSavedHalfway(t *testing.T) {
	rows, scores := randomRows(40)
	turned := tiny()
	turned.Preconditioning = PreconditioningCovariance
	for name, c := range map[string]struct {
		config    Config
		relevance []float32
	}{
		"conditional": {tiny(), scores}, "unconditional": {tiny(), nil}, "principal axes": {turned, scores},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDiffusion(t, c.config, tinyShape)
			startFit(t, d, rows, scores, tinyFit, 1)
			finishFit(t, d, 20)
			startFit(t, d, rows, c.relevance, tinyFit, 2)
			if _, _, err := d.FitSteps(9); err != nil {
				t.Fatal(err)
			}
			e := reload(t, d, rows)
			if e.fit == nil || e.fit.step != 9 || e.fit.knobs.Steps != 20 {
				t.Errorf("the loaded fit is %+v", e.fit)
			}
			want, got := finishFit(t, d, 3), finishFit(t, e, 3)
			if !slices.Equal(want, got) {
				t.Errorf("losses of the loaded fit are %v, want %v", got, want)
			}
			if err := d.StartGenerate(tinyGenerate, 1); err != nil {
				t.Fatal(err)
			}
			// A chunk takes 7 calls; 5 + 4 end in the second chunk, at a corrector.
			var before []float32
			for range 9 {
				made, _, _, err := d.GenerateSlice()
				if err != nil {
					t.Fatal(err)
				}
				before = append(before, made...)
			}
			if len(before) != 8*tinyShape.Width() {
				t.Fatalf("9 calls finished %d numbers, want the 8 transitions of a chunk", len(before))
			}
			f := reload(t, d, nil)
			if done, total := f.generation.progress(); done != 9 || total != 21 {
				t.Errorf("the loaded generation is at %d of %d, want 9 of 21", done, total)
			}
			rest := finishGeneration(t, d)
			if !slices.Equal(rest, finishGeneration(t, f)) {
				t.Error("the loaded generation goes on otherwise")
			}
			whole := append(before, rest...)
			if !slices.Equal(whole, generateAll(t, e, tinyGenerate, 1)) {
				t.Error("the generator of the loaded fit generates otherwise")
			}
		})
	}
}

func reload(t *testing.T, d *Diffusion, rows Rows) *Diffusion {
	t.Helper()
	var file bytes.Buffer
	if err := d.Save(&file); err != nil {
		t.Fatal(err)
	}
	e, err := New(d.config, tinyShape, newDevice(t), 11)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	if err := e.Load(&file, rows); err != nil {
		t.Fatal(err)
	}
	if file.Len() != 0 {
		t.Errorf("load left %d bytes", file.Len())
	}
	return e
}

func TestDamagedCheckpoints(t *testing.T) {
	rows, scores := randomRows(40)
	d := newDiffusion(t, tiny(), tinyShape)
	startFit(t, d, rows, scores, tinyFit, 1)
	var file bytes.Buffer
	if err := d.Save(&file); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	for name, c := range map[string]struct {
		data []byte
		rows Rows
	}{
		"no transitions":    {whole, nil},
		"other transitions": {whole, rows[:39]},
		"cut":               {whole[:len(whole)-1], rows},
		"empty":             {nil, rows},
		"of something else": {bytes.Repeat([]byte("pgr"), 200), rows},
	} {
		if err := d.Load(bytes.NewReader(c.data), c.rows); err == nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if err := d.Load(bytes.NewReader(whole), rows); err != nil {
		t.Errorf("the undamaged one: %v", err)
	}
}

// estimator returns D(x; σ) for the present chunk's memory, by the program that a sampler runs,
// without the sampler's own arithmetic.
func estimator(t *testing.T, c *calls, m blend, prompts []float32) func(x []float32, sigma float64) []float32 {
	t.Helper()
	memory, err := c.of(len(prompts))
	if err != nil {
		t.Fatal(err)
	}
	copy(memory.prompts.Data, prompts)
	if err := c.prompt([2]blend{m, m}); err != nil {
		t.Fatal(err)
	}
	var out *op.Node
	g, err := op.Build("estimate", func(g *op.Graph) {
		out = m.of(&estimates{calls: c}, memory.omega).Denoise(g, g.Bind(memory.x))
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Compile(g, plan.Spec{Outputs: []*op.Node{out}}, c.device)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return func(x []float32, sigma float64) []float32 {
		copy(memory.x.Data, x)
		if err := c.embed([]float64{sigma + 1, sigma}); err != nil {
			t.Fatal(err)
		}
		c.at(1, sigma, here)
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(p.Data(out))
	}
}

// The model's estimates agree with the reference, including the mixture of two in one call, and
// prompts make a difference.
func TestEstimatesAgainstTheReference(t *testing.T) {
	rows, scores := randomRows(40)
	for _, architecture := range []string{ArchitecturePGR, ArchitectureSynthER} {
		c := tiny()
		c.Architecture = architecture
		d := newDiffusion(t, c, tinyShape)
		startFit(t, d, rows, scores, tinyFit, 1)
		finishFit(t, d, 20)
		if err := d.calls.serve(d.serving.normaliser.coordinates); err != nil {
			t.Fatal(err)
		}
		width, prompts := d.layout.width(), []float32{-1, 0, 1, 2, -2}
		x := make([]float32, 5*width)
		rng.New(1, "x").FillNormal(x, 0, 0)
		with := estimator(t, d.calls, withPrompt, prompts)(x, 0.7)
		without := estimator(t, d.calls, withoutPrompt, prompts)(x, 0.7)
		set(d.calls.chunk.omega, 2)
		guided := estimator(t, d.calls, both, prompts)(x, 0.7)
		skip, scale, in := precondition(0.7, 1)
		for i, prompt := range prompts {
			scaled := make(vector, width)
			for j := range scaled {
				scaled[j] = in * float64(x[i*width+j])
			}
			var want [2]vector // without and with the prompt
			for keep := range want {
				want[keep] = referenceNetwork(d.served, scaled, noiseInput(0.7), float64(prompt), float64(keep))
				for j, f := range want[keep] {
					want[keep][j] = max(-1, min(1, skip*float64(x[i*width+j])+scale*f))
				}
			}
			for j := range scaled {
				at := i*width + j
				near(t, "estimate without prompt", float64(without[at]), want[0][j], 1e-4)
				near(t, "estimate with prompt", float64(with[at]), want[1][j], 1e-4)
				near(t, "guided estimate", float64(guided[at]), 2*want[1][j]-want[0][j], 3e-4)
			}
		}
		if slices.Equal(with, without) {
			t.Errorf("%s: the condition changes nothing", architecture)
		}
	}
}
