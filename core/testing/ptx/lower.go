package ptx

import (
	"slices"
	"strings"
)

// lowering turns the functions that a kernel reaches into one piece of code. Called
// functions are placed before their callers: the scheduler runs the lanes with the lowest
// address first, so lanes inside a call meet again there.
type lowering struct {
	m      *Module
	k      *Kernel
	f      *function
	code   []inst
	s      *statement
	consts map[uint64]slot
	shared map[*variable]uint64
	entry  map[*function]int32 // first instruction
	number map[*function]int32 // index of its return address
	preds  int32               // where the function's predicates start
	fixed  []fix               // branches of the function

	accumulators []slot // of the function's wgmmas
	waits        []int  // its instructions that wait for them
}

// fix is a branch that waits for its label.
type fix struct {
	at    int
	label *label
}

func (m *Module) lower(entry *function) *Kernel {
	k := &Kernel{Name: entry.name, module: m, MaxThreads: entry.maxThread, exact: entry.exact, granule: 16, grain: 16}
	l := &lowering{m: m, k: k, consts: map[uint64]slot{}, shared: map[*variable]uint64{}, entry: map[*function]int32{}, number: map[*function]int32{}}
	l.parameters(entry)
	l.constant(0)
	k.regs = firstVirtual
	var order []*function
	l.reach(entry, map[*function]int{}, &order)
	l.placeShared(order)
	for _, f := range order {
		l.placeLocal(f)
	}
	for _, f := range order {
		l.function(f)
	}
	k.code, k.first = l.code, l.entry[entry]
	k.preds = int(l.preds)
	k.returns = len(l.number)
	k.Registers = k.regs - firstVirtual
	return k
}

// fail reports what is wrong with the present statement.
func (l *lowering) fail(format string, args ...any) { fail(l.s.line, format, args...) }

// parameters lays out the parameters of a kernel.
func (l *lowering) parameters(f *function) {
	at := 0
	for _, v := range f.params {
		at = (at + v.align - 1) &^ (v.align - 1)
		v.offset = uint64(at)
		l.k.Parameters = append(l.k.Parameters, Parameter{at, v.size, v.align})
		at += v.size
	}
	if len(f.results) > 0 {
		fail(f.line, "the kernel %s returns a value", f.name)
	}
	l.k.ParamBytes = at
}

// reach lists the functions that f calls, directly or indirectly, and then f.
func (l *lowering) reach(f *function, state map[*function]int, order *[]*function) {
	const open, done = 1, 2
	state[f] = open
	for _, s := range f.body {
		if s.op != "call" {
			continue
		}
		l.s = s
		c := l.callee(s)
		switch state[c] {
		case open:
			l.fail("%s calls itself: recursion is not supported", c.name)
		case 0:
			l.reach(c, state, order)
		}
	}
	state[f] = done
	if !f.entry {
		l.number[f] = int32(len(l.number))
	}
	*order = append(*order, f)
}

// placeShared assigns offsets to the shared variables that the functions name. Variables
// whose size is given by a launch come after all others.
func (l *lowering) placeShared(order []*function) {
	var dynamic []*variable
	at, align := 0, 16
	var visit func(o *operand)
	visit = func(o *operand) {
		if v := o.v; v != nil && v.space == shared {
			if _, seen := l.shared[v]; !seen {
				align = max(align, v.align)
				l.shared[v] = 0
				if v.dynamic {
					dynamic = append(dynamic, v)
				} else {
					at = (at + v.align - 1) &^ (v.align - 1)
					l.shared[v] = uint64(at)
					if at += v.size; at > maxVariable {
						fail(v.line, "shared variables of more than %d bytes", maxVariable)
					}
				}
			}
		}
		for i := range o.list {
			visit(&o.list[i])
		}
	}
	for _, f := range order {
		for _, s := range f.body {
			for i := range s.args {
				visit(&s.args[i])
			}
		}
	}
	if len(dynamic) > 0 {
		at = (at + align - 1) &^ (align - 1)
	}
	for _, v := range dynamic {
		l.shared[v] = uint64(at)
	}
	l.k.Shared = at
}

// placeLocal assigns places in the local memory of a thread to a function's stack and
// parameters. Without recursion each function needs them only once.
func (l *lowering) placeLocal(f *function) {
	place := func(v *variable) {
		l.k.frame = (l.k.frame + v.align - 1) &^ (v.align - 1)
		v.offset = uint64(l.k.frame)
		if l.k.frame += v.size; l.k.frame > maxVariable {
			fail(v.line, "local variables of more than %d bytes", maxVariable)
		}
	}
	if !f.entry {
		for _, v := range slices.Concat(f.params, f.results) {
			v.space = local
			place(v)
		}
	}
	for _, v := range f.locals {
		if v.stack {
			l.k.Local += v.size
		}
		v.space = local
		place(v)
	}
}

// function lowers one function and packs its registers.
func (l *lowering) function(f *function) {
	l.f = f
	first := len(l.code)
	l.entry[f] = int32(first)
	l.fixed = l.fixed[:0]
	l.accumulators, l.waits = nil, nil
	for _, s := range f.body {
		if s.label != nil {
			s.label.at = int32(len(l.code))
			continue
		}
		l.s = s
		lower, ok := opcodes[s.op]
		if !ok {
			l.fail("unknown opcode %s", strings.Join(append([]string{s.op}, s.mods...), "."))
		}
		m := &mods{l: l, list: s.mods}
		lower(l, s, m)
		m.done()
	}
	end := inst{class: classReturn, line: int32(f.line), q: -1, q2: -1, r: -1}
	if f.entry {
		end.class = classExit
	} else {
		end.target = l.number[f]
	}
	l.code = append(l.code, end)
	for _, x := range l.fixed {
		l.code[x.at].target = x.label.at
	}
	for _, at := range l.waits { // accumulators keep their place until their values arrive
		l.code[at].ins = slices.Clone(l.accumulators)
	}
	l.k.regs += pack(l.code[first:], int32(first), int32(l.k.regs), f.registers)
	l.preds += int32(f.preds)
}

// emit appends an instruction for the present statement.
func (l *lowering) emit(in inst) *inst {
	in.line = int32(l.s.line)
	if g := l.s.guard; g != nil {
		in.guard = l.preds + int32(g.id) + 1
		if l.s.not {
			in.guard = -in.guard
		}
	}
	l.code = append(l.code, in)
	return &l.code[len(l.code)-1]
}

// blank is an instruction without operands.
func blank(c class) inst {
	return inst{class: c, d: noSlot, a: noSlot, b: noSlot, c: noSlot, q: -1, q2: -1, r: -1}
}

// constant returns the slot of a value that all lanes share.
func (l *lowering) constant(bits uint64) slot {
	if at, ok := l.consts[bits]; ok {
		return at
	}
	var v vec
	for i := range v {
		v[i] = bits
	}
	l.k.consts = append(l.k.consts, v)
	at := ^slot(len(l.k.consts) - 1)
	l.consts[bits] = at
	return at
}
