package cuda

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/sac"
	"pgrlab/core/device"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/generative"
	"pgrlab/core/nn"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/emulator"
)

// said is the result of a computation, as named numbers.
type said []statement

type statement struct {
	what    string
	numbers []float32
	// loose is the factor by which the tolerance is larger than usual: it applies to results of a
	// few steps of Adam, whose first steps are as long for a gradient that is nearly zero, and may
	// therefore have any sign, as for a large one.
	loose float64
}

func (s *said) say(what string, loose float64, numbers ...float32) {
	*s = append(*s, statement{what, append([]float32(nil), numbers...), loose})
}

// agree compares the results of two devices, within a share of the largest number of each
// statement.
func agree(t *testing.T, got, want said, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d statements, want %d", len(got), len(want))
	}
	for i, w := range want {
		close32(t, w.what, got[i].numbers, w.numbers, tolerance*w.loose)
	}
}

// learning makes updates of an agent, which also acts and is saved.
func learning(t *testing.T, c sac.Config, dev device.Device) (s said) {
	t.Helper()
	a, err := sac.New(c, dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	const rows, updates = 16, 4
	wrong, numbers := make([]float32, rows), rng.New(7, "transitions")
	for u := range uint64(updates) {
		b, err := a.Batch(rows)
		if err != nil {
			t.Fatal(err)
		}
		numbers.Sub("s").FillNormal(b.Obs, u, 0)
		numbers.Sub("a").FillUniform(b.Act, u, 0)
		numbers.Sub("r").FillNormal(b.Reward, u, 0)
		numbers.Sub("next").FillNormal(b.Next, u, 0)
		numbers.Sub("w").FillUniform(b.Weight, u, 0)
		b.Done[3] = 1
		losses, stepped, err := a.Update(rows, agent.DefaultRates, u%3 == 2)
		if err != nil {
			t.Fatal(err)
		}
		s.say(fmt.Sprintf("update %d", u), 3, float32(losses.Critic), float32(losses.QMean))
		if stepped {
			s.say(fmt.Sprintf("policy of update %d", u), 3, float32(losses.Actor), float32(losses.Alpha), float32(losses.AlphaValue))
		}
		if err := a.Errors(wrong, rows); err != nil {
			t.Fatal(err)
		}
		s.say(fmt.Sprintf("errors of update %d", u), 3, wrong...)
	}
	obs, action := make([]float32, 7*c.Obs), make([]float32, 7*c.Act)
	numbers.Sub("look").FillNormal(obs, 0, 0)
	if err := a.Act(&agent.Acting{Copies: 1, Obs: obs[:c.Obs], Actions: action[:c.Act], Episodes: []uint64{2}, Step: 5}); err != nil {
		t.Fatal(err)
	}
	s.say("an action", 10, action[:c.Act]...)
	if err := a.Act(&agent.Acting{Copies: 7, Obs: obs, Actions: action, Mode: agent.Mean}); err != nil {
		t.Fatal(err)
	}
	s.say("mean actions", 10, action...)
	values := make([]float32, 7)
	if err := a.Q(values, obs, 7); err != nil {
		t.Fatal(err)
	}
	s.say("values", 10, values...)
	var file bytes.Buffer
	if err := a.SavePolicy(&file); err != nil {
		t.Fatal(err)
	}
	tensors, err := nn.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tensors {
		s.say(x.Name, 50, x.Data...)
	}
	return s
}

func TestAgents(t *testing.T) {
	on, dev := onCPU(t), card(t, Options{})
	plain := sac.Config{Obs: 5, Act: 2, Hidden: []int{24, 16}, Critics: 2, Subset: 2, Gamma: 0.9, PolicyDelay: 2, InitialAlpha: 0.2}
	redq, noisy, bootstrap, least := plain, plain, plain, plain
	least.PolicyQ, least.TargetEntropy = sac.PolicyMin, -0.3
	redq.Critics, redq.Weighted = 5, true
	noisy.Exploration, noisy.NoisySigma = sac.ExploreNoisy, 0.5
	bootstrap.Critics, bootstrap.Exploration, bootstrap.Candidates = 3, sac.ExploreBootstrap, 4
	for name, c := range map[string]sac.Config{"sac": plain, "redq": redq, "noisy": noisy, "bootstrap": bootstrap, "least": least} {
		t.Run(name, func(t *testing.T) { agree(t, learning(t, c, dev), learning(t, c, on), 1e-5) })
	}
}

// table holds transitions, in rows.
type table [][]float32

func (t table) Len() int            { return len(t) }
func (t table) Row(i int) []float32 { return t[i] }

var shape = replay.Shape{Obs: 3, Act: 2}

// real returns n transitions with a little order in them, and their scores.
func real(n int) (rows table, scores []float32) {
	numbers := rng.New(3, "rows")
	scores = make([]float32, n)
	numbers.Sub("scores").FillUniform(scores, 0, 0)
	for i := range n {
		row := make([]float32, shape.Width())
		numbers.FillNormal(row, uint64(i), 0)
		row[len(row)-1] = 0
		rows = append(rows, row)
	}
	return rows, scores
}

// generator is the interface common to a Diffusion and a VAE.
type generator interface {
	StartFit(real generative.Rows, scores []float32, knobs generative.FitKnobs, refit uint64) error
	FitSteps(n int) (loss float64, done bool, err error)
	StartGenerate(knobs generative.GenKnobs, occasion uint64) error
	GenerateSlice() (rows []float32, done, total int, err error)
	Close() error
}

// generating fits a generator and samples from it.
func generating(t *testing.T, g generator, err error, steps int) (s said) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	rows, scores := real(60)
	if err := g.StartFit(rows, scores, generative.FitKnobs{Steps: steps, LR: 1e-3, PUncond: 0.25}, 1); err != nil {
		t.Fatal(err)
	}
	for i := range steps {
		loss, _, err := g.FitSteps(1)
		if err != nil {
			t.Fatal(err)
		}
		s.say(fmt.Sprintf("loss %d", i), 3, float32(loss))
	}
	if err := g.StartGenerate(generative.GenKnobs{Samples: 20, Steps: 4, Guidance: 2, TopFraction: 0.25, SChurn: 2}, 1); err != nil {
		t.Fatal(err)
	}
	for {
		made, done, total, err := g.GenerateSlice()
		if err != nil {
			t.Fatal(err)
		}
		if len(made) > 0 { // devices make several calls at once
			s.say(fmt.Sprintf("samples of call %d", done), 50, made...)
		}
		if done == total {
			return s
		}
	}
}

