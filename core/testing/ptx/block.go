package ptx

import "encoding/binary"

// block is one running block of threads; a worker runs one after another.
type block struct {
	launch   *launch
	k        *Kernel
	at       [3]uint32
	number   uint32 // in the order of the grid, from 1
	threads  int
	shared   []byte
	locals   []byte // k.frame bytes per thread
	written  []bool // for locals, nil unless asked for
	warps    []warp
	barriers [16]barrier
	shadow   *shadow // for shared memory, nil without checks
	watched  bool    // there are checks
}

// garbage fills memory that was not written: as a float it is NaN.
const garbage = 0xff

func newBlock(l *launch) *block {
	k := l.kernel
	b := &block{launch: l, k: k, threads: int(l.block[0] * l.block[1] * l.block[2])}
	b.shared = make([]byte, k.Shared+int(l.shared))
	b.locals = make([]byte, b.threads*k.frame)
	b.warps = make([]warp, (b.threads+lanes-1)/lanes)
	for i := range b.warps {
		w := &b.warps[i]
		w.block, w.k, w.index = b, k, i
		w.regs = make([]vec, k.regs)
		w.preds = make([]uint32, k.preds)
		w.returns = make([][lanes]int32, k.returns)
		w.exists = full
		if n := b.threads - i*lanes; n < lanes {
			w.exists = 1<<n - 1
		}
	}
	b.watched = l.check != Check{}
	if l.check.Races || l.check.Unwritten {
		b.shadow = newShadow(len(b.shared), k.granule, len(b.warps), l.check)
	}
	if l.check.Unwritten {
		b.written = make([]bool, len(b.locals))
	}
	return b
}

// start prepares the block for a place in the grid.
func (b *block) start(at [3]uint32) {
	b.at = at
	fill(b.shared)
	fill(b.locals)
	clear(b.written)
	b.barriers = [16]barrier{}
	if b.shadow != nil {
		b.shadow.reset()
	}
	for i := range b.warps {
		b.warps[i].start()
	}
}

func fill(mem []byte) {
	if len(mem) == 0 {
		return
	}
	mem[0] = garbage
	for n := 1; n < len(mem); n *= 2 {
		copy(mem[n:], mem[:n])
	}
}

func (w *warp) start() {
	b, l := w.block, w.block.launch
	clear(w.regs)
	clear(w.preds)
	w.waiting, w.alive, w.mask, w.pc, w.limit = 0, w.exists, w.exists, l.kernel.first, nowhere
	w.steps, w.count, w.inner, w.stopped = 0, 0, 0, false
	w.clock, w.now = clock{}, 1
	for i := range w.queue {
		w.queue[i].copies, w.queue[i].groups = w.queue[i].copies[:0], w.queue[i].groups[:0]
	}
	w.products.reset()
	for i := range w.sites {
		w.sites[i] = &noAllocation
	}
	r := w.regs
	for i := range lanes {
		t := b.place(w.index*lanes + i)
		for d := range 3 {
			r[srTidX+d][i] = uint64(t[d])
			r[srNtidX+d][i] = uint64(l.block[d])
			r[srCtaidX+d][i] = uint64(b.at[d])
			r[srNctaidX+d][i] = uint64(l.grid[d])
		}
		r[srLane][i] = uint64(i)
		r[srWarp][i] = uint64(w.index)
		r[srWarps][i] = uint64(len(b.warps))
		bit := uint64(1) << i
		r[srLaneEq][i] = bit
		r[srLaneLt][i] = bit - 1
		r[srLaneLe][i] = bit<<1 - 1
		r[srLaneGe][i] = -bit & full
		r[srLaneGt][i] = -bit << 1 & full
		r[srDynamic][i] = uint64(l.shared)
		r[srTotal][i] = uint64(len(b.shared))
	}
}

var noAllocation allocation

// place returns a thread's indices in the block.
func (b *block) place(i int) [3]uint32 {
	x, y := b.launch.block[0], b.launch.block[1]
	n := uint32(i)
	return [3]uint32{n % x, n / x % y, n / x / y}
}

func (b *block) thread(i int) string { return triple(b.place(i)) }

// local returns the local memory of a lane.
func (w *warp) local(lane int) []byte {
	n := w.k.frame
	return w.block.locals[(w.index*lanes+lane)*n:][:n:n]
}

func (w *warp) localWritten(lane int) []bool {
	if w.block.written == nil {
		return nil
	}
	n := w.k.frame
	return w.block.written[(w.index*lanes+lane)*n:][:n:n]
}

// turn is how many instructions a warp runs before the others get their turn; it
// matters only for warps that wait for each other in a loop.
const turn = 1 << 14

// run runs the block at a place to its end and counts thread instructions.
func (b *block) run(at [3]uint32) (count int64, err error) {
	b.start(at)
	for {
		left, moved := false, false
		for i := range b.warps {
			w := &b.warps[i]
			if w.alive == 0 || w.stopped {
				left = left || w.alive != 0
				continue
			}
			moved = true
			if err := w.run(min(turn, b.launch.steps+1-w.steps)); err != nil {
				return 0, err
			}
			if w.steps > b.launch.steps {
				in := &b.k.code[min(int(w.pc), len(b.k.code)-1)]
				return 0, w.fault(in, w.mask, "the warp has run %d instructions and is not done: an endless loop, or raise Steps", w.steps)
			}
			left = left || w.alive != 0
		}
		if !left {
			break
		}
		if !moved {
			return 0, b.stuck()
		}
		if err := b.release(); err != nil {
			return 0, err
		}
	}
	if err := b.checkWarpgroups(); err != nil {
		return 0, err
	}
	for i := range b.warps {
		count += b.warps[i].count
	}
	return count, nil
}

// read returns the low n bytes (1, 2, 4 or 8) of p as a number.
func read(p []byte, n int) uint64 {
	switch n {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(p))
	case 4:
		return uint64(binary.LittleEndian.Uint32(p))
	}
	return binary.LittleEndian.Uint64(p)
}

func write(p []byte, n int, x uint64) {
	switch n {
	case 1:
		p[0] = byte(x)
	case 2:
		binary.LittleEndian.PutUint16(p, uint16(x))
	case 4:
		binary.LittleEndian.PutUint32(p, uint32(x))
	default:
		binary.LittleEndian.PutUint64(p, x)
	}
}
