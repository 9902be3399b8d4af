package ppo

import (
	"fmt"
	"io"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/agent/probe"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// Latent is an Agent that learns beside a generator. It keeps the transitions of its last
// iterations and builds D_real from them before each refit, as rows [z, a, r, z′, d], where z is
// the trunk's output for s at that moment.
type Latent struct {
	*Agent
	chosen  *experience.Chosen        // that D_real is made from
	encoder plan.ByRows[*plan.Blocks] // the trunk
}

// NewLatent is New for an agent that learns beside a generator.
func NewLatent(c Config, log *experience.Log, dev device.Device, seed uint64) (*Latent, error) {
	x, err := New(c, log, dev, seed)
	if err != nil {
		return nil, err
	}
	x.heads = newHeads(c, rng.New(seed, "ppo").Sub("heads"))
	if err := x.heads.take(x); err != nil {
		return nil, err
	}
	x.aligned = newAligned(c)
	if err := plan.Push(dev, x.aligned.params()...); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	l := &Latent{Agent: x, chosen: experience.NewChosen(log, c.Window*c.Steps, c.KeepRewarded)}
	l.encoder.Compile = l.newEncoder
	if c.Side == 0 {
		x.probes = probe.New(dev, l.layers)
	}
	return l, nil
}

// Phases returns two phases: an iteration, and encoding, which remakes D_real before a refit.
func (l *Latent) Phases() []agent.Phase {
	phases := l.Agent.Phases()
	phases[0].Slice = l.learnSlice
	return append(phases, agent.Phase{
		Name: "encode", Due: func(w *agent.Work) bool { return w.Refit }, Start: l.startEncode, Slice: l.encodeSlice,
	})
}

// learnSlice makes a step. Before the first step of an epoch it aligns generated latents with the
// present trunk.
func (l *Latent) learnSlice(w *agent.Work, done int) (int, []agent.UpdateResult, error) {
	if done == 0 {
		l.chosen.Follow()
	}
	if done%l.config.Minibatches == 0 {
		if err := l.align(w, done/l.config.Minibatches); err != nil {
			return 0, nil, err
		}
	}
	return l.Agent.slice(w, done)
}

func (l *Latent) newEncoder(rows int) (*plan.Blocks, error) {
	return plan.NewBlocks("encode", rows, l.dev, func(g *op.Graph) (in []*op.Node, spec plan.Spec) {
		seen := g.Input("s", rows, l.config.input())
		spec.Outputs = []*op.Node{l.nets.latent(g, seen)}
		return []*op.Node{seen}, spec
	})
}

// startEncode clears D_real, because its latents are those of an older trunk. A unit is a row of
// the new D_real.
func (l *Latent) startEncode(w *agent.Work) (total int, err error) {
	total = l.chosen.Choose(w.Source.Real.Cap())
	l.heads.peak = 0
	for i := range total {
		row, err := l.chosen.Row(i)
		if err != nil {
			return 0, fmt.Errorf("agent: %w", err)
		}
		l.heads.peak = max(l.heads.peak, row.Observed)
	}
	if l.filmed != nil {
		l.filmed.store.Retake()
	}
	w.Source.Real.Clear()
	if err := l.resetAligned(); err != nil {
		return 0, fmt.Errorf("agent: %w", err)
	}
	return total, nil
}

// encodeSlice builds the rows that follow the first done ones.
func (l *Latent) encodeSlice(w *agent.Work, done int) (n int, _ []agent.UpdateResult, err error) {
	total := l.chosen.Len()
	rows := make([]experience.Met, min(l.config.valueRows(), total-done))
	for i := range rows {
		if rows[i], err = l.chosen.Row(done + i); err != nil {
			return 0, nil, fmt.Errorf("agent: encode: %w", err)
		}
	}
	h := l.config.latents().Obs
	z, err := l.encode(nil, len(rows), func(i int) experience.Look { return rows[i].Seen })
	if err != nil {
		return 0, nil, err
	}
	next, err := l.encode(nil, len(rows), func(i int) experience.Look { return rows[i].Next })
	if err != nil {
		return 0, nil, err
	}
	l.watch(rows, z, done, total)
	for i, row := range rows {
		w.Source.Real.Add(replay.Transition{
			Obs: z[i*h : (i+1)*h], Act: row.Action, Reward: row.Observed, Next: next[i*h : (i+1)*h],
			Done: row.End == experience.Terminated, Note: row.Note,
		})
	}
	return len(rows), nil, nil
}

// encode returns the trunk's output [n,H] for n observations, in z if that is large enough.
func (l *Latent) encode(z []float32, n int, of func(i int) experience.Look) ([]float32, error) {
	e, err := l.encoder.Of(l.config.valueRows())
	if err != nil {
		return nil, err
	}
	o, size := l.config.input(), n*l.config.latents().Obs
	z = slices.Grow(z[:0], size)[:size]
	err = e.Each(0, n, func(first, rows int) {
		for i := range rows {
			l.read(e.In[0][i*o:(i+1)*o], of(first+i))
		}
	}, z)
	if err != nil {
		return nil, fmt.Errorf("agent: encode: %w", err)
	}
	return z, nil
}

// Prepare compiles what these uses need, and what a refit will need.
func (l *Latent) Prepare(u agent.Uses) error {
	if err := l.Agent.Prepare(u); err != nil {
		return err
	}
	for _, m := range u.Mixes {
		if _, err := l.learnings.Of(l.syntheticOf(m)); err != nil {
			return err
		}
	}
	_, err := l.encoder.Of(l.config.valueRows())
	return err
}

// parts are what a file begins with, up to the number of rows to align by.
func (l *Latent) parts(rows *uint32) []any {
	return []any{l.Agent, &l.heads.peak, plan.Tensors{Device: l.dev, Of: l.heads.params()}, rows}
}

// Save writes everything that learning depends on, and what D_real is made from.
func (l *Latent) Save(w io.Writer) error {
	a, rows := l.aligned, uint32(len(l.aligned.then)/l.config.latents().Obs)
	return plan.SaveAll(w, append(l.parts(&rows), a.obs, a.then, plan.Tensors{Device: l.dev, Of: a.params()}, l.chosen)...)
}

// Load reads what Save wrote.
func (l *Latent) Load(r io.Reader) error {
	var rows uint32
	err := plan.LoadAll(r, l.parts(&rows)...)
	if err == nil {
		err = l.loadAligned(r, int64(rows))
	}
	if err == nil {
		err = l.chosen.Load(r, l.config.Copies)
	}
	return err
}

// Close frees the compiled programs.
func (l *Latent) Close() error { return plan.Close(l.Agent, &l.encoder) }

// Unfilled is roughly how many bytes of numbers, and of frames before compression, the learner will
// have pinned in a checkpoint at the end of the run, in addition to those of now.
func (l *Latent) Unfilled() (numbers, frames int64) {
	c := l.config
	met := c.Length * c.Copies
	looks := int64(2*(min(c.KeepRewarded, met)-min(c.KeepRewarded, l.chosen.Kept())) + min(c.AlignRows, c.Window*c.rows()) - len(l.aligned.obs))
	if c.Side == 0 { // and what D_real was made from
		looks += int64(min(c.Window*c.rows(), met))
	}
	numbers = looks*int64(4*(c.numbers()+c.Shape.Act)) + 4*int64(c.AlignRows)*int64(c.latents().Obs)
	return max(0, numbers), max(0, looks*int64(c.frame()))
}
