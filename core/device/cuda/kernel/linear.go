package kernel

import "pgrlab/core/device"

func init() {
	lowerings[device.Linear] = func(b *builder) error { return linear(b, device.None) }
	lowerings[device.LinearAt] = func(b *builder) error { return linear(b, b.in.In[3]) }
	lowerings[device.LinearJoined] = linearJoined
	lowerings[device.LinearDX] = func(b *builder) error { return linearDX(b, b.in.Mask, 0) }
	lowerings[device.LinearDXPart] = func(b *builder) error { return linearDX(b, device.None, b.in.I[0]) }
	lowerings[device.LinearDW] = linearDW
	lowerings[device.LinearJoinedDW] = func(b *builder) error { return b.multiply(b.gradientOfWeights()) }
	lowerings[device.ColSum] = func(b *builder) error {
		members, rows, cols, most := columnsOf(b.program, b.in)
		b.sumRows(at(b.in.In[0], 0), absent, members, rows, cols, rows*cols, most)
		return nil
	}
}

// plain returns a product without a second operand, bias, mask or indices.
func plain(l layout, m, n, k, members int) product {
	p := product{layout: l, m: m, n: n, k: k, first: k, members: members, inner: 1,
		a2: absent, bias: absent, mask: absent, index: absent, strideB: k * n}
	if l == tn {
		p.first = m
	}
	return p
}

// stride is the distance between an operand's members, 0 if all members share one.
func stride(members, each int) int {
	if members == 1 {
		return 0
	}
	return each
}

// linear is x·w + b for each member, or for the members that index names.
func linear(b *builder, index device.Ref) error {
	n, rows, in := b.shape(b.in.In[0])
	_, _, out := b.shape(b.in.In[1])
	members, _, _ := b.shape(b.in.Out)
	x, w, bias := at(b.in.In[0], 0), at(b.in.In[1], 0), at(b.in.In[2], 0)
	if out == 1 {
		flags := uint32(0)
		if b.in.ReLU {
			flags |= flagReLU
		}
		if in%4 == 0 {
			flags |= flagWide
		}
		b.launch("row_dot", [3]uint32{uint32(ceil(rows, 8)), 1, uint32(members)}, 256, 0,
			at(b.in.Out, 0), x, w, bias, optional(index), int32(rows), int32(in), int64(stride(n, rows*in)), flags)
		return nil
	}
	p := plain(nn, rows, out, in, members)
	p.c, p.a, p.b, p.bias, p.index, p.relu = at(b.in.Out, 0), x, w, bias, optional(index), b.in.ReLU
	p.strideA = stride(n, rows*in)
	return b.multiply(p)
}

// linearJoined is a layer whose operand is two matrices side by side.
func linearJoined(b *builder) error {
	n1, rows, in1 := b.shape(b.in.In[0])
	n2, _, in2 := b.shape(b.in.In[1])
	members, in, out := b.shape(b.in.In[2])
	p := plain(nn, rows, out, in, members)
	p.c, p.a, p.a2, p.b, p.bias = at(b.in.Out, 0), at(b.in.In[0], 0), at(b.in.In[1], 0), at(b.in.In[2], 0), at(b.in.In[3], 0)
	p.first, p.strideA, p.strideA2, p.relu = in1, stride(n1, rows*in1), stride(n2, rows*in2), b.in.ReLU
	return b.multiply(p)
}

// linearDX is dz·wᵀ, using w's rows from row from on. If the result has one member and dz several,
// their products are added up: the sum then runs over members and columns.
func linearDX(b *builder, mask device.Ref, from int) error {
	members, rows, out := b.shape(b.in.In[0])
	results, _, cols := b.shape(b.in.Out)
	_, width, _ := b.shape(b.in.In[1])
	inner := 1
	if results < members {
		inner = members
	}
	w := at(b.in.In[1], from*out)
	if out == 1 {
		flags := uint32(0)
		if cols%4 == 0 && width%4 == 0 && w.Offset%4 == 0 {
			flags |= flagWide
		}
		vectors := rows * cols
		if flags&flagWide != 0 {
			vectors /= 4
		}
		b.launch("outer_product", [3]uint32{uint32(min(ceil(vectors, 256), elementBlocks)), 1, uint32(results)}, 256, 0,
			at(b.in.Out, 0), at(b.in.In[0], 0), w, optional(mask), int32(rows), int32(cols), int32(width), int32(inner), flags)
		return nil
	}
	p := plain(nt, rows, cols, out, results)
	p.c, p.a, p.b, p.mask = at(b.in.Out, 0), at(b.in.In[0], 0), w, optional(mask)
	p.inner, p.strideA, p.strideB = inner, rows*out, width*out
	return b.multiply(p)
}

