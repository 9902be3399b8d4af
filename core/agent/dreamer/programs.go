package dreamer

import (
	"math"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// programs are those of an update, each for a fixed number of rows.
type programs struct {
	encode   encodeProgram
	observe  observeProgram
	world    worldProgram
	decode   decodeProgram
	imagine  imagineProgram
	judge    judgeProgram
	behave   behaveProgram
	replayed replayedProgram
	back     backProgram
	senses   sensesProgram
	step     *plan.Program // steps all parameters along the collected sums
}

// noise gives a node random numbers of a stream; items says which.
type noise func(n *op.Node, of rng.Stream, items *plan.Items, dist plan.Dist) []plan.Fill

// drawn is the noise of training.
func drawn(n *op.Node, of rng.Stream, items *plan.Items, dist plan.Dist) []plan.Fill {
	return []plan.Fill{{Node: n, Stream: of, Dist: dist, Items: items}}
}

// encodeProgram computes tokens and embedded actions of a part of a batch.
type encodeProgram struct {
	*plan.Program
	obs, action      []float32 // [P,O], [P,A]
	tokens, embedded []float32 // [P,U], [P,H]
}

func (x *Agent) newEncode(rows int) (p encodeProgram, err error) {
	var obs, action, tokens, embedded *op.Node
	p.Program, err = plan.Build("dreamer encode", x.dev, func(g *op.Graph) plan.Spec {
		obs, action = x.nets.input(g, rows), g.Input("a", rows, x.config.Shape.Act)
		tokens, embedded = x.nets.encode(g, obs), x.nets.embed(g, action)
		return plan.Spec{Outputs: []*op.Node{tokens, embedded}}
	})
	if err == nil {
		p.obs, p.action, p.tokens, p.embedded = p.Data(obs), p.Data(action), p.Data(tokens), p.Data(embedded)
	}
	return p, err
}

// observeProgram makes an env step of all sequences: a latent from the one before, an action and tokens.
type observeProgram struct {
	*plan.Program
	items                          *plan.Items
	deter, stoch, embedded, tokens []float32 // [N,D], [N,Z], [N,H], [N,U]: what is before the step
	uniform                        []float32 // [N,Stoch], that classes are drawn by
	next, logits, drawn            []float32 // [N,D], [N,Z], [N,Z]
}

func (x *Agent) newObserve(with noise) (p observeProgram, err error) {
	c, n, rows := x.config, x.nets, x.config.Sequences
	p.items = new(plan.Items)
	var deter, stoch, embedded, tokens, uniform, next, logits, drawn *op.Node
	p.Program, err = plan.Build("dreamer observe", x.dev, func(g *op.Graph) plan.Spec {
		deter, stoch = g.Input("deter", rows, c.Deter), g.Input("stoch", rows, c.groups())
		embedded, tokens = g.Input("embedded", rows, c.Hidden), g.Input("tokens", rows, c.tokens())
		uniform = g.Input("u", rows, c.Stoch)
		next = n.step(g, deter, stoch, embedded)
		logits = n.seen(g, next, tokens)
		drawn = g.GroupSample(n.chances(g, logits), uniform, c.Classes)
		return plan.Spec{Outputs: []*op.Node{next, logits, drawn}, Fills: with(uniform, x.streams.posterior, p.items, plan.Uniform)}
	})
	if err == nil {
		p.deter, p.stoch, p.embedded, p.tokens, p.uniform = p.Data(deter), p.Data(stoch), p.Data(embedded), p.Data(tokens), p.Data(uniform)
		p.next, p.logits, p.drawn = p.Data(next), p.Data(logits), p.Data(drawn)
	}
	return p, err
}

// worldProgram is the losses of the world model on a part of a batch, with their gradients with respect to
// latents and the posterior's logits.
type worldProgram struct {
	*plan.Program
	deter, stoch, logits *op.Tensor // [P,D], [P,Z], [P,Z]
	reward, continues    []float32  // [P]
	losses               [][]float32
}

// The losses of the world model, in the order of worldProgram.losses.
const (
	lossReward = iota
	lossContinue
	lossDynamics
	lossRepresentation
	worldLosses
)

func (x *Agent) newWorld(rows int) (p worldProgram, err error) {
	c, n, all := x.config, x.nets, float64(x.config.rows())
	p.deter, p.stoch, p.logits = op.NewTensor("deter", rows, c.Deter), op.NewTensor("stoch", rows, c.groups()), op.NewTensor("logits", rows, c.groups())
	var reward, continues *op.Node
	var losses [worldLosses]*op.Node
	p.Program, err = plan.Build("dreamer world", x.dev, func(g *op.Graph) plan.Spec {
		reward, continues = g.Input("r", rows, 1), g.Input("continues", rows, 1)
		deter, stoch, logits := g.Bind(p.deter), g.Bind(p.stoch), g.Bind(p.logits)
		feature := g.Concat(deter, stoch)
		losses[lossReward] = g.CrossEntropy(n.reward.apply(g, feature), g.TwoHotAt(reward, g.Bind(n.bins)), all)
		losses[lossContinue] = g.BCE(n.continuation.apply(g, feature), continues, all)
		prior, posterior := n.chances(g, n.prior.apply(g, deter)), n.chances(g, logits)
		losses[lossDynamics] = g.Sum(divergence(g, g.StopGradient(posterior), prior), all)
		losses[lossRepresentation] = g.Sum(divergence(g, posterior, g.StopGradient(prior)), all)
		loss := g.AddScalars(losses[lossReward], losses[lossContinue], losses[lossDynamics], g.Scale(losses[lossRepresentation], repScale))
		mine := x.sums.Only(n.world())
		return plan.Spec{
			Loss: loss, Outputs: losses[:], Gradients: []*op.Tensor{p.deter, p.stoch, p.logits}, Collected: mine, Collect: mine, Finite: []*op.Node{loss},
		}
	})
	if err == nil {
		p.reward, p.continues = p.Data(reward), p.Data(continues)
		for _, l := range losses {
			p.losses = append(p.losses, p.Data(l))
		}
	}
	return p, err
}

// decodeProgram is the loss of decoded observations of a part of a batch, with its gradient with respect to the
// latents.
type decodeProgram struct {
	*plan.Program
	deter, stoch *op.Tensor // [V,D], [V,Z]
	obs          []float32  // as that of encodeProgram
	loss         []float32  // [1]
}

func (x *Agent) newDecode(rows int) (p decodeProgram, err error) {
	c, n := x.config, x.nets
	p.deter, p.stoch = op.NewTensor("deter", rows, c.Deter), op.NewTensor("stoch", rows, c.groups())
	var obs, loss *op.Node
	p.Program, err = plan.Build("dreamer decode", x.dev, func(g *op.Graph) plan.Spec {
		obs = n.input(g, rows)
		loss = g.SquaredError(n.decode(g, g.Bind(p.deter), g.Bind(p.stoch)), n.seenAs(g, obs), float64(c.rows()))
		mine := x.sums.Only(n.decoding())
		return plan.Spec{Loss: loss, Gradients: []*op.Tensor{p.deter, p.stoch}, Collected: mine, Collect: mine, Finite: []*op.Node{loss}}
	})
	if err == nil {
		p.obs, p.loss = p.Data(obs), p.Data(loss)
	}
	return p, err
}

// divergence builds KL(p ‖ q) [B,1] of all groups together, at least freeNats.
func divergence(g *op.Graph, p, q *op.Node) *op.Node {
	kl := g.SumColumns(g.Mul(p, g.Sub(g.Log(p), g.Log(q))))
	return g.Clamp(kl, freeNats, math.Inf(1))
}

// imagineProgram looks at a part of the latents at an imagined env step, and makes it: what is expected there,
// an action, and the next latents.
type imagineProgram struct {
	*plan.Program
	normals, uniforms              *plan.Items
	deter, stoch                   []float32 // [P,D], [P,Z]
	eps, uniform                   []float32 // [P,A], [P,Stoch]
	action                         []float32 // [P,A], as drawn
	reward, continues, value, slow []float32 // [P]
	next, drawn                    []float32 // [P,D], [P,Z]
}

func (x *Agent) newImagine(rows int, with noise) (p imagineProgram, err error) {
	c, n := x.config, x.nets
	p.normals, p.uniforms = new(plan.Items), new(plan.Items)
	var deter, stoch, eps, uniform, action, next, drawn *op.Node
	var expected [4]*op.Node
	p.Program, err = plan.Build("dreamer imagine", x.dev, func(g *op.Graph) plan.Spec {
		deter, stoch = g.Input("deter", rows, c.Deter), g.Input("stoch", rows, c.groups())
		eps, uniform = g.Input("eps", rows, c.Shape.Act), g.Input("u", rows, c.Stoch)
		feature := g.Concat(deter, stoch)
		expected = n.expect(g, feature)
		mean, deviation := n.actor(g, feature)
		action = g.Add(mean, g.Mul(deviation, eps))
		next = n.step(g, deter, stoch, n.embed(g, g.Clamp(action, -1, 1)))
		drawn = g.GroupSample(n.chances(g, n.prior.apply(g, next)), uniform, c.Classes)
		return plan.Spec{
			Outputs: append(expected[:], action, next, drawn),
			Fills:   append(with(eps, x.streams.actions, p.normals, plan.Normal), with(uniform, x.streams.prior, p.uniforms, plan.Uniform)...),
		}
	})
	if err == nil {
		p.deter, p.stoch, p.eps, p.uniform = p.Data(deter), p.Data(stoch), p.Data(eps), p.Data(uniform)
		p.action, p.next, p.drawn = p.Data(action), p.Data(next), p.Data(drawn)
		p.reward, p.continues, p.value, p.slow = p.Data(expected[0]), p.Data(expected[1]), p.Data(expected[2]), p.Data(expected[3])
	}
	return p, err
}

// expect builds what is expected at features: the reward of the env step that led there, the probability that
// the episode goes on times the discount, the value, and the slow critic's.
func (n *networks) expect(g *op.Graph, feature *op.Node) [4]*op.Node {
	bins := g.Bind(n.bins)
	return [4]*op.Node{
		g.BinMean(n.reward.apply(g, feature), bins), g.Sigmoid(n.continuation.apply(g, feature)),
		g.BinMean(n.value.apply(g, feature), bins), g.BinMean(n.slow.apply(g, feature), bins),
	}
}

// judgeProgram is what is expected after the last imagined env step.
type judgeProgram struct {
	*plan.Program
	deter, stoch                   []float32
	reward, continues, value, slow []float32 // [P]
}

func (x *Agent) newJudge(rows int) (p judgeProgram, err error) {
	var deter, stoch *op.Node
	var expected [4]*op.Node
	p.Program, err = plan.Build("dreamer judge", x.dev, func(g *op.Graph) plan.Spec {
		deter, stoch = g.Input("deter", rows, x.config.Deter), g.Input("stoch", rows, x.config.groups())
		expected = x.nets.expect(g, g.Concat(deter, stoch))
		return plan.Spec{Outputs: expected[:]}
	})
	if err == nil {
		p.deter, p.stoch = p.Data(deter), p.Data(stoch)
		p.reward, p.continues, p.value, p.slow = p.Data(expected[0]), p.Data(expected[1]), p.Data(expected[2]), p.Data(expected[3])
	}
	return p, err
}

// behaveProgram is the losses of policy and critic on a part of the latents of an imagined env step.
type behaveProgram struct {
	*plan.Program
	deter, stoch, action         []float32 // [P,D], [P,Z], [P,A] as drawn
	advantage, weight, ret, slow []float32 // [P]
	entropyWeight                []float32 // [1]
	policy, value, entropy       []float32 // [1]
}

func (x *Agent) newBehave(rows int) (p behaveProgram, err error) {
	c, n := x.config, x.nets
	all := float64(c.rows() * c.Imagine)
	var in [8]*op.Node
	var out [3]*op.Node
	p.Program, err = plan.Build("dreamer behave", x.dev, func(g *op.Graph) plan.Spec {
		in[0], in[1], in[2] = g.Input("deter", rows, c.Deter), g.Input("stoch", rows, c.groups()), g.Input("a", rows, c.Shape.Act)
		for i, name := range []string{"A", "w", "R", "slow value"} {
			in[3+i] = g.Input(name, rows, 1)
		}
		in[7] = g.Input("η")
		advantage, weight, ret, slow := in[3], in[4], in[5], in[6]
		feature := g.Concat(in[0], in[1])
		mean, deviation := n.actor(g, feature)
		logp, entropy := logProbability(g, in[2], mean, deviation), entropy(g, deviation)
		gain := g.Sum(g.Mul(g.Mul(logp, advantage), weight), all)
		chance := g.Sum(g.Mul(entropy, weight), all)
		out[0] = g.Scale(g.Add(gain, g.Mul(chance, in[7])), -1)
		out[1] = n.valueLoss(g, feature, ret, slow, all, weight)
		out[2] = g.Sum(entropy, all)
		mine := x.sums.Only(append(n.actorParams(), n.value.params()...))
		loss := g.Add(out[0], out[1])
		return plan.Spec{Loss: loss, Outputs: out[:], Collected: mine, Collect: mine, Finite: []*op.Node{loss}}
	})
	if err == nil {
		p.deter, p.stoch, p.action = p.Data(in[0]), p.Data(in[1]), p.Data(in[2])
		p.advantage, p.weight, p.ret, p.slow, p.entropyWeight = p.Data(in[3]), p.Data(in[4]), p.Data(in[5]), p.Data(in[6]), p.Data(in[7])
		p.policy, p.value, p.entropy = p.Data(out[0]), p.Data(out[1]), p.Data(out[2])
	}
	return p, err
}

// valueLoss builds the cross-entropy of the critic's bins against returns and the slow critic's values, both
// [B,1], weighted by rows and divided by norm.
func (n *networks) valueLoss(g *op.Graph, feature, ret, slow *op.Node, norm float64, weight *op.Node) *op.Node {
	bins := g.Bind(n.bins)
	target := g.Add(g.TwoHotAt(ret, bins), g.TwoHotAt(slow, bins))
	return g.CrossEntropy(n.value.apply(g, feature), target, norm, weight)
}

// logProbability builds the log density [B,1] of actions [B,A], and entropy [B,1] that of the policy.
func logProbability(g *op.Graph, action, mean, deviation *op.Node) *op.Node {
	z := g.Div(g.Sub(action, mean), deviation)
	each := g.Add(g.Scale(g.Square(z), 0.5), g.Log(deviation))
	return g.Scale(g.SumColumns(g.Shift(each, 0.5*math.Log(2*math.Pi))), -1)
}

func entropy(g *op.Graph, deviation *op.Node) *op.Node {
	return g.SumColumns(g.Shift(g.Log(deviation), 0.5*math.Log(2*math.Pi*math.E)))
}

// replayedProgram is the critic's loss on a part of the replayed latents, with its gradient with respect to
// them.
type replayedProgram struct {
	*plan.Program
	deter, stoch      *op.Tensor // [P,D], [P,Z]
	ret, slow, weight []float32  // [P]
	value             []float32  // [1]
}

func (x *Agent) newReplayed(rows int) (p replayedProgram, err error) {
	c, n := x.config, x.nets
	p.deter, p.stoch = op.NewTensor("deter", rows, c.Deter), op.NewTensor("stoch", rows, c.groups())
	var ret, slow, weight, loss *op.Node
	p.Program, err = plan.Build("dreamer replayed", x.dev, func(g *op.Graph) plan.Spec {
		ret, slow, weight = g.Input("R", rows, 1), g.Input("slow value", rows, 1), g.Input("w", rows, 1)
		feature := g.Concat(g.Bind(p.deter), g.Bind(p.stoch))
		loss = g.Scale(n.valueLoss(g, feature, ret, slow, float64(c.Sequences*(c.Length-1)), weight), repValue)
		mine := x.sums.Only(n.value.params())
		return plan.Spec{Loss: loss, Gradients: []*op.Tensor{p.deter, p.stoch}, Collected: mine, Collect: mine, Finite: []*op.Node{loss}}
	})
	if err == nil {
		p.ret, p.slow, p.weight, p.value = p.Data(ret), p.Data(slow), p.Data(weight), p.Data(loss)
	}
	return p, err
}

// backProgram takes gradients through an env step of all sequences, whose forward pass it repeats: from those of
// what observeProgram computed to those of what it read.
type backProgram struct {
	*plan.Program
	deter, stoch, embedded, tokens *op.Tensor // as those of observeProgram
	ofNext, ofLogits, ofDrawn      []float32  // gradients, [N,D], [N,Z], [N,Z]
}

func (x *Agent) newBack() (p backProgram, err error) {
	c, n, rows := x.config, x.nets, x.config.Sequences
	p.deter, p.stoch = op.NewTensor("deter", rows, c.Deter), op.NewTensor("stoch", rows, c.groups())
	p.embedded, p.tokens = op.NewTensor("embedded", rows, c.Hidden), op.NewTensor("tokens", rows, c.tokens())
	var ofNext, ofLogits, ofDrawn *op.Node
	p.Program, err = plan.Build("dreamer back", x.dev, func(g *op.Graph) plan.Spec {
		ofNext, ofLogits, ofDrawn = g.Input("of next", rows, c.Deter), g.Input("of logits", rows, c.groups()), g.Input("of drawn", rows, c.groups())
		next := n.step(g, g.Bind(p.deter), g.Bind(p.stoch), g.Bind(p.embedded))
		logits := n.seen(g, next, g.Bind(p.tokens))
		// The gradient of what was drawn goes straight to the probabilities.
		loss := g.AddScalars(g.Sum(g.Mul(next, ofNext), 1), g.Sum(g.Mul(logits, ofLogits), 1), g.Sum(g.Mul(n.chances(g, logits), ofDrawn), 1))
		mine := x.sums.Only(n.recurrent())
		return plan.Spec{Loss: loss, Gradients: []*op.Tensor{p.deter, p.stoch, p.embedded, p.tokens}, Collected: mine, Collect: mine, Finite: []*op.Node{loss}}
	})
	if err == nil {
		p.ofNext, p.ofLogits, p.ofDrawn = p.Data(ofNext), p.Data(ofLogits), p.Data(ofDrawn)
	}
	return p, err
}

// sensesProgram takes gradients through what computed tokens and embedded actions of a part of a batch.
type sensesProgram struct {
	*plan.Program
	obs, action          []float32 // as those of encodeProgram
	ofTokens, ofEmbedded []float32 // gradients, [P,U], [P,H]
}

func (x *Agent) newSenses(rows int) (p sensesProgram, err error) {
	c, n := x.config, x.nets
	var in [4]*op.Node
	p.Program, err = plan.Build("dreamer senses", x.dev, func(g *op.Graph) plan.Spec {
		in = [4]*op.Node{n.input(g, rows), g.Input("a", rows, c.Shape.Act), g.Input("of tokens", rows, c.tokens()), g.Input("of embedded", rows, c.Hidden)}
		loss := g.Add(g.Sum(g.Mul(n.encode(g, in[0]), in[2]), 1), g.Sum(g.Mul(n.embed(g, in[1]), in[3]), 1))
		mine := x.sums.Only(n.inputs())
		return plan.Spec{Loss: loss, Collected: mine, Collect: mine, Finite: []*op.Node{loss}}
	})
	if err == nil {
		p.obs, p.action, p.ofTokens, p.ofEmbedded = p.Data(in[0]), p.Data(in[1]), p.Data(in[2]), p.Data(in[3])
	}
	return p, err
}

// newStep compiles the step of all parameters along the collected sums.
func (x *Agent) newStep() (*plan.Program, error) {
	return plan.Build("dreamer step", x.dev, func(*op.Graph) plan.Spec {
		return plan.Spec{Optimiser: x.optimiser, Collected: x.sums, Lerps: plan.Follow(x.nets.slow.params(), x.nets.value.params(), x.tau)}
	})
}
