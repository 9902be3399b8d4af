package ppo

import (
	"fmt"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// look is the policy for a fixed number of observations.
type look struct {
	program     *plan.Program
	obs, logits []float32 // [rows,O], [rows,A]
}

// look is the one for so many observations.
func (x *Agent) look(copies int) (*look, error) {
	rows := agent.Padded(copies)
	if l, ok := x.looks[rows]; ok {
		return l, nil
	}
	var in, logits *op.Node
	program, err := x.compile("act", func(g *op.Graph) plan.Spec {
		in = g.Input("s", rows, x.config.input())
		logits = x.nets.policy.Apply(g, x.nets.latent(g, in))
		return plan.Spec{Outputs: []*op.Node{logits}}
	})
	if err != nil {
		return nil, err
	}
	l := &look{program: program, obs: program.Data(in), logits: program.Data(logits)}
	x.looks[rows] = l
	return l, nil
}

// StateSize is 0: the policy remembers nothing.
func (x *Agent) StateSize() int { return 0 }

// Act chooses an action for each copy.
func (x *Agent) Act(a *agent.Acting) error {
	shape := x.config.Shape
	if err := a.Check(shape.Obs, shape.Act, 0); err != nil {
		return err
	}
	if x.config.Side > 0 && len(a.Stacks) != a.Copies {
		return fmt.Errorf("act: %d stacks of frames for %d copies", len(a.Stacks), a.Copies)
	}
	l, err := x.look(a.Copies)
	if err != nil {
		return err
	}
	if x.config.Side == 0 {
		copy(l.obs, a.Obs)
	} else if err := x.show(l.obs, a.Stacks); err != nil {
		return fmt.Errorf("act: %w", err)
	}
	if err := l.program.Run(0); err != nil {
		return fmt.Errorf("act: %w", err)
	}
	scores := l.logits[:len(a.Actions)]
	switch a.Mode {
	case agent.Explore:
		scores = x.shaken(scores, func(dst []float32) { x.streams.explore.FillUniform(dst, a.Step, 0) })
	case agent.Sample:
		scores = x.shaken(scores, func(dst []float32) { x.streams.sample.FillUniform(dst, a.Step, 0) })
	}
	choose(a.Actions, scores, shape.Act)
	return nil
}

// shaken are logits with Gumbel noise, of which the largest is a sample.
func (x *Agent) shaken(logits []float32, fill func(dst []float32)) []float32 {
	if cap(x.noise) < len(logits) {
		x.noise = make([]float32, len(logits))
	}
	noise := x.noise[:len(logits)]
	fill(noise)
	for i, u := range noise {
		const least = 1.0 / (1 << 25) // half of the distance between two of them
		noise[i] = logits[i] - float32(math.Log(-math.Log(float64(u)+least)))
	}
	return noise
}

// choose writes a row with 1 at the largest score of each row, the first of equal ones; the
// scores may be in the place of the actions.
func choose(actions, scores []float32, size int) {
	for first := 0; first < len(actions); first += size {
		best := 0
		for i, v := range scores[first : first+size] {
			if v > scores[first+best] {
				best = i
			}
		}
		clear(actions[first : first+size])
		actions[first+best] = 1
	}
}
