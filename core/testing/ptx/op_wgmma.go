package ptx

import (
	"fmt"
	"math"
)

// A wgmma is a matrix product of a warpgroup, four warps: d (64 x n) = a (64 x k) b (k x n),
// or that plus d. A row of a, or a column of b, takes 32 bytes of shared memory.
type wgmma struct {
	n    int
	k    int
	part int // number of products that a card adds up before it rounds
	kind kind
}

const (
	wgmmaRows  = 16 // of a and d, per warp
	wgmmaBytes = 32 // of a row of a or a column of b
	warpgroup  = 4  // warps
)

// lowerWgmma is wgmma.mma_async, and the instructions that order it.
func lowerWgmma(l *lowering, s *statement, m *mods) {
	l.requiresTarget("sm_90a")
	what := m.one("mma_async", "fence", "commit_group", "wait_group")
	if what == "" {
		l.fail("unknown opcode %s", s.text)
	}
	if !m.take("sync") || !m.take("aligned") {
		l.fail("wgmma.%s needs .sync.aligned", what)
	}
	in := blank(classWarp)
	var do func(w *warp, in *inst) error
	switch what {
	case "mma_async":
		do = lowerProduct(l, s, m, &in)
	case "fence":
		l.need(0)
		do = func(w *warp, _ *inst) error { w.products.fenced = true; return nil }
	case "commit_group":
		l.need(0)
		do = func(w *warp, _ *inst) error { w.products.commit(); return nil }
	case "wait_group":
		l.need(1)
		if s.args[0].kind != opImmediate {
			l.fail("wgmma.wait_group needs a number")
		}
		in.imm = s.args[0].bits
		do = (*warp).waitProducts
		l.waits = append(l.waits, len(l.code))
	}
	in.do = func(w *warp, in *inst, at uint32) error {
		if at != full {
			return w.fault(in, at, "wgmma needs all 32 threads of the warp, only those of mask %#x are here", at)
		}
		return do(w, in)
	}
	l.emit(in)
}

// lowerProduct is the product itself, of operands in shared memory.
func lowerProduct(l *lowering, s *statement, m *mods, in *inst) func(w *warp, in *inst) error {
	p, immediates := productShape(l, s, m), 4
	if p.kind == tf32 {
		immediates = 2
	}
	l.need(4 + immediates)
	if s.args[0].kind != opVector || len(s.args[0].list) != p.n/2 {
		l.fail("operand 1 of wgmma.m64n%dk%d needs %d registers", p.n, p.k, p.n/2)
	}
	for _, o := range s.args[0].list {
		in.outs = append(in.outs, l.dest(o, f32))
		in.ins = append(in.ins, l.value(o, f32))
	}
	l.accumulators = append(l.accumulators, in.outs...)
	for i, o := range s.args[1:3] {
		if o.kind != opRegister {
			l.fail("operand %d of wgmma is no register with a descriptor: operands from registers are not supported", i+2)
		}
	}
	in.a, in.b = l.value(s.args[1], b64), l.value(s.args[2], b64)
	l.condition(in, s.args[3])
	for i, o := range s.args[4:] {
		switch {
		case o.kind != opImmediate || o.real != 0:
			l.fail("operand %d of wgmma is not a number", i+5)
		case i < 2 && o.bits != 1:
			l.fail("wgmma with a scale of %d: only 1 is supported", int64(o.bits))
		case i >= 2 && o.bits != 0:
			l.fail("wgmma with transposition %d: only 0 is supported, operands whose k is contiguous", int64(o.bits))
		}
	}
	return func(w *warp, in *inst) error { return w.startProduct(in, &p) }
}

// productShape takes the shape and the types.
func productShape(l *lowering, s *statement, m *mods) wgmma {
	for n := 8; n <= 256; n += 8 {
		for _, p := range []wgmma{{n, 16, 8, bf16}, {n, 8, 4, tf32}} {
			if !m.take(fmt.Sprintf("m64n%dk%d", n, p.k)) {
				continue
			}
			if dk, ak, bk := m.kind(), m.kind(), m.kind(); dk == f32 && ak == p.kind && bk == p.kind {
				return p
			}
		}
	}
	l.fail("unknown opcode %s: wgmma is supported for m64nNk16.f32.bf16.bf16 and m64nNk8.f32.tf32.tf32, N a multiple of 8 up to 256", s.text)
	return wgmma{}
}

