package plan

import (
	"pgrlab/core/device"
	"pgrlab/core/op"
)

// joined returns the two operands of a concatenation that no instruction needs in memory: all its
// users are layers, or gradients of layers, that can read the two operands separately.
func (l *lowerer) joined(n *op.Node) (operands []*op.Node, ok bool) {
	o, ours := n.Op().(*op.Op)
	if !ours || o.Kind != op.Concat || l.kept[n] {
		return nil, false
	}
	operands = op.Children(n)
	if len(operands) != 2 {
		return nil, false
	}
	for _, x := range operands {
		if x.Shape()[x.Dims()-1] < l.joinFrom {
			return nil, false
		}
	}
	for _, u := range l.users[n] {
		user, ours := u.Op().(*op.Op)
		if !ours || user.Kind != op.Linear && user.Kind != op.LinearDW || op.Children(u)[0] != n || u.Shape()[u.Dims()-1] == 1 {
			return nil, false
		}
	}
	return operands, true
}

// join replaces the first operand of an instruction, a skipped concatenation, by the
// concatenation's two operands.
func (l *lowerer) join(n *op.Node, o *op.Op, in *device.Instr) {
	if o.Kind != op.Linear && o.Kind != op.LinearDW {
		return
	}
	operands, ok := l.joined(op.Children(n)[0])
	if !ok {
		return
	}
	in.In = append([]device.Ref{l.refs[operands[0]], l.refs[operands[1]]}, in.In[1:]...)
	in.Code = device.LinearJoined
	if o.Kind == op.LinearDW {
		in.Code = device.LinearJoinedDW
	}
}
