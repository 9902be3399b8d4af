package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rmsNorms emits the RMS norm of rows of whole vectors and its gradient: s·γ·x, and s·(g − x·s²·mean(g·x))
// with g = γ·dy and s = 1/√(mean(x²)+ε). share is 1 over the number of columns.
func (g *gen) rmsNorms() {
	const constants = "share, eps float64"
	g.begin("RMSNorm", "func(rows, vectors int, dst, x, gamma *float32, "+constants+")")
	n := g.rmsRows("dst", "x")
	sums := [2]vec{g.zero(), g.zero()}
	n.each("squares", func() {
		low, high := g.halves(n.load("x"))
		g.VFMADD231PD(low, low, sums[0])
		g.VFMADD231PD(high, high, sums[1])
	})
	s := g.single(g.inverseRMS(g.total(sums)))
	n.each("scale", func() {
		g.VMOVUPS(g.mul(g.mul(n.load("x"), s), n.at("gamma")), n.at("dst"))
	})
	n.end()

	g.begin("RMSNormDX", "func(rows, vectors int, dst, x, gamma, dy *float32, "+constants+")")
	n = g.rmsRows("dst", "x", "dy")
	sums, alongs := [2]vec{g.zero(), g.zero()}, [2]vec{g.zero(), g.zero()}
	n.each("sums", func() {
		low, high := g.halves(n.load("x"))
		g.VFMADD231PD(low, low, sums[0])
		g.VFMADD231PD(high, high, sums[1])
		slope, slope2 := g.halves(g.mul(n.load("dy"), n.at("gamma")))
		g.VFMADD231PD(slope, low, alongs[0])
		g.VFMADD231PD(slope2, high, alongs[1])
	})
	inverse, along := g.inverseRMS(g.total(sums)), g.total(alongs)
	g.VMULPD(g.spread64(g.address("share")).AsX(), along, along)
	for range 3 {
		g.VMULPD(inverse, along, along)
	}
	s, back := g.single(inverse), g.single(along)
	n.each("slopes", func() {
		slope := g.mul(g.mul(n.load("dy"), n.at("gamma")), s)
		g.VMOVUPS(g.fnma(slope, n.load("x"), back), n.at("dst"))
	})
	n.end()
	g.rmsGamma()
}

// rmsGamma emits the sum over rows of dy·x·s, which is added to sums.
func (g *gen) rmsGamma() {
	g.begin("RMSNormDGamma", "func(rows, vectors int, gamma, x, dy *float32, share, eps float64)")
	n := g.rmsRows("x", "dy")
	sums := [2]vec{g.zero(), g.zero()}
	n.each("squares", func() {
		low, high := g.halves(n.load("x"))
		g.VFMADD231PD(low, low, sums[0])
		g.VFMADD231PD(high, high, sums[1])
	})
	s := g.single(g.inverseRMS(g.total(sums)))
	n.each("sums", func() {
		g.VMOVUPS(g.fma(n.load("gamma"), g.mul(n.load("x"), s), n.at("dy")), n.at("gamma"))
	})
	n.end()
}

// rmsRows is the loop over rows: the pointers of arrays that move from row to row, and of gamma.
type rmsRows struct {
	*gen
	pointers            map[string]reg.GPVirtual
	rows, vectors, left reg.GPVirtual
	column              reg.GPVirtual // in bytes
	moving              []string
}

func (g *gen) rmsRows(moving ...string) *rmsRows {
	n := &rmsRows{gen: g, pointers: map[string]reg.GPVirtual{"gamma": g.arg("gamma")}, rows: g.arg("rows"), vectors: g.arg("vectors"), left: g.GP64(), column: g.GP64(), moving: moving}
	for _, name := range moving {
		n.pointers[name] = g.arg(name)
	}
	g.Label("row")
	return n
}

func (n *rmsRows) at(name string) mem {
	return mem{Base: n.pointers[name], Index: n.column, Scale: 1}
}

func (n *rmsRows) load(name string) vec { return n.gen.load(n.at(name)) }

// each runs body for each vector of the row.
func (n *rmsRows) each(label string, body func()) {
	n.XORQ(n.column, n.column)
	n.MOVQ(n.vectors, n.left)
	n.Label(label)
	body()
	n.ADDQ(operand.U32(n.bytes()), n.column)
	n.DECQ(n.left)
	n.JNZ(operand.LabelRef(label))
}

// end moves to the next row; column is at the end of this one.
func (n *rmsRows) end() {
	for _, name := range n.moving {
		n.ADDQ(n.column, n.pointers[name])
	}
	n.DECQ(n.rows)
	n.JNZ(operand.LabelRef("row"))
	n.gen.end()
}

// total is the sum of all lanes of two vectors of float64, in both lanes of a register.
func (g *gen) total(sums [2]vec) reg.VecVirtual {
	g.VADDPD(sums[1], sums[0], sums[0])
	low := sums[0]
	if g.wide() {
		half := g.YMM()
		g.VEXTRACTF64X4(operand.U8(1), sums[0], half)
		g.VADDPD(half, low.AsY(), low.AsY())
	}
	s, t := g.XMM(), g.XMM()
	g.VEXTRACTF128(operand.U8(1), low.AsY(), t)
	g.VADDPD(t, low.AsX(), s)
	g.VUNPCKHPD(s, s, t)
	g.VUNPCKLPD(s, s, s)
	g.VADDPD(t, s, s)
	return s
}

// inverseRMS is 1/√(sum·share+eps), for a sum of squares in both lanes of a register.
func (g *gen) inverseRMS(sum vec) reg.VecVirtual {
	mean, root, inverse := g.XMM(), g.XMM(), g.XMM()
	g.VMULPD(g.spread64(g.address("share")).AsX(), sum, mean)
	g.VADDPD(g.spread64(g.address("eps")).AsX(), mean, mean)
	g.VSQRTPD(mean, root)
	g.VDIVPD(root, g.number64(1).AsX(), inverse)
	return inverse
}

// single is a float64 as a vector of float32.
func (g *gen) single(x vec) vec {
	s, d := g.XMM(), g.vec()
	g.VCVTPD2PSX(x, s)
	g.VBROADCASTSS(s, d)
	return d
}
