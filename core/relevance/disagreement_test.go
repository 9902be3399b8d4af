package relevance

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/testing/golden"
)

func smallDisagreement() DisagreementConfig {
	return DisagreementConfig{Members: 3, Hidden: 8, Batch: 8, LR: 1e-2}
}

// The divergence in closed form is that of MAX's own program, by both of its formulas, which agrees with draws
// of the mixture; of equal Gaussians it is 0, and at most it is ln N. So it is with variances that were brought
// nearer to each other.
func TestGoldenJensenRenyi(t *testing.T) {
	var file struct {
		JensenRenyi struct {
			Most  map[string]float64 `json:"log_E"`
			Cases []struct {
				Name            string
				Mean            golden.Array
				Variance        golden.Array `json:"var"`
				JRD             float64      `json:"jrd"`
				Slowly          float64      `json:"jrd_by_the_slow_formula"`
				Compressed      float64      `json:"jrd_decay_0_1"`
				MonteCarlo      float64      `json:"monte_carlo,omitempty"` // null where it cannot be drawn
				MonteCarloError float64      `json:"monte_carlo_error,omitempty"`
			}
		} `json:"jensen_renyi"`
	}
	golden.Recorded(t, "../../dynamics/testdata/max.json", &file)
	for _, c := range file.JensenRenyi.Cases {
		n, floor := c.Mean.Shape[0], newFloor(c.Mean.Shape[1])
		got := divergence(t, c.Mean, c.Variance, func(_ *op.Graph, v *op.Node) *op.Node { return v })
		of := divergence(t, c.Mean, c.Variance, func(g *op.Graph, v *op.Node) *op.Node { return compressed(g, v, floor) })
		golden.Near(t, c.Name, got, c.JRD, 1e-5)
		golden.Near(t, c.Name+", slowly", got, c.Slowly, 1e-5)
		golden.Near(t, c.Name+", of compressed variances", of, c.Compressed, 1e-5)
		if most, is := file.JensenRenyi.Most[fmt.Sprint(n)]; !is || got > most+1e-5*(1+most) {
			t.Errorf("%s: %v, more than %v", c.Name, got, most)
		}
		if c.MonteCarloError > 0 && !(math.Abs(got-c.MonteCarlo) <= 5*c.MonteCarloError+1e-4) {
			t.Errorf("%s: %v, by sampling %v ± %v", c.Name, got, c.MonteCarlo, c.MonteCarloError)
		}
	}
}

