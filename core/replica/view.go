package replica

import (
	"io"

	"pgrlab/core/inspect"
	"pgrlab/core/knob"
)

// View returns the replica as it is now, for inspection; fitted says whether its generator is
// fitted, prompts are those of D_syn.
func (r *Replica) View(now Now, fitted bool, prompts inspect.Prompts) inspect.View {
	v := inspect.View{
		Step: now.Step, Settings: *now.Settings, Task: inspect.Task{Name: r.Config.Task, Terminates: r.Task.Terminates},
		Real: r.Real, Syn: r.Synthetic, Mixed: r.Synthesis.Share(), Prompts: prompts, Scored: r.Synthesis.Scored, F: r.F, Learned: r.Functions.Built(r.F.Name()),
		Foresees: r.Agent.OpenLoop, Copies: r.Config.Environment.InLockstep(),
		Gen: r.Generator, Fitted: fitted, Scratch: r.scratch, Stream: r.streams.preview, Simulator: &r.simulator,
	}
	if r.Agent.Encoder != nil {
		v.Met = r.Agent.Encoder.Met()
	}
	if r.Config.Has()&knob.UseDiffusion != 0 {
		v.Chunk = max(1, r.Config.Generator.Chunk)
	}
	return v
}

// ViewAs returns v under settings s, which the run may have changed since.
func (r *Replica) ViewAs(v inspect.View, s knob.Settings) (inspect.View, error) {
	var err error
	v.Settings = s
	v.F, err = r.Functions.Function(s.Relevance)
	v.Learned = r.Functions.Built(s.Relevance)
	return v, err
}

// newSimulator returns a separate environment that the replica's transitions are compared with.
func (r *Replica) newSimulator() inspect.Simulator {
	if r.Parts.Fills { // its rows are no states that an environment can be set to
		return inspect.Simulator{Start: func() (io.Closer, error) { return io.NopCloser(nil), nil }}
	}
	return inspect.Simulator{Start: func() (io.Closer, error) { return r.Task.New(r.Seed) }}
}
