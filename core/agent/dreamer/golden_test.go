package dreamer

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device/cpu"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/golden"
)

// recorded is testdata/dreamer_agent.json: one loss of a small agent, computed by danijar/dreamerv3 @e3f0224
// (dreamerv3/agent.py, Agent.loss, and everything below it) in float64.
type recorded struct {
	Sizes struct {
		B, T                                                                int
		Obs                                                                 map[string]int
		Action, Imagine, Bins, Deter, Hidden, Stoch, Classes, Blocks, Units int
	}
	served
	Params, Slow  map[string]golden.Array
	RetnormBefore struct{ Lo, Hi float64 } `json:"retnorm_before"`
	Tokens, Deter golden.Array
	PostLogits    golden.Array `json:"post_logits"`
	PriorLogits   golden.Array `json:"prior_logits"`
	Decoder       map[string]golden.Array
	Reward        golden.Array `json:"reward_pred"`
	Continue      golden.Array `json:"continue_prob"`
	Value         golden.Array `json:"value_pred"`
	SlowValue     golden.Array `json:"slow_pred"`
	Losses        map[string]golden.Array
	Total         float64
	Replay        map[string]golden.Array
	RetnormAfter  struct{ Lo, Hi, Scale float64 } `json:"retnorm_after"`
	ByModule      map[string]map[string]float64   `json:"gradient_norm_of_mean_loss_by_module"`
}

// served is what an update reads: a batch, and what was drawn.
type served struct {
	Batch      map[string]golden.Array
	PrevAct    golden.Array `json:"prevact"`
	Carry      map[string]golden.Array
	StochIndex golden.Array            `json:"stoch_index"`
	Imagined   map[string]golden.Array // eps, stoch_index; of a recorded update also what it computed
}

// names are what the original calls a tensor of ours.
func (n *networks) names() map[string]*op.Tensor {
	all := map[string]*op.Tensor{}
	layer := func(name, norm string, l layer) {
		all[name+"/kernel"], all[name+"/bias"], all[norm+"/scale"] = l.linear.W, l.linear.B, l.norm.Gamma
	}
	head := func(name, out string, h head) {
		for i, l := range h.stack {
			layer(fmt.Sprintf("%s/mlp/linear%d", name, i), fmt.Sprintf("%s/mlp/norm%d", name, i), l)
		}
		all[name+out+"/kernel"], all[name+out+"/bias"] = h.out.W, h.out.B
	}
	for i, l := range n.encoder {
		layer(fmt.Sprintf("enc/mlp%d", i), fmt.Sprintf("enc/mlp%dnorm", i), l)
	}
	for i, l := range []struct {
		name string
		stack
	}{{"dynin0", stack{n.ofDeter}}, {"dynin1", stack{n.ofStoch}}, {"dynin2", stack{n.ofAction}}, {"obs0", n.posterior.stack}} {
		_ = i
		layer("dyn/"+l.name, "dyn/"+l.name+"norm", l.stack[0])
	}
	for i, l := range n.prior.stack {
		layer(fmt.Sprintf("dyn/prior%d", i), fmt.Sprintf("dyn/prior%dnorm", i), l)
	}
	all["dyn/obslogit/kernel"], all["dyn/obslogit/bias"] = n.posterior.out.W, n.posterior.out.B
	all["dyn/priorlogit/kernel"], all["dyn/priorlogit/bias"] = n.prior.out.W, n.prior.out.B
	all["dyn/dynhid0/kernel"], all["dyn/dynhid0/bias"], all["dyn/dynhid0norm/scale"] = n.hidden.W, n.hidden.B, n.hiddenNorm.Gamma
	all["dyn/dyngru/kernel"], all["dyn/dyngru/bias"] = n.gates.W, n.gates.B
	head("dec", "", n.decoder)
	delete(all, "dec/kernel")
	delete(all, "dec/bias")
	all["dec/vec/obs/pred/kernel"], all["dec/vec/obs/pred/bias"] = n.decoder.out.W, n.decoder.out.B
	head("rew", "/head/logits", n.reward)
	head("con", "/head/logit", n.continuation)
	head("val", "/head/logits", n.value)
	for i, l := range n.policy {
		layer(fmt.Sprintf("pol/mlp/linear%d", i), fmt.Sprintf("pol/mlp/norm%d", i), l)
	}
	all["pol/head/action/mean/kernel"], all["pol/head/action/mean/bias"] = n.mean.W, n.mean.B
	all["pol/head/action/stddev/kernel"], all["pol/head/action/stddev/bias"] = n.deviation.W, n.deviation.B
	return all
}

