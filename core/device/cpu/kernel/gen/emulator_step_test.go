package main

import (
	"math"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
)

// step executes anything but a branch.
func (e *emulator) step(c *ir.Instruction) {
	o := c.Operands
	if slices.Contains(c.Suffixes, "BCST") {
		o = spreadOperands(o)
	}
	switch {
	case c.Opcode == "PREFETCHT1":
		e.near = append(e.near, e.address(o[0].(operand.Mem)))
	case strings.HasPrefix(c.Opcode, "PREFETCH"), c.Opcode == "VZEROUPPER":
	case tileCode(c) != nil:
		e.tile(c.Opcode, o)
	case len(o) == 3 && binaries[c.Opcode] != nil:
		f, n := binaries[c.Opcode], lanes(o[2])
		a, b := e.words(o[1], n), e.words(o[0], n)
		for i := range n {
			a[i] = f(a[i], b[i])
		}
		e.setWords(o[2], n, a)
	case len(o) == 3 && binaries64[c.Opcode] != nil:
		e.binary64(binaries64[c.Opcode], o)
	case len(o) == 3 && fused[c.Opcode] != nil:
		f, n := fused[c.Opcode], lanes(o[2])
		a, b, d := e.words(o[1], n), e.words(o[0], n), e.words(o[2], n)
		for i := range n {
			d[i] = f(d[i], a[i], b[i])
		}
		e.setWords(o[2], n, d)
	case c.Opcode[0] == 'V' && !strings.HasPrefix(c.Opcode, "VMOV"):
		e.vector(c.Opcode, o)
	case strings.Contains(c.Opcode, "MOV") && c.Opcode != "MOVQ" && c.Opcode != "MOVL" && c.Opcode != "KMOVW":
		e.move(c.Opcode, len(c.Suffixes) > 0, o)
	default:
		e.scalar(c.Opcode, o)
	}
}

func float(f func(a, b float32) float32) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 {
		return math.Float32bits(f(math.Float32frombits(a), math.Float32frombits(b)))
	}
}

func xor(a, b uint32) uint32 { return a ^ b }
func or(a, b uint32) uint32  { return a | b }
func and(a, b uint32) uint32 { return a & b }

// binaries are the lane by lane instructions with two sources; a is the first source in Intel's
// order.
var binaries = map[string]func(a, b uint32) uint32{
	"VADDPS": float(func(a, b float32) float32 { return a + b }),
	"VSUBPS": float(func(a, b float32) float32 { return a - b }),
	"VMULPS": float(func(a, b float32) float32 { return a * b }),
	"VDIVPS": float(func(a, b float32) float32 { return a / b }),
	"VMAXPS": float(func(a, b float32) float32 {
		if a > b {
			return a
		}
		return b
	}),
	"VMINPS": float(func(a, b float32) float32 {
		if a < b {
			return a
		}
		return b
	}),
	"VPXOR": xor, "VPXORD": xor, "VXORPS": xor, "VPOR": or, "VPORD": or, "VPAND": and, "VPANDD": and, "VANDPS": and,
	"VPADDD": func(a, b uint32) uint32 { return a + b },
	"VPSUBD": func(a, b uint32) uint32 { return a - b },
}

func fusedOf(f func(d, a, b float32) float32) func(d, a, b uint32) uint32 {
	return func(d, a, b uint32) uint32 {
		return math.Float32bits(f(math.Float32frombits(d), math.Float32frombits(a), math.Float32frombits(b)))
	}
}

// fused are the multiply-adds: d is the destination, a and b are the sources.
var fused = map[string]func(d, a, b uint32) uint32{
	"VFMADD231PS":  fusedOf(func(d, a, b float32) float32 { return fma32(a, b, d) }),
	"VFNMADD231PS": fusedOf(func(d, a, b float32) float32 { return fma32(-a, b, d) }),
	"VFMADD213PS":  fusedOf(func(d, a, b float32) float32 { return fma32(a, d, b) }),
}

func double(w [16]uint32, i int) float64 {
	return math.Float64frombits(uint64(w[2*i]) | uint64(w[2*i+1])<<32)
}

func setDouble(w *[16]uint32, i int, x float64) {
	b := math.Float64bits(x)
	w[2*i], w[2*i+1] = uint32(b), uint32(b>>32)
}

func number(w uint32) float32 { return math.Float32frombits(w) }