// small is a diffusion model with all the features of large ones.
func small() generative.Config {
	c := generative.Default()
	c.Width, c.Blocks, c.Embedding, c.Fourier, c.Batch, c.Chunk, c.EMAAfter, c.EMAEvery = 16, 2, 8, 4, 16, 8, 2, 2
	return c
}

func TestGenerators(t *testing.T) {
	on, dev := onCPU(t), card(t, Options{})
	turned, synther := small(), small()
	turned.Preconditioning, turned.Corrector = generative.PreconditioningCovariance, generative.CorrectorAuto
	synther.Architecture, synther.Activation, synther.Corrector = generative.ArchitectureSynthER, "silu", generative.CorrectorFull
	for name, c := range map[string]generative.Config{"pgr": small(), "principal axes": turned, "synther": synther} {
		t.Run(name, func(t *testing.T) {
			diffusion := func(dev device.Device) said {
				d, err := generative.New(c, shape, dev, 11)
				return generating(t, d, err, 6)
			}
			agree(t, diffusion(dev), diffusion(on), 1e-5)
		})
	}
	t.Run("vae", func(t *testing.T) {
		sizes := generative.VAEConfig{Latent: 3, Width: 16, Bottleneck: 8, EncoderBlocks: 1, DecoderBlocks: 2, Beta: 0.1}
		vae := func(dev device.Device) said {
			v, err := generative.NewVAE(small(), sizes, shape, dev, 11)
			return generating(t, v, err, 6)
		}
		agree(t, vae(dev), vae(on), 1e-5)
	})
	t.Run("ensemble", func(t *testing.T) {
		own := generative.DefaultEnsemble()
		own.Members, own.Elites, own.Width, own.Layers = 3, 2, 16, 2
		ensemble := func(dev device.Device) said {
			e, err := generative.NewEnsemble(generative.Deps{Config: small(), Settings: own, Shape: shape, Device: dev, Seed: 11, Policy: steady{}})
			return generating(t, e, err, 6)
		}
		agree(t, ensemble(dev), ensemble(on), 1e-5)
	})
}

// steady is a policy that acts by the observation alone.
type steady struct{}

