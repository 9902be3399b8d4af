package replica

import (
	"io"

	"pgrlab/core/agent"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
)

// View is the replica as it is now, to be looked at; fitted says whether its generator is,
// prompts are those of D_syn.
func (r *Replica) View(now Now, fitted bool, prompts inspect.Prompts) inspect.View {
	v := inspect.View{
		Step: now.Step, Settings: *now.Settings, Task: inspect.Task{Name: r.Config.Task, Terminates: r.Task.Terminates},
		Real: r.Real, Syn: r.Synthetic, Prompts: prompts, F: r.F, Learned: r.Built(r.F.Name()),
		Gen: r.Generator, Fitted: fitted, Scratch: r.scratch, Stream: r.streams.preview, Simulator: &r.simulator,
	}
	if learner, keeps := r.Agent.(agent.Rememberer); keeps {
		v.Met = learner.Met()
	}
	if r.Config.Has()&knob.UseDiffusion != 0 {
		v.Chunk = max(1, r.Config.Generator.Chunk)
	}
	return v
}

// ViewAs is v under settings that may have changed since.
func (r *Replica) ViewAs(v inspect.View, s knob.Settings) (inspect.View, error) {
	var err error
	v.Settings = s
	v.F, err = r.Function(s.Relevance)
	v.Learned = r.Built(s.Relevance)
	return v, err
}

// newSimulator is an environment of its own that the replica's transitions are held to.
func (r *Replica) newSimulator() inspect.Simulator {
	if r.Parts.Fills { // with rows that no environment can be set to
		return inspect.Simulator{Start: func() (io.Closer, error) { return io.NopCloser(nil), nil }}
	}
	return inspect.Simulator{Start: func() (io.Closer, error) { return r.Task.New(r.Seed) }}
}
