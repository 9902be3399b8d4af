package sac

import (
	"errors"
	"fmt"

	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// soft computes the parts of the stochastic policy's value: samples of the policy with their
// log π, and Q of given pairs.
type soft struct {
	sample            *plan.Program
	obs, action, logp []float32 // of sample

	value        *plan.Program
	pairs, acted []float32 // states and actions of value
	q            []float32
}

// Sample writes a ~ π(s) for rows observations obs [rows,O] into dst [rows,A], with
// log π(a|s) in logp [rows]. The same occasion has the same noise, which no other
// method of the agent uses.
func (s *Agent) Sample(dst, logp, obs []float32, rows int, occasion uint64) error {
	o, a := s.config.Obs, s.config.Act
	if err := enough("sample", rows, size{"observations", len(obs), o}, size{"actions", len(dst), a}, size{"log π", len(logp), 1}); err != nil {
		return err
	}
	if err := s.compileSoft(); err != nil {
		return err
	}
	for first := 0; first < rows; first += valueRows {
		n := min(valueRows, rows-first)
		copy(s.soft.obs, obs[first*o:(first+n)*o])
		if err := s.soft.sample.Run(occasion<<20 | uint64(first/valueRows)); err != nil {
			return fmt.Errorf("sample: %w", err)
		}
		copy(dst[first*a:(first+n)*a], s.soft.action)
		copy(logp[first:first+n], s.soft.logp)
	}
	return nil
}

// Value writes the mean over critics of Q(s,a) for rows observations obs [rows,O] and
// actions act [rows,A] to dst [rows].
func (s *Agent) Value(dst, obs, act []float32, rows int) error {
	o, a := s.config.Obs, s.config.Act
	if err := enough("value of actions", rows, size{"observations", len(obs), o}, size{"actions", len(act), a}, size{"values", len(dst), 1}); err != nil {
		return err
	}
	if err := s.compileSoft(); err != nil {
		return err
	}
	for first := 0; first < rows; first += valueRows {
		n := min(valueRows, rows-first)
		copy(s.soft.pairs, obs[first*o:(first+n)*o])
		copy(s.soft.acted, act[first*a:(first+n)*a])
		if err := s.soft.value.Run(0); err != nil {
			return fmt.Errorf("value of actions: %w", err)
		}
		copy(dst[first:first+n], s.soft.q)
	}
	return nil
}

// compileSoft compiles both programs, once.
func (s *Agent) compileSoft() error {
	if s.soft != nil {
		return nil
	}
	var in, action, logp, obs, act, q *op.Node
	sample, err := s.compile("sample of rows", func(g *op.Graph) plan.Spec {
		in = g.Input("s", valueRows, s.config.Obs)
		noise := g.Input("noise", valueRows, s.config.Act)
		action, logp = s.nets.sample(g, in, noise)
		return plan.Spec{Outputs: []*op.Node{action, logp}, Fills: []plan.Fill{{Node: noise, Stream: s.actNoise.Sub("rows")}}}
	})
	if err != nil {
		return err
	}
	value, err := s.compile("value of actions", func(g *op.Graph) plan.Spec {
		obs, act = g.Input("s", valueRows, s.config.Obs), g.Input("a", valueRows, s.config.Act)
		q = s.nets.critics.value(g, obs, act, s.nets.critics.unperturbed(g))
		return plan.Spec{Outputs: []*op.Node{q}}
	})
	if err != nil {
		return errors.Join(err, sample.Close())
	}
	s.soft = &soft{
		sample: sample, obs: sample.Data(in), action: sample.Data(action), logp: sample.Data(logp),
		value: value, pairs: value.Data(obs), acted: value.Data(act), q: value.Data(q),
	}
	return nil
}
