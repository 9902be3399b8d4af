package ppo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"pgrlab/core/agent"
	"pgrlab/core/agent/probe"
	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// Latent is an Agent beside a generator. It keeps the transitions of its last iterations, and
// makes D_real of them before each refit: rows [z, a, r, z′, 0], where z is what the trunk
// says of s at that time.
type Latent struct {
	*Agent
	met      *replay.Ring // the newest transitions, as the environment has them
	rewarded *replay.Ring // those with a reward that have left it; nil where none are kept

	encoder *encoder // nil before it is needed
}

var (
	_ agent.Learner  = (*Latent)(nil)
	_ agent.Observer = (*Latent)(nil)
	_ agent.Phased   = (*Latent)(nil)
	_ agent.Preparer = (*Latent)(nil)
)

// NewLatent is New of an agent beside a generator.
func NewLatent(c Config, dev device.Device, seed uint64) (*Latent, error) {
	x, err := New(c, dev, seed)
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
	l := &Latent{Agent: x, met: replay.NewRing(c.Shape, c.Window*c.rows())}
	l.met.Annotate()
	x.probes = probe.New(dev, l.layers)
	if c.KeepRewarded > 0 {
		l.rewarded = replay.NewRing(c.Shape, c.KeepRewarded)
		l.rewarded.Annotate()
	}
	return l, nil
}

// Observe adds an env step.
func (l *Latent) Observe(e *agent.Experience) error {
	if err := l.Agent.Observe(e); err != nil {
		return err
	}
	o, a := l.config.Shape.Obs, l.config.Shape.Act
	for i := range e.Copies {
		if l.rewarded != nil && l.met.Len() == l.met.Cap() {
			if oldest := l.met.Newest(l.met.Len() - 1); l.met.Row(oldest)[o+a] > 0 {
				l.rewarded.AddFrom(l.met, oldest)
			}
		}
		l.met.Add(replay.Transition{
			Obs: e.Obs[i*o : (i+1)*o], Act: e.Actions[i*a : (i+1)*a], Reward: e.Rewards[i], Next: e.Next[i*o : (i+1)*o],
			Note: e.Note(i),
		})
	}
	return nil
}

// Phases are an iteration, and D_real made anew before a refit.
func (l *Latent) Phases() []agent.Phase {
	phases := l.Agent.Phases()
	phases[0].Slice = l.learnSlice
	return append(phases, agent.Phase{
		Name: "encode", Due: func(w *agent.Work) bool { return w.Refit }, Start: l.startEncode, Slice: l.encodeSlice,
	})
}

// learnSlice makes a step, before the first of an epoch with generated latents as the present
// trunk would say them.
func (l *Latent) learnSlice(w *agent.Work, done int) (int, []agent.UpdateResult, error) {
	if done%l.config.Minibatches == 0 {
		if err := l.align(w, done/l.config.Minibatches); err != nil {
			return 0, nil, err
		}
	}
	return l.Agent.slice(w, done)
}

// encoder is the trunk for a fixed number of rows.
type encoder struct {
	program *plan.Program
	obs, z  []float32 // [valueRows(),O], [valueRows(),H]
}

func (l *Latent) prepareEncoder() error {
	if l.encoder != nil {
		return nil
	}
	var in, out *op.Node
	program, err := l.compile("encode", func(g *op.Graph) plan.Spec {
		in = g.Input("s", l.config.valueRows(), l.config.Shape.Obs)
		out = l.nets.latent(g, in)
		return plan.Spec{Outputs: []*op.Node{out}}
	})
	if err == nil {
		l.encoder = &encoder{program, program.Data(in), program.Data(out)}
	}
	return err
}

// startEncode forgets what D_real has: latents of an older trunk say something else. A unit
// is a row of the new one.
func (l *Latent) startEncode(w *agent.Work) (total int, err error) {
	from, _ := l.sources(w.Source.Real.Cap())
	l.heads.peak = 0
	for _, row := range from {
		l.heads.peak = max(l.heads.peak, row[l.config.Shape.Obs+l.config.Shape.Act])
	}
	w.Source.Real.Clear()
	if err := l.resetAligned(); err != nil {
		return 0, fmt.Errorf("agent: %w", err)
	}
	return len(from), nil
}

// sources are the transitions that D_real is made of with their notes, at most so many: the newest ones, and
// those with a reward from before them in the place of the oldest without one, so that there
// are equally many whatever was met.
func (l *Latent) sources(most int) (rows [][]float32, notes []replay.Note) {
	reward := l.config.Shape.Obs + l.config.Shape.Act
	n := min(most, l.met.Len())
	if l.rewarded != nil {
		for _, slot := range l.rewarded.Oldest(0, min(n, l.rewarded.Len())) {
			rows, notes = append(rows, l.rewarded.Row(slot)), append(notes, l.rewarded.Note(slot))
		}
	}
	left := len(rows) // of those without a reward that make room
	for _, slot := range l.met.Oldest(l.met.Len()-n, n) {
		row := l.met.Row(slot)
		if left > 0 && row[reward] <= 0 {
			left--
			continue
		}
		rows, notes = append(rows, row), append(notes, l.met.Note(slot))
	}
	return rows[len(rows)-n:], notes[len(rows)-n:]
}

