package drqv2

import (
	"errors"
	"fmt"
	"io"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// keptMixes is for how many mixes of a batch updates stay compiled: a user who turns a knob goes back
// and forth between a few.
const keptMixes = 2

// updater holds the programs of updates with batches of a mix.
type updater struct {
	mix      replay.Mix
	parts    int
	batch    *batch     // a part of the real rows; nil without such rows
	last     *batch     // the last part, which may have fewer; often the same as batch
	dreams   *dreams    // the synthetic rows, which go with the first part; nil without such rows
	features *op.Tensor // [Real,flat], E(s) before E's step: the input of the policy's step
	sums     *plan.Gradients
	critics  map[role]*critic
	actor    *plan.Program
}

// role is a part's place in its batch, which decides what its program does with gradients:
// every part but the first adds those of the parts before, and the last makes the step.
type role struct{ first, last bool }

// critic is the program of a part: target, forward, backward, and after the last part the
// step of the critics and of E.
type critic struct {
	program       *plan.Program
	noise, asleep *plan.Items // of the target's actions, for real and for synthetic rows
	q             [][]float32 // Q(s,a) before the step, for the rows of either kind
	features      []float32   // E(s); nil if the program itself stores it
}

// parts is how many parts a batch is cut into, and how many rows each of them and the last one have.
// A device that does not need the host between programs is so quick that a command can wait for all.
func (x *Agent) parts(size int) (parts, rows, last int) {
	if _, whole := x.dev.(device.Sequencer); whole {
		return 1, size, size
	}
	return x.config.parts(size)
}

// updater returns the updater of a mix.
func (x *Agent) updater(m replay.Mix) (*updater, error) {
	if m.Size() < 1 || m.Real < 0 || m.Synthetic < 0 {
		return nil, fmt.Errorf("agent: a batch of %d real and %d synthetic rows, want at least 1", m.Real, m.Synthetic)
	}
	x.updaters.Find(x.now.mix) // stays: that of the update under way holds the encoder's output from before its step
	return x.updaters.Of(m)
}

func (x *Agent) newUpdater(m replay.Mix) (*updater, error) {
	u := &updater{mix: m, parts: 1, critics: map[role]*critic{}}
	if err := x.compileUpdater(u); err != nil {
		return nil, errors.Join(err, u.Close())
	}
	return u, nil
}

func (x *Agent) compileUpdater(u *updater) (err error) {
	if real := u.mix.Real; real > 0 {
		parts, rows, last := x.parts(real)
		u.parts, u.features = parts, op.NewTensor("features", real, x.nets.flat)
		if u.batch, err = x.newBatch(rows); err != nil {
			return err
		}
		if u.last = u.batch; last < rows {
			if u.last, err = x.newBatch(last); err != nil {
				return err
			}
		}
	}
	if u.mix.Synthetic > 0 {
		u.dreams = x.newDreams(u.mix.Synthetic)
	}
	if u.parts > 1 {
		u.sums = plan.NewGradients(x.criticStep(u.mix).Params)
		if err := plan.Push(x.dev, u.features); err != nil { // the host writes them
			return fmt.Errorf("agent: %w", err)
		}
	}
	for part := range u.parts {
		if err := x.compileCritic(u, u.role(part)); err != nil {
			return err
		}
	}
	u.actor, err = plan.Build("drqv2 actor", x.dev, func(g *op.Graph) plan.Spec { return x.buildActor(g, u) })
	return err
}

// criticStep and actorStep are the optimisers of an update. Without a real row to move the rest by,
// they move the heads alone.
func (x *Agent) criticStep(m replay.Mix) *plan.Adam {
	if m.Real == 0 {
		return x.criticAdam.Only(x.nets.headParams())
	}
	return x.criticAdam
}

func (x *Agent) actorStep(m replay.Mix) *plan.Adam {
	if m.Real == 0 {
		return x.actorAdam.Only(x.nets.policyHead())
	}
	return x.actorAdam
}

func (u *updater) role(part int) role { return role{part == 0, part == u.parts-1} }

// real is where the real rows of a part of that role are; nil without such rows.
func (u *updater) real(r role) *batch {
	if r.last {
		return u.last
	}
	return u.batch
}

// compileCritic compiles the program of a role.
func (x *Agent) compileCritic(u *updater, r role) (err error) {
	if u.critics[r] != nil {
		return nil
	}
	c := &critic{noise: new(plan.Items), asleep: &plan.Items{First: uint64(u.mix.Real * x.config.Act)}}
	var q []*op.Node
	var h *op.Node
	c.program, err = plan.Build("drqv2 critic", x.dev, func(g *op.Graph) (spec plan.Spec) {
		spec, h, q = x.buildCritic(g, u, r, c)
		if !r.first {
			spec.Collected = u.sums
		}
		if r.last {
			spec.Optimiser = x.criticStep(u.mix)
		} else {
			spec.Collect = u.sums
		}
		spec.Outputs = q
		switch {
		case h == nil:
		case u.parts == 1:
			spec.Lerps = []plan.Lerp{{Dst: u.features, Node: h}}
		default:
			spec.Outputs = append(spec.Outputs, h)
		}
		return spec
	})
	if err != nil {
		return err
	}
	for _, n := range q {
		c.q = append(c.q, c.program.Data(n))
	}
	if u.parts > 1 {
		c.features = c.program.Data(h)
	}
	u.critics[r] = c
	return nil
}

// buildCritic builds Σₖ mean over the whole batch of (Qₖ(T_c(h), a) − y)², for the rows of a
// part; h is nil if the batch has no real rows.
func (x *Agent) buildCritic(g *op.Graph, u *updater, r role, c *critic) (spec plan.Spec, h *op.Node, q []*op.Node) {
	if u.batch != nil {
		var of *op.Node
		h, of, spec.Loss = x.realCritic(g, u, u.real(r), &spec, c.noise)
		q = append(q, of)
	}
	if u.dreams != nil && r.first {
		of, loss := x.dreamtCritic(g, u, &spec, c.asleep)
		if q = append(q, of); spec.Loss != nil {
			loss = g.Add(spec.Loss, loss)
		}
		spec.Loss = loss
	}
	spec.Finite = []*op.Node{spec.Loss}
	return spec, h, q
}

// realCritic returns E(s), Q(s,a) and the loss for a part's real rows.
func (x *Agent) realCritic(g *op.Graph, u *updater, b *batch, spec *plan.Spec, items *plan.Items) (h, q, loss *op.Node) {
	noise := g.Input("noise", b.rows, x.config.Act)
	spec.Fills = append(spec.Fills, plan.Fill{Node: noise, Stream: x.streams.target, Items: items})
	next := x.encode(g, g.Bind(b.next))
	value := g.MinMembers(x.nets.targets(g, x.nets.target.apply(g, next), x.noisy(g, x.nets.actor.apply(g, next), noise)))
	y := g.StopGradient(g.Add(g.Bind(b.ret), g.Mul(g.Bind(b.discount), value)))
	h = x.encode(g, g.Bind(b.images))
	q = x.nets.values(g, x.nets.critic.apply(g, h), g.Bind(b.action))
	return h, q, g.SquaredError(q, y, float64(u.mix.Size()))
}

// noisy is ã of T_a(h): the policy's action with clipped noise.
func (x *Agent) noisy(g *op.Graph, latent, noise *op.Node) *op.Node {
	return x.shaken(g, x.nets.mean(g, latent), noise)
}

// shaken is mean, an action of the policy, with clipped noise.
func (x *Agent) shaken(g *op.Graph, mean, noise *op.Node) *op.Node {
	clip := x.config.NoiseClip
	return bounded(g, g.Add(mean, g.Clamp(g.ColScale(noise, g.Bind(x.sigma)), -clip, clip)))
}

// objective is what the policy's step raises: the sum over rows of min over k of
// Qₖ(z_c, ã(z_a)), less the cost of preactivations, divided by size.
func (x *Agent) objective(g *op.Graph, critic, actor, noise *op.Node, size float64) *op.Node {
	u := x.nets.preactivation(g, actor)
	q := g.MinMembers(x.nets.values(g, critic, x.shaken(g, g.Tanh(u), noise)))
	sum := g.Sum(q, size)
	if c := x.config.Preactivation; c > 0 {
		sum = g.Sub(sum, g.Sum(g.Square(u), size/c))
	}
	if c := x.config.PreactivationOfQ; c > 0 {
		scale := g.StopGradient(g.Mean(g.Sqrt(g.Square(q))))
		sum = g.Sub(sum, g.Mul(scale, g.Sum(g.Square(u), size/c)))
	}
	return sum
}

// buildActor builds −mean over the batch of min over k of Qₖ(z_c, ã(z_a)), plus the cost of
// preactivations, differentiated with respect to policy and T_a, and the move of the targets.
func (x *Agent) buildActor(g *op.Graph, u *updater) (spec plan.Spec) {
	size, sum := float64(u.mix.Size()), (*op.Node)(nil)
	if u.batch != nil {
		h, noise := g.Bind(u.features), g.Input("noise", u.mix.Real, x.config.Act)
		spec.Fills = append(spec.Fills, plan.Fill{Node: noise, Stream: x.streams.actor})
		latent := g.StopGradient(x.nets.critic.apply(g, h))
		sum = x.objective(g, latent, x.nets.actor.apply(g, h), noise, size)
	}
	if u.dreams != nil {
		more := x.dreamtActor(g, u, &spec)
		if sum != nil {
			more = g.Add(sum, more)
		}
		sum = more
	}
	spec.Loss = g.Scale(sum, -1)
	spec.Optimiser = x.actorStep(u.mix)
	spec.Lerps = append(spec.Lerps, plan.Follow(x.nets.targetParams(), x.nets.valueParams(), x.tau)...)
	return spec
}

// Close frees the compiled programs.
func (u *updater) Close() error {
	all := []io.Closer{u.actor}
	if u.batch != nil {
		all = append(all, u.batch.made) // a last one is without a program: it is for devices that need parts
	}
	for _, c := range u.critics {
		all = append(all, c.program)
	}
	return plan.Close(all...)
}
