package kernel

import (
	"slices"

	"pgrlab/core/device"
)

// Arrange returns p with its instructions in the order in which Segments makes the fewest launches of them, and for each its place in p.
// Gradients that only the end of the program reads come last, those of one kind together: sums over rows, and the
// gradients of weights of layers of one shape. Every number stays the same.
func Arrange(p *device.Program) (arranged *device.Program, order []int) {
	u := usersOf(p)
	groups := map[any][]int{}
	var keys []any
	for i, in := range p.Instrs {
		if key := u.gradients(in); key != nil {
			if groups[key] == nil {
				keys = append(keys, key)
			}
			groups[key] = append(groups[key], i)
		}
	}
	late := map[int]bool{}
	var last []int
	for _, key := range keys {
		if all := u.apart(groups[key]); len(all) > 1 {
			last = append(last, all...)
			for _, i := range all {
				late[i] = true
			}
		}
	}
	if len(last) == 0 {
		return p, nil
	}
	for i := range p.Instrs {
		if !late[i] {
			order = append(order, i)
		}
	}
	order = append(order, last...)
	arranged = new(device.Program)
	*arranged = *p
	arranged.Instrs = nil
	for _, i := range order {
		arranged.Instrs = append(arranged.Instrs, p.Instrs[i])
	}
	return arranged, order
}

// stacked is the kind of gradients of weights that may be one product: the layer's rows, inputs and outputs.
type stacked struct{ rows, in, out int }

// summed is the kind of sums over rows that may be one launch.
type summed struct{}

// gradients returns the kind of an instruction that may be done with others of its kind at the end of a program; nil if it may
// not: it makes no gradient that only the end reads, or its operands do not stay as they are until then.
func (u *users) gradients(in device.Instr) any {
	p := u.program
	if p.Adam == nil || !u.only(in.Out) || !slices.Contains(p.Adam.Grads, in.Out) {
		return nil
	}
	for _, r := range in.In {
		if p.Buffers[r].Host != nil && slices.Contains(p.Written(), r) || u.writes[r] > 1 {
			return nil
		}
	}
	x, out := p.Buffers[in.In[0]], p.Buffers[in.Out]
	switch in.Code {
	case device.ColSum:
		if x.Len() > 0 && x.Rows <= rowsOfPart {
			return summed{}
		}
	case device.LinearDW:
		dz := p.Buffers[in.In[1]]
		if k := (stacked{x.Rows, x.Cols, dz.Cols}); out.Members == 1 && x.Members == 1 && k.out > 1 && u.stackable(in.Out, in.In[0], in.In[1]) {
			return k
		}
	}
	return nil
}

// apartElements divides the sizes of operands that can stand at equal distances with nothing between them: buffers begin at multiples
// of 256 bytes.
const apartElements = 64

// stackable reports whether buffers are the program's own, and full up to the beginning of the next one.
func (u *users) stackable(refs ...device.Ref) bool {
	for _, r := range refs {
		if n := u.program.Buffers[r].Len(); u.program.Buffers[r].Host != nil || n == 0 || n%apartElements != 0 || slices.Contains(u.program.Keep, r) {
			return false
		}
	}
	return true
}

// apart leaves out gradients of weights one of whose operands another one has, too: it cannot stand in two places. Sums over rows
// may share theirs.
func (u *users) apart(all []int) (rest []int) {
	seen := map[device.Ref]bool{}
	for _, i := range all {
		in := u.program.Instrs[i]
		if in.Code == device.LinearDW {
			if seen[in.In[0]] || seen[in.In[1]] || in.In[0] == in.In[1] {
				continue
			}
			seen[in.In[0]], seen[in.In[1]] = true, true
		}
		rest = append(rest, i)
	}
	return rest
}

// together returns the segment of the gradients of one kind from instruction i on, with those after it; false if there is only one.
func (u *users) together(i int, t Target) (s Segment, ok bool, err error) {
	p := u.program
	kind := u.gradients(p.Instrs[i])
	if kind == nil || t.Chain > len(p.Instrs) { // a check wants each instruction's own kernel
		return s, false, nil
	}
	all := []int{i}
	for j := i + 1; j < len(p.Instrs) && u.gradients(p.Instrs[j]) == kind; j++ {
		all = append(all, j)
	}
	if len(all) < 2 || len(u.apart(all)) < len(all) {
		return s, false, nil
	}
	b := &builder{program: p, in: p.Instrs[i], target: t}
	s = Segment{First: i, Last: i + len(all) - 1}
	if _, sums := kind.(summed); sums {
		b.columnSums(all)
		s.Recipe = b.recipe
		return s, true, nil
	}
	s.Stacks = make([][]device.Ref, 3)
	for _, j := range all {
		in := p.Instrs[j]
		for k, r := range []device.Ref{in.Out, in.In[0], in.In[1]} {
			s.Stacks[k] = append(s.Stacks[k], r)
		}
	}
	k := kind.(stacked)
	w := plain(tn, k.in, k.out, k.rows, len(all))
	w.c, w.a, w.b, w.strideA = at(s.Stacks[0][0], 0), at(s.Stacks[1][0], 0), at(s.Stacks[2][0], 0), k.rows*k.in
	err = b.multiply(w)
	s.Recipe = b.recipe
	return s, true, err
}

// columnSums is ColSum of several instructions in one launch.
func (b *builder) columnSums(all []int) {
	var t Table
	blocks, rows := 0, 0
	for _, i := range all {
		in := b.program.Instrs[i]
		members, of, cols := b.shape(in.In[0])
		t = append(t, uint64(blocks), at(in.Out, 0), at(in.In[0], 0), uint64(of), uint64(cols))
		blocks += members * ceil(cols, 32)
		rows++
	}
	b.launch("column_sums", [3]uint32{uint32(blocks), 1, 1}, 1024, 0, t, uint32(rows))
}
