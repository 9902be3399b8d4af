package ppo

import (
	"fmt"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/agent/align"
	"pgrlab/core/experience"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// MostSynthetic is the most synthetic rows that a step learns from, for each real one.
const MostSynthetic = 15

// heads are the heads of policy and value at the beginning of an iteration. They give π_old and
// V_old of synthetic rows, for which no row of the rollout holds them.
type heads struct {
	policy, value nn.Linear
	peak          float32 // the largest reward of D_real when it was made
}

func newHeads(c Config, s rng.Stream) *heads {
	width := c.latents().Obs
	return &heads{
		policy: nn.NewLinear("policy old", width, c.Shape.Act, nn.Orthogonal(0.01), s),
		value:  nn.NewLinear("value old", width, 1, nn.Orthogonal(1), s),
	}
}

func (h *heads) params() []*op.Tensor { return append(h.policy.Params(), h.value.Params()...) }

// take copies the present heads to h.
func (h *heads) take(x *Agent) error {
	now := append(x.nets.policy.Params(), x.nets.value.Params()...)
	if err := plan.Copy(x.dev, h.params(), now); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	return nil
}

// dreamt are the synthetic rows of a step: the program that judges them by the heads of the
// iteration, and the inputs (into) of the step's own program.
type dreamt struct {
	*plan.Program
	columns       replay.Batch // z, a, r, z′, as the program reads them
	z             []float32    // [S,H], as the present trunk would give it
	logp, v, next []float32    // log π_old(a|z), V_old(z), V_old(z′), [S]
	into          stepInputs
}

func (x *Agent) newDreamt(into stepInputs, n int) (*dreamt, error) {
	shape := x.config.latents()
	var z, act, next, now, logp, v, after *op.Node
	latent := func(g *op.Graph, m *align.Map, z *op.Node) *op.Node { return x.nets.within(g, m.Of(g, z)) }
	program, err := plan.Build("judge synthetic rows", x.dev, func(g *op.Graph) plan.Spec {
		z, act, next = g.Input("z", n, shape.Obs), g.Input("a", n, shape.Act), g.Input("z'", n, shape.Obs)
		now = latent(g, x.aligned.now, z)
		begun := latent(g, x.aligned.begun, z)
		logp = logProbability(g, x.heads.policy.Apply(g, begun), act)
		v, after = x.heads.value.Apply(g, begun), x.heads.value.Apply(g, latent(g, x.aligned.begun, next))
		return plan.Spec{Outputs: []*op.Node{now, logp, v, after}}
	})
	if err != nil {
		return nil, err
	}
	return &dreamt{
		Program: program, z: program.Data(now), logp: program.Data(logp), v: program.Data(v), next: program.Data(after), into: into,
		columns: replay.Batch{
			Size: n, Obs: program.Data(z), Act: program.Data(act), Next: program.Data(next), Reward: make([]float32, n), Done: make([]float32, n),
		},
	}, nil
}

// synthetic is how many synthetic rows the present steps have: for each real row as many as a
// batch of the run has by the knob ratio.
func (x *Agent) synthetic(w *agent.Work) int {
	if syn := w.Source.Synthetic; syn == nil || syn.Len() == 0 {
		return 0
	}
	return x.syntheticOf(w.Source.Mix)
}

// syntheticOf is how many synthetic rows a step has for batches of a mix, when there are any.
func (x *Agent) syntheticOf(mix replay.Mix) int {
	if x.heads == nil || mix.Real == 0 || mix.Synthetic == 0 {
		return 0
	}
	share := min(MostSynthetic, float64(mix.Synthetic)/float64(mix.Real))
	return max(1, int(math.Round(share*float64(x.config.part()))))
}

// dream draws the synthetic rows of a step and judges them:
//
//	y = r + γ(1−d)V_old(z′), A = y − V_old(z), standardised among them, ρ = π/π_old.
func (x *Agent) dream(l *learning, w *agent.Work, clip float64) error {
	d := l.dreamt
	if d == nil {
		return nil
	}
	b, c := &d.columns, x.config
	if err := w.Source.Mixer.Sample(b, replay.Mix{Synthetic: b.Size}, nil, w.Source.Synthetic, x.updates); err != nil {
		return fmt.Errorf("agent: draw synthetic rows: %w", err)
	}
	x.heads.read(b, c)
	if err := d.Run(0); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	copy(d.into.in, d.z)
	copy(d.into.action, b.Act)
	for i, reward := range b.Reward {
		y := c.RewardScale*float64(reward) + c.Gamma*(1-float64(b.Done[i]))*float64(d.next[i])
		d.into.ret[i] = float32(y)
		if d.into.old != nil {
			d.into.old[i] = d.v[i]
		}
		if d.into.advantage != nil {
			d.into.advantage[i], d.into.logp[i] = float32(y-float64(d.v[i])), d.logp[i]
		}
	}
	if d.into.advantage != nil {
		experience.Standardise(d.into.advantage)
	}
	d.into.bound(c, clip)
	return nil
}

// read turns generated rows into rows that the agent could have met: with the likeliest action
// alone, and one of two rewards: the largest of D_real if the generated one is above half of that,
// else 0. This is our choice: a reward between the two does not stand for a part of a goal. With a
// bonus there are other rewards, and the generated ones stay.
func (h *heads) read(b *replay.Batch, c Config) {
	choose(b.Act, b.Act, c.Shape.Act)
	if c.Bonus {
		return
	}
	for i, r := range b.Reward {
		b.Reward[i] = 0
		if r > h.peak/2 {
			b.Reward[i] = h.peak
		}
	}
}
