package generative

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

func tinyVAE() VAEConfig {
	return VAEConfig{Latent: 3, Width: 10, Bottleneck: 4, EncoderBlocks: 1, DecoderBlocks: 2, Beta: 0.5}
}

func newVAE(t testing.TB, c Config, shape replay.Shape) *VAE { return sizedVAE(t, c, tinyVAE(), shape) }

func sizedVAE(t testing.TB, c Config, sizes VAEConfig, shape replay.Shape) *VAE {
	t.Helper()
	v, err := NewVAE(c, sizes, shape, newDevice(t), 11)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

// plain evaluates the trunk in plain arithmetic.
func (k trunk) plain(x vector) vector {
	act := nonlinear[k.act]
	h := linear(k.in, x)
	for i := range k.down {
		h = h.plus(linear(k.up[i], linear(k.down[i], h.each(act)).each(act)))
	}
	return linear(k.out, h.each(act))
}

// referenceVAELoss is the loss of the package doc on one batch, written out.
func referenceVAELoss(n *vaeNetwork, beta float64, x, condition, noise []vector) (loss float64) {
	for i := range x {
		posterior := n.encoder.plain(append(slices.Clone(x[i]), condition[i]...))
		z, divergence := vector{}, 0.0
		for k := range n.latent {
			mean, logVariance := posterior[k], posterior[n.latent+k]
			z = append(z, mean+math.Exp(logVariance/2)*noise[i][k])
			divergence += (mean*mean + math.Exp(logVariance) - logVariance - 1) / 2
		}
		square := 0.0
		for k, v := range n.decoder.plain(append(z, condition[i]...)) {
			square += (v - x[i][k]) * (v - x[i][k]) / 2
		}
		loss += (square + beta*divergence) / float64(len(x)*len(x[i]))
	}
	return loss
}

// Loss and gradient of the first step agree with the reference's loss and its difference quotients;
// the first moment of Adam is a tenth of the gradient.
func TestVAEStepAgainstTheReference(t *testing.T) {
	for _, conditional := range []bool{true, false} {
		c := tiny()
		c.Conditional, c.Batch, c.ClipNorm = conditional, 5, 0
		v := newVAE(t, c, tinyShape)
		rows, scores := randomRows(30)
		if !conditional {
			scores = nil
		}
		startFit(t, v, rows, scores, FitKnobs{Steps: 4, LR: 1e-30}, 1)
		loss, _, err := v.FitSteps(1)
		if err != nil {
			t.Fatal(err)
		}
		width := v.layout.width()
		at := occasion(1, 0)
		flat := make([]float32, c.Batch*v.sizes.Latent)
		v.stream.Sub("fit").Sub("noise").FillNormal(flat, at, 0)
		var x, condition, noise []vector
		widen := func(of []float32) (w vector) {
			for _, f := range of {
				w = append(w, float64(f))
			}
			return w
		}
		for i := range c.Batch {
			x = append(x, widen(v.program.step.Data(v.program.x)[i*width:(i+1)*width]))
			noise = append(noise, widen(flat[i*v.sizes.Latent:(i+1)*v.sizes.Latent]))
			condition = append(condition, nil)
			if conditional {
				condition[i] = widen(v.program.step.Data(v.program.condition)[i : i+1])
			}
		}
		reference := func() float64 { return referenceVAELoss(v.model, v.sizes.Beta, x, condition, noise) }
		near(t, "loss", loss, reference(), 1e-5*reference())
		for i, p := range v.model.params() {
			for j := range p.Data {
				got := float64(v.program.optimiser.M[i].Data[j]) / (1 - c.Beta1)
				was := p.Data[j]
				const step = 1.0 / 256
				p.Data[j] = was + step
				up := reference()
				p.Data[j] = was - step
				down := reference()
				p.Data[j] = was
				if want := (up - down) / (2 * step); !(math.Abs(got-want) <= 1e-3*(0.05+math.Abs(want))) {
					t.Errorf("gradient of %s[%d] is %g, difference quotient %g", p.Name, j, got, want)
				}
			}
		}
	}
}

func TestVAESizesOfThePaper(t *testing.T) {
	c := Default()
	n := newVAENetwork(c, DefaultVAE(), "paper", 41, rng.New(1, "paper"))
	count := func(k trunk) (weights int) {
		for i := range k.down {
			weights += len(k.down[i].W.Data) + len(k.up[i].W.Data)
		}
		return weights
	}
	// Wang et al. 2025, appendix, give 2.6 and 5.3 million.
	if e, d := count(n.encoder), count(n.decoder); e != 2_621_440 || d != 5_242_880 {
		t.Errorf("blocks of encoder and decoder have %d and %d weights", e, d)
	}
}

// Neither the slices of a fit nor the chunks of a generation change the result; a state that is
// saved in the middle goes on bit for bit.
func TestVAESlicesChunksAndSaves(t *testing.T) {
	rows, scores := randomRows(40)
	reload := func(v *VAE, real Rows) *VAE {
		var file bytes.Buffer
		if err := v.Save(&file); err != nil {
			t.Fatal(err)
		}
		e := newVAE(t, v.config, tinyShape)
		if err := e.Load(&file, real); err != nil {
			t.Fatal(err)
		}
		if file.Len() > 0 {
			t.Errorf("load left %d bytes", file.Len())
		}
		return e
	}
	for name, relevance := range map[string][]float32{"conditional": scores, "without scores": nil} {
		whole := newVAE(t, tiny(), tinyShape)
		startFit(t, whole, rows, relevance, tinyFit, 2)
		finishFit(t, whole, 20)
		other := tiny()
		other.Chunk = 5
		v := newVAE(t, other, tinyShape)
		startFit(t, v, rows, scores, tinyFit, 1)
		finishFit(t, v, 20)
		startFit(t, v, rows, relevance, tinyFit, 2)
		if _, _, err := v.FitSteps(9); err != nil {
			t.Fatal(err)
		}
		v = reload(v, rows)
		finishFit(t, v, 4)
		want := generateAll(t, whole, tinyGenerate, 3)
		if err := v.StartGenerate(tinyGenerate, 3); err != nil {
			t.Fatal(err)
		}
		got, done, total, err := v.GenerateSlice()
		if err != nil || done != 1 || total != 4 {
			t.Fatalf("chunk %d of %d: %v", done, total, err)
		}
		got = slices.Clone(got)
		got = append(got, finishGeneration(t, reload(v, nil))...)
		if !slices.Equal(got, want) {
			t.Errorf("%s: cut, saved and in other chunks the generation differs", name)
		}
		knobs := tinyGenerate
		knobs.TopFraction = 1
		if slices.Equal(generateAll(t, whole, knobs, 3), want) == (relevance != nil) {
			t.Errorf("%s: do prompts matter?", name)
		}
	}
}

// Transitions that are not finite are an error that says so, as of the diffusion model: a run goes on
// from it. Infinity is not clamped to the range of the data.
func TestVAETransitionsThatAreNotFinite(t *testing.T) {
	for _, normaliser := range []string{NormaliserStandard, NormaliserMinMax} {
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			c := tiny()
			c.Normaliser = normaliser
			v := newVAE(t, c, tinyShape)
			rows, scores := randomRows(40)
			startFit(t, v, rows, scores, tinyFit, 1)
			finishFit(t, v, 20)
			v.served.decoder.out.B.Data[2] = float32(bad)
			if err := v.StartGenerate(tinyGenerate, 1); err != nil {
				t.Fatal(err)
			}
			_, _, _, err := v.GenerateSlice()
			var where *plan.NotFinite
			if !errors.As(err, &where) || !strings.Contains(err.Error(), "transition 0") {
				t.Errorf("%s, a bias of %g: error %v", normaliser, bad, err)
			}
		}
	}
}