// startProduct checks and computes one product. Its results are on their way until the warp
// waits for them.
func (w *warp) startProduct(in *inst, p *wgmma) error {
	if err := w.checkWarpgroup(in); err != nil {
		return err
	}
	q := &w.products
	if !q.fenced {
		return w.fault(in, full, "wgmma in a warp that has not run wgmma.fence before")
	}
	if len(q.pending) >= maxProducts {
		return w.fault(in, full, "%d wgmmas of this warp have not been waited for", len(q.pending))
	}
	plus := w.condition(in.r, in.rNot)
	if plus != 0 && plus != full {
		return w.fault(in, full, "the threads of a warp disagree whether wgmma adds to its accumulators: mask %#x", plus)
	}
	a, err := w.tileAt(in, in.a, "A", wgmmaRows*(w.index%warpgroup), wgmmaRows)
	if err != nil {
		return err
	}
	b, err := w.tileAt(in, in.b, "B", 0, p.n)
	if err != nil {
		return err
	}
	x := q.add(in, a, b, len(w.regs))
	q.mix(uint64(in.line), w.at(in.a)[0], w.at(in.b)[0], uint64(plus))
	if err := w.gather(in, a, x.a); err != nil {
		return err
	}
	if err := w.gather(in, b, x.b); err != nil {
		return err
	}
	w.multiply(in, p, x, plus != 0)
	q.own(w, in, x.number)
	return nil
}

// checkWarpgroup rejects a warp whose warpgroup is not complete.
func (w *warp) checkWarpgroup(in *inst) error {
	first, warps := w.index&^(warpgroup-1), w.block.warps
	if first+warpgroup > len(warps) || warps[first+warpgroup-1].exists != full {
		return w.fault(in, full, "wgmma needs warpgroups of %d threads, the block has %d threads", warpgroup*lanes, w.block.threads)
	}
	return nil
}

// A tile is some rows of 32 bytes in shared memory. Rows lie 128 bytes apart, each 8 of them
// stride bytes after the 8 before.
type tile struct {
	start, stride int
	first, rows   int
}

// at returns the shared address of a half, 16 bytes, of a row. With 128-byte swizzle, bits 4 to 6
// of an address are those of the plain layout XOR bits 7 to 9.
func (t *tile) at(row, half int) int {
	r := t.first + row
	p := t.start + r/8*t.stride + r%8*128 + 16*half
	return p ^ p>>7&7<<4
}

// Fields of a descriptor (PTX ISA, matrix descriptor of wgmma). The leading byte offset, bits 16 to
// 29, has no meaning for rows of 128 bytes that are swizzled.
const (
	descriptorZero = 1<<14 | 1<<15 | 1<<30 | 1<<31 | 7<<46 | 0x3ff<<52
	atomBytes      = 1024 // 8 rows of 128 bytes: the swizzle repeats after them
)

// tileAt reads a descriptor.
func (w *warp) tileAt(in *inst, s slot, name string, first, rows int) (tile, error) {
	v := w.at(s)
	d := v[0]
	t := tile{start: int(d&0x3fff) << 4, stride: int(d>>32&0x3fff) << 4, first: first, rows: rows}
	for lane := range v {
		if v[lane] != d {
			return t, w.fault(in, 1<<lane, "the descriptor of %s differs within the warp: %#x, and %#x of thread %s", name, v[lane], d, w.block.thread(w.index*lanes))
		}
	}
	switch layout := d >> 62; {
	case layout != 1:
		return t, w.fault(in, full, "the descriptor of %s, %#x, has layout %d: only 1 is supported, a swizzle of 128 bytes", name, d, layout)
	case d>>49&7 != 0:
		return t, w.fault(in, full, "the descriptor of %s, %#x, has base offset %d: only 0 is supported", name, d, d>>49&7)
	case d&descriptorZero != 0:
		return t, w.fault(in, full, "the descriptor of %s, %#x, has bits that must be 0: %#x", name, d, d&descriptorZero)
	case t.start%atomBytes > 128-wgmmaBytes:
		return t, w.fault(in, full, "%s starts at shared address %d: want one of the first %d bytes after a multiple of %d", name, t.start, 128-wgmmaBytes, atomBytes)
	case t.stride%atomBytes != 0:
		return t, w.fault(in, full, "groups of 8 rows of %s lie %d bytes apart: want a multiple of %d", name, t.stride, atomBytes)
	}
	return t, nil
}

