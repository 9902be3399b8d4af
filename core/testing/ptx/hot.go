package ptx

// The instructions in which kernels spend most of their time have loops of their own:
// a call for each lane, as in each2, costs three times as much.

func add(n int) alu {
	switch n {
	case 64:
		return func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = a[i] + b[i]
			}
		}
	case 32:
		return func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = uint64(uint32(a[i] + b[i]))
			}
		}
	}
	return each2(u16, n, func(x, y uint64) uint64 { return x + y })
}

func subtract(n int) alu {
	switch n {
	case 64:
		return func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = a[i] - b[i]
			}
		}
	case 32:
		return func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = uint64(uint32(a[i] - b[i]))
			}
		}
	}
	return each2(u16, n, func(x, y uint64) uint64 { return x - y })
}

func multiply(n int) alu {
	switch n {
	case 64:
		return func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = a[i] * b[i]
			}
		}
	case 32:
		return func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = uint64(uint32(a[i] * b[i]))
			}
		}
	}
	return each2(u16, n, func(x, y uint64) uint64 { return x * y })
}

func multiplyAdd(n int) alu {
	switch n {
	case 64:
		return func(d, a, b, c *vec) {
			for i := range d {
				d[i] = a[i]*b[i] + c[i]
			}
		}
	case 32:
		return func(d, a, b, c *vec) {
			for i := range d {
				d[i] = uint64(uint32(a[i]*b[i] + c[i]))
			}
		}
	}
	return each3(u16, n, func(x, y, z uint64) uint64 { return x*y + z })
}

func multiplyWide(k kind) alu {
	switch k {
	case s32:
		return func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = uint64(int64(int32(a[i])) * int64(int32(b[i])))
			}
		}
	case u32:
		return func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = uint64(uint32(a[i])) * uint64(uint32(b[i]))
			}
		}
	}
	return each2(k, 2*k.bits(), func(x, y uint64) uint64 { return x * y })
}

func copyLanes(d, a, _, _ *vec) { *d = *a }

// hotComparison returns the loop for a comparison of integers or f32, nil for the
// others. Every ordered relation is a less or an equal, with swapped or negated operands
// or result; a relation that is true for unordered values is the negation of its opposite.
func hotComparison(name string, k kind) func(a, b *vec) uint32 {
	less, equal := lessUnsigned, equalBits
	switch {
	case k == s32:
		less = lessSigned32
	case k == s64:
		less = lessSigned64
	case k == f32:
		less, equal = lessSingle, equalSingle
	case !k.integer() || k.signed():
		return nil
	}
	type test = func(a, b *vec) uint32
	swap := func(f test) test { return func(a, b *vec) uint32 { return f(b, a) } }
	not := func(f test) test { return func(a, b *vec) uint32 { return ^f(a, b) } }
	if k == f32 {
		switch name {
		case "le":
			return lessEqualSingle
		case "ge":
			return swap(lessEqualSingle)
		case "ltu":
			return not(swap(lessEqualSingle))
		case "gtu":
			return not(lessEqualSingle)
		case "leu":
			return not(swap(less))
		case "geu":
			return not(less)
		case "neu":
			return not(equal)
		case "ne": // false for NaN, unlike Go's !=
			return func(a, b *vec) uint32 { return less(a, b) | less(b, a) }
		}
	}
	switch name {
	case "eq":
		return equal
	case "ne":
		return not(equal)
	case "lt", "lo":
		return less
	case "gt", "hi":
		return swap(less)
	case "ge", "hs":
		return not(less)
	case "le", "ls":
		return not(swap(less))
	}
	return nil
}

func lessSigned32(a, b *vec) uint32 {
	return gather(func(i int) bool { return int32(a[i]) < int32(b[i]) })
}
func lessSigned64(a, b *vec) uint32 {
	return gather(func(i int) bool { return int64(a[i]) < int64(b[i]) })
}

// Registers are zero-extended, so one loop serves all widths.
func lessUnsigned(a, b *vec) uint32 { return gather(func(i int) bool { return a[i] < b[i] }) }
func equalBits(a, b *vec) uint32    { return gather(func(i int) bool { return a[i] == b[i] }) }

func lessSingle(a, b *vec) uint32 {
	return gather(func(i int) bool { return single(a[i]) < single(b[i]) })
}
func lessEqualSingle(a, b *vec) uint32 {
	return gather(func(i int) bool { return single(a[i]) <= single(b[i]) })
}
func equalSingle(a, b *vec) uint32 {
	return gather(func(i int) bool { return single(a[i]) == single(b[i]) })
}

// gather makes a mask from 32 answers; it and its argument are inlined.
func gather(f func(i int) bool) uint32 {
	var r uint32
	for i := range lanes {
		var bit uint32
		if f(i) { // becomes an instruction without a branch
			bit = 1
		}
		r = r>>1 | bit<<31
	}
	return r
}
