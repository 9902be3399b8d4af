package ptx

import "math/bits"

// barrier is one of a block's sixteen barriers.
type barrier struct {
	in       *inst
	arrived  int // threads
	expected int // 0: all of the block
	stopped  []*warp
	popc     uint64
	and, or  bool
	clock    clock // what those that have arrived hand on
}

// lowerBarrier is bar and barrier: .sync, .arrive, .red, and bar.warp.sync.
func lowerBarrier(l *lowering, s *statement, m *mods) {
	m.drop("cta")
	if m.take("warp") {
		lowerWarpBarrier(l, s, m)
		return
	}
	kind := m.one("sync", "arrive", "red")
	m.drop("aligned")
	in := blank(classBarrier)
	in.ins = []slot{noSlot, noSlot} // its number, the threads it is for
	args := s.args
	switch kind {
	case "red":
		op := m.one("popc", "and", "or")
		k := m.kind()
		if len(args) < 3 || op == "" || (op == "popc") != (k == u32) {
			l.fail("unknown opcode %s", s.text)
		}
		if op == "popc" {
			in.d = l.dest(args[0], k)
		} else {
			in.q = l.predicate(args[0])
		}
		in.join = op[0]
		l.condition(&in, args[len(args)-1])
		args = args[1 : len(args)-1]
	case "arrive":
		in.imm = 1
		if len(args) != 2 {
			l.fail("bar.arrive needs the number of threads")
		}
	case "":
		l.fail("bar needs .sync, .arrive or .red")
	}
	if len(args) < 1 || len(args) > 2 {
		l.fail("bar has %d operands", len(args))
	}
	for i, a := range args {
		in.ins[i] = l.value(a, b32)
	}
	l.k.barriers = true
	l.emit(in)
}

func lowerWarpBarrier(l *lowering, s *statement, m *mods) {
	m.take("sync")
	l.need(1)
	in := blank(classWarp)
	in.c = l.value(s.args[0], b32)
	in.do = func(w *warp, _ *inst, _ uint32) error {
		w.inner++
		return nil
	}
	l.emit(in)
}

// arrive is called when all live lanes of a warp are at a barrier.
func (w *warp) arrive(in *inst, pc int32) error {
	b, first := w.block, w.waiting&-w.waiting
	lane := bits.TrailingZeros32(first)
	id := w.at(in.ins[0])[lane]
	if id >= uint64(len(b.barriers)) {
		return w.fault(in, first, "there is no barrier %d", id)
	}
	bar := &b.barriers[id]
	expected := 0
	if in.ins[1] != noSlot {
		expected = int(w.at(in.ins[1])[lane])
		if expected == 0 || expected%lanes != 0 || expected > len(b.warps)*lanes {
			return w.fault(in, first, "a barrier of %d threads: a multiple of %d is needed, and the block has %d", expected, lanes, b.threads)
		}
	}
	if bar.in != nil && (bar.expected != expected || expected == 0 && bar.in != in) {
		return w.fault(in, first, "warps of a block are at different barriers of number %d: others wait at line %d (%s)", id, bar.in.line, w.k.module.line(int(bar.in.line)))
	}
	if bar.in == nil {
		bar.in, bar.expected, bar.and = in, expected, true
	}
	if expected == 0 && w.alive != w.exists {
		return w.fault(in, first, "%d threads of this warp have ended and never reach the barrier", bits.OnesCount32(w.exists&^w.alive))
	}
	bar.arrived += lanes
	if expected == 0 {
		bar.arrived += bits.OnesCount32(w.exists) - lanes
	}
	p := w.condition(in.r, in.rNot)
	bar.popc += uint64(bits.OnesCount32(p & w.alive))
	bar.and = bar.and && p&w.alive == w.alive
	bar.or = bar.or || p&w.alive != 0
	w.waiting = 0
	w.handOn(&bar.clock)
	if in.imm == 1 { // arrive: go on
		w.mask, w.pc, w.limit = w.alive, pc+1, nowhere
		return nil
	}
	w.park(w.alive, pc)
	w.mask, w.stopped = 0, true
	bar.stopped = append(bar.stopped, w)
	return nil
}

// release opens the barriers at which all required threads have arrived.
func (b *block) release() error {
	for i := range b.barriers {
		bar := &b.barriers[i]
		if bar.in == nil {
			continue
		}
		expected := bar.expected
		if expected == 0 {
			expected = b.threads
		}
		if bar.arrived < expected {
			continue
		}
		if bar.arrived > expected {
			w := &b.warps[0]
			if len(bar.stopped) > 0 {
				w = bar.stopped[0]
			}
			return w.fault(bar.in, w.exists, "%d threads have come to a barrier of %d", bar.arrived, expected)
		}
		for _, w := range bar.stopped {
			w.resume(bar)
		}
		*bar = barrier{}
	}
	return nil
}

// resume lets a warp continue after a barrier, with the result of bar.red.
func (w *warp) resume(bar *barrier) {
	pc := w.pcs[bits.TrailingZeros32(w.alive)]
	in := &w.k.code[pc]
	switch in.join {
	case 'p':
		var v vec
		for i := range v {
			v[i] = bar.popc
		}
		w.put(in.d, &v, w.alive)
	case 'a', 'o':
		var r uint32
		if in.join == 'a' && bar.and || in.join == 'o' && bar.or {
			r = full
		}
		w.setPredicate(in.q, r, w.alive)
	}
	w.takeOver(&bar.clock)
	w.stopped = false
	w.mask, w.pc, w.limit = w.alive, pc+1, nowhere
}

// stuck reports that every warp waits at a barrier that never opens.
func (b *block) stuck() error {
	for i := range b.barriers {
		bar := &b.barriers[i]
		if len(bar.stopped) == 0 {
			continue
		}
		w := bar.stopped[0]
		if bar.expected != 0 {
			return w.fault(bar.in, w.alive, "%d threads wait here for %d that never come together", bar.arrived, bar.expected)
		}
		for j := range b.warps {
			if other := &b.warps[j]; other.alive == 0 {
				return w.fault(bar.in, w.alive, "threads wait here that others never reach: thread %s and its warp have ended", b.thread(j*lanes))
			} else if at := &b.k.code[other.pcs[bits.TrailingZeros32(other.alive)]]; at != bar.in {
				return w.fault(bar.in, w.alive, "threads wait here that others never reach: thread %s waits at line %d (%s)", b.thread(j*lanes), at.line, b.k.module.line(int(at.line)))
			}
		}
		return w.fault(bar.in, w.alive, "%d threads wait here for %d", bar.arrived, b.threads)
	}
	return nil
}
