package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type (
	op  = operand.Op
	mem = operand.Mem
	vec = reg.VecVirtual
)

// An isa is an instruction set: the family's name, the float32 lanes of one
// register, and the kernels written with it.
type isa struct {
	name  string
	lanes int
	emit  func(g *gen)
}

// isas lists the families that have every kernel.
var isas = []isa{
	{"avx2", 8, func(g *gen) {
		g.kernels()
		g.transpose(8) // AVX-512 uses these too
		g.transpose(16)
		g.peak()
	}},
	{"avx512", 16, func(g *gen) {
		g.kernels()
		g.peak()
	}},
}

func (g *gen) kernels() {
	g.products()
	g.patches()
	g.elementwise()
	g.optimiser()
	g.reductions()
	g.normals()
	g.bytesToNumbers()
	g.softmaxRows()
	g.gatedUpdate()
	g.rmsNorms()
}

// wide reports whether this is AVX-512, which has separate mask registers and other names for some
// instructions.
func (s isa) wide() bool { return s.lanes == 16 }

// gen emits one family. Its short methods below are the vector machine in which the kernels are
// written: they return a fresh register and leave their operands unchanged, except where the
// comment says otherwise.
type gen struct {
	assembler
	isa
	consts   map[uint32]mem
	consts64 map[uint64]mem
	ramp     mem // lanes words of ones, then lanes words of zeros
	config   mem // of the tile registers
}

func newGen(s isa) *gen {
	g := &gen{assembler: build.NewContext(), isa: s, consts: map[uint32]mem{}, consts64: map[uint64]mem{}}
	if !s.wide() {
		g.ramp = g.StaticGlobal("ramp")
		g.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 2 * s.lanes {
			word := operand.U32(0)
			if i < s.lanes {
				word = math.MaxUint32
			}
			g.AddDatum(4*i, word)
		}
	}
	return g
}

// begin starts the function family+name; its pointers do not escape.
func (g *gen) begin(name, signature string) {
	g.Function(g.name + name)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(signature)
}

func (g *gen) end() {
	g.VZEROUPPER()
	g.RET()
}

// bytes is the size of a vector.
func (g *gen) bytes() int { return 4 * g.lanes }

func (g *gen) vec() vec {
	if g.wide() {
		return g.ZMM()
	}
	return g.YMM()
}

// bits is a vector of one constant word, in memory.
func (g *gen) bits(word uint32) mem {
	if m, ok := g.consts[word]; ok {
		return m
	}
	m := g.StaticGlobal(fmt.Sprintf("c%08x", word))
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range g.lanes {
		g.AddDatum(4*i, operand.U32(word))
	}
	g.consts[word] = m
	return m
}

// c is a vector of one constant number, in memory.
func (g *gen) c(x float64) mem { return g.bits(math.Float32bits(float32(x))) }

func (g *gen) load(m op) vec {
	d := g.vec()
	g.VMOVUPS(m, d)
	return d
}

func (g *gen) spread(m op) vec {
	d := g.vec()
	g.VBROADCASTSS(m, d)
	return d
}

func (g *gen) copy(a vec) vec {
	d := g.vec()
	g.VMOVAPS(a, d)
	return d
}

func (g *gen) zero() vec {
	d := g.vec()
	g.clear(d)
	return d
}

func (g *gen) clear(d reg.Register) {
	if g.wide() {
		g.VPXORD(d, d, d)
		return
	}
	g.VPXOR(d, d, d)
}

// In the following functions the last operand may be memory.

func (g *gen) add(a vec, b op) vec { d := g.vec(); g.VADDPS(b, a, d); return d }
func (g *gen) sub(a vec, b op) vec { d := g.vec(); g.VSUBPS(b, a, d); return d }
func (g *gen) mul(a vec, b op) vec { d := g.vec(); g.VMULPS(b, a, d); return d }
func (g *gen) div(a vec, b op) vec { d := g.vec(); g.VDIVPS(b, a, d); return d }
func (g *gen) sqrt(a op) vec       { d := g.vec(); g.VSQRTPS(a, d); return d }

// atLeast is max(a, bound) and atMost min(a, bound); NaN stays NaN, because the instructions then
// return their second source.
func (g *gen) atLeast(a, bound vec) vec { d := g.vec(); g.VMAXPS(a, bound, d); return d }
func (g *gen) atMost(a, bound vec) vec  { d := g.vec(); g.VMINPS(a, bound, d); return d }

// fma is acc += a·b and fnma acc −= a·b, in place.
func (g *gen) fma(acc, a vec, b op) vec  { g.VFMADD231PS(b, a, acc); return acc }
func (g *gen) fnma(acc, a vec, b op) vec { g.VFNMADD231PS(b, a, acc); return acc }

