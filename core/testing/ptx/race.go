package ptx

import (
	"fmt"
	"math/bits"
)

// shadow remembers, for every granule of a block's shared memory, which thread touched it
// last. Two accesses are ordered if barriers lie between them, or within a warp bar.warp.sync;
// see clock. All lanes of a warp count as one at a barrier, so a race between what one lane
// does and another hands on is missed.
type shadow struct {
	check   Check
	granule int
	warps   int
	cells   []cell
	looks   []look // by cell and warp: its last read
}

type cell struct {
	writer, writeAt, readAt int32  // thread+1, and lines
	wrote, wroteIn          uint32 // stamp of the write, 0: never; bar.warp.sync of the warp so far
	readers                 uint32 // mask of the warps that have read since
	pending                 int32  // wgmmas that read it and were not waited for
	by                      uint8  // warp that wrote
	atomic, inFlight        bool
}

// look is the last read of a cell by a warp.
type look struct {
	reader       int32 // thread+1; several: -warp-1
	stamp, inner uint32
}

func newShadow(bytes, granule, warps int, c Check) *shadow {
	n := (bytes + granule - 1) / granule
	return &shadow{check: c, granule: granule, warps: warps, cells: make([]cell, n), looks: make([]look, n*warps)}
}

func (s *shadow) reset() { clear(s.cells) }

// touch records an access of a lane and says what is wrong with it, "" for nothing.
func (s *shadow) touch(w *warp, lane, p, n int, what intent, in *inst) string {
	return s.touchAs(w, int32(w.index*lanes+lane+1), p, n, what, in)
}

// touchAs is touch for a thread or, if it reads, a warp, as look.reader names them.
func (s *shadow) touchAs(w *warp, thread int32, p, n int, what intent, in *inst) string {
	for c := p / s.granule; c <= (p+n-1)/s.granule; c++ {
		x := &s.cells[c]
		if x.wrote == 0 && s.check.Unwritten && (what == reads || what == updates) {
			return "shared memory is read that was never written"
		}
		if reason := s.conflict(w, c, thread, p, n, what, in); s.check.Races && reason != "" {
			return reason
		}
		if what == reads {
			s.saw(w, c, thread, in)
			continue
		}
		x.inFlight = what == starts
		x.wroteBy(w, thread, in)
		x.atomic = what == updates
	}
	return ""
}

// wroteBy records a write. What was read before it is ordered before it, or was reported.
func (x *cell) wroteBy(w *warp, thread int32, in *inst) {
	x.writer, x.by, x.wrote, x.wroteIn, x.writeAt, x.readers = thread, uint8(w.index), w.now, w.inner, in.line, 0
}

// conflict says what an access races with, "" for nothing.
func (s *shadow) conflict(w *warp, c int, thread int32, p, n int, what intent, in *inst) string {
	x := &s.cells[c]
	if x.pending > 0 && what != reads {
		return fmt.Sprintf("shared address %d is written before a wgmma that reads it was waited for", p)
	}
	if x.inFlight {
		return fmt.Sprintf("shared address %d is read or written while the cp.async of line %d to it by thread %s is on its way", p, x.writeAt, w.block.thread(int(x.writer-1)))
	}
	if x.wrote != 0 && !(int(x.by) == w.index && x.writer == thread) && !(what == updates && x.atomic) && !w.ordered(x.by, x.wrote, x.wroteIn) && (what != writes || !w.same(w.block.shared[p:], n, in)) {
		return fmt.Sprintf("race at shared address %d: thread %s wrote it at line %d (%s) with no barrier between", p, w.block.thread(int(x.writer-1)), x.writeAt, w.k.module.line(int(x.writeAt)))
	}
	if what == reads {
		return ""
	}
	for m := x.readers; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		if r := &s.looks[c*s.warps+i]; r.reader != thread && !w.ordered(uint8(i), r.stamp, r.inner) {
			return fmt.Sprintf("race at shared address %d: it was read at line %d (%s) with no barrier between", p, x.readAt, w.k.module.line(int(x.readAt)))
		}
	}
	return ""
}

// pend adds to the number of pending wgmmas that read 16 bytes.
func (s *shadow) pend(p int, by int32) {
	for i := p / s.granule; i <= (p+15)/s.granule; i++ {
		s.cells[i].pending += by
	}
}

// sawLate records that a wgmma reads 16 bytes until the warp has waited for it.
func (s *shadow) sawLate(w *warp, p int, in *inst) {
	for i := p / s.granule; i <= (p+15)/s.granule; i++ {
		s.saw(w, i, int32(-w.index-1), in)
	}
}

// clean says whether a read of one cell is ordered and need not be recorded, because a present
// read by this warp is recorded already.
func (s *shadow) clean(w *warp, c int) bool {
	x, r := &s.cells[c], &s.looks[c*s.warps+w.index]
	return x.wrote-1 < w.clock[x.by%maxWarps] && !x.inFlight && x.readers>>w.index&1 != 0 &&
		r.stamp == w.now && r.inner == w.inner && r.reader == int32(-w.index-1)
}

// saw records a read.
func (s *shadow) saw(w *warp, c int, thread int32, in *inst) {
	x, r := &s.cells[c], &s.looks[c*s.warps+w.index]
	switch bit := uint32(1) << w.index; {
	case x.readers&bit == 0 || w.ordered(uint8(w.index), r.stamp, r.inner):
		x.readers |= bit
		r.reader = thread
	case r.reader != thread:
		r.reader = int32(-w.index - 1)
	}
	r.stamp, r.inner, x.readAt = w.now, w.inner, in.line
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
		x.inFlight, x.atomic = false, false
		x.wroteBy(w, int32(w.index*lanes+lane+1), c.in)
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
		other := func(did string, by uint32) string {
			if by == manyBlocks {
				return fmt.Sprintf("device memory at %#x: other blocks %s it in this launch", a.base+uint64(off), did)
			}
			return fmt.Sprintf("device memory at %#x: block %s %s it in this launch", a.base+uint64(off), triple(l.place(int64(by-1))), did)
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