// encodeSlice makes the rows behind the first done.
func (l *Latent) encodeSlice(w *agent.Work, done int) (n int, _ []agent.UpdateResult, err error) {
	if err := l.prepareEncoder(); err != nil {
		return 0, nil, err
	}
	all, notes := l.sources(w.Source.Real.Cap())
	from, notes := all[done:min(done+l.config.valueRows(), len(all))], notes[done:]
	o, a, h := l.config.Shape.Obs, l.config.Shape.Act, l.config.latents().Obs
	z, err := l.encode(from, 0)
	if err != nil {
		return 0, nil, err
	}
	next, err := l.encode(from, o+a+1)
	if err != nil {
		return 0, nil, err
	}
	l.watch(from, z, done, len(all))
	for i, row := range from {
		w.Source.Real.Add(replay.Transition{Obs: z[i*h : (i+1)*h], Act: row[o : o+a], Reward: row[o+a], Next: next[i*h : (i+1)*h], Note: notes[i]})
	}
	return len(from), nil, nil
}

// encode is what the trunk says of the observations that begin at a number of rows, at most
// valueRows.
func (l *Latent) encode(rows [][]float32, first int) ([]float32, error) {
	o := l.config.Shape.Obs
	for i, row := range rows {
		copy(l.encoder.obs[i*o:(i+1)*o], row[first:])
	}
	z, err := l.encoded(len(rows))
	return append([]float32(nil), z...), err
}

// encoded is what the trunk says of the first observations that the program was given, until it is
// given others.
func (l *Latent) encoded(rows int) ([]float32, error) {
	if err := l.encoder.program.Run(0); err != nil {
		return nil, fmt.Errorf("agent: encode: %w", err)
	}
	return l.encoder.z[:rows*l.config.latents().Obs], nil
}

// layers are the trunk's last one, and what is behind it.
func (l *Latent) layers(g *op.Graph, rows int) probe.Layers {
	in := g.Input("z", rows, l.config.latents().Obs)
	z := g.Scale(in, 1) // the trunk's last layer is given: it stands for what was computed of it
	return probe.Layers{In: in, Pre: []*op.Node{z}, Post: []*op.Node{z}, Heads: []probe.Head{{Name: "logits", Node: l.nets.policy.Apply(g, z)}}}
}

// Activations returns the policy's layers for latents: these, and the logits.
func (l *Latent) Activations(z []float32, rows int) ([]agent.Layer, error) {
	p, err := l.probes.Of(rows)
	if err != nil {
		return nil, err
	}
	if h := l.config.latents().Obs; len(z) != rows*h {
		return nil, fmt.Errorf("activations: %d numbers for %d latents of %d", len(z), rows, h)
	}
	copy(p.In, z)
	return p.Run(rows)
}

// Prepare compiles what these uses need, and what they will need for a refit.
func (l *Latent) Prepare(u agent.Uses) error {
	if err := l.Agent.Prepare(u); err != nil {
		return err
	}
	for _, m := range u.Mixes {
		if _, err := l.learningOf(l.syntheticOf(m)); err != nil {
			return err
		}
	}
	return l.prepareEncoder()
}

// rings are the transitions that it keeps.
func (l *Latent) rings() []*replay.Ring {
	if l.rewarded == nil {
		return []*replay.Ring{l.met}
	}
	return []*replay.Ring{l.met, l.rewarded}
}

// Save writes everything that learning depends on, and what D_real is made from.
func (l *Latent) Save(w io.Writer) error {
	if err := l.Agent.Save(w); err != nil {
		return err
	}
	err := binary.Write(w, binary.LittleEndian, l.heads.peak)
	if err == nil {
		err = plan.Save(l.dev, w, l.heads.params())
	}
	if err == nil {
		err = l.saveAligned(w)
	}
	for _, r := range l.rings() {
		if err == nil {
			err = r.Save(w)
		}
	}
	if err != nil {
		return fmt.Errorf("save agent: %w", err)
	}
	return nil
}

// Load reads what Save wrote.
func (l *Latent) Load(r io.Reader) error {
	if err := l.Agent.Load(r); err != nil {
		return err
	}
	err := binary.Read(r, binary.LittleEndian, &l.heads.peak)
	if err == nil {
		err = plan.Load(l.dev, r, l.heads.params())
	}
	if err == nil {
		err = l.loadAligned(r)
	}
	for _, ring := range l.rings() {
		if err == nil {
			err = ring.Load(r)
		}
	}
	if err != nil {
		return fmt.Errorf("load agent: %w", err)
	}
	return nil
}

// Close frees the compiled programs.
func (l *Latent) Close() error {
	err := l.Agent.Close()
	if l.encoder != nil {
		err = errors.Join(err, l.encoder.program.Close())
	}
	return err
}
