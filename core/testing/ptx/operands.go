package ptx

import "strings"

// mods holds the modifiers of one instruction. A modifier that is not taken is an error.
type mods struct {
	l    *lowering
	list []string
	used uint64
}

// take says whether a modifier is present, and takes it.
func (m *mods) take(name string) bool {
	for i, s := range m.list {
		if s == name && m.used>>i&1 == 0 {
			m.used |= 1 << i
			return true
		}
	}
	return false
}

// one takes and returns whichever of the names is present; "" if none is.
func (m *mods) one(names ...string) string {
	for _, n := range names {
		if m.take(n) {
			return n
		}
	}
	return ""
}

// kind takes the next type.
func (m *mods) kind() kind {
	if k := m.maybeKind(); k != noKind {
		return k
	}
	m.l.fail("%s needs a type that is known", strings.Join(append([]string{m.l.s.op}, m.list...), "."))
	return noKind
}

func (m *mods) maybeKind() kind {
	for i, s := range m.list {
		if k := kinds[s]; k != noKind && m.used>>i&1 == 0 {
			m.used |= 1 << i
			return k
		}
	}
	return noKind
}

// drop takes modifiers that have no effect here.
func (m *mods) drop(prefixes ...string) {
	for i, s := range m.list {
		for _, p := range prefixes {
			if s == p || strings.HasSuffix(p, "*") && strings.HasPrefix(s, p[:len(p)-1]) {
				m.used |= 1 << i
			}
		}
	}
}

func (m *mods) done() {
	for i, s := range m.list {
		if i >= 64 || m.used>>i&1 == 0 {
			m.l.fail("unknown opcode %s.%s: its modifier .%s is not supported", m.l.s.op, strings.Join(m.list, "."), s)
		}
	}
}

// arithmetic rejects types that have no arithmetic: bits, bytes, those of tensor cores.
func (l *lowering) arithmetic(k kind) kind {
	if b8 <= k && k <= b128 || k.bits() == 8 || k.short() || k == pred {
		l.fail("%s of type %s", l.s.op, k)
	}
	return k
}

// plain rejects all types but bits.
func (l *lowering) plain(k kind) kind {
	if k != pred && (k < b16 || k > b64) {
		l.fail("%s of type %s", l.s.op, k)
	}
	return k
}

// requires rejects an instruction that the module's target lacks.
func (l *lowering) requires(sm int) {
	if l.m.sm > 0 && l.m.sm < sm {
		l.fail("%s needs sm_%d, the module is for %s", strings.Join(append([]string{l.s.op}, l.s.mods...), "."), sm, l.m.Target)
	}
}

// requiresTarget rejects an instruction that only one architecture has.
func (l *lowering) requiresTarget(name string) {
	if l.m.sm > 0 && l.m.Target != name {
		l.fail("%s needs %s, the module is for %s", strings.Join(append([]string{l.s.op}, l.s.mods...), "."), name, l.m.Target)
	}
}

// need checks the number of operands.
func (l *lowering) need(n int) {
	if len(l.s.args) != n {
		l.fail("%s has %d operands, not %d", l.s.op, len(l.s.args), n)
	}
}

// fits says whether a register may be used where an instruction expects type k: sizes must
// be equal; bits match everything, and integers match integers.
func fits(r, k kind) bool {
	bit := func(k kind) bool { return b8 <= k && k <= b128 || k.short() }
	return r.bits() == k.bits() && (bit(r) || bit(k) || r == k || r.integer() && k.integer())
}

// value returns the slot of a source operand of type k.
func (l *lowering) value(o operand, k kind) slot {
	if o.not || o.pair != nil {
		l.fail("an operand of %s is a predicate", l.s.op)
	}
	switch o.kind {
	case opRegister:
		if !fits(o.reg.kind, k) {
			l.fail("%s is a register of type %s, the instruction needs %s", o.reg.name, o.reg.kind, k)
		}
		return firstVirtual + slot(o.reg.id)
	case opImmediate:
		return l.constant(convertImmediate(o, k))
	case opVariable:
		return l.constant(l.address(o.v) + uint64(o.off))
	case opSpecial:
		return slot(o.id)
	}
	l.fail("an operand of %s is neither a register nor a number", l.s.op)
	return 0
}

// wide is value for the operands of ld, st and cvt, whose registers may be
// wider than the type.
func (l *lowering) wide(o operand, k kind) slot {
	if o.kind == opRegister && o.reg.kind.bits() > k.bits() && o.reg.kind != pred {
		return firstVirtual + slot(o.reg.id)
	}
	return l.value(o, k)
}

// address returns a variable's address in its space.
func (l *lowering) address(v *variable) uint64 {
	if v.space == shared {
		return l.shared[v]
	}
	return v.offset
}

// dest returns the slot of a result of type k.
func (l *lowering) dest(o operand, k kind) slot {
	switch {
	case o.kind == opSink:
		return srScratch
	case o.kind != opRegister || o.not || o.pair != nil:
		l.fail("the result of %s is not a register", l.s.op)
	case !fits(o.reg.kind, k):
		l.fail("%s is a register of type %s, the result is %s", o.reg.name, o.reg.kind, k)
	}
	return firstVirtual + slot(o.reg.id)
}

func (l *lowering) wideDest(o operand, k kind) slot {
	if o.kind == opRegister && o.reg.kind.bits() > k.bits() && o.reg.kind != pred {
		return firstVirtual + slot(o.reg.id)
	}
	return l.dest(o, k)
}

// predicate returns the number of a predicate that is written.
func (l *lowering) predicate(o operand) int32 {
	if o.kind == opSink {
		return -1
	}
	if o.kind != opRegister || o.reg.kind != pred || o.not {
		l.fail("the result of %s is not a predicate", l.s.op)
	}
	return l.preds + int32(o.reg.id)
}

// condition sets the predicate that an instruction reads. A constant becomes predicate -1,
// which never holds, or its negation.
func (l *lowering) condition(in *inst, o operand) {
	switch {
	case o.kind == opRegister && o.reg.kind == pred:
		in.r, in.rNot = l.preds+int32(o.reg.id), o.not
	case o.kind == opImmediate:
		in.r, in.rNot = -1, o.not != (o.bits != 0)
	default:
		l.fail("an operand of %s is not a predicate", l.s.op)
	}
}

// compute emits d = f(a, b, c) with one type for the result and one for each
// operand.
func (l *lowering) compute(f alu, dk kind, sources ...kind) *inst {
	l.need(1 + len(sources))
	in := blank(classALU)
	in.alu = f
	in.d = l.dest(l.s.args[0], dk)
	for i, k := range sources {
		at := l.value(l.s.args[1+i], k)
		switch i {
		case 0:
			in.a = at
		case 1:
			in.b = at
		case 2:
			in.c = at
		}
	}
	return l.emit(in)
}
