package drqv2

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// dreams are the synthetic rows of a batch as programs read them: latents, which enter
// after the trunks and so move the heads alone.
type dreams struct {
	rows           int
	z, next        *op.Tensor // [S,2F] of s and s′: T_c(h) and T_a(h) side by side
	action, ret    *op.Tensor // [S,A], [S,1]
	done, discount *op.Tensor // [S,1]; γⁿ(1−d)
	columns        replay.Batch
}

func (x *Agent) newDreams(rows int) *dreams {
	latent := x.config.latents()
	d := &dreams{
		rows: rows, z: op.NewTensor("z", rows, latent.Obs), next: op.NewTensor("z'", rows, latent.Obs),
		action: op.NewTensor("dreamt a", rows, latent.Act), ret: op.NewTensor("dreamt R", rows, 1),
		done: op.NewTensor("dreamt d", rows, 1), discount: op.NewTensor("dreamt discount", rows, 1),
	}
	d.columns = replay.Batch{Size: rows, Obs: d.z.Data, Act: d.action.Data, Reward: d.ret.Data, Next: d.next.Data, Done: d.done.Data}
	return d
}

// fill draws the rows of an occasion.
func (d *dreams) fill(c *Config, from *agent.BatchSource, occasion uint64) error {
	if err := from.Mixer.Sample(&d.columns, replay.Mix{Synthetic: d.rows}, nil, from.Synthetic, occasion); err != nil {
		return fmt.Errorf("agent: draw synthetic rows: %w", err)
	}
	gamma := float32(c.bootstrap())
	for i, done := range d.done.Data {
		d.discount.Data[i] = gamma * (1 - done)
	}
	return nil
}

// halves returns T_c and T_a of latents [S,2F], clamped to the range of tanh: a generator
// has no such bounds.
func (x *Agent) halves(g *op.Graph, z *op.Node) (critic, actor *op.Node) {
	f := x.config.Pixels.Feature
	z = g.Clamp(z, -largest, largest)
	return g.Slice(z, 0, f), g.Slice(z, f, 2*f)
}

// dreamtCritic returns what synthetic rows add to the critics' loss. The output of the critics'
// trunk for s′ stands in for that of the target's trunk.
func (x *Agent) dreamtCritic(g *op.Graph, u *updater, spec *plan.Spec, items *plan.Items) (q, loss *op.Node) {
	d := u.dreams
	noise := g.Input("dreamt noise", d.rows, x.config.Act)
	spec.Fills = append(spec.Fills, plan.Fill{Node: noise, Stream: x.streams.target, Items: items})
	critic, actor := x.halves(g, g.Bind(d.next))
	value := g.MinMembers(x.nets.targets(g, critic, x.noisy(g, actor, noise)))
	y := g.StopGradient(g.Add(g.Bind(d.ret), g.Mul(g.Bind(d.discount), value)))
	critic, _ = x.halves(g, g.Bind(d.z))
	q = x.nets.values(g, critic, g.Bind(d.action))
	return q, g.SquaredError(q, y, float64(u.mix.Size()))
}

// dreamtActor returns what synthetic rows add to the policy's objective.
func (x *Agent) dreamtActor(g *op.Graph, u *updater, spec *plan.Spec) *op.Node {
	d := u.dreams
	noise := g.Input("dreamt noise", d.rows, x.config.Act)
	items := &plan.Items{First: uint64(u.mix.Real * x.config.Act)}
	spec.Fills = append(spec.Fills, plan.Fill{Node: noise, Stream: x.streams.actor, Items: items})
	critic, actor := x.halves(g, g.Bind(d.z))
	return x.objective(g, critic, actor, noise, float64(u.mix.Size()))
}
