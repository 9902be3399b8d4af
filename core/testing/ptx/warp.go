package ptx

import (
	"math"
	"math/bits"
)

// A warp runs 32 threads. Lanes at the same instruction run as one group. If there are
// several groups, the one at the lowest address runs up to the address of the next, where
// they join. A device may choose this order too. Lanes that must meet others wait; see
// meet.
type warp struct {
	block    *block
	k        *Kernel
	index    int // in the block
	regs     []vec
	preds    []uint32
	exists   uint32 // lanes that are threads of the block
	alive    uint32 // lanes that exist and have not ended
	mask     uint32 // mask of the running group
	waiting  uint32 // lanes that wait at the instruction in pcs
	pc       int32
	limit    int32 // address of the next group
	pcs      [lanes]int32
	returns  [][lanes]int32 // return addresses by function
	steps    int64          // instructions
	count    int64          // thread instructions
	sites    [16]*allocation
	scratch  vec
	queue    [lanes]asyncQueue
	products products
	inner    uint32    // number of times that the lanes have met at bar.warp.sync
	clock    clock     // what is ordered before the warp's next instruction
	now      uint32    // its present stamp
	stopped  bool      // at a barrier of the block
	store    [4]uint64 // what the present store writes
}

const nowhere = math.MaxInt32

func (w *warp) at(s slot) *vec {
	if s >= 0 {
		return &w.regs[s]
	}
	return &w.k.consts[^s]
}

// put sets the lanes of a register.
func (w *warp) put(s slot, v *vec, at uint32) {
	d := &w.regs[s]
	if at == full {
		*d = *v
		return
	}
	for m := at; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = v[i]
	}
}

// condition reads a predicate; -1 never holds.
func (w *warp) condition(p int32, not bool) uint32 {
	var r uint32
	if p >= 0 {
		r = w.preds[p]
	}
	if not {
		r = ^r
	}
	return r
}

func (w *warp) setPredicate(p int32, v, at uint32) {
	if p >= 0 {
		w.preds[p] = w.preds[p]&^at | v&at
	}
}

func (w *warp) each(at uint32, f func(lane int)) {
	for m := at; m != 0; m &= m - 1 {
		f(bits.TrailingZeros32(m))
	}
}

// park records the position of lanes that do not run.
func (w *warp) park(at uint32, pc int32) {
	for m := at; m != 0; m &= m - 1 {
		w.pcs[bits.TrailingZeros32(m)&31] = pc
	}
}

// regroup chooses the group that runs next; none does if mask is 0 afterwards.
func (w *warp) regroup() {
	w.pc, w.limit, w.mask = nowhere, nowhere, 0
	for m := w.alive &^ w.waiting; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		switch pc := w.pcs[i]; {
		case pc < w.pc:
			w.limit = w.pc
			w.pc, w.mask = pc, 1<<i
		case pc == w.pc:
			w.mask |= 1 << i
		case pc < w.limit:
			w.limit = pc
		}
	}
}

