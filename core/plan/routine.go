package plan

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// Routine is work between gradient steps: a SampleBatch, StackFrames, a Choose or a Temperature.
type Routine interface {
	lower(l *lowerer) device.Routine
}

// SampleBatch fills the inputs of other programs with rows from two stores; see device.SampleBatch.
type SampleBatch struct {
	From    [2]device.Store
	Streams [2]rng.Stream
	Width   int // of a row
	Into    []Into
	Mix     *device.Mix
}

// Into is a tensor [B,C] that receives columns First, First+1, … of the rows.
type Into struct {
	To    *op.Tensor
	First int
}

// StackFrames makes images [B,W] of frames in a store, as picked by Picks [B,(Stack+2)·len(To)]; see
// device.StackFrames.
type StackFrames struct {
	From                    device.Store
	Height, Width, Channels int // of a frame
	Pad, Stack              int
	Picks                   *op.Tensor
	To                      []*op.Tensor
}

// Choose writes distinct numbers of [0,Of) into Out [M]; see device.Choose.
type Choose struct {
	Out    *op.Tensor
	Of     int
	Stream rng.Stream
}

// Temperature steps log α; see device.Temperature. Its result is the loss before the step and α
// after it.
type Temperature struct {
	LogP, State, Alpha *op.Tensor // [B,1], [8], [1]
	Rate               *float64
	Target             float64
	AdamConfig
}

func (d SampleBatch) lower(l *lowerer) device.Routine {
	out := device.SampleBatch{From: d.From, Streams: d.Streams, Width: d.Width, Mix: d.Mix}
	for _, c := range d.Into {
		out.Columns = append(out.Columns, device.Columns{To: l.bind(c.To), First: c.First})
	}
	return out
}

func (f StackFrames) lower(l *lowerer) device.Routine {
	out := device.StackFrames{
		From: f.From, Height: f.Height, Width: f.Width, Channels: f.Channels,
		Pad: f.Pad, Stack: f.Stack, Picks: l.bind(f.Picks),
	}
	for _, to := range f.To {
		out.To = append(out.To, l.bind(to))
	}
	return out
}

func (c Choose) lower(l *lowerer) device.Routine {
	return device.Choose{Out: l.bind(c.Out), Of: c.Of, Stream: c.Stream}
}

func (t Temperature) lower(l *lowerer) device.Routine {
	return device.Temperature{
		LogP: l.bind(t.LogP), State: l.bind(t.State), Alpha: l.bind(t.Alpha), Result: l.keep("result", 2),
		Rate: t.Rate, Target: t.Target, Beta1: t.Beta1, Beta2: t.Beta2, Eps: t.Eps,
	}
}

// keep returns a new buffer [n] that stays readable after a run.
func (l *lowerer) keep(name string, n int) device.Ref {
	r := l.buffer(device.Buffer{Name: name, Members: 1, Rows: 1, Cols: n})
	l.code.Keep = append(l.code.Keep, r)
	return r
}

// CompileRoutine makes a program from a routine. Only a device.Sequencer has routines; with other
// devices the host does the same work.
func CompileRoutine(name string, r Routine, dev device.Sequencer) (*Program, error) {
	l := &lowerer{code: &device.Program{Name: name}, tensors: map[*op.Tensor]device.Ref{}}
	l.code.Routine = r.lower(l)
	exec, err := dev.Compile(l.code)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", name, err)
	}
	p := &Program{Name: name, code: l.code, exec: exec, loss: device.None, result: device.None}
	if len(l.code.Keep) > 0 {
		p.result = l.code.Keep[0]
	}
	return p, nil
}

// Result returns the result of a routine's last run, or nil if the routine has none.
func (p *Program) Result() []float32 {
	if p.result == device.None {
		return nil
	}
	return p.exec.Data(p.result)
}