// followers are what the original calls a tensor of the slow critic.
func (n *networks) followers() map[string]*op.Tensor {
	all, value := map[string]*op.Tensor{}, n.value.params()
	for name, p := range n.names() {
		if at := slices.Index(value, p); at >= 0 {
			all["slow"+name] = n.slow.params()[at]
		}
	}
	return all
}

// names are what the original calls the losses, without their weights.
func (l *losses) names() map[string]float64 {
	return map[string]float64{
		"obs": l.model.Observation, "rew": l.model.Reward, "con": l.model.Continue, "dyn": l.model.Dynamics, "rep": l.model.Representation,
		"policy": l.policy, "value": l.value, "repval": l.replayed / repValue,
	}
}

// load returns the recorded agent and its batch.
func load(t *testing.T) (*Agent, *recorded) {
	t.Helper()
	r := new(recorded)
	golden.Recorded(t, "dreamer_agent.json", r)
	z := r.Sizes
	s := DefaultSettings
	s.Deter, s.Hidden, s.Stoch, s.Classes, s.Blocks, s.Units, s.Bins = z.Deter, z.Hidden, z.Stoch, z.Classes, z.Blocks, z.Units, z.Bins
	s.Sequences, s.Length, s.Imagine, s.TrainRatio = z.B, z.T, z.Imagine, z.B*z.T
	obs := 0
	for _, n := range z.Obs {
		obs += n
	}
	dev := cputest.New(t, cpu.Options{Threads: 1})
	x, err := New(Config{Settings: s, Shape: replay.Shape{Obs: obs, Act: z.Action}, Copies: 1}, nil, dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	names := x.nets.names()
	if len(names) != len(r.Params) {
		t.Errorf("%d tensors, recorded are %d", len(names), len(r.Params))
	}
	for name, a := range r.Params {
		if names[name] == nil || len(names[name].Data) != len(a.Data) {
			t.Fatalf("%s %v is missing", name, a.Shape)
		}
		copy(names[name].Data, a.Float32())
	}
	for name, p := range x.nets.followers() {
		if len(p.Data) != len(r.Slow[name].Data) {
			t.Fatalf("%s %v is missing", name, p.Shape)
		}
		copy(p.Data, r.Slow[name].Float32())
	}
	none := func(*op.Node, rng.Stream, *plan.Items, plan.Dist) []plan.Fill { return nil }
	if err := x.prepare(none); err != nil {
		t.Fatal(err)
	}
	r.fill(x)
	x.take(&agent.Work{Rates: DefaultRates})
	x.returns = span{r.RetnormBefore.Lo, r.RetnormBefore.Hi}
	return x, r
}

// fill writes the recorded batch.
func (r *served) fill(x *Agent) {
	b, c := x.batch, x.config
	at := func(a golden.Array, row, t int) []float32 { // of [B,T,…]
		width := len(a.Data) / c.rows()
		return a.Float32()[(row*c.Length+t)*width:][:width]
	}
	for row := range c.Sequences {
		copy(b.deter[row*c.Deter:], r.Carry["deter"].Float32()[row*c.Deter:][:c.Deter])
		copy(b.stoch[row*c.groups():], r.Carry["stoch"].Float32()[row*c.groups():][:c.groups()])
		for t := range c.Length {
			i := t*c.Sequences + row
			symlog(b.obs[i*c.Shape.Obs:], at(r.Batch["obs"], row, t))
			b.first[i], b.last[i], b.terminal[i] = at(r.Batch["is_first"], row, t)[0] == 1, at(r.Batch["is_last"], row, t)[0] == 1, at(r.Batch["is_terminal"], row, t)[0] == 1
			b.reward[i], b.continues[i] = at(r.Batch["reward"], row, t)[0], 1-1.0/horizon
			if b.terminal[i] {
				b.continues[i] = 0
			}
			clear(b.action[i*c.Shape.Act:][:c.Shape.Act])
			if !b.first[i] {
				for j, v := range at(r.PrevAct, row, t) {
					b.action[i*c.Shape.Act+j] = max(-1, min(1, v))
				}
			}
		}
	}
}

// bySequence returns a column [T,N,·] as [N,T,·].
func bySequence(column []float32, c Config) []float32 {
	width, out := len(column)/c.rows(), make([]float32, 0, len(column))
	for row := range c.Sequences {
		for t := range c.Length {
			out = append(out, column[(t*c.Sequences+row)*width:][:width]...)
		}
	}
	return out
}

// choose writes the classes that were drawn, of a row.
func choose(dst []float32, index []float64, classes int) {
	clear(dst)
	for g, k := range index {
		dst[g*classes+int(k)] = 1
	}
}

// run makes an update until its gradients are complete, with what was drawn there.
func (r *served) run(t *testing.T, x *Agent) {
	t.Helper()
	c, b, z := x.config, x.batch, x.config.groups()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(x.clearSums())
	must(x.encode(0))
	for at := range c.Length {
		must(x.observeAt(at))
		for row := range c.Sequences {
			choose(b.stoch[((at+1)*c.Sequences+row)*z:][:z], r.StochIndex.Data[(row*c.Length+at)*c.Stoch:][:c.Stoch], c.Classes)
		}
	}
	must(x.model(0))
	must(x.decode(0))
	for step := range c.Imagine + 1 {
		for at := range c.rows() {
			row := at%c.Sequences*c.Length + at/c.Sequences
			copy(x.programs.imagine.eps[at*c.Shape.Act:], r.Imagined["eps"].Float32()[(row*(c.Imagine+1)+step)*c.Shape.Act:][:c.Shape.Act])
		}
		must(x.imagine(step))
		for at := range c.rows() {
			row := at%c.Sequences*c.Length + at/c.Sequences
			if step < c.Imagine {
				choose(b.imagined[step+1].stoch[at*z:][:z], r.Imagined["stoch_index"].Data[(row*c.Imagine+step)*c.Stoch:][:c.Stoch], c.Classes)
			}
		}
	}
	must(x.judge(0))
	for step := range c.Imagine {
		must(x.behave(step))
	}
	must(x.replayed(0))
	for at := c.Length - 1; at >= 0; at-- {
		must(x.backAt(at))
	}
	must(x.senses(0))
}

// column returns what step i of recorded imagined rows [R,steps,·] holds.
func column(a golden.Array, rows, i int) (out golden.Array) {
	steps := a.Shape[1]
	width := len(a.Data) / rows / steps
	for row := range rows {
		out.Data = append(out.Data, a.Data[(row*steps+i)*width:][:width]...)
	}
	return out
}

// average is the mean of recorded numbers.
func average(a golden.Array) (m float64) {
	for _, v := range a.Data {
		m += v / float64(len(a.Data))
	}
	return m
}

// TestGoldenUpdate holds all that an update computes to the recorded numbers.
func TestGoldenUpdate(t *testing.T) {
	x, r := load(t)
	r.run(t, x)
	c, b := x.config, x.batch
	const near = 1e-5
	r.Tokens.Close(t, "tokens", bySequence(b.tokens, c), near)
	r.Deter.Close(t, "deter", bySequence(b.imagined[0].deter, c), near)
	r.PostLogits.Close(t, "posterior", bySequence(b.logits, c), near)
	for i, s := range b.imagined {
		for name, got := range map[string][]float32{"reward": s.reward, "cont": s.continues, "value": s.value, "slow": s.slow, "weight": s.weight} {
			column(r.Imagined[name], c.rows(), i).Close(t, fmt.Sprintf("%s of imagined step %d", name, i), bySequence(got, c), near)
		}
		if i < c.Imagine {
			column(r.Imagined["actions"], c.rows(), i).Close(t, fmt.Sprint("action ", i), bySequence(s.action, c), near)
			column(r.Imagined["deter"], c.rows(), i).Close(t, fmt.Sprint("imagined deter ", i), bySequence(b.imagined[i+1].deter, c), near)
			column(r.Imagined["ret"], c.rows(), i).Close(t, fmt.Sprint("return ", i), bySequence(b.ret[i*c.rows():][:c.rows()], c), near)
		}
	}
	first := b.imagined[0]
	for name, of := range map[string]struct {
		want golden.Array
		got  []float32
	}{"reward": {r.Reward, first.reward}, "chance to go on": {r.Continue, first.continues}, "value": {r.Value, first.value}, "slow value": {r.SlowValue, first.slow}} {
		of.want.Close(t, name+" of replayed looks", bySequence(of.got, c), near)
	}
	var replayed []float32
	for row := range c.Sequences {
		replayed = append(replayed, bySequence(b.replayed, c)[row*c.Length:][:c.Length-1]...)
	}
	r.Replay["ret"].Close(t, "replayed return", replayed, near)
	for name, got := range x.now.losses.names() {
		golden.Near(t, "loss "+name, got, average(r.Losses[name]), near)
	}
	is := &x.now.losses
	for name, of := range map[string][2]float64{
		"policy, by imagined steps": {is.policy, average(r.Imagined["policy_loss"])}, "value, by imagined steps": {is.value, average(r.Imagined["value_loss"])},
		"replayed value": {is.replayed, repValue * average(r.Replay["repval"])},
		"all together":   {is.model.Observation + is.model.Reward + is.model.Continue + is.model.Dynamics + repScale*is.model.Representation + is.policy + is.value + is.replayed, r.Total},
	} {
		golden.Near(t, "loss, "+name, of[0], of[1], near)
	}
	golden.Near(t, "range, low", x.now.span.Low, r.RetnormAfter.Lo, near)
	golden.Near(t, "range, high", x.now.span.High, r.RetnormAfter.Hi, near)
	golden.Near(t, "scale", x.now.span.scale(), r.RetnormAfter.Scale, near)
}

// TestGoldenHeads holds what an update computes and does not keep to the recorded numbers: the prior, decoded
// observations, and the policy's distribution at what was imagined.
func TestGoldenHeads(t *testing.T) {
	x, r := load(t)
	r.run(t, x)
	c, b, n := x.config, x.batch, x.nets
	for step := range c.Imagine {
		s := &b.imagined[step]
		var mean, deviation, logp, chance, prior, decoded *op.Node
		p := once(t, func(g *op.Graph) plan.Spec {
			columns := map[string]*op.Node{}
			for name, of := range map[string][]float32{"deter": s.deter, "stoch": s.stoch, "action": s.action} {
				tensor := op.NewTensor(name, c.rows(), len(of)/c.rows())
				copy(tensor.Data, of)
				columns[name] = g.Bind(tensor)
			}
			mean, deviation = n.actor(g, g.Concat(columns["deter"], columns["stoch"]))
			logp, chance = logProbability(g, columns["action"], mean, deviation), entropy(g, deviation)
			prior, decoded = n.prior.apply(g, columns["deter"]), n.decode(g, columns["deter"], columns["stoch"])
			return plan.Spec{Outputs: []*op.Node{mean, deviation, logp, chance, prior, decoded}}
		})
		for name, got := range map[string]*op.Node{"policy_mean": mean, "policy_std": deviation, "logp": logp, "entropy": chance} {
			column(r.Imagined[name], c.rows(), step).Close(t, fmt.Sprintf("%s of imagined step %d", name, step), bySequence(p.Data(got), c), 1e-5)
		}
		if step == 0 { // of the replayed looks
			r.PriorLogits.Close(t, "prior", bySequence(p.Data(prior), c), 1e-5)
			r.Decoder["obs"].Close(t, "decoded observations", bySequence(p.Data(decoded), c), 1e-5)
		}
	}
}

// TestGoldenGradients holds the gradient of each parameter to the recorded one.
func TestGoldenGradients(t *testing.T) {
	x, r := load(t)
	r.run(t, x)
	var of struct{ Gradients map[string]golden.Array }
	golden.Recorded(t, "dreamer_agent_gradients.json", &of)
	names := x.nets.names()
	for name, want := range of.Gradients {
		at := slices.Index(x.sums.Params, names[name])
		want.Close(t, name, x.sums.Sums[at].Data, 1e-4)
	}
	if len(of.Gradients) != len(names) {
		t.Errorf("%d gradients for %d tensors", len(of.Gradients), len(names))
	}
	r.modules(t, x)
}

// modules compares the norm of all gradients of a module with that of the one loss that is recorded to reach it.
// Encoder, recurrent model and critic have several, whose sum is in their gradients.
func (r *recorded) modules(t *testing.T, x *Agent) {
	t.Helper()
	scales, compared := map[string]float64{"rep": repScale, "repval": repValue}, 0
	for _, module := range []string{"enc", "dyn", "dec", "rew", "con", "pol", "val"} {
		want, reached, square := 0.0, 0, 0.0
		for loss, norms := range r.ByModule {
			if norms[module] != 0 {
				scale, is := scales[loss]
				if !is {
					scale = 1
				}
				want, reached = scale*norms[module], reached+1
			}
		}
		if reached != 1 {
			continue
		}
		for name, p := range x.nets.names() {
			if strings.HasPrefix(name, module+"/") {
				square += math.Pow(norm(float64s(x.sums.Sums[slices.Index(x.sums.Params, p)].Data)), 2)
			}
		}
		compared++
		golden.Near(t, "norm of the gradients of "+module, math.Sqrt(square), want, 1e-4)
	}
	if compared != 4 {
		t.Errorf("%d modules are recorded to be reached by one loss, want dec, rew, con and pol", compared)
	}
}

// TestGoldenSizes holds the tensors of the configuration with about a million parameters to those of the
// original, and the deviations of their first weights: neither has a tensor that the other lacks.
func TestGoldenSizes(t *testing.T) {
	var of struct {
		Total      int
		Parameters []struct {
			Name  string
			Shape []int
			Scale float64 `json:"init_scale"`
		}
	}
	golden.Recorded(t, "dreamer_1m_parameters.json", &of)
	sizes, scales := map[string]int{}, map[string]float64{}
	for _, p := range of.Parameters {
		name, size := p.Name, 1
		if strings.HasPrefix(name, "dec/vec/") { // one output for each key of the observation there
			name = "dec/vec/obs/pred/" + path.Base(name)
		}
		for _, s := range p.Shape {
			size *= s
		}
		sizes[name], scales[name] = sizes[name]+size, p.Scale
	}
	c := Config{Settings: DefaultSettings, Shape: replay.Shape{Obs: 17, Act: 6}, Copies: 1}
	n := newNetworks(c, rng.New(1, "test"))
	total, named, names := 0, 0, n.names()
	for _, p := range n.learned() {
		total += len(p.Data)
	}
	for name, p := range names {
		named += len(p.Data)
		if len(p.Data) != sizes[name] {
			t.Errorf("%s has %d numbers, want %d", name, len(p.Data), sizes[name])
			continue
		}
		// A normal distribution that is cut off at ±2 has 0.7737 of its variance; biases are 0 and scales 1.
		size, want := math.Sqrt(float64(len(p.Data))), scales[name]
		wide, room := norm(float64s(p.Data))/size, 0.0
		if strings.HasSuffix(name, "kernel") {
			want, room = 0.8796*want, 0.1*want+5*want/size
		}
		if !(math.Abs(wide-want) <= room) {
			t.Errorf("%s: deviation %v, want %v", name, wide, want)
		}
	}
	for name, size := range sizes {
		if names[name] == nil {
			t.Errorf("%s of %d numbers is missing", name, size)
		}
	}
	if total == 0 || total != of.Total || named != total || c.weights() != float64(of.Total) {
		t.Errorf("%d parameters, of which %d have names, %v by formula; want %d", total, named, c.weights(), of.Total)
	}
}
