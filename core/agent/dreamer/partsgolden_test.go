package dreamer

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/golden"
)

// recordedParts is testdata/dreamer_parts.json: parts of danijar/dreamerv3 @e3f0224, each with numbers of its own,
// computed by its own code in float64. Of its two-hot distribution, its samples of latents and its optimiser,
// package plan has the rest.
type recordedParts struct {
	Symlog struct {
		X, Symlog, Y, Symexp golden.Array
		Back                 golden.Array `json:"symexp_of_symlog"`
	}
	TwoHot struct{ Bins golden.Array }
	Core   struct {
		Sizes             struct{ Deter, Hidden, Stoch, Classes, Blocks, Action, Batch int }
		Params, DParams   map[string]golden.Array
		Deter, Stoch      golden.Array
		Action, Cotangent golden.Array
		Next              golden.Array `json:"deter_next"`
		DDeter, DStoch    golden.Array
		Prior             golden.Array `json:"prior_logits_of_deter"`
	}
	KL struct {
		Post, Prior, Dyn, Rep, DPost, DPrior golden.Array
		Unimix                               float64
		Total                                float64 `json:"total_value"`
	}
	Normal struct {
		MeanIn    golden.Array `json:"mean_in"`
		StdIn     golden.Array `json:"std_in"`
		Action    golden.Array
		Mean, Std golden.Array
		LogP      golden.Array `json:"logp"`
		Entropy   golden.Array
		DMean     golden.Array `json:"dmean_in"`
		DStd      golden.Array `json:"dstd_in"`
	} `json:"bounded_normal"`
	Continue struct{ Logit, Target, Loss, DLogit, Prob golden.Array }
	Lambda   struct {
		Rew, Boot, Last, Term, Con, Replay, Imagined golden.Array
	} `json:"lambda_return"`
	Scale struct {
		Rate, Limit float64
		Updates     []struct {
			X                              golden.Array
			P5, P95, Lo, Hi, Scale, Offset float64
		}
	} `json:"return_scale"`
}

func readParts(t *testing.T) (r recordedParts) {
	t.Helper()
	golden.Recorded(t, "dreamer_parts.json", &r)
	return r
}

// bound is a tensor with recorded numbers, as many rows as they have first.
func bound(name string, a golden.Array) *op.Tensor {
	x := op.NewTensor(name, a.Shape[0], len(a.Data)/a.Shape[0])
	copy(x.Data, a.Float32())
	return x
}

// once compiles a program and runs it.
func once(t *testing.T, build func(g *op.Graph) plan.Spec) *plan.Program {
	t.Helper()
	p, err := plan.Build("part", cputest.New(t, cpu.Options{Threads: 1, LeastShare: 1}), build)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	if err := p.Run(0); err != nil {
		t.Fatal(err)
	}
	return p
}

// slope compares a gradient of a program with a recorded one.
func slope(t *testing.T, p *plan.Program, of *op.Tensor, want golden.Array) {
	t.Helper()
	got, err := p.Gradient(of)
	if err != nil {
		t.Fatal(err)
	}
	want.Close(t, "gradient of "+of.Name, got, 1e-4)
}