// run runs the warp until it stops at a barrier, ends, or has used up its turn.
func (w *warp) run(turn int64) error {
	code := w.k.code
	last := w.steps + turn
	for w.alive != 0 && !w.stopped && w.steps < last {
		if w.mask == 0 {
			if err := w.unblock(); err != nil {
				return err
			}
			continue
		}
		if w.pc >= w.limit {
			w.park(w.mask, w.pc)
			w.regroup()
		}
		in := &code[w.pc]
		at := w.mask
		w.steps++
		w.count += int64(bits.OnesCount32(at))
		if g := in.guard; g > 0 {
			at &= w.preds[g-1]
		} else if g < 0 {
			at &^= w.preds[-g-1]
		}
		switch in.class {
		case classALU:
			if at == full {
				in.alu(&w.regs[in.d], w.at(in.a), w.at(in.b), w.at(in.c))
			} else if at != 0 {
				in.alu(&w.scratch, w.at(in.a), w.at(in.b), w.at(in.c))
				w.put(in.d, &w.scratch, at)
			}
			w.pc++
		case classCompare:
			r := in.cmp(w.at(in.a), w.at(in.b))
			if in.join == 0 && in.q2 < 0 {
				w.setPredicate(in.q, r, at)
				w.pc++
				continue
			}
			w.setPredicate(in.q, joined(w, in, r), at)
			if in.q2 >= 0 {
				w.setPredicate(in.q2, joined(w, in, ^r), at)
			}
			w.pc++
		case classDo:
			if at != 0 {
				if err := in.do(w, in, at); err != nil {
					return err
				}
			}
			w.pc++
		default:
			if err := w.control(in, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// control runs the instructions that change the group: branches, calls, ends, meetings.
func (w *warp) control(in *inst, at uint32) error {
	switch in.class {
	case classBranch, classCall:
		if in.class == classCall {
			back := &w.returns[in.imm]
			for m := at; m != 0; m &= m - 1 {
				back[bits.TrailingZeros32(m)&31] = w.pc + 1
			}
		}
		switch at {
		case w.mask:
			w.pc = in.target
		case 0:
			w.pc++
		default:
			w.park(at, in.target)
			w.park(w.mask&^at, w.pc+1)
			w.regroup()
		}
	case classReturn:
		w.park(w.mask&^at, w.pc+1)
		for m := at; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			w.pcs[i] = w.returns[in.target][i]
		}
		w.regroup()
	case classExit:
		if err := w.endAsync(in, at); err != nil {
			return err
		}
		if err := w.endProducts(in, at); err != nil {
			return err
		}
		w.alive &^= at
		w.park(w.mask&^at, w.pc+1)
		w.regroup()
	default:
		if at == w.alive && in.class == classWarp && (in.c == noSlot || in.c < 0 && at&^uint32(w.at(in.c)[0]) == 0) {
			w.pc++ // all are here
			return in.do(w, in, at)
		}
		if at == w.alive && in.class == classBarrier {
			w.waiting = at
			return w.arrive(in, w.pc)
		}
		w.park(w.mask&^at, w.pc+1)
		w.park(at, w.pc)
		w.waiting |= at
		pc := w.pc
		w.regroup()
		return w.meet(in, pc, w.waitingAt(pc))
	}
	return nil
}

// waitingAt returns the lanes that wait at an instruction.
func (w *warp) waitingAt(pc int32) uint32 {
	var r uint32
	for m := w.waiting; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m) & 31; w.pcs[i] == pc {
			r |= 1 << i
		}
	}
	return r
}

// meet lets lanes that wait at an instruction for others of their warp continue as soon as
// all required lanes are there.
func (w *warp) meet(in *inst, pc int32, here uint32) error {
	if in.class == classBarrier {
		if here != w.alive || here == 0 {
			return nil
		}
		return w.arrive(in, pc)
	}
	for rest := here; rest != 0; {
		first := bits.TrailingZeros32(rest)
		members := uint32(full)
		if in.c != noSlot {
			members = uint32(w.at(in.c)[first])
		}
		var group uint32
		for m := rest; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros32(m); in.c == noSlot || uint32(w.at(in.c)[i]) == members {
				group |= 1 << i
			}
		}
		rest &^= group
		if group&^members != 0 {
			return w.fault(in, group&^members, "the member mask %#x does not name the thread itself", members)
		}
		if members&w.alive != group {
			continue
		}
		if err := in.do(w, in, group); err != nil {
			return err
		}
		w.waiting &^= group
		w.park(group, pc+1)
		w.park(w.mask, w.pc)
		w.regroup()
	}
	return nil
}

// unblock is called when all lanes wait. Lanes that waited for others which have ended since
// then continue; if there are none, the warp is stuck.
func (w *warp) unblock() error {
	before := w.waiting
	for m := w.waiting; m != 0; {
		pc := w.pcs[bits.TrailingZeros32(m)]
		here := w.waitingAt(pc)
		m &^= here
		if err := w.meet(&w.k.code[pc], pc, here); err != nil {
			return err
		}
		if w.waiting != before || w.stopped {
			return nil
		}
	}
	first := bits.TrailingZeros32(w.waiting)
	pc := w.pcs[first]
	in := &w.k.code[pc]
	for m := w.waiting; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m); w.pcs[i] != pc {
			other := &w.k.code[w.pcs[i]]
			return w.fault(in, 1<<first, "threads of a warp wait for each other at different instructions: here %d of them, thread %s at line %d (%s)",
				bits.OnesCount32(w.waitingAt(pc)), w.block.thread(w.index*lanes+i), other.line, w.k.module.line(int(other.line)))
		}
	}
	return w.fault(in, 1<<first, "the threads of mask %#x wait for others of their warp that have ended or will never come", w.waiting)
}