// linearDW is xᵀ·dz for each member; a layer of one column sums the rows of x,
// weighted by dz.
func linearDW(b *builder) error {
	n, rows, in := b.shape(b.in.In[0])
	members, _, out := b.shape(b.in.In[1])
	x, dz := at(b.in.In[0], 0), at(b.in.In[1], 0)
	if out == 1 {
		b.sumRows(x, dz, members, rows, in, stride(n, rows*in), rowsOfPart)
		return nil
	}
	return b.multiply(b.gradientOfWeights())
}

// gradientOfWeights is the product of linearDW, and of linearJoinedDW: for two operands side by side.
func (b *builder) gradientOfWeights() product {
	n1, rows, in1 := b.shape(b.in.In[0])
	if b.in.Code == device.LinearDW {
		members, _, out := b.shape(b.in.In[1])
		p := plain(tn, in1, out, rows, members)
		p.c, p.a, p.b, p.strideA = at(b.in.Out, 0), at(b.in.In[0], 0), at(b.in.In[1], 0), stride(n1, rows*in1)
		return b.added(p)
	}
	n2, _, in2 := b.shape(b.in.In[1])
	members, _, out := b.shape(b.in.In[2])
	p := plain(tn, in1+in2, out, rows, members)
	p.c, p.a, p.a2, p.b = at(b.in.Out, 0), at(b.in.In[0], 0), at(b.in.In[1], 0), at(b.in.In[2], 0)
	p.first, p.strideA, p.strideA2 = in1, stride(n1, rows*in1), stride(n2, rows*in2)
	return b.added(p)
}

// added makes a gradient of weights the sum over its members if the result has one: see Merge. Members
// that all have rows of their own are rows below each other, unless the product would then be one for
// the tensor cores.
func (b *builder) added(p product) product {
	if results, _, _ := b.shape(b.in.Out); results == p.members {
		return p
	}
	p.inner, p.members = p.members, 1
	long := p
	long.k, long.inner = p.k*p.inner, 1
	if p.strideA > 0 && (p.a2 == absent || p.strideA2 > 0) && long.tensor(b.target) == p.tensor(b.target) {
		return long
	}
	return p
}

// columnsOf returns the shape of what a ColSum sums, and the most rows that one block takes. Members that
// are added up are rows below each other.
func columnsOf(p *device.Program, in device.Instr) (members, rows, cols, most int) {
	x := p.Buffers[in.In[0]]
	if p.Buffers[in.Out].Rows < x.Members {
		return 1, x.Members * x.Rows, x.Cols, rowsOfUses
	}
	return x.Members, x.Rows, x.Cols, rowsOfPart
}

// flagWide is defined in cu/head.cu: rows are whole vectors.
const flagWide = 2

// rowsOfPart is the largest number of rows that one block of column_sum takes: 32 for each of its
// warps. With more rows there are several parts, which finish_product adds.
const rowsOfPart = 1024

// rowsOfUses is that number for the rows of several uses of a bias, of which another launch for the
// parts would take longer than the further rows.
const rowsOfUses = 4096

// sumRows writes the sums over rows, weighted if there are weights, to the instruction's result. A block
// takes at most that many rows.
func (b *builder) sumRows(x Operand, weight any, members, rows, cols, strideX, most int) {
	parts := max(1, ceil(rows, most))
	to := at(b.in.Out, 0)
	if parts > 1 {
		to = b.scratch(parts * members * cols)
	}
	b.launch("column_sum", [3]uint32{uint32(ceil(cols, 32)), uint32(parts), uint32(members)}, 1024, 0,
		to, x, weight, int32(rows), int32(cols), int64(strideX), int32(members), int32(most))
	if parts > 1 {
		b.elements("finish_product", members*cols, at(b.in.Out, 0), to, absent, absent, absent, absent,
			int64(members), int64(cols), int32(cols), int32(parts), uint32(0))
	}
}
