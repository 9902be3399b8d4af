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
	*plan.Program
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
	c, err := s.choosing.Of(s.config.Candidates)
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
		if err := c.Run(a.Step); err != nil {
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

// newChoosing compiles the choice among n samples.
func (s *Agent) newChoosing(n int) (*choosing, error) {
	var in, action, q *op.Node
	items := &plan.Items{}
	program, err := plan.Build("act by a critic", s.dev, func(g *op.Graph) plan.Spec {
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
	return &choosing{program, program.Data(in), program.Data(action), program.Data(q), items}, nil
}
