package plan

import (
	"fmt"
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/op"
)

// lowerer turns a graph into a device's program.
type lowerer struct {
	g       *op.Graph
	code    *device.Program
	refs    map[*op.Node]device.Ref
	tensors map[*op.Tensor]device.Ref
	users   map[*op.Node][]*op.Node
	kept    map[*op.Node]bool // must have a buffer of their own
	skip    map[*op.Node]bool // fused into another instruction

	joinFrom int // see device.Device
}

func (l *lowerer) lower(p *Program, s Spec) error {
	params, grads, err := l.gradients(s)
	if err != nil {
		return err
	}
	roots := append([]*op.Node(nil), s.Outputs...)
	for i := len(grads) - 1; i >= 0; i-- { // the last layer's gradient first: it is computed first
		if grads[i] != nil {
			roots = append(roots, grads[i])
		}
	}
	roots = append(roots, s.Finite...)
	if s.Loss != nil {
		roots = append(roots, s.Loss)
	}
	for _, m := range s.Lerps {
		if m.Node != nil {
			roots = append(roots, m.Node)
		}
	}
	for _, n := range roots {
		l.kept[n] = true
	}
	order := l.order(roots)
	for _, f := range s.Fills {
		if err := l.fill(f); err != nil {
			return err
		}
	}
	for _, n := range order {
		if err := l.node(n); err != nil {
			return err
		}
	}
	at, err := l.collect(s, params, grads)
	if err != nil {
		return err
	}
	for _, n := range s.Outputs {
		l.code.Keep = append(l.code.Keep, l.refs[n])
	}
	wanted := map[*op.Tensor]bool{}
	for _, t := range s.Gradients {
		wanted[t] = true
	}
	for i, t := range params {
		if grads[i] != nil {
			l.nameGradient(l.refs[grads[i]], t)
		}
		if wanted[t] {
			p.grads[t] = at[i]
			l.code.Keep = append(l.code.Keep, at[i])
		}
	}
	l.optimiser(s.Optimiser, at)
	for _, n := range s.Finite {
		l.code.Finite = append(l.code.Finite, l.refs[n])
	}
	if s.Optimiser != nil && s.Loss != nil {
		l.code.Finite = append(l.code.Finite, l.refs[s.Loss])
	}
	if s.Loss != nil {
		l.code.Keep = append(l.code.Keep, l.refs[s.Loss])
	}
	for _, m := range s.Lerps {
		l.code.Lerps = append(l.code.Lerps, l.lerp(m))
	}
	return nil
}

// gradients differentiates the loss with respect to the optimiser's parameters first, then to the
// other requested tensors. A parameter that is no part of the graph, of which a gradient is collected, has
// none here.
func (l *lowerer) gradients(s Spec) (params []*op.Tensor, grads []*op.Node, err error) {
	have := map[*op.Tensor]bool{}
	if s.Optimiser != nil {
		params = append(params, s.Optimiser.Params...)
		for _, t := range params {
			have[t] = true
		}
	}
	more := s.Gradients
	if s.Collect != nil {
		more = append(slices.Clone(more), s.Collect.Params...)
	}
	for _, t := range more {
		if !have[t] {
			have[t], params = true, append(params, t)
		}
	}
	if len(params) == 0 {
		return nil, nil, nil
	}
	grads = make([]*op.Node, len(params))
	var within []*op.Tensor // of the graph
	var at []int
	for i, t := range params {
		if l.g.Binds(t) || s.Collected.of(t) == nil {
			within, at = append(within, t), append(at, i)
		}
	}
	switch {
	case len(within) == 0:
		return params, grads, nil
	case s.Loss == nil:
		return nil, nil, fmt.Errorf("gradients without a loss")
	}
	found, err := l.g.Grad(s.Loss, within...)
	if err != nil {
		return nil, nil, err
	}
	for i, n := range found {
		grads[at[i]] = n
	}
	return params, grads, nil
}

// order returns the nodes below the roots, operands first, which leaves out dead code. Nodes at
// which gradients end (targets, for instance) come before everything else. Their layers keep
// nothing for a backward pass, so their results are dead before the layers with gradients begin,
// and the results of those layers are still in the caches on the backward pass.
func (l *lowerer) order(roots []*op.Node) []*op.Node {
	all := below(roots)
	var ends []*op.Node
	for _, n := range all {
		if o, ours := n.Op().(*op.Op); ours && o.Kind == op.StopGradient {
			ends = append(ends, n)
		}
		for _, c := range op.Children(n) {
			l.users[c] = append(l.users[c], n)
		}
	}
	return below(append(ends, roots...))
}