// vector executes the rest of the arithmetic on vectors.
func (e *emulator) vector(opcode string, o []operand.Op) {
	d := o[len(o)-1]
	if opcode == "VMASKMOVPS" {
		e.move(opcode, false, o)
		return
	}
	if opcode == "VCMPPS" {
		e.compare(o)
		return
	}
	if f := vectors64[opcode]; f != nil {
		f(e, o)
		return
	}
	n := lanes(d)
	var r [16]uint32
	switch opcode {
	case "VBROADCASTSS":
		w := e.words(o[0], 1)
		for i := range n {
			r[i] = w[0]
		}
	case "VPMOVZXBD":
		for i, b := range e.bytes(e.address(o[0].(mem)), n) {
			r[i] = uint32(b)
		}
	case "VSQRTPS", "VCVTPS2DQ", "VCVTDQ2PS":
		for i, w := range e.words(o[0], n) {
			r[i] = convert(opcode, w)
		}
	case "VROUNDPS", "VRNDSCALEPS":
		for i, w := range e.words(o[1], n) {
			r[i] = math.Float32bits(float32(math.RoundToEven(float64(number(w)))))
		}
	case "VPSLLD":
		for i, w := range e.words(o[1], n) {
			r[i] = w << e.integer(o[0])
		}
	case "VPSRLD":
		for i, w := range e.words(o[1], n) {
			r[i] = w >> e.integer(o[0])
		}
	case "VPTERNLOGD", "VPTERNLOGQ":
		r = ternary(e.integer(o[0]), e.words(o[3], n), e.words(o[2], n), e.words(o[1], n))
	case "VPSRAD":
		for i, w := range e.words(o[1], n) {
			r[i] = uint32(int32(w) >> e.integer(o[0]))
		}
	case "VBLENDVPS":
		yes, no := e.words(o[1], n), e.words(o[2], n)
		r = e.blend(o[0], yes, no)
	case "VBLENDMPS":
		yes, no := e.words(o[0], n), e.words(o[1], n)
		r = e.blend(o[2], yes, no)
	case "VEXTRACTF128", "VEXTRACTF64X4":
		w := e.words(o[1], 2*n)
		copy(r[:n], w[n*int(e.integer(o[0])):])
	case "VINSERTF128":
		r = e.words(o[2], n)
		w := e.words(o[1], 4)
		copy(r[4*e.integer(o[0]):], w[:4])
	case "VCVTPS2PD":
		w := e.words(o[0], n/2)
		for i := range n / 2 {
			setDouble(&r, i, float64(number(w[i])))
		}
	case "VFMADD231PD":
		a, b, acc := e.words(o[1], n), e.words(o[0], n), e.words(d, n)
		for i := range n / 2 {
			setDouble(&r, i, math.FMA(double(a, i), double(b, i), double(acc, i)))
		}
	case "VPERMPS":
		order, a := e.words(o[1], n), e.words(o[0], n)
		for i := range n {
			r[i] = a[int(order[i])%n]
		}
	case "VPERMILPS":
		a := e.words(o[1], n)
		for i := range n {
			r[i] = a[i&^3|int(e.integer(o[0])>>(2*(i%4)))&3]
		}
	case "VADDSD":
		r = e.words(o[1], 4)
		setDouble(&r, 0, double(r, 0)+double(e.words(o[0], 4), 0))
	case "VADDSS":
		r = e.words(o[1], 4)
		r[0] = math.Float32bits(number(r[0]) + number(e.words(o[0], 1)[0]))
	case "VUNPCKLPS", "VUNPCKHPS", "VUNPCKLPD", "VUNPCKHPD":
		a, b := e.words(o[1], n), e.words(o[0], n)
		for q := 0; q < n; q += 4 {
			h := 0
			if opcode[6] == 'H' {
				h = 2
			}
			if strings.HasSuffix(opcode, "PS") {
				r[q], r[q+1], r[q+2], r[q+3] = a[q+h], b[q+h], a[q+h+1], b[q+h+1]
			} else {
				r[q], r[q+1], r[q+2], r[q+3] = a[q+h], a[q+h+1], b[q+h], b[q+h+1]
			}
		}
	default:
		panic("unknown instruction " + opcode)
	}
	e.setWords(d, n, r)
}

func convert(opcode string, w uint32) uint32 {
	switch opcode {
	case "VSQRTPS":
		return math.Float32bits(float32(math.Sqrt(float64(number(w)))))
	case "VCVTDQ2PS":
		return math.Float32bits(float32(int32(w)))
	}
	x := math.RoundToEven(float64(number(w)))
	if !(x >= math.MinInt32 && x <= math.MaxInt32) {
		return 1 << 31
	}
	return uint32(int32(x))
}

// ternary looks up every bit of the result in a table of eight, by the bits of three operands.
func ternary(table uint64, a, b, c [16]uint32) (r [16]uint32) {
	for i := range r {
		for bit := range 32 {
			at := a[i]>>bit&1<<2 | b[i]>>bit&1<<1 | c[i]>>bit&1
			r[i] |= uint32(table>>at&1) << bit
		}
	}
	return r
}

// blend takes yes where the mask is set, and no elsewhere.
func (e *emulator) blend(where operand.Op, yes, no [16]uint32) [16]uint32 {
	for i := range yes {
		if !e.set(where, i) {
			yes[i] = no[i]
		}
	}
	return yes
}

