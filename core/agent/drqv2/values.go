package drqv2

import (
	"fmt"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// valueRows is how many rows the programs of Q and TDError take at a time: their
// activations still fit a cache.
const valueRows = 512

// valuing computes Q of latents with the policy's action.
type valuing struct {
	program *plan.Program
	z, q    []float32
}

// Q writes the mean over critics of Q(z_c, π(z_a)) for rows latents [rows,2F] to dst [rows]:
// the relevance function "return".
func (l *Latent) Q(dst, z []float32, rows int) error {
	o := l.config.latents().Obs
	if rows < 0 || len(dst) < rows || len(z) < rows*o {
		return fmt.Errorf("value: %d latents of %d numbers from %d, to %d", rows, o, len(z), len(dst))
	}
	if l.returns == nil {
		if err := l.compileReturns(); err != nil {
			return err
		}
	}
	v := l.returns
	for first := 0; first < rows; first += valueRows {
		n := min(valueRows, rows-first)
		copy(v.z, z[first*o:(first+n)*o])
		if err := v.program.Run(0); err != nil {
			return fmt.Errorf("value: %w", err)
		}
		copy(dst[first:first+n], v.q)
	}
	return nil
}

func (l *Latent) compileReturns() error {
	var in, out *op.Node
	program, err := l.compile("value", func(g *op.Graph) plan.Spec {
		in = g.Input("z", valueRows, l.config.latents().Obs)
		critic, actor := l.halves(g, in)
		out = g.MeanMembers(l.nets.values(g, critic, l.nets.mean(g, actor)))
		return plan.Spec{Outputs: []*op.Node{out}}
	})
	if err != nil {
		return err
	}
	l.returns = &valuing{program: program, z: program.Data(in), q: program.Data(out)}
	return nil
}

// erring computes the temporal-difference error.
type erring struct {
	program         *plan.Program
	batch           replay.Batch
	discount, delta []float32
}

// TDError writes R + γⁿ(1−d)·mean Q̄(z′_c, π(z′_a)) − mean Q(z_c,a) for the first rows
// transitions of b to dst [rows]: the relevance function "td" before its absolute value is
// taken. Means are over the critics.
func (l *Latent) TDError(dst []float32, b *replay.Batch, rows int) error {
	shape := l.config.latents()
	o, a := shape.Obs, shape.Act
	if rows < 0 || rows > b.Size || len(dst) < rows || len(b.Obs) < rows*o || len(b.Act) < rows*a {
		return fmt.Errorf("td error: %d rows of a batch of %d, to %d", rows, b.Size, len(dst))
	}
	if l.errors == nil {
		if err := l.compileErrors(); err != nil {
			return err
		}
	}
	e, gamma := l.errors, float32(l.config.bootstrap())
	for first := 0; first < rows; first += valueRows {
		end := min(first+valueRows, rows)
		copy(e.batch.Obs, b.Obs[first*o:end*o])
		copy(e.batch.Act, b.Act[first*a:end*a])
		copy(e.batch.Reward, b.Reward[first:end])
		copy(e.batch.Next, b.Next[first*o:end*o])
		for i, done := range b.Done[first:end] {
			e.discount[i] = gamma * (1 - done)
		}
		if err := e.program.Run(0); err != nil {
			return fmt.Errorf("td error: %w", err)
		}
		copy(dst[first:end], e.delta)
	}
	return nil
}

func (l *Latent) compileErrors() error {
	var z, act, ret, next, discount, out *op.Node
	program, err := l.compile("td error", func(g *op.Graph) plan.Spec {
		shape := l.config.latents()
		z, act, next = g.Input("z", valueRows, shape.Obs), g.Input("a", valueRows, shape.Act), g.Input("z'", valueRows, shape.Obs)
		ret, discount = g.Input("R", valueRows, 1), g.Input("discount", valueRows, 1)
		critic, actor := l.halves(g, next)
		future := g.MeanMembers(l.nets.targets(g, critic, l.nets.mean(g, actor)))
		critic, _ = l.halves(g, z)
		y := g.Add(ret, g.Mul(discount, future))
		out = g.Sub(y, g.MeanMembers(l.nets.values(g, critic, act)))
		return plan.Spec{Outputs: []*op.Node{out}}
	})
	if err != nil {
		return err
	}
	l.errors = &erring{program: program, discount: program.Data(discount), delta: program.Data(out), batch: replay.Batch{
		Size: valueRows, Obs: program.Data(z), Act: program.Data(act), Reward: program.Data(ret), Next: program.Data(next),
	}}
	return nil
}
