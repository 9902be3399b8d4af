package ptx

import (
	"math/bits"
	"slices"
)

// accessOf takes the modifiers of an instruction that accesses memory: space, vector and
// type, and those for caches and other processors, which have no effect here. An
// instruction that is ordered relative to others makes blocks depend on each other.
func (l *lowering) accessOf(m *mods) access {
	if m.one("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio") != "" {
		l.k.dependent = true
	}
	m.drop("weak", "cta", "cluster", "gpu", "sys", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc",
		"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate",
		"L2::64B", "L2::128B", "L2::256B")
	a := access{count: 1}
	switch m.one("global", "const", "shared", "shared::cta", "local", "param") {
	case "global", "const":
		a.space = global
	case "shared", "shared::cta":
		a.space = shared
	case "local":
		a.space = local
	case "param":
		a.space = param
	}
	switch m.one("v2", "v4") {
	case "v2":
		a.count = 2
	case "v4":
		a.count = 4
	}
	a.kind = m.kind()
	if a.kind == pred || a.kind == b128 || a.kind.bytes()*a.count > 16 {
		l.fail("%s of %d times %s", l.s.op, a.count, a.kind)
	}
	return a
}

// reachOf sets the address of an instruction: a slot and an offset.
func (l *lowering) reachOf(in *inst, o operand, a access) {
	if o.kind != opAddress || len(o.list) != 1 {
		l.fail("%s needs an address in brackets", l.s.op)
	}
	a.off = uint64(o.off)
	switch base := o.list[0]; base.kind {
	case opRegister:
		if base.reg.kind.bits() < 32 || base.reg.kind.float() || base.reg.kind == b128 {
			l.fail("%s of type %s cannot hold an address", base.reg.name, base.reg.kind)
		}
		if base.reg.kind.bits() == 32 && (a.space == global || a.space == generic) {
			l.fail("%s of 32 bits cannot hold a %s address", base.reg.name, a.space)
		}
		in.a = firstVirtual + slot(base.reg.id)
	case opVariable:
		in.a = l.constant(l.address(base.v))
		switch {
		case a.space == param && base.v.space == local: // a parameter of a function
			a.space = local
		case a.space == generic:
			a.space = base.v.space
		case a.space != base.v.space:
			l.fail("%s lies in %s memory, not in %s", base.v.name, base.v.space, a.space)
		}
	default:
		in.a = l.constant(base.bits)
	}
	if a.space == shared || a.space == generic {
		l.k.granule = min(l.k.granule, a.kind.bytes())
	}
	if a.space == global || a.space == generic {
		l.k.grain = min(l.k.grain, a.kind.bytes())
	}
	a.site = l.k.sites % len(warp{}.sites)
	l.k.sites++
	in.mem = a
}

// members returns the operands of a vector, or the single operand.
func members(o operand) []operand {
	if o.kind == opVector {
		return o.list
	}
	return []operand{o}
}

// lowerLoad is ld.
func lowerLoad(l *lowering, s *statement, m *mods) {
	a := l.accessOf(m)
	if len(s.args) > 2 {
		s.args = s.args[:2] // a cache policy
	}
	l.need(2)
	in := blank(classDo)
	list := members(s.args[0])
	if len(list) != a.count {
		l.fail("ld of %d values into %d registers", a.count, len(list))
	}
	for _, o := range list {
		in.outs = append(in.outs, l.wideDest(o, a.kind))
		if o.kind == opRegister && a.kind.signed() && o.reg.kind.bits() > a.kind.bits() {
			e, n := extend(a.kind), mask(o.reg.kind.bits())
			a.extend = func(x uint64) uint64 { return e(x) & n }
		}
	}
	l.reachOf(&in, s.args[1], a)
	in.do = load
	if in.mem.space == param {
		in.do = loadParam
	} else if a.count == 1 && a.kind.bits() == 32 && a.extend == nil {
		switch in.mem.space {
		case global:
			in.do = loadGlobal32
		case shared:
			in.do = loadShared32
		}
	}
	l.emit(in)
}

// lowerStore is st.
func lowerStore(l *lowering, s *statement, m *mods) {
	a := l.accessOf(m)
	if len(s.args) > 2 {
		s.args = s.args[:2]
	}
	l.need(2)
	in := blank(classDo)
	list := members(s.args[1])
	if len(list) != a.count {
		l.fail("st of %d values from %d registers", a.count, len(list))
	}
	for _, o := range list {
		in.ins = append(in.ins, l.wide(o, a.kind))
	}
	l.reachOf(&in, s.args[0], a)
	if in.mem.space == param {
		l.fail("st to the parameters of a kernel")
	}
	in.do = store
	if a.count == 1 && a.kind.bits() == 32 {
		switch in.mem.space {
		case global:
			in.do = storeGlobal32
		case shared:
			in.do = storeShared32
		}
	}
	l.emit(in)
}

// load is ld of any space and type, with all checks.
func load(w *warp, in *inst, at uint32) error {
	size := in.mem.kind.bytes()
	for m := at; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		p, err := w.reach(in, &in.mem, lane, w.at(in.a)[lane]+in.mem.off, size*in.mem.count, reads)
		if err != nil {
			return err
		}
		for j, d := range in.outs {
			x := read(p[j*size:], size)
			if in.mem.extend != nil {
				x = in.mem.extend(x)
			}
			w.regs[d][lane] = x
		}
	}
	return nil
}

