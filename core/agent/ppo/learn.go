package ppo

import (
	"errors"
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// learning is the program of a step, on a part of the rollout's rows and some synthetic ones.
type learning struct {
	*plan.Program
	real                   stepInputs
	dreamt                 *dreamt   // nil without synthetic rows
	policy, value, entropy []float32 // [1], the terms of the loss
	mean                   []float32 // V of the real rows [part]
	weight                 []float32 // c
}

// stepInputs are the rows of a step as its program reads them.
type stepInputs struct {
	in, action           []float32 // [n,O] or [n,H], nil for frames; [n,A], nil with a table; what the loss does not read is nil
	rows                 []float32 // [n], places in the table; nil without
	advantage, logp, ret []float32 // [n], like all that follow
	high, low            []float32 // 1+ε, 1−ε
	old, reach           []float32 // V_old, and how far V may move from it
}

// rowNodes are the input nodes of stepInputs. An input is created when a loss first reads it.
type rowNodes struct {
	prefix     string // of the names
	n          int
	in, action *op.Node
	rows       *op.Node // in the table, instead of in and action
	of         [inputs]*op.Node
}

// The inputs of rowNodes, each [n,1].
const (
	advantageOf = iota
	logpOf
	returnOf
	highOf
	lowOf
	oldOf
	reachOf
	inputs
)

func (n *rowNodes) input(g *op.Graph, i int) *op.Node {
	if n.of[i] == nil {
		n.of[i] = g.Input(n.prefix+[inputs]string{"A", "log old", "R", "1+ε", "1-ε", "V old", "reach"}[i], n.n, 1)
	}
	return n.of[i]
}

// data returns the memory of the inputs that were created.
func (n *rowNodes) data(p *plan.Program) (r stepInputs) {
	if n.in != nil {
		r.in = p.Data(n.in)
	}
	if n.rows != nil {
		r.rows = p.Data(n.rows)
	} else {
		r.action = p.Data(n.action)
	}
	for i, into := range [inputs]*[]float32{&r.advantage, &r.logp, &r.ret, &r.high, &r.low, &r.old, &r.reach} {
		if n.of[i] != nil {
			*into = p.Data(n.of[i])
		}
	}
	return r
}

// input is what the networks read of real rows: observations, or the images of the rollout's frames. It sets the node of the
// actions, too.
func (x *Agent) input(g *op.Graph, n *rowNodes) (seen *op.Node) {
	if x.table != nil {
		n.rows = g.Input("rows", n.n, 1)
		seen, n.action = x.table.taken(g, x.config, n.rows)
		return seen
	}
	n.action = g.Input("a", n.n, x.config.Shape.Act)
	if x.filmed != nil {
		return g.FromBytes(g.Bind(x.filmed.images.Image(0)), x.config.frame(), 0)
	}
	n.in = g.Input("s", n.n, x.config.input())
	return n.in
}

// newLearning compiles a step on a part of the rollout's rows and that many synthetic ones. The
// synthetic rows enter after the trunk, which they do not move.
func (x *Agent) newLearning(synthetic int) (*learning, error) {
	c, n := x.config, x.config.part()
	real := rowNodes{n: n}
	dreams := rowNodes{n: synthetic, prefix: "dreamt "}
	l := &learning{}
	var policy, value, chance, weight, v *op.Node
	program, err := plan.Build("ppo", x.dev, func(g *op.Graph) plan.Spec {
		z := x.nets.latent(g, x.input(g, &real))
		logits := x.nets.policy.Apply(g, z)
		v = x.nets.value.Apply(g, z)
		all := float64(n + synthetic)
		policy = real.surrogate(g, logits, all)
		value = c.valueLoss(g, v, &real, all)
		chance = g.Sum(entropy(g, logits), all)
		if synthetic > 0 {
			dreams.in = g.Input("z", synthetic, c.latents().Obs)
			value = g.Add(value, c.valueLoss(g, x.nets.value.Apply(g, dreams.in), &dreams, all))
			dreams.action = g.Input("dreamt a", synthetic, c.Shape.Act)
			logits := x.nets.policy.Apply(g, dreams.in)
			policy = g.Add(policy, dreams.surrogate(g, logits, all))
			chance = g.Add(chance, g.Sum(entropy(g, logits), all))
		}
		weight = g.Input("c")
		loss := g.Sub(g.Add(policy, g.Scale(value, c.ValueWeight)), g.Mul(chance, weight))
		return plan.Spec{Loss: loss, Optimiser: x.adam, Outputs: []*op.Node{policy, value, chance, v}}
	})
	if err != nil {
		return nil, err
	}
	l.Program, l.real = program, real.data(program)
	l.policy, l.value, l.entropy, l.mean = program.Data(policy), program.Data(value), program.Data(chance), program.Data(v)
	l.weight = program.Data(weight)
	if synthetic > 0 {
		l.dreamt, err = x.newDreamt(dreams.data(program), synthetic)
	}
	if err != nil {
		program.Close()
		return nil, err
	}
	return l, nil
}

// surrogate is −Σ min(ρA, clip(ρ, low, high)A), divided by over, a number of rows.
func (n *rowNodes) surrogate(g *op.Graph, logits *op.Node, over float64) *op.Node {
	advantage := n.input(g, advantageOf)
	ratio := g.Exp(g.Sub(logProbability(g, logits, n.action), n.input(g, logpOf)))
	clipped := g.Maximum(g.Minimum(ratio, n.input(g, highOf)), n.input(g, lowOf))
	return g.Scale(g.Sum(g.Minimum(g.Mul(ratio, advantage), g.Mul(clipped, advantage)), over), -1)
}

// valueLoss is ½·Σ max((V−R)², (V_old + clip(V−V_old, ±reach) − R)²), divided by over, a number
// of rows.
func (c Config) valueLoss(g *op.Graph, v *op.Node, n *rowNodes, over float64) *op.Node {
	ret := n.input(g, returnOf)
	square := g.Square(g.Sub(v, ret))
	if c.ValueClip > 0 {
		old, reach := n.input(g, oldOf), n.input(g, reachOf)
		moved := g.Maximum(g.Minimum(g.Sub(v, old), reach), g.Scale(reach, -1))
		square = g.Maximum(square, g.Square(g.Sub(g.Add(old, moved), ret)))
	}
	return g.Scale(g.Sum(square, over), 0.5)
}

// keptLearnings is how many programs stay compiled: the one without synthetic rows, and those for
// the last two values of the knob ratio.
const keptLearnings = 3

// Close frees the programs.
func (l *learning) Close() error {
	if l.dreamt == nil {
		return l.Program.Close()
	}
	return plan.Close(l.Program, l.dreamt)
}

// prepareLearning compiles what an iteration needs.
func (x *Agent) prepareLearning() error {
	if _, err := x.learnings.Of(0); err != nil {
		return err
	}
	_, err := x.values.Of(x.config.valueRows())
	return err
}

// Phases returns one phase: an iteration, when the rollout is full. A unit is a step on a part of
// the rollout.
func (x *Agent) Phases() []agent.Phase {
	return []agent.Phase{{Name: "learn", Due: func(*agent.Work) bool { return x.rollout.Full() }, Start: x.start, Slice: x.slice}}
}

// start estimates V, log π and the advantages of the rollout, once an iteration (values.go).
func (x *Agent) start(*agent.Work) (total int, err error) {
	if err := x.prepareLearning(); err != nil {
		return 0, err
	}
	if x.heads != nil {
		if err := x.heads.take(x); err != nil {
			return 0, err
		}
	}
	return x.config.Epochs * x.config.Minibatches, x.judge()
}

// slice makes the step that follows the done ones.
func (x *Agent) slice(w *agent.Work, done int) (n int, made []agent.UpdateResult, err error) {
	c, left := x.config, x.config.left(w.Step)
	l, err := x.learnings.Of(x.synthetic(w))
	if err != nil {
		return 0, nil, err
	}
	x.rate.Data[0] = float32(left * w.Rates.LRActor)
	l.weight[0] = float32(w.Rates.Entropy)
	if err := x.fill(l, done, left*c.Clip); err != nil {
		return 0, nil, fmt.Errorf("agent: %w", err)
	}
	if err := x.dream(l, w, left*c.Clip); err != nil {
		return 0, nil, err
	}
	err = l.Run(x.updates)
	x.updates++
	if done+1 == c.Epochs*c.Minibatches {
		x.iterations++
		x.rollout.Clear()
	}
	x.result[0] = agent.UpdateResult{Stepped: err == nil, Err: err, Losses: agent.NoLosses()}
	switch {
	case err != nil && !stopped(err):
		return 0, nil, fmt.Errorf("agent: %w", err)
	case err != nil:
		return 1, x.result[:], nil
	}
	mean := 0.0
	for _, v := range l.mean {
		mean += float64(v) / float64(len(l.mean))
	}
	losses := &x.result[0].Losses
	losses.Critic, losses.Actor, losses.QMean, losses.Entropy = float64(l.value[0]), float64(l.policy[0]), mean/x.config.RewardScale, float64(l.entropy[0])
	return 1, x.result[:], nil
}

// stopped says whether a program met a number that is not finite.
func stopped(err error) bool {
	where := (*plan.NotFinite)(nil)
	return errors.As(err, &where)
}

// fill gives the program the rows of a unit, with advantages standardised among them.
func (x *Agent) fill(l *learning, unit int, clip float64) error {
	c, r, into := x.config, x.rollout, &l.real
	o, a, part := c.numbers(), c.Shape.Act, c.part()
	width := o + a
	r.gather()
	rows := x.order.of(x, unit/c.Minibatches)[unit%c.Minibatches*part:][:part]
	if x.filmed != nil {
		if err := x.filmed.make(rows, x.updates); err != nil {
			return err
		}
	}
	if x.table != nil {
		if err := x.table.follow(r, x.dev); err != nil {
			return err
		}
	}
	for i, row := range rows {
		if into.rows != nil {
			into.rows[i] = float32(row)
		} else {
			acted := r.acted[row*width:][:width]
			copy(into.in[i*o:], acted[:o])
			copy(into.action[i*a:], acted[o:])
		}
		into.advantage[i] = r.advantages[row]
		into.logp[i], into.ret[i] = r.logp[row], r.returns[row]
		if into.old != nil {
			into.old[i] = r.values[row]
		}
	}
	experience.Standardise(into.advantage)
	into.bound(c, clip)
	return nil
}

// bound sets how far the ratio and V may move.
func (r *stepInputs) bound(c Config, clip float64) {
	for i := range r.high {
		r.high[i], r.low[i] = float32(1+clip), float32(1-clip)
	}
	for i := range r.reach {
		r.reach[i] = float32(clip * c.ValueClip)
	}
}

// order is the order of a rollout's rows in an epoch: a function of the seed, the iteration
// and the epoch.
type order struct {
	rows  []int
	epoch uint64 // counted over all iterations from 1 on; 0 if there is no order yet
}

func (o *order) of(x *Agent, epoch int) []int {
	now := x.iterations*uint64(x.config.Epochs) + uint64(epoch)
	if o.epoch == now+1 {
		return o.rows
	}
	o.epoch = now + 1
	if o.rows == nil {
		o.rows = make([]int, x.config.rows())
	}
	for i := range o.rows {
		o.rows[i] = i
	}
	q := x.streams.order.At(now)
	for i := len(o.rows) - 1; i > 0; i-- {
		j := q.IntN(i + 1)
		o.rows[i], o.rows[j] = o.rows[j], o.rows[i]
	}
	return o.rows
}
