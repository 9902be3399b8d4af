package kernel

import (
	"cmp"
	"iter"
	"slices"

	"pgrlab/core/device"
)

// Merged is a program in which one instruction does the work of several.
type Merged struct {
	// Program has the buffers of the original under the same numbers; those of results that nothing
	// makes any more are empty.
	*device.Program
	// From is, for each instruction, the number of the original instruction in whose place it is;
	// Into is, for each instruction of the original, the From of the one that does its work.
	From, Into []int

	original *device.Program
}

// Align is what the addresses of buffers are multiples of, in bytes. The parts of a buffer are
// multiples of it too.
const Align = 256

// Merge merges what a program does with one weight in several places, where that saves launches. A sum
// of gradients of one weight, or one bias, becomes one gradient: the operands of the uses become members
// of one buffer, one after the other, and are summed over. So a weight that is used eight times has one
// product for its gradient instead of eight products and seven additions. Such sums have another order
// than in the original.
func Merge(p *device.Program, t Target) *Merged {
	m := &merger{original: p, p: new(device.Program), target: t, users: usersOf(p), made: map[device.Ref]int{}, kept: map[device.Ref]bool{}, parts: map[device.Ref][]device.Ref{}}
	*m.p = *p
	m.p.Buffers, m.p.Instrs = slices.Clone(p.Buffers), slices.Clone(p.Instrs)
	for i, in := range p.Instrs {
		m.from, m.into, m.made[in.Out] = append(m.from, i), append(m.into, i), i
	}
	for _, r := range p.Keep {
		m.kept[r] = true
	}
	if t.Chain > len(p.Instrs) || !t.Has("uses") { // a check needs each instruction's own kernel
		return m.done()
	}
	for i := len(m.p.Instrs) - 1; i >= 0; i-- {
		m.sum(i, device.LinearDW, device.LinearJoinedDW)
	}
	for i := len(m.p.Instrs) - 1; i >= 0; i-- {
		m.sum(i, device.ColSum)
	}
	return m.done()
}

type merger struct {
	original *device.Program

	p      *device.Program // instructions that were merged into others are Nops
	target Target
	users  *users                      // of the original
	made   map[device.Ref]int          // the instruction
	kept   map[device.Ref]bool         // results that the host reads
	parts  map[device.Ref][]device.Ref // of buffers that were added
	from   []int                       // the number of each instruction in the original
	into   []int                       // as in Merged
}

// sum replaces addition i if all its terms are gradients of one kind.
func (m *merger) sum(i int, codes ...device.Code) {
	if m.p.Instrs[i].Code != device.Add {
		return
	}
	terms, additions := m.terms(i, codes)
	if terms == nil {
		return
	}
	slices.SortStableFunc(terms, func(a, b int) int { return cmp.Compare(m.place(a), m.place(b)) })
	first := m.p.Instrs[terms[0]]
	slope := m.column(terms, func(in device.Instr) device.Ref { return in.In[len(in.In)-1] })
	alike := func(j int) bool { return m.p.Instrs[j].Code == first.Code }
	if !every(terms, alike) || m.p.Buffers[slope[0]].Cols == 1 || !m.stackable(slope) {
		return
	}
	merged, ok := m.stacked(terms, 0)
	if !ok {
		return
	}
	merged.Out = m.p.Instrs[i].Out
	for _, j := range slices.Concat(terms, additions[1:]) {
		m.p.Buffers[m.p.Instrs[j].Out].Rows = 0 // nothing makes it any more
	}
	m.replace(i, slices.Concat(terms, additions), merged)
}

// terms returns the instructions of the given kinds whose results addition i adds, itself or through
// other additions; nothing if it adds anything else, or something that is read elsewhere too. The
// first of the additions is i.
func (m *merger) terms(i int, codes []device.Code) (terms, additions []int) {
	additions = []int{i}
	for _, r := range m.p.Instrs[i].In {
		j, made := m.made[r]
		if !made || m.parts[r] != nil || m.p.Buffers[r].Part != nil || !m.users.only(r) {
			return nil, nil
		}
		switch code := m.p.Instrs[j].Code; {
		case code == device.Add:
			more, others := m.terms(j, codes)
			if more == nil {
				return nil, nil
			}
			terms, additions = append(terms, more...), append(additions, others...)
		case slices.Contains(codes, code):
			terms = append(terms, j)
		default:
			return nil, nil
		}
	}
	return terms, additions
}

// place is where the first operand of an instruction is in the buffer that it is a part of.
func (m *merger) place(i int) int {
	if part := m.p.Buffers[m.p.Instrs[i].In[0]].Part; part != nil {
		return part.At
	}
	return 0
}