// below returns the given roots and the nodes below them, operands first.
func below(roots []*op.Node) (order []*op.Node) {
	seen := map[*op.Node]bool{}
	var visit func(n *op.Node)
	visit = func(n *op.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, c := range op.Children(n) {
			visit(c)
		}
		order = append(order, n)
	}
	for _, n := range roots {
		visit(n)
	}
	return order
}

// bind returns the buffer of a tensor's memory.
func (l *lowerer) bind(t *op.Tensor) device.Ref {
	if r, ok := l.tensors[t]; ok {
		return r
	}
	n, rows, cols := shape(t.Shape)
	r := l.buffer(device.Buffer{Name: t.Name, Members: n, Rows: rows, Cols: cols, Host: t.Data})
	l.tensors[t] = r
	return r
}

func (l *lowerer) buffer(b device.Buffer) device.Ref {
	l.code.Buffers = append(l.code.Buffers, b)
	return device.Ref(len(l.code.Buffers) - 1)
}

// result returns a new buffer for a node.
func (l *lowerer) result(n *op.Node) device.Ref {
	members, rows, cols := shape(n.Shape())
	r := l.buffer(device.Buffer{Members: members, Rows: rows, Cols: cols})
	l.refs[n] = r
	return r
}

// shape reads [N,B,C], [B,C], [C] or a scalar as members, rows, columns.
func shape(s []int) (members, rows, cols int) {
	switch len(s) {
	case 3:
		return s[0], s[1], s[2]
	case 2:
		return 1, s[0], s[1]
	case 1:
		return 1, 1, s[0]
	}
	return 1, 1, 1
}

func (l *lowerer) fill(f Fill) error {
	t := l.g.Tensor(f.Node)
	if t == nil {
		return fmt.Errorf("fill: %s is not an input", f.Node.Name())
	}
	code := device.FillNormal
	if f.Dist == Uniform {
		code = device.FillUniform
	}
	r := l.bind(t)
	l.refs[f.Node] = r
	l.code.Instrs = append(l.code.Instrs, device.Instr{Code: code, Out: r, Mask: device.None, Fill: f.Stream, Items: f.Items})
	return nil
}

// node emits the instruction of a node.
func (l *lowerer) node(n *op.Node) error {
	if _, done := l.refs[n]; done || l.skip[n] {
		return nil
	}
	if n.Op() == nil {
		t := l.g.Tensor(n)
		if t == nil {
			return fmt.Errorf("%s is an input that this package did not make", n.Name())
		}
		l.refs[n] = l.bind(t)
		return nil
	}
	if v, ok := op.Constant(n); ok {
		l.refs[n] = l.buffer(device.Buffer{Name: fmt.Sprint(v), Members: 1, Rows: 1, Cols: 1, Host: []float32{float32(v)}})
		return nil
	}
	in := device.Instr{Mask: device.None}
	for _, c := range op.Children(n) {
		in.In = append(in.In, l.refs[c])
	}
	o, ours := n.Op().(*op.Op)
	switch {
	case ours && o.Kind == op.StopGradient:
		l.refs[n] = in.In[0]
		return nil
	case ours:
		if _, join := l.joined(n); join {
			return nil
		}
		in.Code, in.F, in.I, in.Window = codes[o.Kind], o.Attr.F, o.Attr.I, o.Attr.Window
		l.join(n, o, &in)
	case op.Adds(n) && n.Shape().IsScalar():
		in.Code = device.AddScalars
	case op.Adds(n):
		in.Code = device.Add
	default:
		return fmt.Errorf("%v is an operation of Gorgonia's own; build it with package op", n.Op())
	}
	l.emit(n, o, in)
	return nil
}

// emit appends an instruction. It fuses the instruction with the only user of its result if a
// device does both at once.
func (l *lowerer) emit(n *op.Node, o *op.Op, in device.Instr) {
	last := n
	if u := l.onlyUser(n); u != nil && o != nil {
		user, ours := u.Op().(*op.Op)
		switch {
		case !ours:
		case (o.Kind == op.Linear || o.Kind == op.LinearAt || o.Kind == op.Conv) && user.Kind == op.ReLU:
			in.ReLU, last = true, u
		case (o.Kind == op.LinearDX || o.Kind == op.ConvDX) && user.Kind == op.ReLUGrad && op.Children(u)[0] == n:
			if mask, ok := l.refs[op.Children(u)[1]]; ok {
				in.Mask, last = mask, u
			}
		case o.Kind == op.LinearDX && user.Kind == op.Slice:
			in.Code, in.I, last = device.LinearDXPart, user.Attr.I, u
		}
	}
	in.Out = l.result(last)
	if last != n {
		l.skip[n] = true
	}
	l.code.Instrs = append(l.code.Instrs, in)
}

