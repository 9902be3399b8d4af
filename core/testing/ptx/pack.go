package ptx

import (
	"math/bits"
	"slices"
)

// pack assigns slots from base on to the n registers of a function, such that two
// registers that are live at the same time have different slots, and returns the number
// of slots. Lanes never touch each other's part of a slot, so what holds for one thread
// holds for a warp. first is the position of the code in the kernel.
func pack(code []inst, first, base int32, n int) int {
	live := newLiveness(code, first, n)
	type span struct{ reg, from, to int }
	var spans []span
	for r := range n {
		if live.from[r] <= live.to[r] {
			spans = append(spans, span{r, live.from[r], live.to[r]})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	slots := make([]slot, n)
	var active []span // by end
	var free []slot
	used := 0
	for _, s := range spans {
		for len(active) > 0 && active[0].to <= s.from {
			free = append(free, slots[active[0].reg])
			active = active[1:]
		}
		if len(free) == 0 {
			free = append(free, base+int32(used))
			used++
		}
		slots[s.reg] = free[len(free)-1]
		free = free[:len(free)-1]
		at, _ := slices.BinarySearchFunc(active, s, func(a, b span) int { return a.to - b.to })
		active = slices.Insert(active, at, s)
	}
	rename := func(s slot) slot {
		if s >= firstVirtual && s != noSlot {
			return slots[s-firstVirtual]
		}
		return s
	}
	for i := range code {
		in := &code[i]
		in.d, in.a, in.b, in.c = rename(in.d), rename(in.a), rename(in.b), rename(in.c)
		for j := range in.outs {
			in.outs[j] = rename(in.outs[j])
		}
		for j := range in.ins {
			in.ins[j] = rename(in.ins[j])
		}
		if in.class == classALU { // operands that the operation does not have
			for _, s := range []*slot{&in.a, &in.b, &in.c} {
				if *s == noSlot {
					*s = -1
				}
			}
		}
	}
	return used
}

// liveness holds, for each register, the range of the code in which its value may still be
// needed. A register that is written at t and one that is last read at t may share a slot,
// because an instruction reads before it writes.
type liveness struct {
	from, to []int
}

// stretch is a piece of code without branches into or out of its middle.
type stretch struct {
	from, to int // [from, to)
	next     []int
	in, out  []uint64 // sets of registers
	use, def []uint64 // read before written; certainly written
}

func newLiveness(code []inst, first int32, n int) *liveness {
	l := &liveness{make([]int, n), make([]int, n)}
	for r := range n {
		l.from[r], l.to[r] = len(code), -1
	}
	pieces := stretches(code, first)
	words := (n + 63) / 64
	for i := range pieces {
		b := &pieces[i]
		b.in, b.out = make([]uint64, words), make([]uint64, words)
		b.use, b.def = make([]uint64, words), make([]uint64, words)
		for t := b.from; t < b.to; t++ {
			operandsOf(&code[t], func(r int) {
				if b.def[r/64]>>(r%64)&1 == 0 {
					b.use[r/64] |= 1 << (r % 64)
				}
				l.mark(r, t, t)
			}, func(r int) {
				if code[t].guard == 0 {
					b.def[r/64] |= 1 << (r % 64)
				}
				l.mark(r, t, t+1) // needs a slot even if nothing reads it
			})
		}
	}
	for changed := true; changed; {
		changed = false
		for i := len(pieces) - 1; i >= 0; i-- {
			b := &pieces[i]
			for w := range words {
				out := b.out[w]
				for _, s := range b.next {
					out |= pieces[s].in[w]
				}
				in := b.use[w] | out&^b.def[w]
				changed = changed || in != b.in[w] || out != b.out[w]
				b.in[w], b.out[w] = in, out
			}
		}
	}
	for _, b := range pieces {
		each(b.in, func(r int) { l.mark(r, b.from, b.from) })
		each(b.out, func(r int) { l.mark(r, b.to, b.to) })
	}
	return l
}

func (l *liveness) mark(r, from, to int) {
	l.from[r], l.to[r] = min(l.from[r], from), max(l.to[r], to)
}

func each(set []uint64, f func(int)) {
	for w, x := range set {
		for ; x != 0; x &= x - 1 {
			f(64*w + bits.TrailingZeros64(x))
		}
	}
}

// operandsOf calls use for each register of the function that an instruction reads, then
// def for each that it writes. A write under a guard, or by some of the lanes, also counts
// as a read if the old value is still live: the dataflow handles this, because such a write
// does not end a value's life.
func operandsOf(in *inst, use, def func(r int)) {
	visit := func(s slot, f func(int)) {
		if s >= firstVirtual && s != noSlot {
			f(int(s - firstVirtual))
		}
	}
	visit(in.a, use)
	visit(in.b, use)
	visit(in.c, use)
	for _, s := range in.ins {
		visit(s, use)
	}
	visit(in.d, def)
	for _, s := range in.outs {
		visit(s, def)
	}
}

// stretches divides the code of a function into stretches and links them.
func stretches(code []inst, first int32) []stretch {
	leader := make([]bool, len(code)+1)
	leader[0] = true
	for i := range code {
		in := &code[i]
		switch {
		case in.class == classBranch:
			leader[in.target-first], leader[i+1] = true, true
		case in.class == classReturn || in.class == classExit:
			leader[i+1] = true
		}
	}
	var out []stretch
	number := make([]int, len(code)+1)
	for i := 0; i < len(code); {
		b := stretch{from: i}
		for i++; i < len(code) && !leader[i]; i++ {
		}
		b.to = i
		number[b.from] = len(out)
		out = append(out, b)
	}
	for i := range out {
		b := &out[i]
		last := &code[b.to-1]
		ends := last.guard == 0 && (last.class == classBranch || last.class == classReturn || last.class == classExit)
		if !ends && b.to < len(code) {
			b.next = append(b.next, i+1)
		}
		if last.class == classBranch {
			b.next = append(b.next, number[last.target-first])
		}
	}
	return out
}
