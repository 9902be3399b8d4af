package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The vector machine on float64 and 64-bit integer lanes; a register has half as many of them.

// lanes64 is the number of 64-bit lanes of a vector.
func (s isa) lanes64() int { return s.lanes / 2 }

// half allocates a register of half a vector.
func (g *gen) half() reg.VecVirtual {
	if g.wide() {
		return g.YMM()
	}
	return g.XMM()
}

// table64 returns n 64-bit constants in memory.
func (g *gen) table64(name string, n int, lane func(i int) uint64) mem {
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range n {
		g.AddDatum(8*i, operand.U32(uint32(lane(i))))
		g.AddDatum(8*i+4, operand.U32(uint32(lane(i)>>32)))
	}
	return m
}

// bits64 returns a 64-bit constant in memory, as an operand of the functions below. For AVX2 it is
// a whole vector. For AVX-512 a vector could straddle two cache lines, depending on the linker, and
// the instructions can broadcast a single number themselves.
func (g *gen) bits64(word uint64) mem {
	m, ok := g.consts64[word]
	if !ok {
		n := g.lanes64()
		if g.wide() {
			n = 1
		}
		m = g.table64(fmt.Sprintf("q%016x", word), n, func(int) uint64 { return word })
		g.consts64[word] = m
	}
	return m
}

// c64 returns a constant number in memory, likewise.
func (g *gen) c64(x float64) mem { return g.bits64(math.Float64bits(x)) }

func (g *gen) spread64(m op) vec {
	d := g.vec()
	g.VPBROADCASTQ(m, d)
	return d
}

// number64 returns a vector of one constant number, in a register.
func (g *gen) number64(x float64) vec {
	if g.wide() {
		return g.spread64(g.c64(x))
	}
	return g.load(g.c64(x))
}

// into64 emits a two-source instruction in one of its forms; spread is AVX-512's form with a
// constant.
func (g *gen) into64(d vec, whole, spread func(ops ...op), a vec, b op) vec {
	if _, constant := b.(mem); constant && g.wide() {
		spread(b, a, d)
	} else {
		whole(b, a, d)
	}
	return d
}

// In the following functions the last operand may be a constant.

func (g *gen) add64(a vec, b op) vec { return g.into64(g.vec(), g.VADDPD, g.VADDPD_BCST, a, b) }
func (g *gen) sub64(a vec, b op) vec { return g.into64(g.vec(), g.VSUBPD, g.VSUBPD_BCST, a, b) }
func (g *gen) mul64(a vec, b op) vec { return g.into64(g.vec(), g.VMULPD, g.VMULPD_BCST, a, b) }
func (g *gen) div64(a, b vec) vec    { d := g.vec(); g.VDIVPD(b, a, d); return d }
func (g *gen) sqrt64(a vec) vec      { d := g.vec(); g.VSQRTPD(a, d); return d }

func (g *gen) and64(a vec, b op) vec {
	if !g.wide() {
		return g.and(a, b)
	}
	return g.into64(g.vec(), g.VPANDQ, g.VPANDQ_BCST, a, b)
}

func (g *gen) or64(a vec, b op) vec {
	if !g.wide() {
		return g.or(a, b)
	}
	return g.into64(g.vec(), g.VPORQ, g.VPORQ_BCST, a, b)
}

// horner64 evaluates the polynomial in x, the highest coefficient first. It rounds each product
// before adding it.
func (g *gen) horner64(x vec, coefficients ...float64) vec {
	p := g.number64(coefficients[0])
	for _, k := range coefficients[1:] {
		p = g.add64(g.mul64(p, x), g.c64(k))
	}
	return p
}

// Integer lanes; shifts are logical.

func (g *gen) addInt64(a vec, b op) vec { return g.into64(g.vec(), g.VPADDQ, g.VPADDQ_BCST, a, b) }

func (g *gen) left64(a vec, n uint8) vec {
	d := g.vec()
	g.VPSLLQ(operand.U8(n), a, d)
	return d
}
func (g *gen) right64(a vec, n uint8) vec {
	d := g.vec()
	g.VPSRLQ(operand.U8(n), a, d)
	return d
}

// mulWords is the 64-bit product of the lower halves of the lanes.
func (g *gen) mulWords(a vec, b op) vec {
	return g.into64(g.vec(), g.VPMULUDQ, g.VPMULUDQ_BCST, a, b)
}

func (g *gen) xor(a vec, b op) vec {
	d := g.vec()
	if g.wide() {
		g.VPXORD(b, a, d)
	} else {
		g.VPXOR(b, a, d)
	}
	return d
}

// xor3 is a ^ b ^ c; c may be memory.
func (g *gen) xor3(a, b vec, c op) vec {
	if !g.wide() {
		return g.xor(g.xor(a, b), c)
	}
	const table = 0x96
	d := g.copy(a)
	g.VPTERNLOGD(operand.U8(table), c, b, d)
	return d
}

// magic is 2⁵²; the lowest bits of its mantissa are units.
const magic = 1 << 52

// less64 is a − b as float64, for integer lanes a < 2⁵²: a becomes the mantissa of 2⁵²+a. It is
// exact if 2⁵²+b is, which requires whole b, or halves below 0.
func (g *gen) less64(a vec, b float64) vec {
	return g.sub64(g.or64(a, g.c64(magic)), g.c64(magic+b))
}

// maskedLess64 is less64 of the bits of a that are set in mask.
func (g *gen) maskedLess64(a vec, mask uint64, b float64) vec {
	if !g.wide() {
		return g.less64(g.and64(a, g.bits64(mask)), b)
	}
	const table = 0xea // d&mask | magic
	d := g.copy(a)
	g.VPTERNLOGQ_BCST(operand.U8(table), g.c64(magic), g.spread64(g.bits64(mask)), d)
	return g.sub64(d, g.c64(magic+b))
}

// negative is the mask of the 64-bit lanes whose highest bit is set.
func (g *gen) negative(a vec) mask {
	if !g.wide() {
		return a
	}
	k := g.K()
	g.VPMOVQ2M(a, k)
	return k
}

// choose64 is yes where the mask is set, no elsewhere.
func (g *gen) choose64(where mask, yes, no vec) vec {
	d := g.vec()
	if g.wide() {
		g.VBLENDMPD(yes, no, where, d)
	} else {
		g.VBLENDVPD(where, yes, no, d)
	}
	return d
}

// flip is a with its sign changed where the highest bit of by is set.
func (g *gen) flip(a, by vec) vec {
	sign := g.bits64(1 << 63)
	if !g.wide() {
		return g.xor(a, g.and64(by, sign))
	}
	const table = 0x78 // d ^ by&sign
	d := g.copy(a)
	g.VPTERNLOGQ_BCST(operand.U8(table), sign, by, d)
	return d
}

// toSingle rounds to float32.
func (g *gen) toSingle(a vec) reg.VecVirtual {
	d := g.half()
	if g.wide() {
		g.VCVTPD2PS(a, d)
	} else {
		g.VCVTPD2PSY(a, d)
	}
	return d
}
