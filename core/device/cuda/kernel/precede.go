package kernel

import (
	"slices"

	"pgrlab/core/device"
)

// preceding is what instructions before a product do with its operand A, element by element, on the way
// to its packed form (cu/pack.cu): a row is added to, or multiplied by, every row, and then there may be
// a function.
type preceding struct {
	x, row Operand
	what   uint32
}

// The parts of preceding.what: what is done with the row, and above it 1 + a step of follow.go.
const (
	beforeScale uint32 = iota
	beforeAdd
	beforeFunction // the unit of the function
)

// functions lists the instructions that can be the function.
var functions = []device.Code{device.ReLU, device.SiLU, device.Mish, device.ELU, device.Tanh}

// preceding finds what begins with instruction i, and the product that alone reads the result; nil and i if
// nothing does.
func (u *users) preceding(p *device.Program, i int, t Target) (before *preceding, product int) {
	in, first := p.Instrs[i], i
	if in.Code != device.ColScale && in.Code != device.ColAdd || p.Buffers[in.Out].Members != 1 || !t.Has("made") {
		return nil, i
	}
	before = &preceding{x: at(in.In[0], 0), row: at(in.In[1], 0), what: beforeScale}
	if in.Code == device.ColAdd {
		before.what = beforeAdd
	}
	made := in.Out
	next := func() (in device.Instr, ok bool) {
		if i++; i == len(p.Instrs) || !u.only(made) {
			return in, false
		}
		in = p.Instrs[i]
		return in, len(in.In) > 0 && in.In[0] == made
	}
	in, ok := next()
	if ok && slices.Contains(functions, in.Code) {
		before.what += beforeFunction * (1 + uint32(followers[in.Code]))
		made = in.Out
		in, ok = next()
	}
	if !ok || in.Code != device.Linear || p.Buffers[in.In[1]].Members != 1 {
		return nil, first
	}
	return before, i
}

// packMade lays out a product's operand A, made of what comes before it.
func (b *builder) packMade(to any, s source, each, padded int) {
	lines, wide := each*padded, uint32(0)
	if s.wide {
		wide = 1
	}
	b.elements("pack_made_"+tensorNames[b.target.Precision], lines*8,
		to, s.x, b.before.row, int32(s.rows), int32(s.cols), uint32(padded), uint32(lines*8), wide, b.before.what)
}