func every(all []int, is func(j int) bool) bool {
	return !slices.ContainsFunc(all, func(j int) bool { return !is(j) })
}

func (m *merger) column(all []int, of func(in device.Instr) device.Ref) (refs []device.Ref) {
	for _, j := range all {
		refs = append(refs, of(m.p.Instrs[j]))
	}
	return refs
}

// stacked returns the first instruction with operands of all: each a buffer of theirs, or the one that
// they share if it is not among the first own operands. ok is false if there is none.
func (m *merger) stacked(all []int, own int) (in device.Instr, ok bool) {
	in = m.p.Instrs[all[0]]
	in.In = slices.Clone(in.In)
	merge := func(refs []device.Ref, own bool) (device.Ref, bool) {
		if !own && len(slices.Compact(slices.Clone(refs))) == 1 {
			return refs[0], true
		}
		return m.stack(refs)
	}
	in.Mask, ok = merge(m.column(all, func(in device.Instr) device.Ref { return in.Mask }), in.Mask != device.None)
	for k := range in.In {
		if ok {
			in.In[k], ok = merge(m.column(all, func(in device.Instr) device.Ref { return in.In[k] }), k < own)
		}
	}
	return in, ok
}

// stackable reports whether buffers can be the members of one buffer, in that order, or are.
func (m *merger) stackable(refs []device.Ref) bool {
	first := m.p.Buffers[refs[0]]
	if first.Part != nil {
		return slices.Equal(m.parts[first.Part.Of], refs)
	}
	seen := map[device.Ref]bool{}
	for _, r := range refs {
		b := m.p.Buffers[r]
		if b.Host != nil || b.Part != nil || m.kept[r] || seen[r] || b.Members != 1 || b.Rows != first.Rows || b.Cols != first.Cols || 4*b.Len()%Align != 0 {
			return false
		}
		seen[r] = true
	}
	return first.Len() > 0
}

// stack returns the buffer whose members some buffers are; false if there is none and they cannot be.
func (m *merger) stack(refs []device.Ref) (device.Ref, bool) {
	if slices.Contains(refs, device.None) || !m.stackable(refs) {
		return device.None, false
	}
	first := &m.p.Buffers[refs[0]]
	if first.Part != nil {
		return first.Part.Of, true
	}
	whole, each := device.Ref(len(m.p.Buffers)), first.Len()
	b := device.Buffer{Members: len(refs), Rows: first.Rows, Cols: first.Cols}
	for i, r := range refs {
		m.p.Buffers[r].Part = &device.Part{Of: whole, At: i * each}
	}
	m.p.Buffers = append(m.p.Buffers, b)
	m.parts[whole] = refs
	return whole, true
}

// replace puts an instruction in the place of i that does the work of some.
func (m *merger) replace(i int, all []int, merged device.Instr) {
	for _, j := range all {
		m.p.Instrs[j] = device.Instr{Code: device.Nop, Out: device.None, Mask: device.None}
		m.into[m.from[j]] = m.from[i]
	}
	m.p.Instrs[i] = merged
}

// done leaves out the instructions that do nothing any more.
func (m *merger) done() *Merged {
	out := &Merged{Program: m.p, Into: m.into, original: m.original}
	all := m.p.Instrs
	m.p.Instrs = nil
	for at, i := range m.from {
		if m.into[i] == i {
			out.From, m.p.Instrs = append(out.From, i), append(m.p.Instrs, all[at])
		}
	}
	return out
}

// Locate translates what an instruction of the merged program made into the terms of the original.
func (m *Merged) Locate(where *device.NotFinite) {
	for r, b := range m.Buffers {
		if at := b.Part; at != nil && at.Of == where.Buffer && at.At <= where.Index && where.Index < at.At+b.Len() {
			where.Buffer, where.Index = device.Ref(r), where.Index-at.At
			break
		}
	}
	where.Instr = slices.IndexFunc(m.original.Instrs, func(in device.Instr) bool { return in.Out == where.Buffer })
}

// Terms yields the instructions of the original, in order and with their numbers, whose results the
// merged one in the place of addition i sums; none if it is not a sum.
func (m *Merged) Terms(i int) iter.Seq2[int, device.Instr] {
	return func(yield func(int, device.Instr) bool) {
		for j, in := range m.original.Instrs {
			if m.Into[j] == i && m.original.Instrs[i].Code == device.Add && in.Code != device.Add && !yield(j, in) {
				return
			}
		}
	}
}