// compare is VCMPPS with the predicate less-than, into a vector or a mask.
func (e *emulator) compare(o []operand.Op) {
	if e.integer(o[0]) != uint64(lessThan) {
		panic("unknown predicate")
	}
	n := lanes(o[2])
	a, b := e.words(o[2], n), e.words(o[1], n)
	var r [16]uint32
	var k uint64
	for i := range n {
		if number(a[i]) < number(b[i]) {
			r[i], k = math.MaxUint32, k|1<<i
		}
	}
	if kind, to := register(o[3]); kind == 'K' {
		e.k[to] = k
		return
	}
	e.setWords(o[3], n, r)
}

// move executes loads, stores and shuffles. A masked access touches only the lanes of its mask.
func (e *emulator) move(opcode string, zeroing bool, o []operand.Op) {
	switch opcode {
	case "MOVSS", "VMOVSS":
		e.setWords(o[1], 1, e.words(o[0], 1))
	case "MOVSD", "VMOVSD":
		e.setWords(o[1], 2, e.words(o[0], 2))
	case "VMOVSHDUP":
		w := e.words(o[0], 4)
		e.setWords(o[1], 4, [16]uint32{w[1], w[1], w[3], w[3]})
	case "VMOVHLPS":
		a, b := e.words(o[1], 4), e.words(o[0], 4)
		e.setWords(o[2], 4, [16]uint32{b[2], b[3], a[2], a[3]})
	case "VMOVUPS", "VMOVAPS", "VMASKMOVPS":
		if len(o) == 3 {
			e.masked(zeroing || opcode == "VMASKMOVPS", o)
			return
		}
		n := 0
		if _, ok := o[0].(operand.Mem); ok {
			n = lanes(o[1])
		} else {
			n = lanes(o[0])
		}
		e.setWords(o[1], n, e.words(o[0], n))
	default:
		panic("unknown instruction " + opcode)
	}
}

func (e *emulator) masked(zeroing bool, o []operand.Op) {
	from, load := o[0].(operand.Mem)
	to, store := o[2].(operand.Mem)
	n := 0
	if store {
		n = lanes(o[0])
	} else {
		n = lanes(o[2])
	}
	if !store && !zeroing {
		panic("a masked move that merges")
	}
	var r [16]uint32
	for i := range n {
		if !e.set(o[1], i) {
			continue
		}
		f, t := from, to
		f.Disp, t.Disp = f.Disp+4*i, t.Disp+4*i
		switch {
		case load:
			r[i] = e.words(f, 1)[0]
		case store:
			e.setWords(t, 1, [16]uint32{e.words(o[0], n)[i]})
		default:
			r[i] = e.words(o[0], n)[i]
		}
	}
	if !store {
		e.setWords(o[2], n, r)
	}
}

// scalar executes the instructions on general registers.
func (e *emulator) scalar(opcode string, o []operand.Op) {
	if opcode == "LEAQ" {
		e.setInteger(o[1], e.address(o[0].(operand.Mem)))
		return
	}
	d := o[len(o)-1]
	a := e.integer(o[0])
	switch opcode {
	case "MOVQ":
		e.setInteger(d, a)
	case "MOVL":
		if _, ok := d.(operand.Mem); ok {
			e.setWords(d, 1, [16]uint32{uint32(a)})
		} else {
			e.setInteger(d, a&math.MaxUint32)
		}
	case "KMOVW":
		_, k := register(d)
		e.k[k] = a & 0xffff
	case "BZHIL", "BZHIQ":
		if a &= 255; a < 32 {
			e.setInteger(d, e.integer(o[1])&(1<<a-1))
		} else {
			e.setInteger(d, e.integer(o[1]))
		}
	case "IMUL3Q":
		e.setInteger(d, a*e.integer(o[1]))
	case "CMPQ":
		b := e.integer(o[1])
		e.zero, e.less = a == b, int64(a) < int64(b)
	case "TESTQ":
		r := a & e.integer(o[1])
		e.zero, e.less = r == 0, int64(r) < 0
	case "SUBQ":
		b := e.integer(d)
		e.setInteger(d, b-a)
		e.zero, e.less = b == a, int64(b) < int64(a)
	default:
		e.arithmetic(opcode, a, d)
	}
}

// arithmetic executes d = d op a.
func (e *emulator) arithmetic(opcode string, a uint64, d operand.Op) {
	r := e.integer(d)
	switch opcode {
	case "ADDQ":
		r += a
	case "ADDL":
		r = (r + a) & math.MaxUint32
	case "XORQ":
		r ^= a
	case "ANDQ":
		r &= a
	case "SHLQ":
		r <<= a
	case "SHRQ":
		r >>= a
	case "DECQ":
		r--
	default:
		panic("unknown instruction " + opcode)
	}
	e.setInteger(d, r)
	e.zero, e.less = r == 0, int64(r) < 0
}
