package drqv2

import (
	"io"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// Latent is an Agent that learns beside a generator. D_real holds the outputs of E and the
// trunks for the frames, as rows [z, a, R, z′, d] of n env steps with z = [T_c(h), T_a(h)],
// and is remade before each refit.
type Latent struct {
	*Agent
	encoded experience.Windows // what D_real was made from last, or is being made from

	encoder, returns, errors plan.ByRows[*plan.Blocks]
}

// NewLatent is New for an agent that learns beside a generator.
func NewLatent(c Config, dev device.Device, seed uint64) (*Latent, error) {
	x, err := New(c, dev, seed)
	if err != nil {
		return nil, err
	}
	l := &Latent{Agent: x}
	l.encoder.Compile, l.returns.Compile, l.errors.Compile = l.compileEncoder, l.compileReturns, l.compileErrors
	return l, nil
}

// Phases returns two phases: an update, and encoding, which remakes D_real before a refit.
func (l *Latent) Phases() []agent.Phase {
	due := func(w *agent.Work) bool { return w.Refit }
	return append(l.Agent.Phases(), agent.Phase{Name: "encode", Due: due, Start: l.startEncode, Slice: l.encodeSlice})
}

// Recall writes the frames that a row of D_real was made from.
func (l *Latent) Recall(dst *replay.FrameRow, from agent.Frames, slot int) error {
	return from.Window(dst, &l.encoded, slot, l.config.Gamma)
}

// Met returns nil: frames are seen.
func (l *Latent) Met() replay.Rows { return nil }

// Reencode returns nothing: no frames are kept beyond those of the run.
func (l *Latent) Reencode() (then, now, aligned []float32, err error) { return nil, nil, nil, nil }

// Prepare compiles what these uses need, and what a refit with any relevance function will
// need.
func (l *Latent) Prepare(u agent.Uses) error {
	err := l.Agent.Prepare(u)
	if err == nil {
		_, err = l.encoder.Of(lookRows)
	}
	for _, of := range []*plan.ByRows[*plan.Blocks]{&l.returns, &l.errors} {
		if err == nil {
			_, err = of.Of(valueRows)
		}
	}
	return err
}

// Save writes everything that learning depends on, and which frames D_real was made from.
func (l *Latent) Save(w io.Writer) error {
	return plan.SaveAll(w, l.Agent, &l.encoded)
}

// Load reads what Save wrote.
func (l *Latent) Load(r io.Reader) error {
	if err := l.Agent.Load(r); err != nil {
		return err
	}
	var err error
	l.encoded, err = experience.LoadWindows(r, l.config.NStep, l.config.Pixels.Stack)
	return err
}

// Close frees the compiled programs.
func (l *Latent) Close() error { return plan.Close(l.Agent, &l.encoder, &l.returns, &l.errors) }
