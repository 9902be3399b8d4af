package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// philoxRounds is the number of rounds of Philox4x32-10.
const philoxRounds = 10

// normals emits the N(0,1) numbers of core/rng, to the bit: the float64 steps below are those of
// rng's normal.go, in the same order, and no product is fused with a sum. A group is a block of
// four numbers for each 64-bit lane. k0 and k1 are the stream's key; first is an item at which a
// block begins.
func (g *gen) normals() {
	g.begin("Normals", "func(groups int, dst *float32, k0, k1 uint32, occasion, first uint64)")
	keys := g.roundKeys()
	groups, dst := g.arg("groups"), g.arg("dst")
	quarters := g.lanes64() / 4
	// Each lane draws the block whose numbers storeBlocks puts at that lane's place.
	lanes := g.table64("items", g.lanes64(), func(i int) uint64 { return uint64(4 * (i%4*quarters + i/4)) })
	items := g.addInt64(g.spread64(g.address("first")), g.load(lanes))
	// The words of a group are drawn while those of the previous group become numbers. They are
	// kept in memory, because AVX2 does not have enough registers. The last words drawn are not
	// used.
	words := g.AllocLocal(4 * g.bytes())
	word := func(i int) mem { return words.Offset(i * g.bytes()) }
	size := 4 * g.lanes64()
	var drawn [4]vec
	draw := func() {
		drawn = g.philox(items, g.spread64(g.address("occasion")), keys)
		g.into64(items, g.VPADDQ, g.VPADDQ_BCST, items, g.bits64(uint64(size)))
	}
	keep := func() {
		for i, w := range drawn {
			g.VMOVUPS(w, word(i))
		}
	}
	draw()
	keep()
	g.Label("group")
	var x, y [2]reg.VecVirtual
	first := func() { x[0], y[0] = g.boxMuller(word(0), word(1)) }
	second := func() { x[1], y[1] = g.boxMuller(word(2), word(3)) }
	if g.wide() {
		g.interleave(first, second, draw)
	} else {
		g.interleave(func() { first(); second() }, draw)
	}
	keep()
	g.storeBlocks(x, y, dst)
	g.ADDQ(operand.U32(4*size), dst)
	g.DECQ(groups)
	g.JNZ(operand.LabelRef("group"))
	g.end()
}

// roundKeys writes the two keys of each round to the stack.
func (g *gen) roundKeys() mem {
	keys := g.AllocLocal(philoxRounds * 8)
	for i, k := range []struct {
		name string
		step operand.U32
	}{{"k0", 0x9e3779b9}, {"k1", 0xbb67ae85}} {
		key := g.GP32()
		g.Load(g.Param(k.name), key)
		for round := range philoxRounds {
			if round > 0 {
				g.ADDL(k.step, key)
			}
			g.MOVL(key, keys.Offset(8*round+4*i))
		}
	}
	return keys
}

// philox is Philox4x32-10 of the blocks at the given items. The words are the lower halves of the
// lanes; the upper halves hold what the products left there.
func (g *gen) philox(items, occasion vec, keys mem) [4]vec {
	m0, m1 := g.bits64(0xd2511f53), g.bits64(0xcd9e8d57)
	c := [4]vec{g.right64(items, 2), g.right64(items, 34), occasion, g.right64(occasion, 32)}
	for round := range philoxRounds {
		a, b := g.mulWords(c[0], m0), g.mulWords(c[2], m1)
		k0, k1 := g.spread(keys.Offset(8*round)), g.spread(keys.Offset(8*round+4))
		c = [4]vec{g.xor3(g.right64(b, 32), c[1], k0), b, g.xor3(g.right64(a, 32), c[3], k1), a}
	}
	return c
}

// boxMuller makes two N(0,1) numbers from two words in each lane.
func (g *gen) boxMuller(a, b mem) (x, y reg.VecVirtual) {
	radius := g.sqrt64(g.mul64(g.logUnit(g.load(a)), g.c64(-2)))
	sin, cos := g.sincosTurn(g.load(b))
	return g.toSingle(g.mul64(radius, cos)), g.toSingle(g.mul64(radius, sin))
}

