package ptx

import "bytes"

// products holds the wgmmas of a warp. They are computed when they start; their results arrive in
// the registers when the warp waits for them, as late as a card may deliver them, and the registers
// hold NaN until then. A card may read their operands as late as that, so these must be the same.
type products struct {
	fenced  bool
	pending []product
	groups  []int  // committed: how many products up to the end of each
	late    []vec  // by register: its value once the product that writes it has arrived
	owner   []int  // by register: the number of the last product that writes it, 0 if it has arrived
	number  int    // of the last product
	trace   uint64 // a hash of all products
	first   *inst  // the first product
}

// maxProducts is how many a warp may have at a time, so that an endless loop does not use much memory.
const maxProducts = 1024

// product is one pending wgmma.
type product struct {
	in           *inst
	number       int
	tileA, tileB tile
	a, b         []byte // what it has read
}

func (q *products) reset() {
	q.pending, q.groups = q.pending[:0], q.groups[:0]
	clear(q.owner)
	q.fenced, q.number, q.trace, q.first = false, 0, 0, nil
}

// add appends a product, of a warp with some number of registers. It uses the buffers of
// products that are done.
func (q *products) add(in *inst, a, b tile, registers int) *product {
	if q.owner == nil {
		q.late, q.owner = make([]vec, registers), make([]int, registers)
	}
	if q.first == nil {
		q.first = in
	}
	n := len(q.pending)
	if n < cap(q.pending) {
		q.pending = q.pending[:n+1]
	} else {
		q.pending = append(q.pending, product{})
	}
	q.number++
	x := &q.pending[n]
	x.in, x.number, x.tileA, x.tileB = in, q.number, a, b
	x.a, x.b = sized(x.a, a.rows*wgmmaBytes), sized(x.b, b.rows*wgmmaBytes)
	return x
}

func sized(p []byte, n int) []byte {
	if cap(p) < n {
		return make([]byte, n)
	}
	return p[:n]
}

// mix adds to the hash of what the warp has started (FNV-1a over words).
func (q *products) mix(values ...uint64) {
	for _, v := range values {
		q.trace = (q.trace ^ v) * 1099511628211
	}
}

// latest returns a register as a further product sees it.
func (q *products) latest(w *warp, s slot) *vec {
	if q.owner[s] != 0 {
		return &q.late[s]
	}
	return &w.regs[s]
}

// own puts NaN into the registers that a product writes.
func (q *products) own(w *warp, in *inst, number int) {
	for _, s := range in.outs {
		q.owner[s] = number
		v := &w.regs[s]
		for i := range v {
			v[i] = garbage32
		}
	}
}

// commit makes one group of the products since the last.
func (q *products) commit() { q.groups = append(q.groups, len(q.pending)) }

// waitProducts completes all groups but the latest in.imm.
func (w *warp) waitProducts(in *inst) error {
	q := &w.products
	done := len(q.groups) - int(min(in.imm, uint64(len(q.groups))))
	if done == 0 {
		return nil
	}
	n := q.groups[done-1]
	for i := range q.pending[:n] {
		if err := w.arriveProduct(in, &q.pending[i]); err != nil {
			return err
		}
	}
	q.groups = append(q.groups[:0], q.groups[done:]...)
	for i := range q.groups {
		q.groups[i] -= n
	}
	for i := n; i < len(q.pending); i++ { // keeps the buffers
		q.pending[i-n], q.pending[i] = q.pending[i], q.pending[i-n]
	}
	q.pending = q.pending[:len(q.pending)-n]
	return nil
}

// arriveProduct looks at the operands again and delivers the results.
func (w *warp) arriveProduct(in *inst, x *product) error {
	if err := w.unchanged(in, x, &x.tileA, x.a); err != nil {
		return err
	}
	if err := w.unchanged(in, x, &x.tileB, x.b); err != nil {
		return err
	}
	q := &w.products
	for _, s := range x.in.outs {
		if q.owner[s] == x.number {
			w.regs[s], q.owner[s] = q.late[s], 0
		}
	}
	return nil
}

// unchanged compares an operand with what the product has read.
func (w *warp) unchanged(in *inst, x *product, t *tile, was []byte) error {
	for i := range 2 * t.rows {
		p := t.at(i/2, i%2)
		if !bytes.Equal(w.block.shared[p:p+16], was[16*i:16*i+16]) {
			return w.fault(in, full, "shared memory that the wgmma of line %d reads was written before the wgmma was waited for: 16 bytes at shared address %d", x.in.line, p)
		}
		if s := w.block.shadow; s != nil {
			s.pend(p, -1)
			s.sawLate(w, p, x.in)
		}
	}
	return nil
}

// endProducts rejects the end of a warp with pending products.
func (w *warp) endProducts(in *inst, at uint32) error {
	q := &w.products
	if len(q.pending) == 0 || at == 0 {
		return nil
	}
	committed := 0
	if n := len(q.groups); n > 0 {
		committed = q.groups[n-1]
	}
	if committed < len(q.pending) {
		return w.fault(in, at, "the kernel ends with the wgmma of line %d, which was not committed and waited for", q.pending[committed].in.line)
	}
	return w.fault(in, at, "the kernel ends with the wgmma of line %d, which was committed and not waited for", q.pending[0].in.line)
}

// checkWarpgroups rejects a block in which the warps of a warpgroup have run different products.
func (b *block) checkWarpgroups() error {
	for i := range b.warps {
		q, other := &b.warps[i].products, &b.warps[i&^(warpgroup-1)]
		if q.trace == other.products.trace {
			continue
		}
		w := &b.warps[i]
		if q.first == nil {
			w, other = other, w
		}
		return w.fault(w.products.first, full, "the four warps of a warpgroup must run the same wgmmas with the same descriptors: those of thread %s and its warp differ", b.thread(other.index*lanes))
	}
	return nil
}
