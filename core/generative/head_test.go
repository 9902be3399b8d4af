package generative

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/nn"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/gradcheck"
)

var tinyHead = HeadConfig{Kind: HeadTransition, Width: 6, Layers: 2, Batch: 5, LR: 1e-2, Bounds: BoundsReal}

func newHeaded(t testing.TB, m Model, h HeadConfig, c Config, shape replay.Shape, turning ...int) *Headed {
	t.Helper()
	d, err := WithHeads(m, h, Deps{Config: c, Shape: shape, Turning: turning, Device: newDevice(t), Seed: 11})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.closeHeads)
	return d
}

func tinyHeaded(t testing.TB, change func(*Config)) *Headed {
	t.Helper()
	c := tiny()
	if change != nil {
		change(&c)
	}
	return newHeaded(t, newDiffusion(t, c, tinyShape), tinyHead, c, tinyShape, 1)
}

// plainMLP evaluates a network with SiLU in plain arithmetic.
func plainMLP(m nn.MLP, x vector) vector {
	for i, l := range m.Layers {
		if i > 0 {
			x = x.each(func(v float64) float64 { return v / (1 + math.Exp(-v)) })
		}
		x = linear(l, x)
	}
	return x
}

// plainHeads is the loss of both heads on rows, written out: the squared errors of standardised s'
// − s, predicted from s and a, and of (r, d), predicted from s, a and s', with the sine and cosine
// of the angle.
func plainHeads(d *Headed, rows [][]float32) (loss float64) {
	standard := func(x vector, s scaling) (out vector) {
		for j, v := range x {
			out = append(out, (v-s.mean[j])/s.scale[j])
		}
		return out
	}
	for _, row := range rows {
		s0, s1, a, r := float64(row[0]), float64(row[1]), float64(row[2]), float64(row[3])
		n0, n1, end := float64(row[4]), float64(row[5]), float64(row[6])
		before := vector{s0, math.Sin(s1), math.Cos(s1), a}
		inputs := []vector{before, append(slices.Clone(before), n0, math.Sin(n1), math.Cos(n1))}
		for i, want := range []vector{{n0 - s0, n1 - s1}, {r, end}} {
			h := d.heads[i]
			predicted := plainMLP(h.model, standard(inputs[i], h.reads))
			for j, v := range standard(want, h.writes) {
				loss += (predicted[j] - v) * (predicted[j] - v) / float64(len(rows)*len(want))
			}
		}
	}
	return loss
}

// Loss and gradient of the first step agree with plain arithmetic and its difference quotients; the
// first moment of Adam is a tenth of the gradient.
func TestHeadStepAgainstTheReference(t *testing.T) {
	d := tinyHeaded(t, func(c *Config) { c.ModelTerminals, c.ClipNorm = true, 0 })
	rows, scores := randomRows(30)
	d.config.LR = 1e-30
	startFit(t, d, rows, scores, tinyFit, 3)
	if _, _, err := d.FitSteps(1); err != nil {
		t.Fatal(err)
	}
	var batch [][]float32
	draw := d.stream.Sub("rows").At(occasion(3, 0))
	for range d.config.Batch {
		batch = append(batch, rows[draw.IntN(len(rows))])
	}
	reference := func() float64 { return plainHeads(d, batch) }
	near(t, "loss", d.step.Loss(), reference(), 1e-5*reference())
	for i, p := range d.params() {
		for j := range p.Data {
			got := float64(d.optimiser.M[i].Data[j]) / (1 - d.Model.(*Diffusion).config.Beta1)
			if want := gradcheck.Quotient(&p.Data[j], reference); !(math.Abs(got-want) <= 2e-3*(0.05+math.Abs(want))) {
				t.Errorf("gradient of %s[%d] is %g, difference quotient %g", p.Name, j, got, want)
			}
		}
	}
}

