package plan

import (
	"fmt"
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/op"
)

// Gradients holds the gradients of some parameters between programs, for a batch that is learned
// from in parts, each part by its own program. The first program collects its gradients, each later
// one adds its own, and the last one steps an optimiser along the sum.
type Gradients struct {
	Params []*op.Tensor
	Sums   []*op.Tensor // of the same shapes
}

// NewGradients returns memory for the gradients of parameters.
func NewGradients(params []*op.Tensor) *Gradients {
	g := &Gradients{Params: params}
	for _, p := range params {
		g.Sums = append(g.Sums, op.NewTensor("gradient of "+p.Name, p.Shape...))
	}
	return g
}

// Only returns a view of g for programs that compute gradients of only some of its parameters.
func (g *Gradients) Only(params []*op.Tensor) *Gradients {
	some := &Gradients{Params: params}
	for _, p := range params {
		sum := g.of(p)
		if sum == nil {
			panic("plan: no gradient of " + p.Name + " is collected")
		}
		some.Sums = append(some.Sums, sum)
	}
	return some
}

// of returns the memory for the gradient of a parameter, or nil if there is none.
func (g *Gradients) of(t *op.Tensor) *op.Tensor {
	if g == nil {
		return nil
	}
	for i, p := range g.Params {
		if p == t {
			return g.Sums[i]
		}
	}
	return nil
}

// collect adds gradients to those of Spec.Collected and moves the sums to Spec.Collect. It returns
// the buffers that then hold the gradients.
func (l *lowerer) collect(s Spec, params []*op.Tensor, grads []*op.Node) ([]device.Ref, error) {
	refs := make([]device.Ref, len(grads))
	for i, t := range params {
		if grads[i] == nil {
			refs[i] = l.bind(s.Collected.of(t))
			continue
		}
		refs[i] = l.refs[grads[i]]
		if sum := s.Collected.of(t); sum != nil {
			refs[i] = l.addTo(l.bind(sum), refs[i], t)
		} else if s.Collected != nil && s.Optimiser != nil && slices.Contains(s.Optimiser.Params, t) {
			return nil, fmt.Errorf("no gradient of %s is collected", t.Name)
		}
		if sum := s.Collect.of(t); sum != nil {
			l.code.Lerps = append(l.code.Lerps, device.Lerp{Dst: l.bind(sum), Src: refs[i], Rate: device.None})
		}
	}
	return refs, nil
}

// addTo emits the sum of a gradient and a buffer of its shape.
func (l *lowerer) addTo(sum, gradient device.Ref, of *op.Tensor) device.Ref {
	members, rows, cols := shape(of.Shape)
	out := l.buffer(device.Buffer{Name: "gradient of " + of.Name, Members: members, Rows: rows, Cols: cols})
	l.code.Instrs = append(l.code.Instrs, device.Instr{Code: device.Add, Out: out, In: []device.Ref{gradient, sum}, Mask: device.None})
	return out
}
