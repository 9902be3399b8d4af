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

// Q writes the mean over critics of Q(z_c, π(z_a)) for rows latents [rows,2F] to dst [rows]:
// the relevance function "return".
func (l *Latent) Q(dst, z []float32, rows int) error {
	if o := l.config.latents().Obs; rows < 0 || len(dst) < rows || len(z) < rows*o {
		return fmt.Errorf("value: %d latents of %d numbers from %d, to %d", rows, o, len(z), len(dst))
	}
	b, err := l.returns.Of(valueRows)
	if err != nil {
		return err
	}
	if err := b.Columns(0, rows, [][]float32{z}, dst); err != nil {
		return fmt.Errorf("value: %w", err)
	}
	return nil
}

func (l *Latent) compileReturns(rows int) (*plan.Blocks, error) {
	return plan.NewBlocks("value", rows, l.dev, func(g *op.Graph) (in []*op.Node, spec plan.Spec) {
		z := g.Input("z", rows, l.config.latents().Obs)
		critic, actor := l.halves(g, z)
		spec.Outputs = []*op.Node{g.MeanMembers(l.nets.values(g, critic, l.nets.mean(g, actor)))}
		return []*op.Node{z}, spec
	})
}

// TDError writes R + γⁿ(1−d)·mean Q̄(z′_c, π(z′_a)) − mean Q(z_c,a) for the first rows
// transitions of b to dst [rows]: the relevance function "td" before its absolute value is
// taken. Means are over the critics.
func (l *Latent) TDError(dst []float32, b *replay.Batch, rows int) error {
	shape := l.config.latents()
	if rows < 0 || rows > b.Size || len(dst) < rows || len(b.Obs) < rows*shape.Obs || len(b.Act) < rows*shape.Act {
		return fmt.Errorf("td error: %d rows of a batch of %d, to %d", rows, b.Size, len(dst))
	}
	e, err := l.errors.Of(valueRows)
	if err != nil {
		return err
	}
	gamma := float32(l.config.bootstrap())
	err = e.Each(0, rows, func(first, n int) {
		for i, column := range [][]float32{b.Obs, b.Act, b.Reward, b.Next} {
			e.Set(i, column, first, n)
		}
		for i, done := range b.Done[first : first+n] {
			e.In[4][i] = gamma * (1 - done)
		}
	}, dst)
	if err != nil {
		return fmt.Errorf("td error: %w", err)
	}
	return nil
}

func (l *Latent) compileErrors(rows int) (*plan.Blocks, error) {
	return plan.NewBlocks("td error", rows, l.dev, func(g *op.Graph) (in []*op.Node, spec plan.Spec) {
		shape := l.config.latents()
		z, act, next := g.Input("z", rows, shape.Obs), g.Input("a", rows, shape.Act), g.Input("z'", rows, shape.Obs)
		ret, discount := g.Input("R", rows, 1), g.Input("discount", rows, 1)
		critic, actor := l.halves(g, next)
		future := g.MeanMembers(l.nets.targets(g, critic, l.nets.mean(g, actor)))
		critic, _ = l.halves(g, z)
		y := g.Add(ret, g.Mul(discount, future))
		spec.Outputs = []*op.Node{g.Sub(y, g.MeanMembers(l.nets.values(g, critic, act)))}
		return []*op.Node{z, act, ret, next, discount}, spec
	})
}