// Heads label what the generator made. s and a stay bit for bit; s' is predicted. The labels agree with plain arithmetic, and rewards stay within the real ones.
func TestHeadsLabelWhatIsGenerated(t *testing.T) {
	rows, scores := randomRows(60)
	for _, raw := range []bool{false, true} {
		c := tiny()
		c.ModelTerminals = true
		if raw {
			c.Terminals = TerminalsRaw
		}
		bare := newDiffusion(t, c, tinyShape)
		d := newHeaded(t, newDiffusion(t, c, tinyShape), tinyHead, c, tinyShape, 1)
		for _, g := range []fitted{bare, d} {
			startFit(t, g, rows, scores, tinyFit, 1)
			finishFit(t, g, 3)
		}
		knobs := tinyGenerate
		knobs.Samples = headRows + 44 // one whole piece and a part of another, in several chunks
		want, got := generateAll(t, bare, knobs, 1), generateAll(t, d, knobs, 1)
		width, least, most := tinyShape.Width(), float32(math.Inf(1)), float32(math.Inf(-1))
		for _, row := range rows {
			least, most = min(least, row[3]), max(most, row[3])
		}
		outcome := d.heads[len(d.heads)-1]
		for i := range knobs.Samples {
			w, g := want[i*width:(i+1)*width], got[i*width:(i+1)*width]
			if !slices.Equal(w[:3], g[:3]) || slices.Equal(w[4:6], g[4:6]) {
				t.Fatalf("transition %d is %v, the generator's %v", i, g, w)
			}
			x := make([]float64, outcome.in)
			outcome.read(x, g)
			for j := range x {
				x[j] = (x[j] - outcome.served[0].mean[j]) / outcome.served[0].scale[j]
			}
			y := plainMLP(outcome.serving, x)
			r := min(max(outcome.served[1].mean[0]+outcome.served[1].scale[0]*y[0], float64(least)), float64(most))
			near(t, "reward", float64(g[3]), r, 1e-4)
			end := outcome.served[1].mean[1] + outcome.served[1].scale[1]*y[1]
			if raw {
				near(t, "end", float64(g[6]), end, 1e-4)
			} else if g[6] != 0 && g[6] != 1 || math.Abs(end-0.5) > 1e-3 && (g[6] == 1) != (end > 0.5) {
				t.Errorf("end %v of %v", g[6], end)
			}
		}
	}
}

// A sharp reward and a dynamics with an angle are learned within a second: on unseen transitions,
// at any number of turns, the heads are far better than the best constant.
func TestHeadsLearn(t *testing.T) {
	shape := replay.Shape{Obs: 2, Act: 1}
	q := rng.New(3, "turns").At(0)
	make1 := func(turns float64) []float32 {
		theta, speed, act := 2*math.Pi*(q.Float64()+turns), q.Norm(), 2*q.Float64()-1
		next, reward := speed+0.3*math.Sin(theta)+0.2*act, 0.0
		if math.Cos(theta+0.1*next) > 0.8 {
			reward = 1
		}
		return []float32{float32(theta), float32(speed), float32(act), float32(reward), float32(theta + 0.1*next), float32(next), 0}
	}
	var rows table
	for range 4000 {
		rows = append(rows, make1(math.Floor(20*q.Float64())))
	}
	c := tiny()
	d := newHeaded(t, newDiffusion(t, c, shape), HeadConfig{Kind: HeadTransition, Width: 32, Layers: 2, Batch: 128, LR: 1e-2}, c, shape, 0)
	startFit(t, d, rows, nil, FitKnobs{Steps: 1500, LR: 1e-3}, 1)
	finishFit(t, d, 100)
	for _, turns := range []float64{3, 500} {
		var change, reward, spread, sum float64
		for range 500 {
			row := make1(turns)
			made := slices.Clone(row)
			made[3], made[4], made[5] = 9, 9, 9
			if err := d.label(made); err != nil {
				t.Fatal(err)
			}
			change += math.Pow(float64(made[5]-row[5]), 2)
			spread += math.Pow(float64(row[5]-row[1]), 2)
			reward += math.Pow(float64(made[3]-row[3]), 2)
			sum += float64(row[3])
		}
		constant := sum * (1 - sum/500)
		if !(change < 0.02*spread && reward < 0.2*constant) {
			t.Errorf("at %g turns: error of s' over that of no change %.4f, of r over the best constant's %.4f", turns, change/spread, reward/constant)
		}
	}
}

// Constant outcomes are predicted exactly, and values that are not finite are an error.
func TestHeadsOfConstants(t *testing.T) {
	rows, _ := randomRows(20)
	for _, row := range rows {
		row[3], row[4] = 7, row[0]+0.25
	}
	d := tinyHeaded(t, nil)
	startFit(t, d, rows, nil, tinyFit, 1)
	finishFit(t, d, 20)
	most := float32(math.Inf(-1))
	for _, row := range rows {
		most = max(most, row[4])
	}
	for row := range slices.Chunk(generateAll(t, d, tinyGenerate, 1), tinyShape.Width()) {
		if row[3] != 7 || !(math.Abs(float64(row[4]-min(row[0]+0.25, most))) <= 1e-6) {
			t.Errorf("%v", row)
		}
	}
	rows[5][4] = float32(math.NaN())
	if err := d.start(rows, tinyFit, 2); err == nil || !strings.Contains(err.Error(), "not finite") {
		t.Errorf("%v", err)
	}
	if err := d.StartFit(rows, nil, tinyFit, 2); err == nil || d.fit != nil || d.Model.(*Diffusion).fit != nil {
		t.Errorf("a fit to what is not finite: %v", err)
	}
}

