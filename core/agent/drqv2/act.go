package drqv2

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// lookRows is the most stacks that one call of a program takes: their activations still fit
// a cache.
const lookRows = 16

// look computes E, T_a and π of a fixed number of stacks.
type look struct {
	*plan.Program
	rows         int
	images       []float32 // bytes in their place
	latent, mean []float32 // T_a [rows,F] and π [rows,A]
}

// look returns the look for that many stacks, or for lookRows if they are more.
func (x *Agent) look(stacks int) (*look, error) {
	return x.looks.Of(agent.Padded(min(stacks, lookRows)))
}

func (x *Agent) newLook(rows int) (*look, error) {
	var in, latent, mean *op.Node
	program, err := plan.Build("act", x.dev, func(g *op.Graph) plan.Spec {
		in = g.Input("s", rows, op.Words(x.imageSize()))
		latent = x.nets.actor.apply(g, x.encode(g, in))
		mean = x.nets.mean(g, latent)
		return plan.Spec{Outputs: []*op.Node{latent, mean}}
	})
	if err != nil {
		return nil, err
	}
	return &look{program, rows, program.Data(in), program.Data(latent), program.Data(mean)}, nil
}

// eachLook runs a look on stacks, unshifted, a group at a time, and calls take with the
// results of each group of n stacks, the first of which is stack number first.
func (x *Agent) eachLook(stacks [][][]byte, take func(l *look, first, n int)) error {
	l, err := x.look(len(stacks))
	if err != nil {
		return err
	}
	still := x.frames.Pad
	for first := 0; first < len(stacks); first += l.rows {
		n := min(l.rows, len(stacks)-first)
		for i, stack := range stacks[first : first+n] {
			if len(stack) != x.config.Pixels.Stack {
				return fmt.Errorf("a stack of %d frames, want %d", len(stack), x.config.Pixels.Stack)
			}
			x.frames.StackBytes(x.image(l.images, i), stack, still, still)
		}
		if err := l.Run(0); err != nil {
			return err
		}
		take(l, first, n)
	}
	return nil
}

// StateSize is 0: the stack holds all that the policy sees of the past.
func (x *Agent) StateSize() int { return 0 }

// Act writes an action for each copy: π(s), and when it explores also noise. The noise has
// the deviation σ(Step−1), since Step−1 env steps were made before. A sample is the mean,
// because noise only serves exploration.
func (x *Agent) Act(a *agent.Acting) error {
	n, act := a.Copies, x.config.Act
	switch {
	case n < 1 || len(a.Stacks) != n || len(a.Actions) != n*act:
		return fmt.Errorf("act: %d stacks of frames and %d actions for %d copies, want one and %d each", len(a.Stacks), len(a.Actions), n, act)
	case len(a.State) != 0:
		return fmt.Errorf("act: %d numbers of state, want none", len(a.State))
	}
	if err := x.eachLook(a.Stacks, func(l *look, first, n int) { copy(a.Actions[first*act:], l.mean[:n*act]) }); err != nil {
		return fmt.Errorf("act: %w", err)
	}
	if a.Mode == agent.Explore {
		x.explore(a)
	}
	return nil
}

// explore adds an env step's noise to the actions.
func (x *Agent) explore(a *agent.Acting) {
	if cap(x.noise) < len(a.Actions) {
		x.noise = make([]float32, len(a.Actions))
	}
	noise := x.noise[:len(a.Actions)]
	x.streams.act.FillNormal(noise, a.Step, 0)
	sigma := float32(x.config.Sigma(max(a.Step, 1) - 1))
	for i, e := range noise {
		a.Actions[i] = max(-largest, min(largest, a.Actions[i]+sigma*e))
	}
}
