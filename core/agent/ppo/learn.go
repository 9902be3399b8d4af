package ppo

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// learning is the program of a step, on a part of the rows.
type learning struct {
	program                *plan.Program
	obs, action            []float32 // [part,O], [part,A]
	advantage, logp, ret   []float32 // [part], as all that follow
	high, low              []float32 // 1+ε, 1−ε
	old, reach             []float32 // V_old and how far V moves from it; nil where nothing holds it back
	policy, value, entropy []float32 // [1], of the loss
	mean                   []float32 // V of the rows [part]
}

func (x *Agent) newLearning() (*learning, error) {
	c, rows := x.config, x.config.part()
	names := []string{"A", "log old", "R", "1+ε", "1-ε", "V old", "reach"}
	inputs := make([]*op.Node, len(names))
	var obs, action, policy, value, chance, v *op.Node
	program, err := x.compile("ppo", func(g *op.Graph) plan.Spec {
		obs, action = g.Input("s", rows, c.Shape.Obs), g.Input("a", rows, c.Shape.Act)
		for i, name := range names {
			inputs[i] = g.Input(name, rows, 1)
		}
		z := x.nets.latent(g, obs)
		logits := x.nets.policy.Apply(g, z)
		v = x.nets.value.Apply(g, z)
		policy = surrogate(g, logProbability(g, logits, action), inputs[0], inputs[1], inputs[3], inputs[4], float64(rows))
		value = c.valueLoss(g, v, inputs[5], inputs[2], inputs[6], float64(rows))
		chance = g.Sum(entropy(g, logits), float64(rows))
		loss := g.Add(policy, g.Scale(value, c.ValueWeight))
		if c.Entropy > 0 {
			loss = g.Sub(loss, g.Scale(chance, c.Entropy))
		}
		return plan.Spec{Loss: loss, Optimiser: x.adam, Outputs: []*op.Node{policy, value, chance, v}}
	})
	if err != nil {
		return nil, err
	}
	l := &learning{
		program: program, obs: program.Data(obs), action: program.Data(action),
		policy: program.Data(policy), value: program.Data(value), entropy: program.Data(chance), mean: program.Data(v),
	}
	into := []*[]float32{&l.advantage, &l.logp, &l.ret, &l.high, &l.low, &l.old, &l.reach}
	if c.ValueClip == 0 {
		into = into[:5] // nothing holds values back
	}
	for i, data := range into {
		*data = program.Data(inputs[i])
	}
	return l, nil
}

// surrogate is −mean min(ρA, clip(ρ, low, high)A).
func surrogate(g *op.Graph, logp, advantage, old, high, low *op.Node, rows float64) *op.Node {
	ratio := g.Exp(g.Sub(logp, old))
	clipped := g.Maximum(g.Minimum(ratio, high), low)
	return g.Scale(g.Sum(g.Minimum(g.Mul(ratio, advantage), g.Mul(clipped, advantage)), rows), -1)
}

// valueLoss is ½·mean max((V−R)², (V_old + clip(V−V_old, ±reach) − R)²).
func (c Config) valueLoss(g *op.Graph, v, old, ret, reach *op.Node, rows float64) *op.Node {
	square := g.Square(g.Sub(v, ret))
	if c.ValueClip > 0 {
		moved := g.Maximum(g.Minimum(g.Sub(v, old), reach), g.Scale(reach, -1))
		square = g.Maximum(square, g.Square(g.Sub(g.Add(old, moved), ret)))
	}
	return g.Scale(g.Sum(square, rows), 0.5)
}

// prepareLearning compiles what an iteration needs.
func (x *Agent) prepareLearning() (err error) {
	if x.learning == nil {
		if x.learning, err = x.newLearning(); err != nil {
			return err
		}
	}
	if x.values == nil {
		x.values, err = x.newValues()
	}
	return err
}

// Phases are one: an iteration, where a rollout is full. A unit is a step on a part of it.
func (x *Agent) Phases() []agent.Phase {
	return []agent.Phase{{Name: "learn", Due: func(*agent.Work) bool { return x.rollout.Full() }, Start: x.start, Slice: x.slice}}
}

func (x *Agent) start(*agent.Work) (total int, err error) {
	if err := x.prepareLearning(); err != nil {
		return 0, err
	}
	return x.config.Epochs * x.config.Minibatches, x.judge()
}

// slice makes the step behind the done ones.
func (x *Agent) slice(w *agent.Work, done int) (n int, made []agent.UpdateResult, err error) {
	if err := x.prepareLearning(); err != nil {
		return 0, nil, err
	}
	c, l := x.config, x.learning
	left := c.left(w.Step)
	x.rate.Data[0] = float32(left * w.Rates.LRActor)
	x.fill(done, left*c.Clip)
	err = l.program.Run(x.updates)
	x.updates++
	if done+1 == c.Epochs*c.Minibatches {
		x.iterations++
		x.rollout.clear()
	}
	nan := math.NaN()
	x.result[0] = agent.UpdateResult{Stepped: err == nil, Err: err, Losses: agent.Losses{Critic: nan, Actor: nan, Alpha: nan, AlphaValue: nan, QMean: nan}}
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
	losses.Critic, losses.Actor, losses.QMean = float64(l.value[0]), float64(l.policy[0]), mean
	return 1, x.result[:], nil
}

// stopped says whether a program met a number that is not finite.
func stopped(err error) bool {
	where := (*plan.NotFinite)(nil)
	return errors.As(err, &where)
}

// fill gives the program the rows of a unit, with advantages standardised among them.
func (x *Agent) fill(unit int, clip float64) {
	c, l, r := x.config, x.learning, x.rollout
	o, a := c.Shape.Obs, c.Shape.Act
	part := c.part()
	rows := x.order.of(x, unit/c.Minibatches)[unit%c.Minibatches*part:][:part]
	mean, square := 0.0, 0.0
	for _, row := range rows {
		mean += float64(r.advantages[row]) / float64(part)
	}
	for _, row := range rows {
		d := float64(r.advantages[row]) - mean
		square += float64(d*d) / float64(part)
	}
	deviation := math.Sqrt(square) + 1e-8
	for i, row := range rows {
		copy(l.obs[i*o:(i+1)*o], r.Obs[row*o:(row+1)*o])
		copy(l.action[i*a:(i+1)*a], r.Actions[row*a:(row+1)*a])
		l.advantage[i] = float32((float64(r.advantages[row]) - mean) / deviation)
		l.logp[i], l.ret[i] = r.logp[row], r.Return[row]
		l.high[i], l.low[i] = float32(1+clip), float32(1-clip)
		if l.reach != nil {
			l.old[i], l.reach[i] = r.values[row], float32(clip*c.ValueClip)
		}
	}
}

// order is the order of a rollout's rows in an epoch: a function of the seed, the iteration
// and the epoch.
type order struct {
	rows  []int
	epoch uint64 // of all iterations, and one more; 0: there is none yet
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
