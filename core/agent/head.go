package agent

import (
	"fmt"

	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// choosing takes several policy samples for one observation and values each by one
// critic.
type choosing struct {
	program *plan.Program
	obs     []float32 // [Candidates,O], the same row everywhere
	actions []float32 // [Candidates,A]
	values  []float32 // [Candidates,1]
}

// Head is the critic that acts in an episode under ExploreBootstrap, chosen
// uniformly.
func (s *SAC) Head(episode uint64) int { return s.heads.At(episode).IntN(s.config.Critics) }

// actByHead samples Candidates actions a ~ π(s) and takes the one that the episode's
// critic values most.
func (s *SAC) actByHead(dst, obs []float32, step, episode uint64) error {
	c := s.choosing
	s.head.Data[0] = float32(s.Head(episode))
	for i := range c.values {
		copy(c.obs[i*len(obs):], obs)
	}
	if err := c.program.Run(step); err != nil {
		return fmt.Errorf("act: %w", err)
	}
	best := 0
	for i, q := range c.values {
		if q > c.values[best] {
			best = i
		}
	}
	copy(dst, c.actions[best*len(dst):])
	return nil
}

func (s *SAC) compileChoosing() error {
	n := s.config.Candidates
	var in, action, q *op.Node
	program, err := s.compile("act by a critic", func(g *op.Graph) plan.Spec {
		in = g.Input("s", n, s.config.Obs)
		noise := g.Input("noise", n, s.config.Act)
		action, _ = s.nets.sample(g, in, noise)
		q = g.MeanMembers(s.nets.critics.applyAt(g, g.Concat(in, action), g.Bind(s.head), s.nets.critics.unperturbed(g)))
		return plan.Spec{Outputs: []*op.Node{action, q}, Fills: []plan.Fill{{Node: noise, Stream: s.actNoise}}}
	})
	if err != nil {
		return err
	}
	s.choosing = &choosing{program: program, obs: program.Data(in), actions: program.Data(action), values: program.Data(q)}
	return nil
}
