package presets

import (
	"math"
	"os"
	"slices"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/device/cpu"
	"pgrlab/core/generative"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
)

// heavy are rows whose columns depend on each other and have tails of very different lengths.
type heavy [][]float32

func (h heavy) Len() int            { return len(h) }
func (h heavy) Row(i int) []float32 { return h[i] }

func newHeavy(n int, shape replay.Shape) heavy {
	all := make(heavy, n)
	for i := range all {
		q := rng.New(3, "heavy").At(uint64(i))
		row, common := make([]float32, shape.Width()), q.Norm()
		for j := range row {
			row[j] = float32(math.Sinh(common+0.5*q.Norm()) * math.Pow(10, float64(j%4)-2))
		}
		for j := range shape.Act {
			row[shape.Obs+j] = float32(math.Tanh(2 * float64(row[shape.Obs+j])))
		}
		row[len(row)-1] = 0
		if i%50 == 0 {
			row[len(row)-1] = 1
		}
		all[i] = row
	}
	return all
}

// At the scales whose generators make whole transitions nothing is outside the range of D_real, and no
// action outside ±1, however strong guidance is. SynthER at scale release is as published instead, and
// unbounded.
func TestNoGeneratedRowIsOutOfBounds(t *testing.T) {
	samples := 2_000
	if os.Getenv("PGRLAB_SOAK") != "" {
		samples = 100_000
	}
	dev := cputest.New(t, cpu.Options{Threads: 2})
	shape := replay.Shape{Obs: 3, Act: 2}
	real := newHeavy(1_000, shape)
	bounds, scores := boundsOf(real, shape), make([]float32, len(real))
	for i, row := range real {
		scores[i] = row[0] * row[0]
	}
	for _, c := range []Choice{
		{Task: "cheetah-run", Method: "pgr-curiosity", Scale: "paper"}, {Task: "Hopper-v2", Method: "pgr-curiosity", Scale: "paper"},
		{Task: "cheetah-run", Method: "synther", Scale: "paper"}, {Task: "cheetah-run", Method: "pgr-vae", Scale: "paper"},
		{Task: "cheetah-run", Method: "pgr-curiosity", Scale: "release"},
	} {
		conf, err := Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range made(t, conf, dev, shape, real, scores, samples) {
			j := slices.IndexFunc(bounds, func(b bound) bool { return !(row[b.column] >= b.low && row[b.column] <= b.high) })
			if j >= 0 {
				t.Errorf("%+v: row %d, column %d is out of bounds: %v", c, i, j, row)
				break
			}
		}
	}
}

// made fits a narrow generator of a configuration, with the guidance at its strongest.
func made(t *testing.T, c config.Config, dev *cpu.Device, shape replay.Shape, real heavy, scores []float32, samples int) (rows [][]float32) {
	t.Helper()
	kind, err := generative.Find(c.Generator.Kind)
	if err != nil {
		t.Fatal(err)
	}
	c.Generator.Width, c.Generator.Blocks, c.Generator.Embedding, c.Generator.Batch, c.Generator.Chunk = 16, 1, 8, 32, 2_000
	settings := c.Generator.Kinds.Of(c.Generator.Kind)
	if kind.Kind == "vae" {
		settings = generative.VAEConfig{Latent: 4, Width: 32, Bottleneck: 16, EncoderBlocks: 1, DecoderBlocks: 1, Beta: 1}
	}
	g, err := kind.New(generative.Deps{Config: c.Generator.Config, Settings: settings, Shape: shape, Device: dev, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if !c.Generator.Conditional {
		scores = nil
	}
	if err := g.StartFit(real, scores, generative.FitKnobs{Steps: 100, LR: 1e-3, PUncond: 0.25}, 0); err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		if _, done, err = g.FitSteps(50); err != nil {
			t.Fatal(err)
		}
	}
	knobs := c.Knobs.Generation()
	knobs.Samples, knobs.Guidance = samples, 10
	if err := g.StartGenerate(knobs, 0); err != nil {
		t.Fatal(err)
	}
	for done, total := 0, 1; done < total; {
		var some []float32
		if some, done, total, err = g.GenerateSlice(); err != nil {
			t.Fatal(err)
		}
		for row := range slices.Chunk(some, shape.Width()) {
			rows = append(rows, slices.Clone(row))
		}
	}
	if len(rows) != samples {
		t.Errorf("%d rows, want %d", len(rows), samples)
	}
	return rows
}

// bound is what a column may hold.
type bound struct {
	column    int
	low, high float32
}

// boundsOf returns the ranges of the columns of rows, above which the normalisers put 1e-5, and ±1 for
// actions.
func boundsOf(rows heavy, shape replay.Shape) (all []bound) {
	for j := range shape.Width() {
		b := bound{j, float32(math.Inf(1)), float32(math.Inf(-1))}
		for _, row := range rows {
			b.low, b.high = min(b.low, row[j]), max(b.high, row[j])
		}
		near := 1.1e-5 + 1e-6*max(-b.low, b.high)
		b.low, b.high = b.low-near, b.high+near
		if j >= shape.Obs && j < shape.Obs+shape.Act {
			b.low, b.high = max(b.low, -1), min(b.high, 1)
		}
		all = append(all, b)
	}
	return all
}