// gather copies the bytes of a tile. They count as read by the warp.
func (w *warp) gather(in *inst, t tile, to []byte) error {
	b := w.block
	for i := range 2 * t.rows {
		p := t.at(i/2, i%2)
		if p+16 > len(b.shared) {
			return w.fault(in, full, "16 bytes at shared address %d: the block has %d bytes of shared memory", p, len(b.shared))
		}
		if b.shadow != nil {
			if reason := b.shadow.touchAs(w, int32(-w.index-1), p, 16, reads, in); reason != "" {
				return w.fault(in, full, "%s", reason)
			}
			b.shadow.pend(p, 1)
		}
		copy(to[16*i:16*i+16], b.shared[p:p+16])
	}
	return nil
}

// multiply computes this warp's 16 rows. Lane 4g+t holds of d, in registers 4j and 4j+1, row g,
// columns 8j+2t and 8j+2t+1, and in registers 4j+2 and 4j+3 the same of row g+8. The numbers are
// those of mma; see lowerMatrix.
func (w *warp) multiply(in *inst, p *wgmma, x *product, plus bool) {
	var a [4][16][4]float64 // [row/4][k][row%4]
	var b [16]float64
	for i := range wgmmaRows {
		widenRow(&b, x.a[wgmmaBytes*i:], p.kind)
		for k := range b {
			a[i/4][k][i%4] = b[k]
		}
	}
	for j := range p.n {
		widenRow(&b, x.b[wgmmaBytes*j:], p.kind)
		for half := range 2 {
			r := j/8*4 + 2*half + j%2
			d := w.products.latest(w, in.outs[r])
			for quarter := range 2 {
				lane := 16*quarter + j%8/2
				rows := &a[2*half+quarter]
				var c [4]float64
				if plus {
					c = [4]float64{widen32(d[lane]), widen32(d[lane+4]), widen32(d[lane+8]), widen32(d[lane+12])}
				}
				addProducts(&c, rows, &b, p.k, p.part)
				to := &w.products.late[in.outs[r]]
				to[lane], to[lane+4], to[lane+8], to[lane+12] = narrow32(c[0]), narrow32(c[1]), narrow32(c[2]), narrow32(c[3])
			}
		}
	}
}

// addProducts adds the products of four rows and a column. Four sums run side by side, for speed.
func addProducts(c *[4]float64, a *[16][4]float64, b *[16]float64, k, part int) {
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	for p := 0; p < k; p += part {
		for l := p; l < p+part; l++ {
			x, y := &a[l&15], b[l&15]
			c0 += x[0] * y
			c1 += x[1] * y
			c2 += x[2] * y
			c3 += x[3] * y
		}
		if normal32(c0) && normal32(c1) && normal32(c2) && normal32(c3) {
			c0, c1, c2, c3 = cut32(c0), cut32(c1), cut32(c2), cut32(c3)
		} else {
			c0, c1, c2, c3 = truncate32(c0), truncate32(c1), truncate32(c2), truncate32(c3)
		}
	}
	c[0], c[1], c[2], c[3] = c0, c1, c2, c3
}

// truncate32 is round32 to zero; cut32 is the same for numbers of which normal32 holds, from 2^-126
// to below 2^128.
func truncate32(x float64) float64 { return float64(round32(x, 'z')) }

func cut32(x float64) float64 { return math.Float64frombits(math.Float64bits(x) &^ (1<<29 - 1)) }

func normal32(x float64) bool { return math.Float64bits(x)>>52&2047-897 < 254 }

func widen32(x uint64) float64 { return float64(single(x)) }

func narrow32(x float64) uint64 { return fromSingle(float32(x)) }

// widenRow reads the numbers of a row of 32 bytes: 16 bf16 or 8 tf32, whose low 13 bits are ignored.
func widenRow(to *[16]float64, row []byte, k kind) {
	if k == bf16 {
		for i := range to {
			to[i] = float64(math.Float32frombits(uint32(row[2*i])<<16 | uint32(row[2*i+1])<<24))
		}
		return
	}
	for i := range 8 {
		to[i] = matrixValue(read(row[4*i:], 4), 0, tf32)
	}
}