// impatient has weights, and ends its fit with the first slice.
type impatient struct{ weightless }

func (impatient) Parameters() int { return 1 }

// Heads make all of their steps, however early the generator ends its own.
func TestHeadsOfAFitThatEndsEarly(t *testing.T) {
	rows, scores := randomRows(40)
	whole := tinyHeaded(t, nil)
	startFit(t, whole, rows, scores, tinyFit, 1)
	finishFit(t, whole, 20)
	early := newHeaded(t, impatient{weightless{newResample(t, 100), 8}}, tinyHead, tiny(), tinyShape, 1)
	startFit(t, early, rows, scores, tinyFit, 1)
	if _, done, err := early.FitSteps(3); err != nil || !done {
		t.Fatalf("done: %v, %v", done, err)
	}
	for i, h := range early.heads {
		if !slices.Equal(numbers(h.serving.Params()), numbers(whole.heads[i].serving.Params())) {
			t.Errorf("head %d serves after three steps", i)
		}
	}
}

// A headed generator goes on bit for bit, however it is sliced, saved and loaded. What it serves
// stays the same until the next fit is complete.
func TestHeadsSavedHalfway(t *testing.T) {
	rows, scores := randomRows(40)
	again := func(d *Headed) *Headed {
		var b bytes.Buffer
		if err := d.Save(&b); err != nil {
			t.Fatal(err)
		}
		other := tinyHeaded(t, nil)
		if err := other.Load(&b, rows); err != nil || b.Len() != 0 {
			t.Fatalf("%v, %d bytes left", err, b.Len())
		}
		return other
	}
	whole := tinyHeaded(t, nil)
	startFit(t, whole, rows, scores, tinyFit, 1)
	finishFit(t, whole, 20)
	first := generateAll(t, whole, tinyGenerate, 1)
	startFit(t, whole, rows, scores, tinyFit, 2)
	finishFit(t, whole, 20)
	second := generateAll(t, whole, tinyGenerate, 2)

	cut := tinyHeaded(t, nil)
	startFit(t, cut, rows, scores, tinyFit, 1)
	for range 20 {
		cut = again(cut)
		if _, _, err := cut.FitSteps(1); err != nil {
			t.Fatal(err)
		}
	}
	if got := generateAll(t, again(cut), tinyGenerate, 1); !slices.Equal(got, first) {
		t.Error("a fit that was cut makes other transitions")
	}
	startFit(t, cut, rows, scores, tinyFit, 2)
	if _, _, err := cut.FitSteps(7); err != nil {
		t.Fatal(err)
	}
	cut = again(cut)
	cut.Cancel()
	if got := generateAll(t, again(cut), tinyGenerate, 1); !slices.Equal(got, first) {
		t.Error("an abandoned fit shows in what is served")
	}
	startFit(t, cut, rows, scores, tinyFit, 2)
	finishFit(t, cut, 3)
	if err := cut.StartGenerate(tinyGenerate, 2); err != nil {
		t.Fatal(err)
	}
	var got []float32
	for done, total := 0, 1; done < total; {
		cut = again(cut)
		made, d, n, err := cut.GenerateSlice()
		if err != nil {
			t.Fatal(err)
		}
		got, done, total = append(got, made...), d, n
	}
	if !slices.Equal(got, second) {
		t.Error("a generation that was cut makes other transitions")
	}
	var b bytes.Buffer
	if err := cut.Model.Save(&b); err != nil {
		t.Fatal(err)
	}
	if err := tinyHeaded(t, nil).Load(&b, rows); err == nil {
		t.Error("a checkpoint without heads was taken for one")
	}
}

// A refit starts from the served heads if the generator starts from its served weights, and
// sketches leave no trace.
func TestHeadsStartAndAreSketched(t *testing.T) {
	rows, scores := randomRows(40)
	for _, init := range []string{InitScratch, InitPrevious} {
		d := tinyHeaded(t, func(c *Config) { c.Init = init })
		startFit(t, d, rows, scores, tinyFit, 1)
		finishFit(t, d, 20)
		served := numbers(d.heads[0].serving.Params())
		startFit(t, d, rows, scores, tinyFit, 2)
		if got := slices.Equal(numbers(d.heads[0].model.Params()), served); got != (init == InitPrevious) {
			t.Errorf("init %s: starts from the served heads: %v", init, got)
		}
	}
	sketchesLeaveNoTrace(t, rows, scores, tinyGenerate, func() fitted { return tinyHeaded(t, nil) })
}