// TestGoldenSymlog compares single numbers, and the bins, each to a share of itself.
func TestGoldenSymlog(t *testing.T) {
	r := readParts(t)
	near := func(what string, got float32, want float64) {
		t.Helper()
		if !(math.Abs(float64(got)-want) <= 1e-6*math.Abs(want)) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	transformed := make([]float32, len(r.Symlog.X.Data))
	symlog(transformed, r.Symlog.X.Float32())
	for i, x := range r.Symlog.X.Data {
		near(fmt.Sprint("symlog of ", x), transformed[i], r.Symlog.Symlog.Data[i])
		near(fmt.Sprint("its symexp, of ", x), float32(symexp(r.Symlog.Symlog.Data[i])), r.Symlog.Back.Data[i])
	}
	for i, y := range r.Symlog.Y.Data {
		near(fmt.Sprint("symexp of ", y), float32(symexp(y)), r.Symlog.Symexp.Data[i])
	}
	bins := newBins(len(r.TwoHot.Bins.Data)).Data
	for i, want := range r.TwoHot.Bins.Data {
		near(fmt.Sprint("bin ", i), bins[i], want)
	}
}

// TestGoldenCore holds a step of the recurrent model to the original, with its gradients, and the prior.
func TestGoldenCore(t *testing.T) {
	r := readParts(t).Core
	c, z := small(), r.Sizes
	c.Deter, c.Hidden, c.Stoch, c.Classes, c.Blocks, c.Shape.Act = z.Deter, z.Hidden, z.Stoch, z.Classes, z.Blocks, z.Action
	n := newNetworks(c, rng.New(1, "core"))
	names := n.names()
	for name, a := range r.Params {
		if names[name] == nil || len(names[name].Data) != len(a.Data) {
			t.Fatalf("%s %v is missing", name, a.Shape)
		}
		copy(names[name].Data, a.Float32())
	}
	deter, stoch := bound("deter", r.Deter), bound("stoch", r.Stoch)
	all := []*op.Tensor{deter, stoch}
	for name := range r.DParams {
		all = append(all, names[name])
	}
	var next, prior *op.Node
	p := once(t, func(g *op.Graph) plan.Spec {
		next = n.step(g, g.Bind(deter), g.Bind(stoch), n.embed(g, g.Bind(bound("action", r.Action))))
		prior = n.prior.apply(g, g.Bind(bound("of the prior", r.Deter)))
		return plan.Spec{Loss: g.Sum(g.Mul(next, g.Bind(bound("cotangent", r.Cotangent))), 1), Outputs: []*op.Node{next, prior}, Gradients: all}
	})
	r.Next.Close(t, "next deter", p.Data(next), 1e-5)
	r.Prior.Close(t, "prior", p.Data(prior), 1e-5)
	slope(t, p, deter, r.DDeter)
	slope(t, p, stoch, r.DStoch)
	for name, want := range r.DParams {
		slope(t, p, names[name], want)
	}
	if want := len(n.recurrent()) - len(n.posterior.params()) + len(n.ofAction.params()); len(r.DParams) != want {
		t.Errorf("the gradients of %d parameters are recorded, want %d", len(r.DParams), want)
	}
}

// TestGoldenDivergence holds the losses between posteriors and priors to the original: below one nat exactly 1, with
// no gradient at all.
func TestGoldenDivergence(t *testing.T) {
	r := readParts(t).KL
	c := small()
	c.Stoch, c.Classes = r.Post.Shape[1], r.Post.Shape[2]
	n := newNetworks(c, rng.New(1, "kl"))
	post, prior := bound("post", r.Post), bound("prior", r.Prior)
	var dyn, rep *op.Node
	p := once(t, func(g *op.Graph) plan.Spec {
		p, q := n.chances(g, g.Bind(post)), n.chances(g, g.Bind(prior))
		dyn, rep = divergence(g, g.StopGradient(p), q), divergence(g, p, g.StopGradient(q))
		return plan.Spec{Loss: g.AddScalars(g.Sum(dyn, 1), g.Scale(g.Sum(rep, 1), repScale)), Outputs: []*op.Node{dyn, rep}, Gradients: []*op.Tensor{post, prior}}
	})
	r.Dyn.Close(t, "dyn", p.Data(dyn), 1e-5)
	r.Rep.Close(t, "rep", p.Data(rep), 1e-5)
	golden.Near(t, "loss", p.Loss(), r.Total, 1e-5)
	golden.Near(t, "share of a uniform distribution", unimix, r.Unimix, 0)
	slope(t, p, post, r.DPost)
	slope(t, p, prior, r.DPrior)
	free := 0
	for row, want := range r.Dyn.Data {
		if want != freeNats {
			continue
		}
		free++
		of, err := p.Gradient(prior)
		if width := len(of) / len(r.Dyn.Data); err != nil || p.Data(dyn)[row] != freeNats || slices.ContainsFunc(of[row*width:][:width], func(v float32) bool { return v != 0 }) {
			t.Errorf("row %d: loss %v, gradient %v; %v", row, p.Data(dyn)[row], of, err)
		}
	}
	if free == 0 || free == len(r.Dyn.Data) {
		t.Errorf("%d of %d rows are below one nat", free, len(r.Dyn.Data))
	}
}

// TestGoldenNormal holds the policy's distribution to the original: its bounds, log density and entropy.
func TestGoldenNormal(t *testing.T) {
	r := readParts(t).Normal
	mean, deviation := bound("mean", r.MeanIn), bound("deviation", r.StdIn)
	var m, s, logp, chance *op.Node
	p := once(t, func(g *op.Graph) plan.Spec {
		m, s = boundedMean(g, g.Bind(mean)), boundedDeviation(g, g.Bind(deviation))
		logp, chance = logProbability(g, g.Bind(bound("action", r.Action)), m, s), entropy(g, s)
		loss := g.Add(g.Scale(g.Sum(logp, 1), 1.5), g.Scale(g.Sum(chance, 1), 0.3)) // as the file has it
		return plan.Spec{Loss: loss, Outputs: []*op.Node{m, s, logp, chance}, Gradients: []*op.Tensor{mean, deviation}}
	})
	r.Mean.Close(t, "mean", p.Data(m), 1e-5)
	r.Std.Close(t, "deviation", p.Data(s), 1e-5)
	r.LogP.Close(t, "log density", p.Data(logp), 1e-5)
	r.Entropy.Close(t, "entropy", p.Data(chance), 1e-5)
	slope(t, p, mean, r.DMean)
	slope(t, p, deviation, r.DStd)
}

// TestGoldenContinue holds the loss of whether an episode goes on to the original, row by row.
func TestGoldenContinue(t *testing.T) {
	r := readParts(t).Continue
	rows := len(r.Logit.Data)
	logit, weight := bound("logit", r.Logit), op.NewTensor("weight", rows, 1)
	var chance *op.Node
	p := once(t, func(g *op.Graph) plan.Spec {
		z := g.Bind(logit)
		chance = g.Sigmoid(z)
		return plan.Spec{Loss: g.BCE(z, g.Bind(bound("target", r.Target)), 1, g.Bind(weight)), Outputs: []*op.Node{chance}, Gradients: []*op.Tensor{logit}}
	})
	r.Prob.Close(t, "chance", p.Data(chance), 1e-5)
	for i, want := range r.Loss.Data {
		clear(weight.Data)
		weight.Data[i] = 1
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		golden.Near(t, fmt.Sprint("loss of row ", i), p.Loss(), want, 1e-5)
	}
	for i := range weight.Data {
		weight.Data[i] = 1
	}
	if err := p.Run(0); err != nil {
		t.Fatal(err)
	}
	slope(t, p, logit, r.DLogit)
}

// TestGoldenReturns holds the returns of what was imagined, and those along replayed looks, to the original.
func TestGoldenReturns(t *testing.T) {
	r := readParts(t).Lambda
	rows, steps := r.Rew.Shape[0], r.Rew.Shape[1]
	at := func(a golden.Array, row, step int) float64 { return a.Data[row*steps+step] }
	c := Config{Settings: DefaultSettings, Shape: replay.Shape{Obs: 1, Act: 1}, Copies: 1}
	c.Sequences, c.Length, c.Imagine = rows, 1, steps-1
	b, got := newBatch(c), []float32{}
	for i := range b.imagined {
		for row := range rows {
			b.imagined[i].reward[row], b.imagined[i].continues[row], b.imagined[i].value[row] = float32(at(r.Rew, row, i)), float32(at(r.Con, row, i)), float32(at(r.Boot, row, i))
		}
	}
	b.judge(c, span{})
	for row := range rows {
		for i := range steps - 1 {
			got = append(got, b.ret[i*rows+row])
		}
	}
	r.Imagined.Close(t, "imagined return", got, 1e-5)

	c.Length, c.Imagine = steps, 1
	b, got = newBatch(c), nil
	for i := range steps {
		for row := range rows {
			of := i*rows + row
			b.reward[of], b.ret[of] = float32(at(r.Rew, row, i)), float32(at(r.Boot, row, i))
			b.last[of], b.terminal[of] = at(r.Last, row, i) == 1, at(r.Term, row, i) == 1
		}
	}
	b.alongReplay(c)
	for row := range rows {
		got = append(got, bySequence(b.replayed, c)[row*steps:][:steps-1]...)
	}
	r.Replay.Close(t, "return along the replayed looks", got, 1e-5)
	if !slices.Contains(b.terminal, true) || slices.Equal(b.last, b.terminal) {
		t.Errorf("episodes end at %v, by themselves at %v", b.last, b.terminal)
	}
}

// TestGoldenReturnScale moves the range of returns by the recorded ones.
func TestGoldenReturnScale(t *testing.T) {
	r := readParts(t).Scale
	var now span
	for i, u := range r.Updates {
		c := Config{Settings: DefaultSettings, Shape: replay.Shape{Obs: 1, Act: 1}, Copies: 1}
		c.Sequences, c.Length, c.Imagine = len(u.X.Data), 1, 1
		b := newBatch(c)
		copy(b.imagined[1].reward, u.X.Float32()) // nothing continues there: that is the return
		now = b.judge(c, now)
		for what, of := range map[string][2]float64{
			"percentile 5": {percentile(b.sorted, lowest), u.P5}, "percentile 95": {percentile(b.sorted, highest), u.P95},
			"low": {now.Low, u.Lo}, "high": {now.High, u.Hi}, "scale": {now.scale(), u.Scale}, "offset": {now.Low, u.Offset},
		} {
			golden.Near(t, fmt.Sprintf("update %d: %s", i, what), of[0], of[1], 1e-6)
		}
	}
	golden.Near(t, "rate", moveRange, r.Rate, 0)
	golden.Near(t, "least scale", span{}.scale(), r.Limit, 0)
	if now.scale() == r.Limit {
		t.Error("the scale never leaves its least value")
	}
}
