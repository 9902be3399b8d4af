package sac

import (
	"fmt"
	"math"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// valueRows is how many rows the programs of estimates take at a time: their activations still
// fit a cache.
const valueRows = 512

// Q writes the mean over critics of Q(s, tanh μ(s)) for rows observations
// [rows,O] to dst [rows]: the relevance function "return".
func (s *Agent) Q(dst, obs []float32, rows int) error {
	if err := enough("value", rows, size{"observations", len(obs), s.config.Obs}, size{"values", len(dst), 1}); err != nil {
		return err
	}
	return s.estimate("value", &s.returns, 0, rows, [][]float32{obs}, dst)
}

// estimate computes the columns out of the columns in.
func (s *Agent) estimate(what string, by *plan.ByRows[*plan.Blocks], occasion uint64, rows int, in [][]float32, out ...[]float32) error {
	b, err := by.Of(valueRows)
	if err != nil {
		return err
	}
	if err := b.Columns(occasion, rows, in, out...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func (s *Agent) compileReturns(rows int) (*plan.Blocks, error) {
	return plan.NewBlocks("value", rows, s.dev, func(g *op.Graph) (in []*op.Node, spec plan.Spec) {
		obs := g.Input("s", rows, s.config.Obs)
		spec.Outputs = []*op.Node{s.nets.critics.value(g, obs, s.nets.mean(g, obs), s.nets.critics.unperturbed(g))}
		return []*op.Node{obs}, spec
	})
}

// TDError writes r + γ(1−d)·mean Q̄(s', tanh μ(s')) − mean Q(s,a) for the first
// rows transitions of b to dst [rows]: the relevance function "td" before its
// absolute value is taken. Means are over all critics; there is no entropy term.
func (s *Agent) TDError(dst []float32, b *replay.Batch, rows int) error {
	o, a := s.config.Obs, s.config.Act
	if err := enough("td error", rows, size{"observations", len(b.Obs), o}, size{"actions", len(b.Act), a}, size{"rewards", len(b.Reward), 1},
		size{"next observations", len(b.Next), o}, size{"terminals", len(b.Done), 1}, size{"errors", len(dst), 1}); err != nil {
		return err
	}
	return s.estimate("td error", &s.errors, 0, rows, [][]float32{b.Obs, b.Act, b.Reward, b.Next, b.Done}, dst)
}

func (s *Agent) compileErrors(rows int) (*plan.Blocks, error) {
	return plan.NewBlocks("td error", rows, s.dev, func(g *op.Graph) (in []*op.Node, spec plan.Spec) {
		obs, act, next := g.Input("s", rows, s.config.Obs), g.Input("a", rows, s.config.Act), g.Input("s'", rows, s.config.Obs)
		reward, done := g.Input("r", rows, 1), g.Input("d", rows, 1)
		future := s.nets.target.value(g, next, s.nets.mean(g, next), s.nets.target.unperturbed(g))
		y := g.TDTarget(reward, done, future, nil, g.Bind(s.gamma), nil)
		spec.Outputs = []*op.Node{g.Sub(y, s.nets.critics.value(g, obs, act, s.nets.critics.unperturbed(g)))}
		return []*op.Node{obs, act, reward, next, done}, spec
	})
}

// Sample writes a ~ π(s) for rows observations obs [rows,O] into dst [rows,A], with
// log π(a|s) in logp [rows]. The same occasion has the same noise, which no other
// method of the agent uses.
func (s *Agent) Sample(dst, logp, obs []float32, rows int, occasion uint64) error {
	o, a := s.config.Obs, s.config.Act
	if err := enough("sample", rows, size{"observations", len(obs), o}, size{"actions", len(dst), a}, size{"log π", len(logp), 1}); err != nil {
		return err
	}
	return s.estimate("sample", &s.samples, occasion<<20, rows, [][]float32{obs}, dst, logp)
}

func (s *Agent) compileSamples(rows int) (*plan.Blocks, error) {
	return plan.NewBlocks("sample of rows", rows, s.dev, func(g *op.Graph) (in []*op.Node, spec plan.Spec) {
		obs, noise := g.Input("s", rows, s.config.Obs), g.Input("noise", rows, s.config.Act)
		action, logp := s.nets.sample(g, obs, noise)
		spec.Outputs, spec.Fills = []*op.Node{action, logp}, []plan.Fill{{Node: noise, Stream: s.actNoise.Sub("rows")}}
		return []*op.Node{obs}, spec
	})
}

// Value writes the mean over critics of Q(s,a) for rows observations obs [rows,O] and
// actions act [rows,A] to dst [rows].
func (s *Agent) Value(dst, obs, act []float32, rows int) error {
	o, a := s.config.Obs, s.config.Act
	if err := enough("value of actions", rows, size{"observations", len(obs), o}, size{"actions", len(act), a}, size{"values", len(dst), 1}); err != nil {
		return err
	}
	return s.estimate("value of actions", &s.values, 0, rows, [][]float32{obs, act}, dst)
}

func (s *Agent) compileValues(rows int) (*plan.Blocks, error) {
	return plan.NewBlocks("value of actions", rows, s.dev, func(g *op.Graph) (in []*op.Node, spec plan.Spec) {
		obs, act := g.Input("s", rows, s.config.Obs), g.Input("a", rows, s.config.Act)
		spec.Outputs = []*op.Node{s.nets.critics.value(g, obs, act, s.nets.critics.unperturbed(g))}
		return []*op.Node{obs, act}, spec
	})
}

// Spread writes the standard deviation over critics of Q(s,a) for rows observations obs [rows,O] and
// actions act [rows,A] to dst [rows].
func (s *Agent) Spread(dst, obs, act []float32, rows int) error {
	o, a := s.config.Obs, s.config.Act
	if err := enough("spread of values", rows, size{"observations", len(obs), o}, size{"actions", len(act), a}, size{"deviations", len(dst), 1}); err != nil {
		return err
	}
	if err := s.estimate("spread of values", &s.spreads, 0, rows, [][]float32{obs, act}, dst); err != nil {
		return err
	}
	for i, variance := range dst[:rows] {
		dst[i] = float32(math.Sqrt(float64(variance)))
	}
	return nil
}

func (s *Agent) compileSpreads(rows int) (*plan.Blocks, error) {
	return plan.NewBlocks("spread of values", rows, s.dev, func(g *op.Graph) (in []*op.Node, spec plan.Spec) {
		obs, act := g.Input("s", rows, s.config.Obs), g.Input("a", rows, s.config.Act)
		q := s.nets.critics.apply(g, g.Concat(obs, act), s.nets.critics.unperturbed(g))
		ones := g.Shift(g.Scale(q, 0), 1)
		mean := g.RowScale(ones, g.MeanMembers(q)) // for each critic
		spec.Outputs = []*op.Node{g.MeanMembers(g.Square(g.Sub(q, mean)))}
		return []*op.Node{obs, act}, spec
	})
}
