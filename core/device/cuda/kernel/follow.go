package kernel

import (
	"errors"

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
	device.Add: afterAdd, device.Sub: afterSub, device.Mul: afterMul,
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
		t = append(t, s.step, shifted(s.operand, from), shifted(s.out, from))
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

// follow returns the recipe of product i together with the instructions after it that work on its
// result and on nothing else that they make. last is the last of these instructions, or i if there
// is none, or if together they are fewer than t.Chain.
func (u *users) follow(p *device.Program, i int, t Target) (r Recipe, last int) {
	in := p.Instrs[i]
	switch in.Code {
	case device.Linear, device.LinearAt, device.LinearJoined, device.LinearDX, device.LinearDXPart:
	default:
		return Recipe{}, i
	}
	f, result, last := u.following(p, i)
	if len(f.steps) == 0 || 1+len(f.steps) < t.Chain {
		return Recipe{}, i
	}
	lower := func() *builder {
		b := &builder{program: p, in: in, target: t, after: f, packings: u.packings}
		if err := lowerings[in.Code](b); err != nil || !b.followed {
			return nil
		}
		return b
	}
	b := lower()
	if b == nil {
		return Recipe{}, i
	}
	if rows, ok := u.reader(p, last, result, t); ok && b.division.wholly(rows) {
		f.packed, u.packings[result] = rows, true
		b = lower()
	}
	return b.recipe, last
}

// following collects the instructions after product i that work on its result; result is that of
// the last of them.
func (u *users) following(p *device.Program, i int) (f *following, result device.Ref, last int) {
	result = p.Instrs[i].Out
	f = &following{own: at(result, 0)}
	made := map[any]bool{memoryOf(p, result): true}
	for last = i; last+1 < len(p.Instrs) && len(f.steps) < longestFollowing; last++ {
		next := p.Instrs[last+1]
		operand, ok := u.follower(p, next, result, made)
		if !ok {
			break
		}
		if u.only(result) { // read by this instruction alone
			if len(f.steps) == 0 {
				f.own = absent
			} else {
				f.steps[len(f.steps)-1].out = absent
			}
		}
		f.steps = append(f.steps, followed{followers[next.Code], operand, at(next.Out, 0)})
		result = next.Out
		made[memoryOf(p, result)] = true
	}
	return f, result, last
}

// follower reports whether an instruction works on a result, in the result's shape, and on nothing
// else that is made in the same group; operand is what else it reads.
func (u *users) follower(p *device.Program, in device.Instr, result device.Ref, made map[any]bool) (operand any, ok bool) {
	if _, follows := followers[in.Code]; !follows || shapeOf(p, in.Out) != shapeOf(p, result) || made[memoryOf(p, in.Out)] {
		return nil, false
	}
	if len(in.In) == 1 {
		return absent, in.In[0] == result
	}
	first, second := in.In[0], in.In[1]
	if in.Code == device.Add && second == result {
		first, second = second, first
	}
	if first != result || made[memoryOf(p, second)] || shapeOf(p, second) != shapeOf(p, result) {
		return nil, false
	}
	return at(second, 0), true
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
