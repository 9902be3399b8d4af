package kernel

import "pgrlab/core/device"

// layout says how the factors of C = A·B are stored, each row-major.
type layout string

const (
	nn layout = "NN" // A [m,k], B [k,n]
	nt layout = "NT" // A [m,k], B [n,k]
	tn layout = "TN" // A [k,m], B [k,n]
)

// product is a matrix product for each of some members, as in cu/product.h.
type product struct {
	layout  layout
	m, n, k int
	// first is the number of contiguous columns of A that are in a; the others are in a2.
	first      int
	c, a, b    Operand
	a2         any // a2, bias, mask and index are operands, or absent
	bias, mask any
	index      any
	members    int // of the result
	inner      int // members that are added up; if several, the result has one member
	strideA    int // elements from member to member; 0: all share one
	strideA2   int
	strideB    int
	strideC    int
	relu       bool
	ready      bool       // A is in memory as a packed operand
	after      *following // what else is done with the result; nil: nothing
	// squares receives the sum of squares of each block's part of the result, float64; nil: nothing does. Only packed tiles
	// make it, of rows that are whole vectors, if the sum is not divided.
	squares any
}

// absent is the argument for an operand that is not there.
const absent = uint64(0)

// optional is an operand that may be absent.
func optional(r device.Ref) any {
	if r == device.None {
		return absent
	}
	return at(r, 0)
}

// Flags of cu/product.h.
const (
	flagReLU  = 1
	flagWideA = 2
	flagWideB = 4
	flagWideC = 8
)

// flags says which operands can be read and written in vectors of 16 bytes: those whose rows are
// whole vectors. Buffers begin at multiples of 256 bytes.
func (p product) flags() uint32 {
	along := p.k
	if p.layout == tn {
		along = p.m
	}
	rowsOfB := p.n
	if p.layout == nt {
		rowsOfB = p.k
	}
	var f uint32
	if p.relu {
		f |= flagReLU
	}
	if p.first%4 == 0 && (along-p.first)%4 == 0 {
		f |= flagWideA
	}
	if rowsOfB%4 == 0 && p.b.Offset%4 == 0 {
		f |= flagWideB
	}
	if p.n%4 == 0 {
		f |= flagWideC
	}
	return f
}

// multiply adds the launches of a product. Results without elements need none.
func (b *builder) multiply(p product) error {
	if p.m == 0 || p.n == 0 || p.members == 0 {
		return nil
	}
	p.ready = b.packings[p.a.Ref]
	d := divide(p, b.target)
	if b.after != nil && !d.follows() || b.after.some() && (d.splits > 1 || !d.packed && !d.direct) {
		return errAlone
	}
	if b.before != nil {
		if p.ready || !d.packed {
			return errAlone
		}
		p.a = b.before.x
	}
	p.after, b.followed, b.division = b.after, true, d
	b.products(p, d)
	return nil
}

// products adds the launches of a product with the given division.
func (b *builder) products(p product, d division) {
	p.strideC = p.m * p.n
	multiply := b.tiles
	if d.packed {
		multiply = b.packed(p, d)
	}
	if d.splits > 1 {
		b.parts(p, d, multiply)
		return
	}
	for row := 0; row < p.m; row += d.rows {
		multiply(p.rows(row, min(d.rows, p.m-row)), d, 0)
	}
}

// rows returns the part of a product that makes some rows of the result. A's rows must be the
// result's rows.
func (p product) rows(from, count int) product {
	q := p
	q.m = count
	q.a.Offset += from * p.first
	if a2, ok := p.a2.(Operand); ok {
		a2.Offset += from * (p.k - p.first)
		q.a2 = a2
	}
	q.c.Offset += from * p.n
	if mask, ok := p.mask.(Operand); ok {
		mask.Offset += from * p.n
		q.mask = mask
	}
	return q
}

// parts computes parts of the sum into scratch memory and adds them in order.
func (b *builder) parts(p product, d division, multiply func(q product, d division, part int)) {
	size := p.members * p.m * p.n
	d.splits = ceil(p.chunks(d.tile), ceil(p.chunks(d.tile), d.splits)) // so that no part is empty
	q := p
	q.c = b.scratch(d.splits * size)
	q.bias, q.mask, q.relu, q.after = absent, absent, false, nil
	multiply(q, d, size)
	vectors := size
	if p.flags()&flagWideC != 0 {
		vectors /= 4
	}
	b.elements("finish_product", vectors, p.c, q.c, p.bias, p.mask, p.index, p.after.table(0),
		int64(p.members), int64(p.m*p.n), int32(p.n), int32(d.splits), p.flags())
}

// tiles launches a kernel with the parameters of cu/product.h; part is the number of elements of a
// part of the sum.
func (b *builder) tiles(p product, d division, part int) {
	a2 := p.a2
	if a2 == absent {
		a2 = p.a
	}
	grid := [3]uint32{uint32(ceil(p.m, d.m) * ceil(p.n, d.n)), 1, uint32(p.members * d.splits)}
	b.launch(d.kernel, grid, d.threads, d.shared,
		p.c, p.a, a2, p.b, p.bias, p.mask, p.index, p.after.table(p.c.Offset), int32(p.m), int32(p.n), int32(p.k), int32(p.first),
		int64(p.strideA), int64(p.strideA2), int64(p.strideB), int64(p.n), int64(p.strideC), int64(part),
		int32(p.inner), int32(d.splits), int32(ceil(p.chunks(d.tile), d.splits)), p.flags())
}