// onlyUser returns the only user of a node, or nil if there are several or the node must be kept.
func (l *lowerer) onlyUser(n *op.Node) *op.Node {
	if l.kept[n] || len(l.users[n]) != 1 {
		return nil
	}
	return l.users[n][0]
}

// nameGradient names a buffer after the parameter whose gradient it holds.
func (l *lowerer) nameGradient(r device.Ref, t *op.Tensor) {
	if b := &l.code.Buffers[r]; b.Host == nil {
		b.Name = "gradient of " + t.Name
	}
}

func (l *lowerer) optimiser(a *Adam, grads []device.Ref) {
	if a == nil {
		return
	}
	step := &device.Adam{
		Rule: a.Rule, Beta1: a.Beta1, Beta2: a.Beta2, Eps: a.Eps, WeightDecay: a.WeightDecay,
		ClipNorm: a.ClipNorm, ClipTensor: a.ClipTensor,
		Rate: l.bind(a.Rate), T: a.counter(),
	}
	for i, p := range a.Params {
		step.Params = append(step.Params, l.bind(p))
		if a.L2 != nil && a.L2[i] != 0 {
			grads[i] = l.decayed(grads[i], p, a.L2[i])
		}
		step.Grads = append(step.Grads, grads[i])
		step.M = append(step.M, l.bind(a.M[i]))
		step.V = append(step.V, l.bind(a.V[i]))
	}
	l.code.Adam = step
}

// decayed emits the sum of the gradient of a parameter and c times the parameter.
func (l *lowerer) decayed(gradient device.Ref, p *op.Tensor, c float64) device.Ref {
	members, rows, cols := shape(p.Shape)
	scaled := l.buffer(device.Buffer{Members: members, Rows: rows, Cols: cols})
	l.code.Instrs = append(l.code.Instrs, device.Instr{Code: device.Scale, Out: scaled, In: []device.Ref{l.bind(p)}, F: [3]float64{c}, Mask: device.None})
	return l.addTo(scaled, gradient, p)
}

func (l *lowerer) lerp(m Lerp) device.Lerp {
	out := device.Lerp{Dst: l.bind(m.Dst), Rate: device.None}
	if m.Rate != nil {
		out.Rate = l.bind(m.Rate)
	}
	if m.Node != nil {
		out.Src = l.refs[m.Node]
	} else {
		out.Src = l.bind(m.Src)
	}
	return out
}

// codes maps operations to instructions.
var codes = map[op.Kind]device.Code{
	op.Linear: device.Linear, op.LinearAt: device.LinearAt, op.LinearDX: device.LinearDX, op.LinearDW: device.LinearDW,
	op.ColSum: device.ColSum, op.ReLU: device.ReLU, op.Tanh: device.Tanh, op.SiLU: device.SiLU, op.Mish: device.Mish,
	op.ELU: device.ELU, op.ReLUGrad: device.ReLUGrad, op.TanhGrad: device.TanhGrad, op.SiLUGrad: device.SiLUGrad,
	op.MishGrad: device.MishGrad, op.ELUGrad: device.ELUGrad, op.Add: device.Add, op.Sub: device.Sub, op.Mul: device.Mul,
	op.Scale: device.Scale, op.RowScale: device.RowScale, op.Concat: device.Concat, op.Slice: device.Slice, op.Pad: device.Pad,
	op.TanhGaussian: device.TanhGaussian, op.TanhGaussianGrad: device.TanhGaussianGrad, op.MinMembers: device.MinMembers,
	op.MeanMembers: device.MeanMembers, op.BroadcastMembers: device.BroadcastMembers, op.TDTarget: device.TDTarget,
	op.SquaredError: device.SquaredError, op.SquaredErrorGrad: device.SquaredErrorGrad,
	op.WeightedSquaredError: device.WeightedSquaredError, op.WeightedSquaredErrorGrad: device.WeightedSquaredErrorGrad,
	op.EntropyLoss: device.EntropyLoss, op.EntropyGradLogp: device.EntropyGradLogp, op.EntropyGradQ: device.EntropyGradQ,
	op.AddScalars: device.AddScalars, op.BatchStats: device.BatchStats, op.BatchNorm: device.BatchNorm,
	op.BatchNormDX: device.BatchNormDX, op.BatchNormDGamma: device.BatchNormDGamma, op.BatchNormEval: device.BatchNormEval,
	op.Fourier: device.Fourier, op.EDMNoised: device.EDMNoised, op.RowMeanSquare: device.RowMeanSquare,
}