func TestVAEMisuseIsAnError(t *testing.T) {
	rows, scores := randomRows(10)
	c := tiny()
	c.Conditional = false
	v := newVAE(t, c, tinyShape)
	if err := v.StartFit(rows, scores, tinyFit, 1); err == nil {
		t.Error("scores for an unconditional network")
	}
	if err := v.StartGenerate(tinyGenerate, 1); err == nil {
		t.Error("a generation before a fit")
	}
	if _, _, err := v.FitSteps(1); err == nil {
		t.Error("steps of no fit")
	}
	startFit(t, v, rows, nil, tinyFit, 1)
	if err := v.StartFit(rows, nil, tinyFit, 2); err == nil {
		t.Error("two fits at once")
	}
	if err := v.Load(bytes.NewReader([]byte("something else, longer than any header could ever be ......................................................................................")), nil); err == nil {
		t.Error("a checkpoint of something else")
	}
	for _, change := range []func(*VAEConfig){
		func(s *VAEConfig) { s.Latent = 0 }, func(s *VAEConfig) { s.Beta = 0 }, func(s *VAEConfig) { s.DecoderBlocks = 0 },
	} {
		s := tinyVAE()
		change(&s)
		if _, err := NewVAE(c, s, tinyShape, newDevice(t), 1); err == nil {
			t.Errorf("%+v was accepted", s)
		}
	}
}

// The condition selects the mode, and without conditions the modes have their true shares: mode 1,
// a quarter of the data, has s above 1 nearly always.
func TestVAELearnsTheCondition(t *testing.T) {
	data := newMixture(4000, "train")
	share := func(samples [][]float32) (ones float64) {
		for _, p := range samples {
			if p[0] > 1 {
				ones += 1 / float64(len(samples))
			}
		}
		return ones
	}
	sizes := VAEConfig{Latent: 4, Width: 64, Bottleneck: 32, EncoderBlocks: 2, DecoderBlocks: 2, Beta: 0.01}
	v := sizedVAE(t, learner(NormaliserMinMax), sizes, planar)
	for _, c := range []struct {
		name     string
		scores   []float32
		fraction float64
		low, top float64
	}{
		{"prompts of mode 1", data.scores, 0.2, 0.8, 1},
		{"prompts of all", data.scores, 1, 0.15, 0.35},
		{"without scores", nil, 0.2, 0.15, 0.35},
	} {
		if c.fraction < 1 {
			startFit(t, v, data.rows, c.scores, FitKnobs{Steps: 600, LR: 4e-3}, 1)
			finishFit(t, v, 500)
		}
		samples := split(generateAll(t, v, GenKnobs{Samples: 1000, Steps: 2, Guidance: 1, TopFraction: c.fraction}, 1), planar.Width())
		got := share(samples)
		error := 0.0 // the error of s' = s + 0.3a, which holds to ±0.02
		for _, p := range samples {
			error += math.Abs(float64(p[3]-p[0]-0.3*p[1])) / 1000
		}
		t.Logf("%s: share of mode 1 is %.3f, mean error of s' %.3f", c.name, got, error)
		if got < c.low || got > c.top {
			t.Errorf("%s: share of mode 1 is %.3f, want %.2f to %.2f", c.name, got, c.low, c.top)
		}
		if !(error < 0.1) {
			t.Errorf("%s: s' is wrong by %.3f in the mean", c.name, error)
		}
	}
}