// divergence is that of recorded Gaussians, [N,D] each, with what is made of their variances.
func divergence(t *testing.T, mean, variance golden.Array, made func(g *op.Graph, variance *op.Node) *op.Node) float64 {
	t.Helper()
	n, d := mean.Shape[0], mean.Shape[1]
	row := func(g *op.Graph, name string, of golden.Array, i int) *op.Node {
		tensor := op.NewTensor(fmt.Sprintf("%s %d of %d", name, i, n), 1, d)
		copy(tensor.Data, of.Float32()[i*d:(i+1)*d])
		return g.Bind(tensor)
	}
	var out *op.Node
	p, err := plan.Build("divergence", newDevice(t), func(g *op.Graph) plan.Spec {
		var means, variances []*op.Node
		for i := range n {
			means, variances = append(means, row(g, "mean", mean, i)), append(variances, made(g, row(g, "variance", variance, i)))
		}
		out = jensenRenyi(g, means, variances)
		return plan.Spec{Outputs: []*op.Node{out}}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Run(0); err != nil {
		t.Fatal(err)
	}
	return float64(p.Data(out)[0])
}

// The models agree where they have learned, and disagree elsewhere; before they have learned anything
// they disagree as much on both. F never exceeds ln N.
func TestDisagreementFallsOnWhatIsKnown(t *testing.T) {
	c := DefaultDisagreement()
	c.Hidden, c.Batch, c.Members = 32, 128, 4
	m, err := NewDisagreement(c, plane, newDevice(t), 5)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	seen, novel := replay.NewBatch(plane, 512), replay.NewBatch(plane, 512)
	transitions(seen, true, "seen", 0)
	transitions(novel, false, "novel", 0)
	mean := func(b *replay.Batch) (mean float64) {
		scores := make([]float32, b.Size)
		if err := m.Score(scores, b, b.Size); err != nil {
			t.Fatal(err)
		}
		for _, f := range scores {
			if mean += float64(f) / float64(b.Size); float64(f) > math.Log(4)+1e-5 {
				t.Fatalf("F is %v, more than ln 4", f)
			}
		}
		return mean
	}
	first, last := 0.0, 0.0
	for update := range 600 {
		transitions(m.Batch(), true, "train", uint64(update))
		loss, err := m.Train()
		if err != nil {
			t.Fatal(err)
		}
		if update == 20 {
			first = loss
		}
		last = loss
	}
	t.Logf("F of what is known %.5f, of the rest %.5f; loss %.3f, %.3f", mean(seen), mean(novel), first, last)
	if known, unknown := mean(seen), mean(novel); unknown < 10*known || last > first-1 {
		t.Errorf("F of what is known %.5f, of the rest %.5f; loss %.3f, then %.3f", known, unknown, first, last)
	}
}

// Settings that mean nothing are refused.
func TestDisagreementSettings(t *testing.T) {
	for want, change := range map[string]func(*DisagreementConfig){
		"members is 1": func(c *DisagreementConfig) { c.Members = 1 }, "hidden is 0": func(c *DisagreementConfig) { c.Hidden = 0 },
		"batch 0": func(c *DisagreementConfig) { c.Batch = 0 }, "lr is 0": func(c *DisagreementConfig) { c.LR = 0 },
	} {
		c := smallDisagreement()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The likelihood, its gradients and the first step are those of MAX's own networks, whose loss is the mean
// over networks too. That program clips the values of gradients, which changes none of their signs, and
// Adam's first step shows nothing else.
func TestGoldenDisagreementStep(t *testing.T) {
	var file struct {
		Sizes         struct{ Nets, State, Action, Hidden, Batch int }
		Normalisation struct {
			StateMean  golden.Array `json:"state_mean"`
			StateStd   golden.Array `json:"state_std"`
			ActionMean golden.Array `json:"action_mean"`
			ActionStd  golden.Array `json:"action_std"`
			ChangeMean golden.Array `json:"delta_mean"`
			ChangeStd  golden.Array `json:"delta_std"`
		}
		Step struct {
			Params, Grads        map[string]golden.Array
			After                map[string]golden.Array `json:"params_after"`
			State, Action, Delta golden.Array
			Mean                 golden.Array `json:"mean_normalised"`
			Variance             golden.Array `json:"var_normalised"`
			Loss                 float64
		}
		Batch struct {
			Decay   float64
			Highest float64 `json:"max_log_var"`
		} `json:"utility_of_batch"`
	}
	golden.Recorded(t, "../../dynamics/testdata/max.json", &file)
	z, s, n := file.Sizes, file.Step, file.Normalisation
	rows := z.Nets * z.Batch // each network has rows of its own
	m, err := NewDisagreement(DisagreementConfig{Members: z.Nets, Hidden: z.Hidden, Batch: rows, LR: 1e-3}, replay.Shape{Obs: z.State, Act: z.Action}, newDevice(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	tensors := map[string]*op.Tensor{}
	for i, l := range m.net.Layers {
		tensors[fmt.Sprintf("layers.%d.weights", i)], tensors[fmt.Sprintf("layers.%d.biases", i)] = l.W, l.B
	}
	for name, tensor := range tensors {
		if n := len(tensor.Data); len(s.Params[name].Data) != n || len(s.After[name].Data) != n {
			t.Fatalf("%s has %d numbers, recorded are %d, and %d after the step", name, n, len(s.Params[name].Data), len(s.After[name].Data))
		}
		copy(tensor.Data, s.Params[name].Float32())
	}
	if err := plan.Push(m.device, m.net.Params()...); err != nil {
		t.Fatal(err)
	}
	x, y, weights := m.step.Data(m.x), m.step.Data(m.y), m.step.Data(m.weights)
	standard := func(to []float32, row, first, width int, of, mean, std golden.Array) {
		for j, v := range of.Data[row*len(mean.Data) : (row+1)*len(mean.Data)] {
			to[row*width+first+j] = float32((v - mean.Data[j]) / std.Data[j])
		}
	}
	for row := range rows {
		standard(x, row, 0, z.State+z.Action, s.State, n.StateMean, n.StateStd)
		standard(x, row, z.State, z.State+z.Action, s.Action, n.ActionMean, n.ActionStd)
		standard(y, row, 0, z.State, s.Delta, n.ChangeMean, n.ChangeStd)
		for net := range z.Nets {
			if weights[net*rows+row] = 0; row/z.Batch == net {
				weights[net*rows+row] = 1 / float32(z.Batch)
			}
		}
	}
	if got := float64(newFloor(1).Data[0]); varianceShare != file.Batch.Decay || !(math.Abs(got-(1-file.Batch.Decay)*math.Exp(file.Batch.Highest)) <= 1e-6) {
		t.Errorf("variances keep a share of %v above %v, want %v of what they have below e^%v", varianceShare, got, file.Batch.Decay, file.Batch.Highest)
	}
	m.predicts(t, x, s.Mean, s.Variance)
	m.prepare = nil // the inputs are there
	loss, err := m.trainer.Train()
	if err != nil {
		t.Fatal(err)
	}
	golden.Near(t, "loss", loss/float64(z.Nets), s.Loss, 1e-5)
	for name, tensor := range tensors {
		at := slices.Index(m.optimiser.Params, tensor)
		gradient := slices.Clone(m.optimiser.M[at].Data)
		for i := range gradient {
			gradient[i] *= 10 / float32(z.Nets) // the first moment is a tenth of it
		}
		s.Grads[name].Close(t, "gradient of "+name, gradient, 1e-4)
		for i, v := range s.After[name].Data {
			before := s.Params[name].Data[i]
			if step := float64(tensor.Data[i]) - before; !(math.Abs(step-(v-before)) <= 1e-5) {
				t.Errorf("%s[%d] moves by %v, want %v", name, i, step, v-before)
			}
		}
	}
}

// predicts compares what each network predicts of rows of its own, which follow one another in x, with recorded
// means and variances, [N,B,O].
func (m *Disagreement) predicts(t *testing.T, x []float32, means, variances golden.Array) {
	t.Helper()
	nets, batch, o := means.Shape[0], means.Shape[1], means.Shape[2]
	in := op.NewTensor("rows", nets*batch, len(x)/nets/batch)
	copy(in.Data, x)
	var mean, variance *op.Node
	p, err := plan.Build("predictions", m.device, func(g *op.Graph) plan.Spec {
		of, logVariance := m.split(g, m.net.Apply(g, g.Bind(in)))
		mean, variance = of, g.Exp(logVariance)
		return plan.Spec{Outputs: []*op.Node{mean, variance}}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Run(0); err != nil {
		t.Fatal(err)
	}
	own := func(of *op.Node) (all []float32) {
		for net := range nets {
			all = append(all, p.Data(of)[(net*nets*batch+net*batch)*o:][:batch*o]...)
		}
		return all
	}
	means.Close(t, "means", own(mean), 1e-5)
	variances.Close(t, "variances", own(variance), 1e-5)
}
