package kernel

import (
	"slices"

	"pgrlab/core/device"
)

// lineBytes is what a row of a packed operand has of each chunk of the sum, in bytes. In float32
// elements of scratch memory it is lineBytes/4.
const lineBytes = 128

// packed lays out B of a product for packed tiles (cu/pack.cu), and returns what multiplies all or
// some rows of A by it. Both operands are rounded to the target's precision on their way.
func (b *builder) packed(p product, d division) (multiply func(q product, d division, part int)) {
	each := ceil(p.k, d.k)
	ofA, ofB := p.members*p.inner, p.members*p.inner
	if p.strideA == 0 && p.strideA2 == 0 {
		ofA = 1
	}
	padded := func(rows, tile int) int { return ceil(rows, tile) * tile }
	rowsB := padded(p.n, d.n)
	toA := p.a
	if !p.ready {
		toA = b.scratch(ofA * each * padded(min(d.rows, p.m), d.m) * lineBytes / 4)
	}
	toB := b.laidOut(source{x: p.b, x2: p.b, index: p.index, rows: p.rowsOfB(), cols: p.colsOfB(), first: p.colsOfB(), stride: p.strideB,
		wide: p.flags()&flagWideB != 0, turned: p.layout != nt}, ofB, each, rowsB)
	return func(q product, d division, part int) {
		rowsA := padded(q.m, d.m)
		a := source{x: q.a, x2: q.a2, index: absent, rows: q.m, cols: q.k, first: q.first, stride: q.strideA, stride2: q.strideA2,
			wide: q.flags()&flagWideA != 0, turned: q.layout == tn}
		if a.x2 == absent {
			a.x2 = q.a
		}
		if a.turned {
			a.rows, a.cols = q.k, q.m
		}
		switch {
		case p.ready:
		case b.before != nil:
			b.packMade(toA, a, each, rowsA)
		default:
			b.pack(toA, a, ofA, each, rowsA)
		}
		strideA := int64(each) * int64(rowsA) * lineBytes
		if ofA == 1 {
			strideA = 0
		}
		tiles, members := ceil(q.m, d.m)*ceil(q.n, d.n), q.members*d.splits
		args := []any{q.c, toA, toB, q.bias, q.mask, q.index, q.after.table(q.c.Offset), int32(q.m), int32(q.n), int32(each), int32(rowsA), int32(rowsB),
			strideA, int64(each) * int64(rowsB) * lineBytes, int64(q.strideC), int64(part),
			int32(q.inner), int32(d.splits), int32(ceil(q.inner*each, d.splits)), q.flags(), optionalSquares(q)}
		b.launch(d.kernel, [3]uint32{uint32(tiles), 1, uint32(members)}, d.threads, d.shared, args...)
	}
}

// optionalSquares is the argument for a product's squares.
func optionalSquares(p product) any {
	if p.squares == nil {
		return absent
	}
	return p.squares
}

// rowsOfB and colsOfB are the shape of B in memory.
func (p product) rowsOfB() int {
	if p.layout == nt {
		return p.n
	}
	return p.k
}

func (p product) colsOfB() int {
	if p.layout == nt {
		return p.k
	}
	return p.n
}

// source is an operand as it stands in memory: Source of cu/pack.cu.
type source struct {
	x               Operand
	x2, index       any
	rows, cols      int
	first           int // columns in x; the others are in x2
	stride, stride2 int // elements from member to member
	wide            bool
	turned          bool // its columns are the rows of the packed operand
}

// turnedRows is TURNED of cu/pack.cu: the rows of a packed operand that a block makes out of columns.
const turnedRows = 64

// pack lays out an operand of some members, each chunks of the sum and padded rows.
func (b *builder) pack(to any, s source, members, each, padded int) {
	args := []any{to, s.x, s.x2, s.index, int32(s.rows), int32(s.cols), int32(s.first), int64(s.stride), int64(s.stride2), uint32(each), uint32(padded)}
	name, lines := tensorNames[b.target.Precision], members*each*padded
	if s.turned {
		across := ceil(padded, turnedRows)
		b.launch("pack_turned_"+name, [3]uint32{uint32(members * each * across), 1, 1}, elementThreads, 0, append(args, uint32(across))...)
		return
	}
	wide := uint32(0)
	if s.wide {
		wide = 1
	}
	b.elements("pack_"+name, lines*8, append(args, uint32(lines*8), wide)...)
}

// reader returns the rows of a result that the product after an instruction reads as its packed
// operand A, if nothing else reads it and it fills whole tiles and chunks: then it may be written
// packed, into the memory that it would have as a matrix.
func (u *users) reader(p *device.Program, last int, result device.Ref, t Target) (rows int, ok bool) {
	if !u.only(result) {
		return 0, false
	}
	for _, in := range p.Instrs[last+1:] {
		if !slices.Contains(in.In, result) && in.Mask != result {
			continue
		}
		w := p.Buffers[in.In[min(1, len(in.In)-1)]]
		if x := p.Buffers[result]; in.Code == device.Linear && in.In[0] == result && x.Members == 1 && w.Members == 1 && w.Cols > 1 {
			q := plain(nn, x.Rows, w.Cols, x.Cols, 1)
			q.ready = true
			d := divide(q, t)
			return q.m, d.packed && d.rows == q.m && q.m%d.m == 0 && q.k%d.k == 0
		}
		return 0, false
	}
	return 0, false
}

// wholly reports whether a division makes all rows of one result in one launch of a kernel that can
// write it packed.
func (d division) wholly(rows int) bool {
	return (d.packed || d.direct) && d.splits == 1 && d.rows == rows
}
