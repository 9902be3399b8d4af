package ppo

import (
	"fmt"
	"math"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// look computes policy and value for a fixed number of observations.
type look struct {
	*plan.Program
	obs, logits, v []float32 // [rows,O], [rows,A], [rows]
}

func (x *Agent) newLook(rows int) (*look, error) {
	var in, logits, v *op.Node
	program, err := plan.Build("act", x.dev, func(g *op.Graph) plan.Spec {
		in = g.Input("s", rows, x.config.input())
		z := x.nets.latent(g, in)
		logits, v = x.nets.policy.Apply(g, z), x.nets.value.Apply(g, z)
		return plan.Spec{Outputs: []*op.Node{logits, v}}
	})
	if err != nil {
		return nil, err
	}
	return &look{program, program.Data(in), program.Data(logits), program.Data(v)}, nil
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
	l, err := x.looks.Of(agent.Padded(a.Copies))
	if err != nil {
		return err
	}
	if x.config.Side == 0 {
		copy(l.obs, a.Obs)
	} else if err := x.show(l.obs, a.Stacks); err != nil {
		return fmt.Errorf("act: %w", err)
	}
	if err := l.Run(0); err != nil {
		return fmt.Errorf("act: %w", err)
	}
	scores := l.logits[:len(a.Actions)]
	switch a.Mode {
	case agent.Explore:
		x.found.logits, x.found.v = append(x.found.logits[:0], scores[:shape.Act]...), l.v[0]
		scores = x.shaken(scores, func(dst []float32) { x.streams.explore.FillUniform(dst, a.Step, 0) })
	case agent.Sample:
		scores = x.shaken(scores, func(dst []float32) { x.streams.sample.FillUniform(dst, a.Step, 0) })
	}
	choose(a.Actions, scores, shape.Act)
	return nil
}

// found is the output of the newest Act in training for the first copy.
type found struct {
	logits  []float32 // empty before the first such Act
	v       float32
	chances []float32
}

// Chances returns π(a|s) and V(s) of the first copy at the newest Act in training.
func (x *Agent) Chances() (chances []float32, value float64) {
	f := &x.found
	if len(f.logits) == 0 {
		return nil, math.NaN()
	}
	highest, sum := float64(slices.Max(f.logits)), 0.0
	f.chances = f.chances[:0]
	for _, v := range f.logits {
		e := math.Exp(float64(v) - highest)
		f.chances, sum = append(f.chances, float32(e)), sum+e
	}
	for i := range f.chances {
		f.chances[i] = float32(float64(f.chances[i]) / sum)
	}
	return f.chances, float64(f.v) / x.config.RewardScale
}

// shaken returns logits with Gumbel noise; the largest one marks a sample of the policy.
func (x *Agent) shaken(logits []float32, fill func(dst []float32)) []float32 {
	if cap(x.noise) < len(logits) {
		x.noise = make([]float32, len(logits))
	}
	noise := x.noise[:len(logits)]
	fill(noise)
	for i, u := range noise {
		const least = 1.0 / (1 << 25) // half of the distance between two uniform numbers
		noise[i] = logits[i] - float32(math.Log(-math.Log(float64(u)+least)))
	}
	return noise
}

// choose writes to each row of actions a 1 at the row's largest score, the first of equal ones.
// actions and scores may be the same slice.
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
