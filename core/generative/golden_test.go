package generative

import (
	"math"
	"testing"

	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/golden"
)

// givenFit is what the authors' programs need for the same fit and the same samples: the first weights, the
// data, and every random number.
type givenFit struct {
	Architecture, Activation, Normaliser string
	Obs, Act, Embedding, Width, Blocks   int
	EMAEvery, Levels                     int
	LR, Churn                            float64
	Guidance                             []float64
	Rows                                 [][]float32 // [s, a, r, s']
	Scores                               []float32   // of the rows; nil: without conditions
	Weights                              []golden.Tensor
	Steps                                []givenStep
	Prompts                              []float32   // F that the samples are asked for
	Noise                                [][]float32 // of the samples: the first, then that of each level
}

type givenStep struct {
	Rows               []int
	Level, Noise, Keep []float32
}

// theirs are the results of the authors' programs.
type theirs struct {
	Losses  []float64
	Model   []golden.Tensor
	Average []golden.Tensor
	Samples [][][]float32 // by guidance and row
}

const (
	goldenReal    = 30
	goldenSteps   = 131 // the average is a copy up to step 111, and moves at 121 and 131
	goldenSamples = 8
	goldenLevels  = 6
)

// goldenConfig is a small generator of the release, of PGR or of SynthER.
func goldenConfig(architecture string) Config {
	c := Default()
	c.Architecture, c.Width, c.Blocks, c.Embedding, c.Batch = architecture, 12, 2, 6, 5
	if architecture == ArchitectureSynthER {
		c.Activation, c.Normaliser, c.Conditional = "relu", NormaliserStandard, false
	}
	return c
}

// TestGoldenFitsAndSamples compares the losses of 131 gradient steps, the weights and their average after
// them, and samples of that average, with what the authors' own programs make of the same weights, data and
// random numbers (testdata/golden.py runs them): renwang435/pgr with classifier-free guidance, and
// conglu1997/SynthER. float32 sums have another order, and 131 steps and six levels carry their difference on.
func TestGoldenFitsAndSamples(t *testing.T) {
	for _, architecture := range []string{ArchitecturePGR, ArchitectureSynthER} {
		t.Run(architecture, func(t *testing.T) {
			c, shape := goldenConfig(architecture), replay.Shape{Obs: 3, Act: 2}
			d, err := New(c, shape, newDevice(t), 11)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			rows, scores := goldenData(c, shape)
			knobs := FitKnobs{Steps: goldenSteps, LR: 2e-3, PUncond: 0.25}
			if err := d.StartFit(rows, scores, knobs, 0); err != nil {
				t.Fatal(err)
			}
			sampling := GenKnobs{Samples: goldenSamples, Steps: goldenLevels, TopFraction: 0.25, SChurn: 80}
			strengths := []float64{0, 1, 2}
			if scores == nil {
				strengths = strengths[:1]
			}
			given := givenFit{
				Architecture: architecture, Activation: c.Activation, Normaliser: c.Normaliser, Obs: shape.Obs, Act: shape.Act,
				Embedding: c.Embedding, Width: c.Width, Blocks: c.Blocks, EMAEvery: c.EMAEvery, Levels: goldenLevels, LR: knobs.LR, Churn: sampling.SChurn,
				Guidance: strengths, Scores: scores, Weights: golden.Tensors(d.model.State()),
			}
			for _, row := range rows {
				given.Rows = append(given.Rows, row[:len(row)-1])
			}
			for step := range goldenSteps {
				given.Steps = append(given.Steps, d.goldenStep(step, goldenReal, knobs))
			}
			given.Prompts, given.Noise = d.goldenNoise(sampling)
			golden.Given(t, "testdata/"+architecture+"-input.json", given)
			if golden.Writing() {
				return
			}
			var want theirs
			golden.Read(t, "testdata/"+architecture+"-golden.json", &want)
			if len(want.Losses) != goldenSteps || len(want.Samples) != len(strengths) {
				t.Fatalf("they made %d steps and samples at %d strengths", len(want.Losses), len(want.Samples))
			}
			for step, loss := range want.Losses {
				got, _, err := d.FitSteps(1)
				if err != nil {
					t.Fatal(err)
				}
				golden.Near(t, "loss", got, loss, 1e-5)
				if t.Failed() {
					t.Fatalf("at step %d", step)
				}
			}
			golden.NearTensors(t, "weights", d.model.State(), want.Model, 2e-5)
			golden.NearTensors(t, "average", d.served.State(), want.Average, 2e-5)
			for i, omega := range strengths {
				sampling.Guidance = omega
				nearSamples(t, shape, generateAll(t, d, sampling, 0), want.Samples[i])
			}
		})
	}
}

// nearSamples compares samples [s, a, r, s', d] with rows [s, a, r, s'].
func nearSamples(t *testing.T, shape replay.Shape, got []float32, want [][]float32) {
	t.Helper()
	if len(want) != goldenSamples {
		t.Fatalf("they made %d samples", len(want))
	}
	for i, row := range want {
		if len(row) != shape.Width()-1 {
			t.Fatalf("sample %d has %d numbers, want %d", i, len(row), shape.Width()-1)
		}
		for j, v := range row {
			golden.Near(t, "sample", float64(got[i*shape.Width()+j]), float64(v), 2e-4)
		}
	}
}

// goldenData are real transitions and their F; without F for an unconditional generator.
func goldenData(c Config, shape replay.Shape) (rows table, scores []float32) {
	s := rng.New(3, "golden data")
	for i := range goldenReal {
		row := make([]float32, shape.Width())
		s.FillNormal(row, uint64(i), 0)
		for j := range row {
			row[j] *= float32(1 + j)
		}
		for j := shape.Obs; j < shape.Obs+shape.Act; j++ {
			row[j] = float32(math.Tanh(float64(row[j])))
		}
		row[len(row)-1] = 0
		rows = append(rows, row)
	}
	if c.Conditional {
		scores = make([]float32, goldenReal)
		s.Sub("scores").FillUniform(scores, 0, 0)
	}
	return rows, scores
}

// goldenStep are the random numbers of a gradient step.
func (d *Diffusion) goldenStep(step, real int, knobs FitKnobs) (s givenStep) {
	at, fit, c := occasion(0, step), d.stream.Sub("fit"), d.config
	s.Level, s.Noise, s.Keep = make([]float32, c.Batch), make([]float32, c.Batch*d.layout.width()), make([]float32, c.Batch)
	rows := d.stream.Sub("rows").At(at)
	for range c.Batch {
		s.Rows = append(s.Rows, rows.IntN(real))
	}
	fit.Sub("level").FillNormal(s.Level, at, 0)
	fit.Sub("noise").FillNormal(s.Noise, at, 0)
	d.stream.Sub("keep").FillUniform(s.Keep, at, 0)
	for i, u := range s.Keep {
		s.Keep[i] = kept(u, knobs.PUncond)
	}
	return s
}

// goldenNoise are the prompts and the noise of samples.
func (d *Diffusion) goldenNoise(k GenKnobs) (prompts []float32, noise [][]float32) {
	f := d.fit.serving
	prompts = f.asked(d.config, k, d.promptStream(), 0, k.Samples)
	for level := -1; level < k.Steps; level++ {
		x := make([]float32, k.Samples*d.layout.width())
		d.calls.noise.FillNormal(x, noiseOccasion(0, level), 0)
		noise = append(noise, x)
	}
	return prompts, noise
}
