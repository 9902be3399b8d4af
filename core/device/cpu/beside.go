package cpu

import (
	"slices"

	"pgrlab/core/device"
)

// beside in I[1] of LinearJoined says that the members of its first operand are columns side by side in one
// matrix.
const beside = 1

// sideBySide spares the copies between members and columns side by side, where the instructions at both
// ends can work with a distance between rows.
func (f *fusion) sideBySide() {
	for i, in := range f.p.Instrs {
		switch {
		case in.Code == device.Members:
			f.shared(i)
		case in.I[1] > 1: // places, at each of which members are side by side
		case in.Code == device.SplitColumns:
			f.split(i)
		case in.Code == device.JoinMembers:
			f.joined(i)
		}
	}
}

// shared makes layers read what members are copies of.
func (f *fusion) shared(i int) {
	copies := f.p.Instrs[i]
	if f.p.Buffers[copies.In[0]].Rows != f.p.Buffers[copies.Out].Rows { // the members are rows
		return
	}
	f.replace(i, func(in *device.Instr, operand int) bool {
		return (in.Code == device.LinearJoined || in.Code == device.LinearJoinedDW) && operand == 1
	})
}

// split makes a layer, or a gated update, read its members from columns side by side.
func (f *fusion) split(i int) {
	f.replace(i, func(in *device.Instr, operand int) bool {
		switch {
		case in.Code == device.LinearJoined && operand == 0:
			in.I[1] = beside
			return true
		case in.Code == device.GatedUpdate && operand == 1:
			return true
		}
		return false
	})
}

// replace puts the operand of instruction i in the place of its result wherever fits allows it; if nothing
// else needs the result, the instruction goes.
func (f *fusion) replace(i int, fits func(in *device.Instr, operand int) bool) {
	from, to, at := f.p.Instrs[i].Out, f.p.Instrs[i].In[0], i
	for k := i + 1; k < len(f.p.Instrs); k++ {
		in := &f.p.Instrs[k]
		for operand, r := range in.In {
			if r != from || !fits(in, operand) {
				continue
			}
			in.In = slices.Clone(in.In)
			in.In[operand] = to
			f.users[from]--
			f.users[to]++
			at = k
		}
	}
	if f.users[from] == 0 {
		f.users[to]--
		f.p.Instrs[i], f.into[i] = nop, at
	}
}

// joined makes the layer, or the gated update, that writes members write them as columns side by side.
func (f *fusion) joined(i int) {
	join := f.p.Instrs[i]
	for k := i - 1; k >= 0; k-- {
		in := &f.p.Instrs[k]
		if in.Out != join.In[0] {
			continue
		}
		if (in.Code == device.LinearJoined || in.Code == device.GatedUpdate) && f.users[in.Out] == 1 {
			in.Out = join.Out
			f.p.Instrs[i], f.into[i] = nop, k
		}
		return
	}
}

// strides describe where the rows of members are: the distances from one member to the next, and from one
// row to the next.
type strides struct{ member, row int }

func (s strides) at(member, row int) int { return member*s.member + row*s.row }

// apart are the strides of a buffer whose members are apart, or all the same matrix.
func (c *compiler) apart(r device.Ref, members int) strides {
	n, count, cols := c.shape(r)
	if n < members {
		return strides{0, cols}
	}
	return strides{count * cols, cols}
}

// columns are the strides of a buffer whose members are apart, or columns side by side.
func (c *compiler) columns(r device.Ref, members int) strides {
	n, _, cols := c.shape(r)
	if n < members {
		return strides{cols / members, cols}
	}
	return c.apart(r, members)
}
