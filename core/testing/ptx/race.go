package ptx

import "fmt"

// shadow remembers, for every granule of a block's shared memory, which thread touched it
// last. Two accesses are ordered if a barrier of the block lies between them or, within a
// warp, bar.warp.sync. A barrier of only some warps counts as one of all, so races that it
// does not prevent are missed.
type shadow struct {
	check   Check
	granule int
	epoch   uint32 // barriers so far, from 1
	cells   []cell
}

type cell struct {
	writer, reader   int32  // thread+1; several: readers of one warp are -warp-1, of many warps severalWarps
	wrote, saw       uint32 // epochs, 0: never
	wroteIn, sawIn   uint32 // bar.warp.sync of the warp so far
	writeAt, readAt  int32  // lines
	atomic, inFlight bool
	pending          int32 // wgmmas that read it and were not waited for
}

const severalWarps = -1 << 30

func newShadow(bytes, granule int, c Check) *shadow {
	return &shadow{check: c, granule: granule, cells: make([]cell, (bytes+granule-1)/granule)}
}

func (s *shadow) reset() {
	clear(s.cells)
	s.epoch = 1
}

// touch records an access of a lane and says what is wrong with it, "" for nothing.
func (s *shadow) touch(w *warp, lane, p, n int, what intent, in *inst) string {
	return s.touchAs(w, int32(w.index*lanes+lane+1), p, n, what, in)
}

// touchAs is touch for a thread or, if it reads, a warp, as cell.reader names them.
func (s *shadow) touchAs(w *warp, thread int32, p, n int, what intent, in *inst) string {
	for c := p / s.granule; c <= (p+n-1)/s.granule; c++ {
		x := &s.cells[c]
		if x.wrote == 0 && s.check.Unwritten && (what == reads || what == updates) {
			return "shared memory is read that was never written"
		}
		if reason := s.conflict(w, x, thread, p, n, what, in); s.check.Races && reason != "" {
			return reason
		}
		if what == reads {
			s.saw(w, x, thread, in)
			continue
		}
		x.inFlight = what == starts
		x.writer, x.wrote, x.wroteIn, x.writeAt, x.atomic = thread, s.epoch, w.inner, in.line, what == updates
	}
	return ""
}

// conflict says what an access races with, "" for nothing.
func (s *shadow) conflict(w *warp, x *cell, thread int32, p, n int, what intent, in *inst) string {
	if x.pending > 0 && what != reads {
		return fmt.Sprintf("shared address %d is written before a wgmma that reads it was waited for", p)
	}
	if x.inFlight {
		return fmt.Sprintf("shared address %d is read or written while the cp.async of line %d to it by thread %s is on its way", p, x.writeAt, w.block.thread(int(x.writer-1)))
	}
	if x.wrote == s.epoch && x.writer != thread && !(what == updates && x.atomic) && !s.before(w, x.writer, x.wroteIn) && (what != writes || !w.same(w.block.shared[p:], n, in)) {
		return fmt.Sprintf("race at shared address %d: thread %s wrote it at line %d (%s) with no barrier between", p, w.block.thread(int(x.writer-1)), x.writeAt, w.k.module.line(int(x.writeAt)))
	}
	if what != reads && x.saw == s.epoch && x.reader != thread && x.reader != 0 && !s.before(w, x.reader, x.sawIn) {
		return fmt.Sprintf("race at shared address %d: it was read at line %d (%s) with no barrier between", p, x.readAt, w.k.module.line(int(x.readAt)))
	}
	return ""
}

// pend adds to the number of pending wgmmas that read 16 bytes.
func (s *shadow) pend(p int, by int32) {
	for i := p / s.granule; i <= (p+15)/s.granule; i++ {
		s.cells[i].pending += by
	}
}

// clean says whether a read of one cell is ordered and need not be recorded: the cell was
// written before the last barrier, and a read by this warp is recorded already.
func (s *shadow) clean(w *warp, x *cell) bool {
	return x.wrote-1 < s.epoch-1 && !x.inFlight && x.saw == s.epoch && x.sawIn == w.inner && (x.reader == int32(-w.index-1) || x.reader == severalWarps)
}

// saw records a read.
func (s *shadow) saw(w *warp, x *cell, thread int32, in *inst) {
	mine := int32(-w.index - 1)
	switch {
	case x.saw != s.epoch || x.reader == 0:
		x.reader = thread
	case x.reader == thread || x.reader == mine:
	case x.reader > 0 && int(x.reader-1)/lanes == w.index:
		x.reader = mine
	default:
		x.reader = severalWarps
	}
	x.saw, x.sawIn, x.readAt = s.epoch, w.inner, in.line
}

// before says whether an access by who in this epoch is ordered before a present access of
// the warp w: both are in w, with a bar.warp.sync between.
func (s *shadow) before(w *warp, who int32, inner uint32) bool {
	index := -int(who) - 1
	if who > 0 {
		index = int(who-1) / lanes
	}
	return index == w.index && inner < w.inner
}

// same says whether a store writes the values that n bytes of memory hold already, which is
// harmless.
func (w *warp) same(mem []byte, n int, in *inst) bool {
	size := in.mem.kind.bytes()
	for j := range in.ins {
		if j*size+size > n || read(mem[j*size:], size) != w.store[j]&mask(8*size) {
			return false
		}
	}
	return len(in.ins) > 0
}

// land records that an asynchronous copy has arrived, as a present write.
func (s *shadow) land(w *warp, lane int, c *asyncCopy) {
	for i := c.to / s.granule; i <= (c.to+c.n-1)/s.granule; i++ {
		x := &s.cells[i]
		x.inFlight = false
		x.writer, x.wrote, x.wroteIn, x.writeAt, x.atomic = int32(w.index*lanes+lane+1), s.epoch, w.inner, c.in.line, false
	}
}

// touch records what a launch has done to some bytes of device memory: the numbers of the
// blocks that wrote and read them.
type touch struct {
	launch, writer, reader uint32
}

// manyBlocks have read.
const manyBlocks = 1<<32 - 1

// touch records an access of a block and says which other block it conflicts with, "" for
// none.
func (a *allocation) touch(w *warp, off, n int, what intent, in *inst) string {
	l, grain, me := w.block.launch, w.k.grain, w.block.number
	if cells := (len(a.data) + grain - 1) / grain; len(a.touched) != cells {
		a.touched = make([]touch, cells)
	}
	for i := off / grain; i <= (off+n-1)/grain; i++ {
		x := &a.touched[i]
		if x.launch != l.memory.launches {
			*x = touch{launch: l.memory.launches}
		}
		other := func(did string, who uint32) string {
			if who == manyBlocks {
				return fmt.Sprintf("device memory at %#x: other blocks %s it in this launch", a.base+uint64(off), did)
			}
			return fmt.Sprintf("device memory at %#x: block %s %s it in this launch", a.base+uint64(off), triple(l.place(int64(who-1))), did)
		}
		if x.writer != 0 && x.writer != me && !(what == writes && w.same(a.data[off:], n, in)) {
			return other("wrote", x.writer)
		}
		switch {
		case what == writes && x.reader != 0 && x.reader != me && !w.same(a.data[off:], n, in):
			return other("read", x.reader)
		case what == writes:
			x.writer = me
		case x.reader == 0:
			x.reader = me
		case x.reader != me:
			x.reader = manyBlocks
		}
	}
	return ""
}
