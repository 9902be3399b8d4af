package drqv2

import (
	"errors"
	"fmt"

	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// keptSizes is how many batch sizes stay compiled: someone who turns a knob goes back and
// forth between a few.
const keptSizes = 2

// updater holds the programs of one batch size.
type updater struct {
	size, parts int
	batch       *batch     // a part of it
	features    *op.Tensor // [size,flat], E of s before its step: what the policy learns from
	sums        *plan.Gradients
	critics     map[role]*critic
	actor       *plan.Program
}

// role is what a part's program does with the gradients of the parts beside it.
type role struct{ first, last bool }

// critic is the program of a part: target, forward, backward, and behind the last part the
// step of the critics and of E.
type critic struct {
	program     *plan.Program
	noise       *plan.Items // of the target's actions
	q, features []float32   // Q(s,a) before the step; E(s), nil where the program itself keeps it
}

// updater is that of a size.
func (x *Agent) updater(size int) (*updater, error) {
	for i, u := range x.updaters {
		if u.size == size {
			copy(x.updaters[1:i+1], x.updaters[:i])
			x.updaters[0] = u
			return u, nil
		}
	}
	if size < 1 {
		return nil, fmt.Errorf("agent: a batch of %d, want at least 1", size)
	}
	u, err := x.newUpdater(size)
	if err != nil {
		return nil, errors.Join(err, u.close())
	}
	if len(x.updaters) == keptSizes {
		if err := x.updaters[keptSizes-1].close(); err != nil {
			return nil, err
		}
		x.updaters = x.updaters[:keptSizes-1]
	}
	x.updaters = append([]*updater{u}, x.updaters...)
	return u, nil
}

func (x *Agent) newUpdater(size int) (*updater, error) {
	parts := x.config.parts(size)
	u := &updater{
		size: size, parts: parts, batch: x.newBatch(size / parts), features: op.NewTensor("features", size, x.nets.flat),
		critics: map[role]*critic{},
	}
	if parts > 1 {
		u.sums = plan.NewGradients(x.criticAdam.Params)
	}
	for part := range parts {
		if err := x.compileCritic(u, u.role(part)); err != nil {
			return u, err
		}
	}
	var err error
	u.actor, err = x.compile("drqv2 actor", func(g *op.Graph) plan.Spec { return x.buildActor(g, u) })
	return u, err
}

func (u *updater) role(part int) role { return role{part == 0, part == u.parts-1} }

// compileCritic compiles the program of a role.
func (x *Agent) compileCritic(u *updater, r role) (err error) {
	if u.critics[r] != nil {
		return nil
	}
	c := &critic{noise: new(plan.Items)}
	var q, h *op.Node
	c.program, err = x.compile("drqv2 critic", func(g *op.Graph) (spec plan.Spec) {
		spec, h, q = x.buildCritic(g, u, c.noise)
		if !r.first {
			spec.Collected = u.sums
		}
		if r.last {
			spec.Optimiser = x.criticAdam
		} else {
			spec.Collect = u.sums
		}
		spec.Outputs = []*op.Node{q}
		if u.parts == 1 {
			spec.Lerps = []plan.Lerp{{Dst: u.features, Node: h}}
		} else {
			spec.Outputs = append(spec.Outputs, h)
		}
		return spec
	})
	if err != nil {
		return err
	}
	c.q = c.program.Data(q)
	if u.parts > 1 {
		c.features = c.program.Data(h)
	}
	u.critics[r] = c
	return nil
}

// buildCritic: Σₖ mean over the whole batch of (Qₖ(T_c(h), a) − y)², for the rows of a
// part.
func (x *Agent) buildCritic(g *op.Graph, u *updater, items *plan.Items) (spec plan.Spec, h, q *op.Node) {
	b := u.batch
	noise := g.Input("noise", b.rows, x.config.Act)
	next := x.nets.encode(g, g.Bind(b.next))
	value := g.MinMembers(x.nets.targets(g, next, x.noisy(g, next, noise)))
	y := g.StopGradient(g.Add(g.Bind(b.ret), g.Mul(g.Bind(b.discount), value)))
	h = x.nets.encode(g, g.Bind(b.images))
	q = x.nets.values(g, h, g.Bind(b.action))
	spec.Loss = g.SquaredError(q, y, float64(u.size))
	spec.Fills = []plan.Fill{{Node: noise, Stream: x.streams.target, Items: items}}
	spec.Finite = []*op.Node{spec.Loss}
	return spec, h, q
}

// noisy is ã of features: the policy's action with clipped noise.
func (x *Agent) noisy(g *op.Graph, h, noise *op.Node) *op.Node {
	clip := x.config.NoiseClip
	return bounded(g, g.Add(x.nets.mean(g, h), g.Clamp(g.ColScale(noise, g.Bind(x.sigma)), -clip, clip)))
}

// buildActor: −mean of min over k of Qₖ(T_c(h), ã(T_a(h))), differentiated by policy and
// T_a, and the move of the targets.
func (x *Agent) buildActor(g *op.Graph, u *updater) (spec plan.Spec) {
	h, noise := g.Bind(u.features), g.Input("noise", u.size, x.config.Act)
	latent := g.StopGradient(x.nets.critic.apply(g, h))
	q := g.MinMembers(x.nets.q.Apply(g, g.Concat(latent, x.noisy(g, h, noise))))
	spec.Loss = g.Scale(g.Mean(q), -1)
	spec.Fills = []plan.Fill{{Node: noise, Stream: x.streams.actor}}
	spec.Optimiser = x.actorAdam
	from := x.nets.valueParams()
	for i, t := range x.nets.targetParams() {
		spec.Lerps = append(spec.Lerps, plan.Lerp{Dst: t, Src: from[i], Rate: x.tau})
	}
	return spec
}

func (u *updater) close() error {
	var all []error
	for _, c := range u.critics {
		all = append(all, c.program.Close())
	}
	if u.actor != nil {
		all = append(all, u.actor.Close())
	}
	return errors.Join(all...)
}
