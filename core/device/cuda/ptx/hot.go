package ptx

// The instructions that kernels spend their time in have loops of their own:
// a call for each lane, as each2 makes, costs three times as much.

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

// hotComparison gives the loop for a comparison that kernels use much, nil for
// the others.
func hotComparison(name string, k kind) func(a, b *vec) uint32 {
	switch {
	case k == s32:
		switch name {
		case "lt":
			return func(a, b *vec) uint32 {
				return gather(func(i int) bool { return int32(a[i]) < int32(b[i]) })
			}
		case "gt":
			return func(a, b *vec) uint32 {
				return gather(func(i int) bool { return int32(a[i]) > int32(b[i]) })
			}
		case "ge":
			return func(a, b *vec) uint32 {
				return gather(func(i int) bool { return int32(a[i]) >= int32(b[i]) })
			}
		}
	case k.integer() && !k.signed() || name == "eq" || name == "ne":
		if k.float() {
			return nil
		}
		switch name { // registers are zero-extended, so all widths compare alike
		case "eq":
			return func(a, b *vec) uint32 { return gather(func(i int) bool { return a[i] == b[i] }) }
		case "ne":
			return func(a, b *vec) uint32 { return gather(func(i int) bool { return a[i] != b[i] }) }
		case "lt":
			return func(a, b *vec) uint32 { return gather(func(i int) bool { return a[i] < b[i] }) }
		}
	case k == f32:
		switch name {
		case "lt":
			return func(a, b *vec) uint32 { return gather(func(i int) bool { return single(a[i]) < single(b[i]) }) }
		case "gt":
			return func(a, b *vec) uint32 { return gather(func(i int) bool { return single(a[i]) > single(b[i]) }) }
		}
	}
	return nil
}

// gather makes a mask of 32 answers; it and its argument are inlined.
func gather(f func(i int) bool) uint32 {
	var r uint32
	for i := range lanes {
		if f(i) {
			r |= 1 << i
		}
	}
	return r
}