// A vector of s and a leaves everything else to heads: the generator does not model it, and labels
// do not depend on the values that were in its place.
func TestPairsOfStateAndAction(t *testing.T) {
	rows, scores := randomRows(40)
	for _, normaliser := range []string{NormaliserMinMax, NormaliserStandard} {
		c := turned(tiny())
		c.Vector, c.Normaliser, c.ModelTerminals = VectorPair, normaliser, true
		bare := newDiffusion(t, c, tinyShape)
		d := newHeaded(t, newDiffusion(t, c, tinyShape), tinyHead, c, tinyShape)
		autoencoder := newVAE(t, c, tinyShape)
		for _, g := range []fitted{bare, d, autoencoder} {
			startFit(t, g, rows, scores, tinyFit, 1)
			finishFit(t, g, 20)
		}
		if bare.layout.width() != 3 || len(bare.serving.normaliser.centre) != 3 || bare.model.Head.W.Shape[1] != 3 {
			t.Errorf("the vector has %d dimensions", bare.layout.width())
		}
		want, got := generateAll(t, bare, tinyGenerate, 1), generateAll(t, d, tinyGenerate, 1)
		other := generateAll(t, autoencoder, tinyGenerate, 1)
		for i := range tinyGenerate.Samples {
			w, g := want[i*7:i*7+7], got[i*7:i*7+7]
			if !slices.Equal(w[:3], g[:3]) || !slices.Equal(w[3:], make([]float32, 4)) || !slices.Equal(other[i*7+3:i*7+7], make([]float32, 4)) {
				t.Errorf("without heads %v, with %v, of an autoencoder %v", w, g, other[i*7:i*7+7])
			}
			if g[3] == 0 || g[4] == 0 || g[6] != 0 && g[6] != 1 {
				t.Errorf("labelled %v", g)
			}
		}
	}
}

// A variational autoencoder can have heads, too.
func TestHeadsOnAVAE(t *testing.T) {
	rows, scores := randomRows(40)
	bare, d := newVAE(t, tiny(), tinyShape), newHeaded(t, newVAE(t, tiny(), tinyShape), tinyHead, tiny(), tinyShape)
	for _, g := range []fitted{bare, d} {
		startFit(t, g, rows, scores, tinyFit, 1)
		finishFit(t, g, 20)
	}
	want, got := generateAll(t, bare, tinyGenerate, 1), generateAll(t, d, tinyGenerate, 1)
	for i := range tinyGenerate.Samples {
		w, g := want[i*7:], got[i*7:]
		if !slices.Equal(w[:3], g[:3]) || slices.Equal(w[3:6], g[3:6]) {
			t.Errorf("transition %d is %v, the autoencoder's %v", i, g[:7], w[:7])
		}
	}
	if d.Parameters() <= bare.Parameters() {
		t.Errorf("%d weights with heads, %d without", d.Parameters(), bare.Parameters())
	}
}

func TestHeadConfigIsChecked(t *testing.T) {
	for _, c := range []struct {
		h    HeadConfig
		want string
	}{
		{HeadConfig{Kind: "both"}, "head.kind"},
		{HeadConfig{Kind: HeadTransition, Width: -1}, "head.width is -1"},
		{HeadConfig{Kind: HeadTransition, LR: -1}, "head.lr"},
		{HeadConfig{Kind: HeadTransition, Layers: -1}, "head.layers"},
		{HeadConfig{Kind: HeadTransition, Bounds: "tight"}, `head.bounds is "tight"`},
	} {
		if err := c.h.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.h, err)
		}
	}
	for _, h := range []HeadConfig{{}, {Kind: HeadNone, Width: -5}, {Kind: HeadTransition, Width: 4}} {
		if err := h.Validate(); err != nil {
			t.Errorf("%+v: %v", h, err)
		}
	}
	c := tiny()
	if c.Vector, c.Normaliser, c.SkipReward = VectorPair, NormaliserStandard, true; c.Validate() == nil {
		t.Error("a reward that is not in the vector is skipped")
	}
	c = tiny()
	if c.Angles = "degrees"; c.Validate() == nil {
		t.Error("angles of another kind")
	}
	if c = tiny(); c.Validate() != nil {
		t.Error(c.Validate())
	}
	if c.Vector = "triple"; c.Validate() == nil {
		t.Error("a vector of another kind")
	}
	if (HeadConfig{}).Enabled() || (HeadConfig{Kind: HeadNone}).Enabled() || (HeadConfig{}).Memory(3, 1) != 0 {
		t.Error("no heads are heads")
	}
	if _, err := WithHeads(newDiffusion(t, tiny(), tinyShape), tinyHead, Deps{Config: tiny(), Shape: tinyShape, Turning: []int{2}, Device: newDevice(t), Seed: 1}); err == nil || !strings.Contains(err.Error(), "angle") {
		t.Errorf("a coordinate that is none: %v", err)
	}
}