// horner evaluates the polynomial in x, the highest coefficient first.
func (g *gen) horner(x vec, coefficients ...float64) vec {
	p := g.load(g.c(coefficients[0]))
	for _, k := range coefficients[1:] {
		g.VFMADD213PS(g.c(k), x, p)
	}
	return p
}

func (g *gen) and(a vec, b op) vec {
	d := g.vec()
	if g.wide() {
		g.VPANDD(b, a, d)
	} else {
		g.VPAND(b, a, d)
	}
	return d
}

func (g *gen) or(a vec, b op) vec {
	d := g.vec()
	if g.wide() {
		g.VPORD(b, a, d)
	} else {
		g.VPOR(b, a, d)
	}
	return d
}

// Integer lanes.

func (g *gen) addInt(a vec, b op) vec { d := g.vec(); g.VPADDD(b, a, d); return d }
func (g *gen) subInt(a vec, b op) vec { d := g.vec(); g.VPSUBD(b, a, d); return d }
func (g *gen) left(a vec, n uint8) vec {
	d := g.vec()
	g.VPSLLD(operand.U8(n), a, d)
	return d
}
func (g *gen) right(a vec, n uint8) vec {
	d := g.vec()
	g.VPSRAD(operand.U8(n), a, d)
	return d
}
func (g *gen) toInt(a vec) vec   { d := g.vec(); g.VCVTPS2DQ(a, d); return d }
func (g *gen) fromInt(a vec) vec { d := g.vec(); g.VCVTDQ2PS(a, d); return d }

// round is the nearest whole number, ties to even.
func (g *gen) round(a vec) vec {
	d := g.vec()
	if g.wide() {
		g.VRNDSCALEPS(operand.U8(8), a, d)
	} else {
		g.VROUNDPS(operand.U8(8), a, d)
	}
	return d
}

// A mask says for each lane whether something holds. It is a vector of ones and zeros in AVX2 and a
// mask register in AVX-512.
type mask = reg.Register

func (g *gen) mask() mask {
	if g.wide() {
		return g.K()
	}
	return g.YMM()
}

// lessThan is the predicate a < b, ordered and quiet: false for NaN.
const lessThan = operand.U8(0x11)

// less is the mask of a < b; b may be memory.
func (g *gen) less(a vec, b op) mask {
	d := g.mask()
	g.VCMPPS(lessThan, b, a, d)
	return d
}

// choose is yes where the mask is set, no elsewhere; yes may be memory.
func (g *gen) choose(where mask, yes op, no vec) vec {
	d := g.vec()
	if g.wide() {
		g.VBLENDMPS(yes, no, where, d)
	} else {
		g.VBLENDVPS(where, yes, no, d)
	}
	return d
}

// keep is a where the mask is set, 0 elsewhere.
func (g *gen) keep(where mask, a vec) vec {
	d := g.vec()
	g.keepInto(where, a, d)
	return d
}

func (g *gen) keepInto(where mask, a, d reg.Register) {
	if g.wide() {
		g.VMOVAPS_Z(a, where, d)
	} else {
		g.VANDPS(where, a, d)
	}
}

// tail sets d to the mask of the first n lanes, n ≤ lanes.
func (g *gen) tail(n reg.Register, d mask) {
	if g.wide() {
		ones := g.GP32()
		g.MOVL(operand.U32(0xffff), ones)
		g.BZHIL(n.(reg.GP).As32(), ones, ones)
		g.KMOVW(ones, d)
		return
	}
	table, rest := g.GP64(), g.GP64()
	g.LEAQ(g.ramp, table)
	g.MOVQ(operand.U32(g.lanes), rest)
	g.SUBQ(n, rest)
	g.VMOVUPS(mem{Base: table, Index: rest, Scale: 4}, d)
}

// loadTail reads the lanes of the mask and zeros for the rest; storeTail writes the lanes of the
// mask. Neither touches a byte outside.
func (g *gen) loadTail(m op, where mask, d reg.Register) {
	if g.wide() {
		g.VMOVUPS_Z(m, where, d)
	} else {
		g.VMASKMOVPS(m, where, d)
	}
}

func (g *gen) storeTail(d reg.Register, where mask, m op) {
	if g.wide() {
		g.VMOVUPS(d, where, m)
	} else {
		g.VMASKMOVPS(d, where, m)
	}
}

// arg loads the named parameter into a register.
func (g *gen) arg(name string) reg.GPVirtual {
	r := g.GP64()
	g.Load(g.Param(name), r)
	return r
}