// store is st of any space and type, with all checks.
func store(w *warp, in *inst, at uint32) error {
	size := in.mem.kind.bytes()
	var values [4]uint64
	for m := at; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		for j, s := range in.ins {
			values[j] = w.at(s)[lane]
		}
		w.store = values
		p, err := w.reach(in, &in.mem, lane, w.at(in.a)[lane]+in.mem.off, size*in.mem.count, writes)
		if err != nil {
			return err
		}
		for j := range in.ins {
			write(p[j*size:], size, values[j])
		}
	}
	return nil
}

// loadParam is ld of a kernel's parameters, the same for all lanes.
func loadParam(w *warp, in *inst, at uint32) error {
	if in.a >= 0 {
		return load(w, in, at)
	}
	lane, size := bits.TrailingZeros32(at), in.mem.kind.bytes()
	p, err := w.reach(in, &in.mem, lane, w.at(in.a)[lane]+in.mem.off, size*in.mem.count, reads)
	if err != nil {
		return err
	}
	for j, d := range in.outs {
		x := read(p[j*size:], size)
		if in.mem.extend != nil {
			x = in.mem.extend(x)
		}
		var v vec
		for i := range v {
			v[i] = x
		}
		w.put(d, &v, at)
	}
	return nil
}

// intent is what an access does.
type intent uint8

const (
	reads intent = iota
	writes
	updates // atomically
	starts  // an asynchronous write
)

// reach returns the n bytes that a lane touches, after all checks.
func (w *warp) reach(in *inst, a *access, lane int, address uint64, n int, what intent) ([]byte, error) {
	sp, p := a.space, address
	if sp == generic {
		sp, p = narrow(address)
	}
	if p&uint64(n-1) != 0 {
		return nil, w.fault(in, 1<<lane, "%s address %#x is not a multiple of %d, the bytes of the access", sp, p, n)
	}
	switch sp {
	case global:
		return w.reachGlobal(in, a, lane, p, n, what)
	case shared:
		return w.reachShared(in, lane, p, n, what)
	case local:
		mem := w.local(lane)
		if p >= uint64(len(mem)) || p+uint64(n) > uint64(len(mem)) {
			return nil, w.fault(in, 1<<lane, "%d bytes at local address %d: the thread has %d bytes of local memory", n, int64(p), len(mem))
		}
		if written := w.localWritten(lane); written != nil {
			if err := w.checkWritten(in, lane, written[p:p+uint64(n)], what, "local"); err != nil {
				return nil, err
			}
		}
		return mem[p:][:n], nil
	}
	params := w.block.launch.params
	if what != reads || p >= uint64(len(params)) || p+uint64(n) > uint64(len(params)) {
		return nil, w.fault(in, 1<<lane, "%d bytes at parameter address %d: the kernel has %d bytes of parameters, to be read only", n, int64(p), len(params))
	}
	return params[p:][:n], nil
}

func (w *warp) reachGlobal(in *inst, a *access, lane int, p uint64, n int, what intent) ([]byte, error) {
	c := w.sites[a.site]
	if off := p - c.base; off >= uint64(len(c.data)) || off+uint64(n) > uint64(len(c.data)) {
		var err error
		if c, err = w.find(in, a, lane, p, n); err != nil {
			return nil, err
		}
	}
	off := p - c.base
	if c.written != nil {
		if w.block.launch.check.Unwritten {
			if err := w.checkWritten(in, lane, c.written[off:off+uint64(n)], what, "device"); err != nil {
				return nil, err
			}
		} else if what != reads {
			for i := range n {
				c.written[off+uint64(i)] = true
			}
		}
	}
	if l := w.block.launch; l.check.Blocks && what != updates {
		if reason := c.touch(w, int(off), n, what, in); reason != "" {
			return nil, w.fault(in, 1<<lane, "%s", reason)
		}
	}
	return c.data[off:][:n], nil
}

// find looks for the allocation that holds n bytes at p and remembers it.
func (w *warp) find(in *inst, a *access, lane int, p uint64, n int) (*allocation, error) {
	l := w.block.launch
	list := l.memory.live
	if p >= moduleBase {
		list = w.k.module.memory
	}
	c := search(list, p)
	if c == nil || p-c.base+uint64(n) > uint64(len(c.data)) {
		return nil, w.fault(in, 1<<lane, "%d bytes at %s", n, l.memory.describe(p, w.k.module))
	}
	w.sites[a.site] = c
	return c, nil
}

func (w *warp) reachShared(in *inst, lane int, p uint64, n int, what intent) ([]byte, error) {
	b := w.block
	if p >= uint64(len(b.shared)) || p+uint64(n) > uint64(len(b.shared)) {
		return nil, w.fault(in, 1<<lane, "%d bytes at shared address %d: the block has %d bytes of shared memory", n, int64(p), len(b.shared))
	}
	if b.shadow != nil {
		if reason := b.shadow.touch(w, lane, int(p), n, what, in); reason != "" {
			return nil, w.fault(in, 1<<lane, "%s", reason)
		}
	}
	return b.shared[p:][:n], nil
}

// checkWritten records writes and rejects reads of bytes that were never written.
func (w *warp) checkWritten(in *inst, lane int, written []bool, what intent, where string) error {
	if what == starts {
		return nil // written when it lands
	}
	if what != writes && slices.Contains(written, false) {
		// A copy of a structure on the stack includes its padding.
		if where != "local" || !slices.Contains(written, true) {
			return w.fault(in, 1<<lane, "%s memory is read that was never written", where)
		}
		return nil
	}
	if what != reads {
		for i := range written {
			written[i] = true
		}
	}
	return nil
}
