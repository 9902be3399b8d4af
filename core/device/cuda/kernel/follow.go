package kernel

import (
	"errors"
	"slices"

	"pgrlab/core/device"
)

// following is what instructions after a product do with its result, element by element, before it
// is written; see cu/after.h.
type following struct {
	own   any // where the product's own result goes; absent if nothing else reads it
	steps []followed
	// packed is the number of rows of the last result if that is written as a packed operand of the
	// next product (packed.go); 0: as a matrix.
	packed int
}

// followed is one such instruction. The operand and the result may be absent.
type followed struct {
	step         uint64
	operand, out any
	some         columns // of the result that the operand has
}

// columns are some columns of a matrix of all columns, whole vectors; none: all of them.
type columns struct{ from, cols, all int }

// someOf returns the columns to which AddColumns adds, if a kernel can add them.
func someOf(p *device.Program, in device.Instr) (some columns, ok bool) {
	some = columns{in.I[0], p.Buffers[in.In[1]].Cols, p.Buffers[in.Out].Cols}
	return some, p.Buffers[in.Out].Members == 1 && some.cols > 0 && some.cols%4 == 0 && some.from%4 == 0 && some.all < 1<<16
}

// some reports whether an operand has some columns only, which only packed and direct tiles know.
func (f *following) some() bool {
	return f != nil && slices.ContainsFunc(f.steps, func(s followed) bool { return s.some.cols > 0 })
}

// The steps, in the order of cu/after.h.
const (
	afterAdd uint64 = iota
	afterSub
	afterMul
	afterReLU
	afterSiLU
	afterMish
	afterELU
	afterTanh
	afterReLUGrad
	afterSiLUGrad
	afterMishGrad
	afterELUGrad
	afterTanhGrad
)

// followers lists the instructions that can follow, acting on their first operand.
var followers = map[device.Code]uint64{
	device.AddColumns: afterAdd, device.Add: afterAdd, device.Sub: afterSub, device.Mul: afterMul,
	device.ReLU: afterReLU, device.SiLU: afterSiLU, device.Mish: afterMish, device.ELU: afterELU, device.Tanh: afterTanh,
	device.ReLUGrad: afterReLUGrad, device.SiLUGrad: afterSiLUGrad, device.MishGrad: afterMishGrad,
	device.ELUGrad: afterELUGrad, device.TanhGrad: afterTanhGrad,
}

// errAlone says that nothing can follow in a product's kernel.
var errAlone = errors.New("nothing can follow in this kernel")

// follows reports whether the kernel of a division does what follows. Kernels that add up in one
// place do, and those of packed and direct tiles, whose sums go through shared memory. The other
// kernels of the tensor cores write from where the sums are, in pieces, and would wait for each
// operand.
func (d division) follows() bool {
	return d.splits > 1 || d.packed || d.direct || d.threads == 256 && d.shared == 0 && d.m < 128
}

// most steps that follow a product
const longestFollowing = 3

// table returns the argument for what follows, for results from an element on.
func (f *following) table(from int) any {
	if f == nil {
		return absent
	}
	t := Table{uint64(len(f.steps)) | uint64(f.packed)<<32, shifted(f.own, from)}
	for _, s := range f.steps {
		step, operand := s.step, from
		if s.some.cols > 0 {
			step, operand = step|uint64(s.some.from)<<32|uint64(s.some.cols)<<48, from/s.some.all*s.some.cols
		}
		t = append(t, step, shifted(s.operand, operand), shifted(s.out, from))
	}
	return t
}

func shifted(a any, by int) any {
	if o, ok := a.(Operand); ok {
		o.Offset += by
		return o
	}
	return a
}

// aroundProduct returns the segment that begins with instruction i and has a product with instructions after
// it that work on its result, or before it (precede.go), and on nothing else that they make; false if there is
// none, or if together they are fewer than t.Chain.
func (u *users) aroundProduct(p *device.Program, i int, t Target) (s Segment, ok bool) {
	before, at := u.preceding(p, i, t)
	if before == nil && !follows(p.Instrs[i]) {
		return Segment{}, false
	}
	for _, whole := range []bool{false, true} {
		f, result, last := u.following(p, at, whole)
		if last == i || last-i+1 < t.Chain {
			return Segment{}, false
		}
		if r, ok := u.whole(p, at, t, before, f, result, last); ok {
			s = Segment{First: i, Last: last, Recipe: r}
			if t.Has("places") {
				s.Standing = u.sharing(p, i, at, last, f)
			}
			return s, true
		}
	}
	return Segment{}, false
}

// follows reports whether an instruction is a product that others may follow.
func follows(in device.Instr) bool {
	switch in.Code {
	case device.Linear, device.LinearAt, device.LinearJoined, device.LinearDX, device.LinearDXPart:
		return true
	}
	return false
}

