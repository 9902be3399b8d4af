package dynamics

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/golden"
)

func newEnsemble(t testing.TB, c Config) *Ensemble {
	t.Helper()
	e, err := New("ensemble", c, cputest.New(t, cpu.Options{Threads: 1}), rng.New(3, "dynamics"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// recordedSizes are those of a file; an outcome is [r, s'−s].
type recordedSizes struct{ Nets, Elites, Obs, Act, Hidden, Batch int }

func (s recordedSizes) config(layers int) Config {
	return Config{In: s.Obs + s.Act, Out: s.Obs + 1, Members: s.Nets, Elites: s.Elites, Width: s.Hidden, Layers: layers, Batch: s.Batch, Patience: 5}
}

// recorded are the parameters of a network, as a file names them.
type recorded map[string]golden.Array

// layers is the number of hidden layers.
func (r recorded) layers() int { return (len(r)-2)/2 - 1 }

// tensors are the tensors of e under those names.
func tensors(e *Ensemble) map[string]*op.Tensor {
	all := map[string]*op.Tensor{"max_logvar": e.model.max, "min_logvar": e.model.min}
	for i, l := range e.model.mlp.Layers {
		all[fmt.Sprintf("nn%d.weight", i+1)], all[fmt.Sprintf("nn%d.bias", i+1)] = l.W, l.B
	}
	return all
}

func (r recorded) set(t *testing.T, e *Ensemble) {
	t.Helper()
	for name, tensor := range tensors(e) {
		if len(r[name].Data) != len(tensor.Data) {
			t.Fatalf("%s has %d numbers, recorded are %v", name, len(tensor.Data), r[name].Shape)
		}
		copy(tensor.Data, r[name].Float32())
	}
	if err := plan.Push(e.device, e.model.params()...); err != nil {
		t.Fatal(err)
	}
}

func (r recorded) compare(t *testing.T, what string, e *Ensemble, share float64) {
	t.Helper()
	if err := plan.Fetch(e.device, e.model.params()...); err != nil {
		t.Fatal(err)
	}
	for name, tensor := range tensors(e) {
		r[name].Close(t, what+" "+name, tensor.Data, share)
	}
}

// batch writes a batch of fewer rows than a full one, or of as many, and steps.
func (e *Ensemble) batch(t *testing.T, x, y golden.Array) (loss float64) {
	t.Helper()
	rows := x.Shape[1]
	weights := e.program.Data(e.weights)
	for i := range weights {
		weights[i] = 0
		if i < rows {
			weights[i] = 1 / float32(rows)
		}
	}
	for k, into := range [][]float32{e.program.Data(e.x), e.program.Data(e.y)} {
		from, width := []golden.Array{x, y}[k].Float32(), []int{e.config.In, e.config.Out}[k]
		for member := range e.config.Members {
			copy(into[member*e.config.Batch*width:(member+1)*e.config.Batch*width], from[member*rows*width:(member+1)*rows*width])
		}
	}
	if err := e.program.RunAll(); err != nil {
		t.Fatal(err)
	}
	return e.program.Loss()
}

// decayed is the part of the recorded losses that the optimiser stands for, Σ c·½‖W‖².
func (e *Ensemble) decayed() (sum float64) {
	for i, t := range e.model.params() {
		for _, w := range t.Data {
			sum += e.optimiser.L2[i] / 2 * float64(w) * float64(w)
		}
	}
	return sum
}

// bounded is the part of the losses that draws the bounds of log-variances together.
func (e *Ensemble) bounded() (sum float64) {
	for i, v := range e.model.max.Data {
		sum += 0.01 * (float64(v) - float64(e.model.min.Data[i]))
	}
	return sum
}

// missed is the mean squared error of each member on rows of its own.
func (e *Ensemble) missed(t *testing.T, x, y golden.Array) (all []float32) {
	t.Helper()
	rows := x.Shape[1]
	own := func(a golden.Array, member int) [][]float32 {
		per := len(a.Data) / x.Shape[0]
		return rowsOf(golden.Array{Shape: []int{rows, per / rows}, Data: a.Data[member*per:][:per]})
	}
	for member := range x.Shape[0] {
		f := &fit{data: pairs{own(x, member), own(y, member)}, scales: [2]Scale{unscaled(e.config.In), unscaled(e.config.Out)}}
		for i := range rows {
			f.held = append(f.held, int32(i))
		}
		errors, err := e.errors(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, float32(errors[member]))
	}
	return all
}

// moment is the first moment of a tensor's gradient.
func (e *Ensemble) moment(of *op.Tensor) []float32 {
	return e.optimiser.M[slices.Index(e.optimiser.Params, of)].Data // this device has no memory of its own
}

// Forward values, losses and two steps of Adam, the second on fewer rows, are those that were recorded,
// and so are all gradients. The recorded ones are of the second step: its backward pass overwrote those
// of the first in place.
func TestGoldenEnsembleStep(t *testing.T) {
	var file struct {
		Sizes recordedSizes
		Step  struct {
			Params, Grads recorded
			ParamsAfter   recorded `json:"params_after"`
			X, Y          golden.Array
			Mean, Logvar  golden.Array
			NLL           float64 `json:"nll"`
			Decay         float64
			Total         float64 `json:"total"`
			MSE           golden.Array
			Adam          struct {
				LR, Eps float64
				Betas   []float64
			}
		}
		Second struct {
			X, Y        golden.Array
			Total       float64
			ParamsAfter recorded `json:"params_after"`
		} `json:"second_step_on_fewer_rows"`
	}
	golden.Recorded(t, "mbpo.json", &file)
	e := newEnsemble(t, file.Sizes.config(file.Step.Params.layers()))
	file.Step.Params.set(t, e)

	var mean, logVariance, x *op.Node
	g, err := op.Build("forward", func(g *op.Graph) {
		x = g.Input("x", file.Step.X.Shape...)
		mean, logVariance = e.model.apply(g, x)
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Compile(g, plan.Spec{Outputs: []*op.Node{mean, logVariance}}, e.device)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	copy(p.Data(x), file.Step.X.Float32())
	if err := p.Run(0); err != nil {
		t.Fatal(err)
	}
	file.Step.Mean.Close(t, "mean", p.Data(mean), 1e-5)
	file.Step.Logvar.Close(t, "log-variance", p.Data(logVariance), 1e-5)

	file.Step.MSE.Close(t, "squared errors", e.missed(t, file.Step.X, file.Step.Y), 1e-5)

	if a, o := file.Step.Adam, e.optimiser; !slices.Equal(a.Betas, []float64{o.Beta1, o.Beta2}) || a.Eps != o.Eps {
		t.Errorf("Adam has %v, %v and %v, want %v and %v", o.Beta1, o.Beta2, o.Eps, a.Betas, a.Eps)
	}
	e.rate.Data[0] = float32(file.Step.Adam.LR)
	decayed, bounds := e.decayed(), e.bounded()
	golden.Near(t, "decay", decayed, file.Step.Decay, 1e-5)
	loss := e.batch(t, file.Step.X, file.Step.Y)
	golden.Near(t, "likelihood", loss-bounds, file.Step.NLL, 1e-5)
	golden.Near(t, "loss", loss+decayed, file.Step.Total, 1e-5)
	first := map[string][]float32{}
	for name, tensor := range tensors(e) {
		first[name] = slices.Clone(e.moment(tensor))
	}
	file.Step.ParamsAfter.compare(t, "after a step,", e, 1e-5)
	decayed = e.decayed()
	golden.Near(t, "loss on fewer rows", e.batch(t, file.Second.X, file.Second.Y)+decayed, file.Second.Total, 1e-4)
	file.Second.ParamsAfter.compare(t, "after a step on fewer rows,", e, 2e-5)
	for name, was := range first {
		m, gradient := e.moment(tensors(e)[name]), make([]float32, len(was))
		for i, v := range m {
			gradient[i] = float32((float64(v) - plan.DefaultAdam.Beta1*float64(was[i])) / (1 - plan.DefaultAdam.Beta1))
		}
		file.Step.Grads[name].Close(t, "gradient of "+name, gradient, 1e-4)
	}
}

// pairs are rows of inputs and outcomes.
type pairs struct{ x, y [][]float32 }

func (p pairs) Len() int                                       { return len(p.x) }
func (p pairs) Learn(_ Place, rows []int32, in, out []float32) { p.Pairs(rows, in, out) }

func (p pairs) Pairs(rows []int32, in, out []float32) {
	for k, i := range rows {
		copy(in[k*len(p.x[i]):], p.x[i])
		copy(out[k*len(p.y[i]):], p.y[i])
	}
}

func rowsOf(a golden.Array) (rows [][]float32) {
	flat := a.Float32()
	for len(flat) > 0 {
		rows, flat = append(rows, flat[:a.Shape[1]]), flat[a.Shape[1]:]
	}
	return rows
}

// given are the orders of a file.
type given struct {
	permutation []int
	order       []golden.Array
}

func (g given) split(n int) (all []int32) {
	for _, i := range g.permutation[:n] {
		all = append(all, int32(i))
	}
	return all
}

func (g given) rows(dst []int32, member, epoch, n int) {
	for i, row := range g.order[epoch].Ints()[member*n : (member+1)*n] {
		dst[i] = int32(row)
	}
}

// A whole refit has the losses and the held-out errors of each epoch, stops at the same one, and ends with
// the same snapshots and elites.
func TestGoldenRefit(t *testing.T) {
	var file struct {
		Sizes struct {
			recordedSizes
			LR      float64
			HeldOut float64 `json:"holdout_ratio"`
		}
		X, Y, Permutation golden.Array
		Mean, Std         golden.Array
		Order             []golden.Array
		Epochs            []struct {
			Holdout  golden.Array
			First    float64 `json:"first_total"`
			Last     float64 `json:"last_total"`
			Improved []bool
			Since    int `json:"epochs_since_update"`
			Stop     bool
		}
		Snapshots map[string]struct {
			Epoch int
			MSE   float64
		}
		Params   recorded
		After    recorded `json:"params_after_restore"`
		Elites   []int
		Restored golden.Array `json:"holdout_after_restore"`
		OfElites float64      `json:"val_loss"`
	}
	golden.Recorded(t, "mbpo_refit.json", &file)
	e := newEnsemble(t, file.Sizes.config(file.Params.layers()))
	file.Params.set(t, e)
	data := pairs{rowsOf(file.X), rowsOf(file.Y)}
	err := e.startFit(data, Fit{Steps: 1e6, Rate: file.Sizes.LR, Refit: 1}, given{file.Permutation.Ints(), file.Order})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range e.fit.scales[0].Mean {
		golden.Near(t, "mean", v, file.Mean.Data[i], 1e-6)
		golden.Near(t, "deviation", e.fit.scales[0].Deviation[i], file.Std.Data[i], 1e-6)
	}
	per, snapshots := e.fit.batches(file.Sizes.Batch), make([]int, file.Sizes.Nets)
	golden.Near(t, "held-out share", heldOutShare, file.Sizes.HeldOut, 0)
	for epoch, want := range file.Epochs {
		f := e.fit
		if f == nil {
			t.Fatalf("the fit ended before epoch %d", epoch)
		}
		best, done := slices.Clone(f.best), false
		for at := range per {
			decayed := e.decayed()
			loss, ended, err := e.FitSteps(1)
			if err != nil {
				t.Fatal(err)
			}
			if total, is := map[int]float64{0: want.First, per - 1: want.Last}[at]; is {
				golden.Near(t, fmt.Sprintf("loss %d of epoch %d", at, epoch), loss+decayed, total, 1e-4*float64(1+epoch))
			}
			done = ended
		}
		for member, v := range f.latest {
			golden.Near(t, fmt.Sprintf("held-out error of member %d in epoch %d", member, epoch), v, want.Holdout.Data[member], 1e-4*float64(1+epoch))
			improved := f.best[member] != best[member]
			if improved != want.Improved[member] {
				t.Errorf("epoch %d: that member %d has improved is %t", epoch, member, improved)
			}
			if improved {
				snapshots[member] = epoch
			}
		}
		if f.since != want.Since || done != want.Stop {
			t.Errorf("epoch %d: %d epochs without improvement, and it is the last one: %t; want %d and %t", epoch, f.since, done, want.Since, want.Stop)
		}
	}
	for member, epoch := range snapshots {
		want := file.Snapshots[fmt.Sprint(member)]
		if epoch != want.Epoch {
			t.Errorf("member %d is that of epoch %d, want %d", member, epoch, want.Epoch)
		}
		golden.Near(t, fmt.Sprint("error of snapshot ", member), e.serving.Errors[member], want.MSE, 1e-4)
	}
	if e.fit != nil {
		t.Fatalf("the fit goes on after %d epochs", len(file.Epochs))
	}
	if !slices.Equal(e.serving.Elites, file.Elites) {
		t.Errorf("elites %v, want %v", e.serving.Elites, file.Elites)
	}
	for member, v := range e.serving.Errors {
		golden.Near(t, "error after the fit", v, file.Restored.Data[member], 1e-4)
	}
	ofElites := 0.0
	for _, member := range e.serving.Elites {
		ofElites += e.serving.Errors[member] / float64(len(e.serving.Elites))
	}
	golden.Near(t, "error of the elites", ofElites, file.OfElites, 1e-4)
	file.After.compare(t, "after the fit,", e, 1e-3)
}

// A step of a rollout has the recorded outcomes, means and deviations.
func TestGoldenSample(t *testing.T) {
	var file struct {
		Sizes   recordedSizes
		Params  recorded `json:"rollout_params"`
		Rollout struct {
			Mean, Std, Obs, Act, Next, Reward golden.Array
			Net                               golden.Array `json:"net_of_row"`
			Noise                             golden.Array `json:"noise_of_net_row_output"`
			Chosen                            golden.Array `json:"mean_chosen"` // [r, whether it ends, s']
			Deviation                         golden.Array `json:"std_chosen"`
		}
	}
	golden.Recorded(t, "mbpo.json", &file)
	c := file.Sizes.config(file.Params.layers())
	c.Elites = c.Members // the file names a row's net, whichever serve
	e := newEnsemble(t, c)
	file.Params.set(t, e)
	if err := plan.Copy(e.device, e.served.params(), e.model.params()); err != nil {
		t.Fatal(err)
	}
	r := file.Rollout
	e.serving = &Serving{Inputs: Scale{r.Mean.Data, r.Std.Data}, Outcomes: unscaled(c.Out), Elites: []int{0, 1, 2}}
	rows, obs := r.Obs.Shape[0], r.Obs.Float32()
	in, noise, which := make([]float32, rows*c.In), make([]float32, rows*c.Out), make([]int8, rows)
	for i := range rows {
		copy(in[i*c.In:], obs[i*file.Sizes.Obs:(i+1)*file.Sizes.Obs])
		copy(in[i*c.In+file.Sizes.Obs:], r.Act.Float32()[i*file.Sizes.Act:(i+1)*file.Sizes.Act])
		net := r.Net.Ints()[i]
		which[i] = int8(net)
		copy(noise[i*c.Out:(i+1)*c.Out], r.Noise.Float32()[(net*rows+i)*c.Out:])
	}
	out := make([]float32, rows*c.Out)
	if err := e.Sample(out, in, noise, which); err != nil {
		t.Fatal(err)
	}
	var reward, next []float32
	for i := range rows {
		reward = append(reward, out[i*c.Out])
		for j := range file.Sizes.Obs {
			next = append(next, obs[i*file.Sizes.Obs+j]+out[i*c.Out+1+j])
		}
	}
	r.Reward.Close(t, "reward", reward, 1e-5)
	r.Next.Close(t, "next", next, 1e-5)

	means, variances := make([]float32, c.Elites*len(out)), make([]float32, c.Elites*len(out))
	if err := e.Predict(means, variances, in, rows); err != nil {
		t.Fatal(err)
	}
	width := r.Chosen.Shape[1]
	for i := range rows {
		from := (int(which[i])*rows + i) * c.Out
		for k := range c.Out {
			at, mean := i*width, float64(means[from+k])
			if k > 0 {
				at += k + 1
				mean += float64(obs[i*file.Sizes.Obs+k-1])
			}
			golden.Near(t, fmt.Sprintf("mean %d of row %d", k, i), mean, r.Chosen.Data[at], 1e-5)
			golden.Near(t, fmt.Sprintf("deviation %d of row %d", k, i), math.Sqrt(float64(variances[from+k])), r.Deviation.Data[at], 1e-5)
		}
	}
}

// Means and deviations of columns, one of them constant.
func TestGoldenScale(t *testing.T) {
	var file struct {
		Normalisation struct{ Data, Mean, Std, Out golden.Array }
	}
	golden.Recorded(t, "mbpo.json", &file)
	n := file.Normalisation
	data := pairs{x: rowsOf(n.Data), y: make([][]float32, n.Data.Shape[0])}
	all := make([]int32, data.Len())
	for i := range all {
		all[i] = int32(i)
	}
	scales, err := measure(data, 0, 8, all, n.Data.Shape[1], 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []float32
	for _, row := range data.x {
		dst := make([]float32, len(row))
		scales[0].standardise(dst, row)
		out = append(out, dst...)
	}
	if len(n.Mean.Data) != len(data.x[0]) || len(n.Std.Data) != len(data.x[0]) {
		t.Fatalf("recorded are %d means and %d deviations of %d columns", len(n.Mean.Data), len(n.Std.Data), len(data.x[0]))
	}
	for j, want := range n.Std.Data {
		golden.Near(t, fmt.Sprint("mean of column ", j), scales[0].Mean[j], n.Mean.Data[j], 1e-6)
		if got := scales[0].Deviation[j]; !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("deviation of column %d is %v, want %v", j, got, want)
		}
	}
	n.Out.Close(t, "standardised", out, 1e-5)
}

// Inputs and changes of the state are standardised as MAX's own program has it, and its networks get
// numbers of the same scale.
func TestGoldenNormaliserOfMAX(t *testing.T) {
	var file struct {
		Sizes         struct{ State, Action int }
		Normalisation struct {
			Rows       golden.Array `json:"rows_s_a_delta"`
			StateMean  golden.Array `json:"state_mean"`
			StateStd   golden.Array `json:"state_std"`
			ActionMean golden.Array `json:"action_mean"`
			ActionStd  golden.Array `json:"action_std"`
			ChangeMean golden.Array `json:"delta_mean"`
			ChangeStd  golden.Array `json:"delta_std"`
		}
	}
	golden.Recorded(t, "max.json", &file)
	n, in := file.Normalisation, file.Sizes.State+file.Sizes.Action
	var data pairs
	var all []int32
	for row := range slices.Chunk(n.Rows.Float32(), in+file.Sizes.State) {
		data.x, data.y, all = append(data.x, row[:in]), append(data.y, row[in:]), append(all, int32(len(all)))
	}
	of, err := measure(data, 0, 8, all, in, file.Sizes.State)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		got  []float64
		want []float64
	}{
		"mean of inputs":       {of[0].Mean, slices.Concat(n.StateMean.Data, n.ActionMean.Data)},
		"deviation of inputs":  {of[0].Deviation, slices.Concat(n.StateStd.Data, n.ActionStd.Data)},
		"mean of changes":      {of[1].Mean, n.ChangeMean.Data},
		"deviation of changes": {of[1].Deviation, n.ChangeStd.Data},
	} {
		for j, want := range c.want {
			golden.Near(t, fmt.Sprintf("%s %d", what, j), c.got[j], want, 1e-6)
		}
		if len(c.got) != len(c.want) || len(c.want) == 0 {
			t.Errorf("%s: %d numbers, want %d", what, len(c.got), len(c.want))
		}
	}
}