// logUnit is ln((w+½)/2³²), with the series of FreeBSD's e_log.c.
func (g *gen) logUnit(w vec) vec {
	const ln2Hi, ln2Lo = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	const rootHalf, one = 0x3fe6a09e667f3bcd, 1 << 52 // the bits of √½, a step of the exponent
	bits := g.maskedLess64(w, math.MaxUint32, -0.5)
	// The exponent relative to √½, plus one: it is at least 0, so a logical shift suffices.
	above := g.addInt64(bits, g.bits64(1<<64+one-rootHalf))
	k := g.less64(g.right64(above, 52), 33)
	f := g.addInt64(g.and64(above, g.bits64(one-1)), g.bits64(rootHalf))
	f = g.sub64(f, g.c64(1))
	s := g.div64(f, g.add64(f, g.c64(2)))
	s2 := g.mul64(s, s)
	s4 := g.mul64(s2, s2)
	odd := g.horner64(s4, 1.479819860511658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01, 6.666666666666735130e-01)
	even := g.horner64(s4, 1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01)
	r := g.add64(g.mul64(s2, odd), g.mul64(s4, even))
	half := g.mul64(g.mul64(f, g.c64(0.5)), f)
	low := g.add64(g.mul64(s, g.add64(half, r)), g.mul64(k, g.c64(ln2Lo)))
	return g.sub64(g.mul64(k, g.c64(ln2Hi)), g.sub64(g.sub64(half, low), f))
}

// sincosTurn is the sine and cosine of w/2³² of a turn, with the series of Cephes' sin.c.
func (g *gen) sincosTurn(w vec) (sin, cos vec) {
	// Bits 30 and 31 count quarter turns, rounded to the nearest; the bits below are the remainder
	// plus an eighth of a turn. The upper half of a lane does not count.
	from := g.addInt64(w, g.bits64(1<<29))
	z := g.mul64(g.maskedLess64(from, 1<<30-1, 1<<29), g.c64(2*math.Pi/(1<<32)))
	zz := g.mul64(z, z)
	s := g.horner64(zz,
		1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6,
		-1.98412698295895385996e-4, 8.33333333332211858878e-3, -1.66666666666666307295e-1)
	s = g.add64(z, g.mul64(z, g.mul64(zz, s)))
	c := g.horner64(zz,
		-1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7,
		2.48015872888517045348e-5, -1.38888888888730564116e-3, 4.16666666666665929218e-2)
	tail := g.mul64(g.mul64(zz, zz), c)
	c = g.add64(g.sub64(g.number64(1), g.mul64(zz, g.c64(0.5))), tail)
	// A quarter turn turns (sin, cos) into (cos, −sin); a half turn negates both.
	halves, quarters := g.left64(from, 32), g.left64(from, 33)
	odd := g.negative(quarters)
	sin = g.flip(g.choose64(odd, c, s), halves)
	cos = g.flip(g.choose64(odd, s, c), g.xor(halves, quarters))
	return sin, cos
}

// storeBlocks writes the four numbers of each lane contiguously; those of lanes i and i+4 are in
// one register.
func (g *gen) storeBlocks(x, y [2]reg.VecVirtual, dst reg.Register) {
	for pair, unpack := range []func(ops ...op){g.VUNPCKLPS, g.VUNPCKHPS} {
		first, second := g.half(), g.half()
		unpack(y[0], x[0], first)
		unpack(y[1], x[1], second)
		for i, join := range []func(ops ...op){g.VUNPCKLPD, g.VUNPCKHPD} {
			block := g.half()
			join(second, first, block)
			g.VMOVUPS(block, mem{Base: dst, Disp: (2*pair + i) * g.bytes() / 2})
		}
	}
}