// whole returns the recipe of product i with what comes before it and what follows up to last, which
// makes result; false if there is no kernel for that.
func (u *users) whole(p *device.Program, i int, t Target, before *preceding, f *following, result device.Ref, last int) (r Recipe, ok bool) {
	lower := func() *builder {
		b := &builder{program: p, in: p.Instrs[i], target: t, before: before, packings: u.packings}
		if len(f.steps) > 0 {
			b.after = f
		}
		if err := lowerings[b.in.Code](b); err != nil || !b.followed {
			return nil
		}
		return b
	}
	b := lower()
	if b == nil {
		return Recipe{}, false
	}
	if rows, ok := u.reader(p, last, result, t); ok && len(f.steps) > 0 && b.division.wholly(rows) {
		f.packed, u.packings[result] = rows, true
		b = lower()
	}
	return b.recipe, true
}

// following collects the instructions after product i that work on its result, all of it if so asked;
// result is that of the last of them.
func (u *users) following(p *device.Program, i int, whole bool) (f *following, result device.Ref, last int) {
	result = p.Instrs[i].Out
	f = &following{own: at(result, 0)}
	made := map[any]bool{memoryOf(p, result): true}
	for last = i; last+1 < len(p.Instrs) && len(f.steps) < longestFollowing; last++ {
		next := p.Instrs[last+1]
		step, ok := u.follower(p, next, result, made)
		if !ok || whole && step.some.cols > 0 {
			break
		}
		if u.only(result) { // read by this instruction alone
			if len(f.steps) == 0 {
				f.own = absent
			} else {
				f.steps[len(f.steps)-1].out = absent
			}
		}
		f.steps = append(f.steps, step)
		result = next.Out
		made[memoryOf(p, result)] = true
	}
	return f, result, last
}

// follower returns an instruction as a step, if it works on a result, in the result's shape, and on nothing
// else that is made in the same group.
func (u *users) follower(p *device.Program, in device.Instr, result device.Ref, made map[any]bool) (s followed, ok bool) {
	code, follows := followers[in.Code]
	if !follows || shapeOf(p, in.Out) != shapeOf(p, result) || made[memoryOf(p, in.Out)] {
		return s, false
	}
	s = followed{step: code, operand: absent, out: at(in.Out, 0)}
	if len(in.In) == 1 {
		return s, in.In[0] == result
	}
	first, second := in.In[0], in.In[1]
	if in.Code == device.Add && second == result {
		first, second = second, first
	}
	if first != result || made[memoryOf(p, second)] {
		return s, false
	}
	s.operand = at(second, 0)
	if in.Code == device.AddColumns {
		s.some, ok = someOf(p, in)
		return s, ok
	}
	return s, shapeOf(p, second) == shapeOf(p, result)
}

// users counts the readers of a program's buffers.
type users struct {
	program *device.Program
	reads   []int
	readers map[device.Ref]int // instructions
	writes  map[device.Ref]int // by instructions
	// packings has the results that are in memory as packed operands, not as matrices.
	packings map[device.Ref]bool
	// standing has the buffers that stand in a stack: they cannot stand in another one.
	standing map[device.Ref]bool
}

func usersOf(p *device.Program) *users {
	u := &users{program: p, reads: make([]int, len(p.Buffers)), readers: map[device.Ref]int{}, writes: map[device.Ref]int{}, packings: map[device.Ref]bool{}, standing: map[device.Ref]bool{}}
	parts := map[device.Ref][]device.Ref{}
	for r, b := range p.Buffers {
		if b.Part != nil {
			parts[b.Part.Of] = append(parts[b.Part.Of], device.Ref(r))
		}
	}
	overlapping := func(r device.Ref) []device.Ref { // itself, what it is a part of, and its parts
		if part := p.Buffers[r].Part; part != nil {
			return []device.Ref{r, part.Of}
		}
		return append([]device.Ref{r}, parts[r]...)
	}
	count := func(refs ...device.Ref) {
		for _, r := range refs {
			if r == device.None {
				continue
			}
			for _, of := range overlapping(r) {
				u.reads[of]++
			}
		}
	}
	for _, in := range p.Instrs {
		if in.Code == Squares { // no reader: what makes the gradients does it
			continue
		}
		count(in.In...)
		count(in.Mask)
		u.writes[in.Out]++
		for _, r := range operandsOf(in) {
			if r == device.None {
				continue
			}
			for _, of := range overlapping(r) {
				u.readers[of]++
			}
		}
	}
	count(p.Keep...)
	count(p.Finite...)
	if p.Adam != nil {
		count(p.Adam.Grads...)
	}
	for _, l := range p.Lerps {
		count(l.Src, l.Rate)
	}
	return u
}

// only reports whether a single instruction reads a buffer, and nothing after the program does.
func (u *users) only(r device.Ref) bool { return u.reads[r] == 1 && u.program.Buffers[r].Host == nil }

func shapeOf(p *device.Program, r device.Ref) [3]int {
	b := p.Buffers[r]
	return [3]int{b.Members, b.Rows, b.Cols}
}

// memoryOf identifies memory: the host's by its address, the program's by buffer, of parts that of the
// whole.
func memoryOf(p *device.Program, r device.Ref) any {
	if host := p.Buffers[r].Host; len(host) > 0 {
		return &host[0]
	}
	if part := p.Buffers[r].Part; part != nil {
		return part.Of
	}
	return r
}
