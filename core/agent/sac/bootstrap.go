package sac

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// choosing draws several policy samples for one observation and computes the value that one
// critic gives each.
type choosing struct {
	program *plan.Program
	obs     []float32   // [Candidates,O], the same row everywhere
	actions []float32   // [Candidates,A]
	values  []float32   // [Candidates,1]
	items   *plan.Items // which of the step's random numbers the samples use
}

// Head is the critic that acts in an episode under ExploreBootstrap, chosen
// uniformly.
func (s *Agent) Head(episode uint64) int { return s.heads.At(episode).IntN(s.config.Critics) }

// actByHeads samples Candidates actions a ~ π(s) for each copy and takes the one that
// the critic of its episode values most.
func (s *Agent) actByHeads(a *agent.Acting) error {
	c, err := s.chooser()
	if err != nil {
		return err
	}
	o, n := s.config.Obs, s.config.Act
	for i := range a.Copies {
		s.head.Data[0] = float32(s.Head(a.Episodes[i]))
		c.items.First = uint64(i * len(c.actions))
		for k := range c.values {
			copy(c.obs[k*o:], a.Obs[i*o:(i+1)*o])
		}
		if err := c.program.Run(a.Step); err != nil {
			return fmt.Errorf("act: %w", err)
		}
		best := 0
		for k, q := range c.values {
			if q > c.values[best] {
				best = k
			}
		}
		copy(a.Actions[i*n:(i+1)*n], c.actions[best*n:])
	}
	return nil
}

func (s *Agent) chooser() (*choosing, error) {
	if s.choosing != nil {
		return s.choosing, nil
	}
	n := s.config.Candidates
	var in, action, q *op.Node
	items := &plan.Items{}
	program, err := s.compile("act by a critic", func(g *op.Graph) plan.Spec {
		in = g.Input("s", n, s.config.Obs)
		noise := g.Input("noise", n, s.config.Act)
		action, _ = s.nets.sample(g, in, noise)
		q = g.MeanMembers(s.nets.critics.applyAt(g, g.Concat(in, action), g.Bind(s.head), s.nets.critics.unperturbed(g)))
		return plan.Spec{
			Outputs: []*op.Node{action, q}, Fills: []plan.Fill{{Node: noise, Stream: s.actNoise, Items: items}},
		}
	})
	if err != nil {
		return nil, err
	}
	s.choosing = &choosing{
		program: program, obs: program.Data(in), actions: program.Data(action), values: program.Data(q), items: items,
	}
	return s.choosing, nil
}
