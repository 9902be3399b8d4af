package dreamer

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/agent/probe"
	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// look is an env step of the recurrent model and the policy, for a fixed number of copies.
type look struct {
	*plan.Program
	obs, deter, stoch, action, uniform []float32 // [n,O] after symlog or the words of [n] frames, [n,D], [n,Z], [n,A], [n,Stoch]
	next, drawn, mean, deviation       []float32 // [n,D], [n,Z], [n,A], [n,A]
}

func (x *Agent) newLook(rows int) (*look, error) {
	c, n := x.config, x.nets
	var in [5]*op.Node
	var out [4]*op.Node
	program, err := plan.Build("dreamer act", x.dev, func(g *op.Graph) plan.Spec {
		in = [5]*op.Node{n.input(g, rows), g.Input("deter", rows, c.Deter), g.Input("stoch", rows, c.groups()), g.Input("a", rows, c.Shape.Act), g.Input("u", rows, c.Stoch)}
		out[0] = n.step(g, in[1], in[2], n.embed(g, in[3]))
		out[1] = g.GroupSample(n.chances(g, n.seen(g, out[0], n.encode(g, in[0]))), in[4], c.Classes)
		out[2], out[3] = n.actor(g, g.Concat(out[0], out[1]))
		return plan.Spec{Outputs: out[:]}
	})
	if err != nil {
		return nil, err
	}
	return &look{
		program, program.Data(in[0]), program.Data(in[1]), program.Data(in[2]), program.Data(in[3]), program.Data(in[4]),
		program.Data(out[0]), program.Data(out[1]), program.Data(out[2]), program.Data(out[3]),
	}, nil
}

// StateSize is the size of a latent and an action.
func (x *Agent) StateSize() int { return x.config.feature() + x.config.Shape.Act }

// Act chooses an action for each copy: in Mean the mean of the policy, at a latent that is drawn as in the other
// modes.
func (x *Agent) Act(a *agent.Acting) error {
	c := x.config
	if err := a.Check(c.Shape.Obs, c.Shape.Act, x.StateSize()); err != nil {
		return err
	}
	l, err := x.looks.Of(agent.Padded(a.Copies))
	if err != nil {
		return err
	}
	d, z, act, size := c.Deter, c.groups(), c.Shape.Act, x.StateSize()
	if err := x.show(l.obs, agent.Looks{Rows: a.Copies, Numbers: a.Obs, Stacks: a.Stacks}); err != nil {
		return fmt.Errorf("act: %w", err)
	}
	for i := range a.Copies {
		is := a.State[i*size:][:size]
		copy(l.deter[i*d:], is[:d])
		copy(l.stoch[i*z:], is[d:d+z])
		copy(l.action[i*act:], is[d+z:])
	}
	noise := x.streams.evaluate
	if a.Mode == agent.Explore {
		noise = x.streams.explore
	}
	noise.Sub("u").FillUniform(l.uniform, a.Step, 0)
	if err := l.Run(0); err != nil {
		return fmt.Errorf("act: %w", err)
	}
	x.choose(a, l, noise)
	for i := range a.Copies {
		is := a.State[i*size:][:size]
		copy(is[:d], l.next[i*d:])
		copy(is[d:d+z], l.drawn[i*z:])
		copy(is[d+z:], a.Actions[i*act:])
		if a.Mode == agent.Explore && x.memory.Log != nil {
			seen := x.memory.Log.Last(i)
			x.memory.latents[i].put(seen.Number, seen.Number-min(seen.Number, mostSeen), is[:d], is[d:d+z])
		}
	}
	return nil
}

// choose writes the actions, clamped to what the environment takes: the recurrent model sees no more of them.
func (x *Agent) choose(a *agent.Acting, l *look, noise rng.Stream) {
	copy(a.Actions, l.mean)
	if a.Mode != agent.Mean {
		eps := make([]float32, len(a.Actions))
		noise.Sub("eps").FillNormal(eps, a.Step, 0)
		for i, e := range eps {
			a.Actions[i] += l.deviation[i] * e
		}
	}
	for i, v := range a.Actions {
		a.Actions[i] = max(-1, min(1, v))
	}
}

// Activations returns the layers of encoder and policy, as if each observation were the first of its episode.
func (x *Agent) Activations(seen agent.Looks) ([]agent.Layer, error) {
	if (seen.Stacks == nil) != (x.config.Side == 0) {
		return nil, nil
	}
	p, err := x.probes.Of(seen.Rows)
	if err != nil {
		return nil, err
	}
	if err := x.show(p.In, seen); err != nil {
		return nil, fmt.Errorf("activations: %w", err)
	}
	return p.Layers(seen.Rows)
}

// show writes observations, or the newest frame of each stack, as the programs read them.
func (x *Agent) show(into []float32, seen agent.Looks) error {
	if x.config.Side == 0 {
		symlog(into, seen.Numbers)
		return nil
	}
	size, words := x.config.Side*x.config.Side*agent.Colours, x.config.words()
	if len(seen.Stacks) != seen.Rows {
		return fmt.Errorf("%d stacks of frames for %d copies", len(seen.Stacks), seen.Rows)
	}
	for i, stack := range seen.Stacks {
		if len(stack) != 1 || len(stack[0]) != size {
			return fmt.Errorf("a stack of %d frames, want one of %d bytes", len(stack), size)
		}
		copy(device.Bytes(into[i*words:(i+1)*words]), stack[0])
	}
	return nil
}

// layers are those of Activations. What is drawn elsewhere are its probabilities here.
func (x *Agent) layers(g *op.Graph, rows int) probe.Layers {
	c, n := x.config, x.nets
	l := probe.Layers{In: n.input(g, rows)}
	through := func(layers stack, y *op.Node) *op.Node {
		for _, of := range layers {
			before := of.norm.Apply(g, of.linear.Apply(g, y))
			y = g.SiLU(before)
			l.Pre, l.Post = append(l.Pre, before), append(l.Post, y)
		}
		return y
	}
	nothing := func(name string, width int) *op.Node { return g.Bind(op.NewTensor(name, rows, width)) }
	tokens := l.In
	if n.vision != nil {
		tokens = n.encode(g, tokens) // convolutions have no layers of units
	} else {
		tokens = through(n.encoder, tokens)
	}
	deter := n.step(g, nothing("deter", c.Deter), nothing("stoch", c.groups()), n.embed(g, nothing("a", c.Shape.Act)))
	feature := g.Concat(deter, n.chances(g, n.seen(g, deter, tokens)))
	last := through(n.policy, feature)
	l.Heads = []probe.Head{{Name: "mean", Node: n.mean.Apply(g, last)}, {Name: "deviation", Node: n.deviation.Apply(g, last)}}
	return l
}