func (steady) Sample(dst, obs []float32, rows int, _ uint64) error {
	act, width := len(dst)/rows, len(obs)/rows
	for i := range dst {
		dst[i] = float32(math.Tanh(float64(obs[i/act*width+i%act])))
	}
	return nil
}

// model is the interface common to an ICM and an RND.
type model interface {
	relevance.Function
	Batch() *replay.Batch
	Train() (float64, error)
	Close() error
}

func modelling(t *testing.T, m model, err error) (s said) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	b, numbers := m.Batch(), rng.New(9, "batches")
	for u := range uint64(4) {
		for i, column := range [][]float32{b.Obs, b.Act, b.Next} {
			numbers.Sub(fmt.Sprint(i)).FillNormal(column, u, 0)
		}
		loss, err := m.Train()
		if err != nil {
			t.Fatal(err)
		}
		s.say(fmt.Sprintf("loss %d", u), 10, float32(loss)) // batch norms spread a difference
	}
	scores := make([]float32, b.Size)
	if err := m.Score(scores, b, b.Size); err != nil {
		t.Fatal(err)
	}
	s.say("scores", 300, scores...)
	if icm, ok := m.(*relevance.ICM); ok {
		actions := make([]float32, b.Size*shape.Act)
		if err := icm.PredictActions(actions, b, b.Size); err != nil {
			t.Fatal(err)
		}
		s.say("actions", 300, actions...)
	}
	return s
}

func TestModels(t *testing.T) {
	on, dev := onCPU(t), card(t, Options{})
	c := relevance.DefaultICM()
	c.Hidden, c.Batch, c.ScoreRows = 12, 10, 8
	r := relevance.DefaultRND()
	r.Hidden, r.Features, r.Batch, r.ScoreRows = 12, 8, 10, 8
	curiosity := func(dev device.Device) said {
		m, err := relevance.NewICM(c, shape, dev, 3)
		return modelling(t, m, err)
	}
	rnd := func(dev device.Device) said {
		m, err := relevance.NewRND(r, shape, dev, 3)
		return modelling(t, m, err)
	}
	t.Run("curiosity", func(t *testing.T) { agree(t, curiosity(dev), curiosity(on), 1e-5) })
	t.Run("rnd", func(t *testing.T) { agree(t, rnd(dev), rnd(on), 1e-5) })
	disagreement := func(dev device.Device) said {
		m, err := relevance.NewDisagreement(relevance.DisagreementConfig{Members: 3, Hidden: 16, Batch: 32, LR: 1e-3}, shape, dev, 3)
		return modelling(t, m, err)
	}
	t.Run("disagreement", func(t *testing.T) { agree(t, disagreement(dev), disagreement(on), 1e-5) })
}

// unchecked is card without the interpreter's search for races.
func unchecked(t testing.TB, o Options) *Device {
	t.Helper()
	if onGPU {
		return card(t, o)
	}
	return emulated(t, emulator.Options{Unchecked: true}, o)
}

// This is a gradient step of a network whose blocks go to the tensor cores. A precision rounds away
// 2⁻¹¹ or 2⁻⁸ of each factor. The errors of rows are independent, so the loss and the norm of the
// gradients differ by less than one rounding.
func TestPrecisions(t *testing.T) {
	if !soak && !onGPU {
		t.Skip("interpreting the tensor cores takes half a minute: PGRLAB_SOAK=1, or PGRLAB_GPU=0 where there is a GPU")
	}
	c := small()
	c.Width, c.Blocks, c.Batch = 512, 1, 256
	step := func(dev device.Device) (s said) {
		d, err := generative.New(c, shape, dev, 11)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		rows, scores := real(60)
		if err := d.StartFit(rows, scores, generative.FitKnobs{Steps: 2, LR: 1e-3, PUncond: 0.25}, 1); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			loss, _, err := d.FitSteps(1)
			if err != nil {
				t.Fatal(err)
			}
			s.say(fmt.Sprintf("loss %d", i), 1, float32(loss))
		}
		return s
	}
	want := step(onCPU(t))
	for precision, tolerance := range map[kernel.Precision]float64{kernel.FP32: 1e-5, kernel.TF32: 1e-3, kernel.BF16: 8e-3} {
		dev := unchecked(t, Options{Precision: precision})
		got := step(dev)
		agree(t, got, want, tolerance)
		if precision != kernel.FP32 && got[1].numbers[0] == want[1].numbers[0] {
			t.Errorf("%v rounds nothing", precision)
		}
	}
}
