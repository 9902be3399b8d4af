package plan

import (
	"errors"
	"fmt"
	"unsafe"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/rng"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Spec says what a program is for.
type Spec struct {
	// Loss is a scalar node; it may be nil if nothing is learned.
	Loss *op.Node
	// Outputs stay readable through Data after a run.
	Outputs []*op.Node
	// Fills are inputs that the program fills with random numbers before everything else.
	Fills []Fill
	// Optimiser steps its parameters along the gradient of Loss.
	Optimiser *Adam
	// Gradients are tensors whose gradient must be readable through Gradient. An optimiser's
	// parameters are differentiated in any case.
	Gradients []*op.Tensor
	// Collected holds gradients that other programs have computed on other rows; the gradients of
	// Loss are added to them. Collect receives the sums; it may be the same object as Collected. An
	// optimiser steps along the sums, also of parameters that are no part of the
	// graph; if none is, there need not be a Loss.
	Collected, Collect *Gradients
	// Lerps move averages after the optimiser's step.
	Lerps []Lerp
	// Finite are nodes that must be finite before the optimiser steps and averages move. With an
	// optimiser, the loss and the norm of all gradients must be finite too.
	Finite []*op.Node
}

// Dist is the distribution of a fill.
type Dist int

// The distributions.
const (
	Normal  Dist = iota // N(0,1)
	Uniform             // U[0,1)
)

// Fill is an input of random numbers: in a run at occasion t, element i is number (t, i) of the
// stream.
type Fill struct {
	Node   *op.Node
	Stream rng.Stream
	Dist   Dist
	// Items, if not nil, says at each run which numbers of the occasion the fill takes: they may
	// start at another number than 0, or there may be none.
	Items *Items
}

// Items says which numbers of an occasion a fill takes.
type Items = device.Items

// Lerp moves Dst by Rate·(Src−Dst) at the end of a run. Node, a node of the graph, may be given
// instead of Src. Without a Rate, Dst becomes a copy of the source, bit for bit; a program uses
// this to keep state for its next run.
type Lerp struct {
	Dst  *op.Tensor
	Src  *op.Tensor
	Node *op.Node
	Rate *op.Tensor // [1]; nil: Dst becomes a copy
}

// Follow returns the moves of tensors by a rate towards others of the same sizes.
func Follow(dst, src []*op.Tensor, rate *op.Tensor) []Lerp {
	moves := make([]Lerp, len(dst))
	for i, t := range dst {
		moves[i] = Lerp{Dst: t, Src: src[i], Rate: rate}
	}
	return moves
}

// Program runs a compiled graph. It belongs to one goroutine at a time.
type Program struct {
	Name string

	exec     device.Executable
	code     *device.Program
	refs     map[*op.Node]device.Ref
	grads    map[*op.Tensor]device.Ref
	loss     device.Ref
	result   device.Ref // of a routine
	occasion uint64
}

var _ gorgonia.VM = (*Program)(nil)

// Compile makes a program from a graph. g may be nil for a program that only moves averages between
// tensors.
func Compile(g *op.Graph, s Spec, dev device.Device) (*Program, error) {
	if g == nil {
		var err error
		if g, err = op.Build("averages", func(*op.Graph) {}); err != nil {
			return nil, err
		}
	}
	l := &lowerer{
		g: g, code: &device.Program{Name: g.Name}, refs: map[*op.Node]device.Ref{},
		tensors: map[*op.Tensor]device.Ref{}, users: map[*op.Node][]*op.Node{}, kept: map[*op.Node]bool{},
		skip: map[*op.Node]bool{}, joinFrom: dev.JoinFrom(),
	}
	p := &Program{Name: g.Name, code: l.code, refs: l.refs, grads: map[*op.Tensor]device.Ref{}, loss: device.None, result: device.None}
	if err := l.lower(p, s); err != nil {
		return nil, fmt.Errorf("plan %s: %w", g.Name, err)
	}
	exec, err := dev.Compile(l.code)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", g.Name, err)
	}
	p.exec = exec
	if s.Optimiser != nil {
		s.Optimiser.steppedOn(dev)
	}
	for _, n := range s.Outputs {
		view(n, exec.Data(l.refs[n]))
	}
	if s.Loss != nil {
		p.loss = l.refs[s.Loss]
		view(s.Loss, exec.Data(p.loss))
	}
	return p, nil
}

// view makes the program's own memory the value of a node.
func view(n *op.Node, data []float32) {
	if n.Op() == nil || len(data) == 0 {
		return // inputs are bound to their tensors, and Gorgonia has no empty tensors
	}
	if n.Shape().IsScalar() {
		gorgonia.UnsafeLet(n, (*gorgonia.F32)(unsafe.Pointer(&data[0])))
		return
	}
	gorgonia.UnsafeLet(n, tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(data)))
}

// Run executes the program. occasion is the position of its fills in their streams: the same
// occasion gives the same numbers.
//
// If the loss, the norm of the gradients or a node of Spec.Finite is not finite, Run stops before
// the optimiser and the averages: parameters, moments and averages stay as they are. It then runs
// once more in checking mode and returns a *NotFinite that says where the first such number
// appeared.
func (p *Program) Run(occasion uint64) error {
	p.occasion = occasion
	if err := p.exec.Run(occasion); err != nil {
		if where, ok := err.(*device.NotFinite); ok {
			return p.notFinite(where)
		}
		return fmt.Errorf("run %s: %w", p.Name, err)
	}
	return nil
}

// Beside says whether the device can go on with a run of the program while others run.
func (p *Program) Beside() bool {
	_, can := p.exec.(device.Starter)
	return can
}

// Start begins a run, where Beside says that this is possible; the next Run ends it, whatever its
// occasion. See device.Starter for what must not happen meanwhile.
func (p *Program) Start(occasion uint64) error {
	if err := p.exec.(device.Starter).Start(occasion); err != nil {
		return fmt.Errorf("run %s: %w", p.Name, err)
	}
	return nil
}

// RunAll is Run at the next occasion; with Reset and Close it makes a Program a gorgonia.VM.
func (p *Program) RunAll() error { return p.Run(p.occasion + 1) }

// Reset does nothing: a program is ready to run again.
func (p *Program) Reset() {}

// Close frees what the program holds. It does nothing with a nil program, one that was not compiled.
func (p *Program) Close() error {
	if p == nil {
		return nil
	}
	return p.exec.Close()
}

// Data returns the host's view of an input or an output, row-major; on the CPU it is the memory
// itself. It panics for nodes that the Spec does not name.
func (p *Program) Data(n *op.Node) []float32 {
	r, ok := p.refs[n]
	if !ok {
		panic(fmt.Sprintf("plan %s: %s is neither an input nor an output", p.Name, n.Name()))
	}
	return p.exec.Data(r)
}

// Loss returns the loss of the last run.
func (p *Program) Loss() float64 {
	if p.loss == device.None {
		panic("plan " + p.Name + ": it has no loss")
	}
	return float64(p.exec.Data(p.loss)[0])
}

// GradientNorm returns the global norm of the last run's gradients before any clipping, or 0
// without an optimiser.
func (p *Program) GradientNorm() float64 { return p.exec.GradientNorm() }

// Gradient returns the last run's gradient of a tensor that Spec.Gradients names.
func (p *Program) Gradient(t *op.Tensor) ([]float32, error) {
	r, ok := p.grads[t]
	if !ok {
		return nil, errors.New("plan " + p.Name + ": the gradient of " + t.Name + " was not asked for")
	}
	return p.exec.Data(r), nil
}
