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

// An isa is a vector instruction set: the family's name, and the float32 lanes
// of one register.
type isa struct {
	name  string
	lanes int
}

var isas = []isa{{"avx2", 8}}

// gen emits one family. Its short methods below are the vector machine that the
// kernels are written in: they return a fresh register and leave their operands
// alone, except where the comment says otherwise.
type gen struct {
	*build.Context
	isa
	consts map[uint32]mem
	ramp   mem // lanes words of ones, then lanes words of zeros
}

func newGen(s isa) *gen {
	g := &gen{Context: build.NewContext(), isa: s, consts: map[uint32]mem{}}
	if s.lanes == 8 {
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
	if g.lanes == 16 {
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
	g.VPXOR(d, d, d)
	return d
}

// In the next ones the last operand may be memory.

func (g *gen) add(a vec, b op) vec { d := g.vec(); g.VADDPS(b, a, d); return d }
func (g *gen) sub(a vec, b op) vec { d := g.vec(); g.VSUBPS(b, a, d); return d }
func (g *gen) mul(a vec, b op) vec { d := g.vec(); g.VMULPS(b, a, d); return d }
func (g *gen) div(a vec, b op) vec { d := g.vec(); g.VDIVPS(b, a, d); return d }
func (g *gen) sqrt(a op) vec       { d := g.vec(); g.VSQRTPS(a, d); return d }

// atLeast is max(a, bound) and atMost min(a, bound); NaN stays NaN, for the
// instructions return their second source then.
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

func (g *gen) and(a vec, b op) vec { d := g.vec(); g.VPAND(b, a, d); return d }
func (g *gen) or(a vec, b op) vec  { d := g.vec(); g.VPOR(b, a, d); return d }

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

// round is the nearest whole number.
func (g *gen) round(a vec) vec {
	d := g.vec()
	g.VROUNDPS(operand.U8(8), a, d)
	return d
}

// less is the predicate a < b, false for NaN; b may be memory.
func (g *gen) less(a vec, b op) vec {
	d := g.vec()
	g.VCMPPS(operand.U8(0x11), b, a, d)
	return d
}

// choose is yes where the predicate holds, else no.
func (g *gen) choose(if_ vec, yes op, no vec) vec {
	d := g.vec()
	g.VBLENDVPS(if_, yes, no, d)
	return d
}

// keep is a where the predicate holds, else 0.
func (g *gen) keep(if_, a vec) vec { return g.and(a, if_) }

// tail is the predicate of the first n lanes, 0 < n ≤ lanes, into d.
func (g *gen) tail(n reg.Register, d reg.Register) {
	table, rest := g.GP64(), g.GP64()
	g.LEAQ(g.ramp, table)
	g.MOVQ(operand.U32(g.lanes), rest)
	g.SUBQ(n, rest)
	g.VMOVUPS(mem{Base: table, Index: rest, Scale: 4}, d)
}

// loadTail reads the lanes of the predicate, zeros for the rest; no byte
// outside is touched.
func (g *gen) loadTail(m op, if_, d reg.Register)  { g.VMASKMOVPS(m, if_, d) }
func (g *gen) storeTail(d, if_ reg.Register, m op) { g.VMASKMOVPS(d, if_, m) }

// arg loads the named parameter into a register.
func (g *gen) arg(name string) reg.GPVirtual {
	r := g.GP64()
	g.Load(g.Param(name), r)
	return r
}
