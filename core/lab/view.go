package lab

import (
	"io"

	"pgrlab/core/config"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/task"
)

// views show the members of a run to package inspect, as they are between two slices. They
// only read.
type views struct {
	config    *config.Config
	task      *task.Task
	parts     *parts
	place     *place
	settings  *knob.Settings
	synthesis *synthesis
}

// of is the member as it is now, to be looked at.
func (v *views) of(m *member) inspect.View {
	out := inspect.View{
		Step: v.place.Step, Settings: *v.settings, Task: inspect.Task{Name: v.config.Task, Terminates: v.task.Terminates},
		Real: m.real, Syn: m.synthetic, Prompts: v.synthesis.Asked, F: m.f, Learned: m.built(m.f.Name()),
		Gen: m.gen, Fitted: v.synthesis.Fitted, Scratch: m.scoring, Stream: m.streams.preview, Simulator: &m.simulator,
	}
	if v.config.Has()&knob.UseDiffusion != 0 {
		out.Chunk = max(1, v.config.Generator.Chunk)
	}
	return out
}

// as is the member under settings that may have changed since.
func (v *views) as(m *member, s knob.Settings) (out inspect.View, err error) {
	out = v.of(m)
	out.Settings = s
	out.F, err = v.parts.function(s.Relevance, m)
	out.Learned = m.built(s.Relevance)
	return out, err
}

// simulator is an environment of its own that the member's transitions are held to.
func (v *views) simulator(m *member) inspect.Simulator {
	if v.parts.fills { // with rows that no environment can be set to
		return inspect.Simulator{Start: func() (io.Closer, error) { return io.NopCloser(nil), nil }}
	}
	return inspect.Simulator{Start: func() (io.Closer, error) { return v.task.New(m.seed) }}
}
