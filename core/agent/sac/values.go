package sac

import (
	"fmt"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// valueRows is how many rows the programs of Q and TDError take at a time: their
// activations still fit a cache.
const valueRows = 512

// valuing computes Q(s, π(s)).
type valuing struct {
	program *plan.Program
	obs, q  []float32
}

// Q writes the mean over critics of Q(s, tanh μ(s)) for rows observations
// [rows,O] to dst [rows]: the relevance function "return".
func (s *Agent) Q(dst, obs []float32, rows int) error {
	o := s.config.Obs
	if err := enough("value", rows, size{"observations", len(obs), o}, size{"values", len(dst), 1}); err != nil {
		return err
	}
	if s.returns == nil {
		if err := s.compileReturns(); err != nil {
			return err
		}
	}
	v := s.returns
	for first := 0; first < rows; first += valueRows {
		n := min(valueRows, rows-first)
		copy(v.obs, obs[first*o:(first+n)*o])
		if err := v.program.Run(0); err != nil {
			return fmt.Errorf("value: %w", err)
		}
		copy(dst[first:first+n], v.q)
	}
	return nil
}

func (s *Agent) compileReturns() error {
	var in, out *op.Node
	program, err := s.compile("value", func(g *op.Graph) plan.Spec {
		in = g.Input("s", valueRows, s.config.Obs)
		out = s.nets.critics.value(g, in, s.nets.mean(g, in), s.nets.critics.unperturbed(g))
		return plan.Spec{Outputs: []*op.Node{out}}
	})
	if err != nil {
		return err
	}
	s.returns = &valuing{program: program, obs: program.Data(in), q: program.Data(out)}
	return nil
}

// erring computes the temporal-difference error.
type erring struct {
	program *plan.Program
	batch   replay.Batch
	delta   []float32
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
	if s.errors == nil {
		if err := s.compileErrors(); err != nil {
			return err
		}
	}
	e := s.errors
	for first := 0; first < rows; first += valueRows {
		end := min(first+valueRows, rows)
		copy(e.batch.Obs, b.Obs[first*o:end*o])
		copy(e.batch.Act, b.Act[first*a:end*a])
		copy(e.batch.Reward, b.Reward[first:end])
		copy(e.batch.Next, b.Next[first*o:end*o])
		copy(e.batch.Done, b.Done[first:end])
		if err := e.program.Run(0); err != nil {
			return fmt.Errorf("td error: %w", err)
		}
		copy(dst[first:end], e.delta)
	}
	return nil
}

func (s *Agent) compileErrors() error {
	var obs, act, reward, next, done, out *op.Node
	program, err := s.compile("td error", func(g *op.Graph) plan.Spec {
		obs, act = g.Input("s", valueRows, s.config.Obs), g.Input("a", valueRows, s.config.Act)
		next = g.Input("s'", valueRows, s.config.Obs)
		reward, done = g.Input("r", valueRows, 1), g.Input("d", valueRows, 1)
		// With α = 0 and log π = 0 the target's entropy term vanishes.
		none, cold := g.Input("no log π", valueRows, 1), g.Input("no α", 1)
		future := s.nets.target.value(g, next, s.nets.mean(g, next), s.nets.target.unperturbed(g))
		y := g.TDTarget(reward, done, future, none, g.Bind(s.gamma), cold)
		out = g.Sub(y, s.nets.critics.value(g, obs, act, s.nets.critics.unperturbed(g)))
		return plan.Spec{Outputs: []*op.Node{out}}
	})
	if err != nil {
		return err
	}
	s.errors = &erring{program: program, delta: program.Data(out), batch: replay.Batch{
		Size: valueRows, Obs: program.Data(obs), Act: program.Data(act), Reward: program.Data(reward),
		Next: program.Data(next), Done: program.Data(done),
	}}
	return nil
}
