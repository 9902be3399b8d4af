package main

import (
	"math"
	"slices"

	"github.com/mmcloughlin/avo/operand"
)

func float64s(f func(a, b float64) float64) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		return math.Float64bits(f(math.Float64frombits(a), math.Float64frombits(b)))
	}
}

// spread is a place of 64 bits that an instruction reads into every lane.
type spread struct{ operand.Mem }

// spreadOperands turns the operand in memory into a spread.
func spreadOperands(o []operand.Op) []operand.Op {
	o = slices.Clone(o)
	for i := range o {
		if m, ok := o[i].(operand.Mem); ok {
			o[i] = spread{m}
		}
	}
	return o
}

// binaries64 are the instructions with two sources on 64-bit lanes; a is the first source in
// Intel's order.
var binaries64 = map[string]func(a, b uint64) uint64{
	"VADDPD":   float64s(func(a, b float64) float64 { return a + b }),
	"VSUBPD":   float64s(func(a, b float64) float64 { return a - b }),
	"VMULPD":   float64s(func(a, b float64) float64 { return a * b }),
	"VDIVPD":   float64s(func(a, b float64) float64 { return a / b }),
	"VPADDQ":   func(a, b uint64) uint64 { return a + b },
	"VPANDQ":   func(a, b uint64) uint64 { return a & b },
	"VPORQ":    func(a, b uint64) uint64 { return a | b },
	"VPMULUDQ": func(a, b uint64) uint64 { return a & math.MaxUint32 * (b & math.MaxUint32) },
}

// vectors64 are the other instructions on 64-bit lanes.
var vectors64 = map[string]func(e *emulator, o []operand.Op){
	"VPSLLQ": func(e *emulator, o []operand.Op) {
		e.unary64(o[1], o[2], func(a uint64) uint64 { return a << e.integer(o[0]) })
	},
	"VPSRLQ": func(e *emulator, o []operand.Op) {
		e.unary64(o[1], o[2], func(a uint64) uint64 { return a >> e.integer(o[0]) })
	},
	"VSQRTPD": func(e *emulator, o []operand.Op) {
		e.unary64(o[0], o[1], func(a uint64) uint64 { return math.Float64bits(math.Sqrt(math.Float64frombits(a))) })
	},
	"VPBROADCASTQ": func(e *emulator, o []operand.Op) {
		a := lane64(e.words(o[0], 2), 0)
		e.unary64(o[1], o[1], func(uint64) uint64 { return a })
	},
	"VCVTPD2PS":  (*emulator).toSingle,
	"VCVTPD2PSY": (*emulator).toSingle,
	"VCVTPD2PSX": func(e *emulator, o []operand.Op) {
		a := e.words(o[0], 4)
		e.setWords(o[1], 4, [16]uint32{math.Float32bits(float32(double(a, 0))), math.Float32bits(float32(double(a, 1)))})
	},
	"VBLENDVPD": func(e *emulator, o []operand.Op) {
		e.blend64(e.signs(o[0]), o[1], o[2], o[3])
	},
	"VBLENDMPD": func(e *emulator, o []operand.Op) {
		_, k := register(o[2])
		e.blend64(e.k[k], o[0], o[1], o[3])
	},
	"VPMOVQ2M": func(e *emulator, o []operand.Op) {
		_, k := register(o[1])
		e.k[k] = e.signs(o[0])
	},
}

func lane64(w [16]uint32, i int) uint64 { return uint64(w[2*i]) | uint64(w[2*i+1])<<32 }

func (e *emulator) binary64(f func(a, b uint64) uint64, o []operand.Op) {
	n := lanes(o[2])
	a, b := e.words(o[1], n), e.words(o[0], n)
	for i := range n / 2 {
		r := f(lane64(a, i), lane64(b, i))
		a[2*i], a[2*i+1] = uint32(r), uint32(r>>32)
	}
	e.setWords(o[2], n, a)
}

func (e *emulator) unary64(from, to operand.Op, f func(a uint64) uint64) {
	n := lanes(to)
	a := e.words(from, n)
	for i := range n / 2 {
		r := f(lane64(a, i))
		a[2*i], a[2*i+1] = uint32(r), uint32(r>>32)
	}
	e.setWords(to, n, a)
}

// toSingle is VCVTPD2PS, whose result has half as many bytes.
func (e *emulator) toSingle(o []operand.Op) {
	n := lanes(o[1])
	a := e.words(o[0], 2*n)
	var r [16]uint32
	for i := range n {
		r[i] = math.Float32bits(float32(double(a, i)))
	}
	e.setWords(o[1], n, r)
}

// signs returns the highest bit of each 64-bit lane.
func (e *emulator) signs(o operand.Op) (k uint64) {
	n := lanes(o)
	for i, w := range e.words(o, n) {
		if i%2 == 1 {
			k |= uint64(w>>31) << (i / 2)
		}
	}
	return k
}

func (e *emulator) blend64(where uint64, yes, no, d operand.Op) {
	n := lanes(d)
	a, b := e.words(yes, n), e.words(no, n)
	for i := range n {
		if where>>(i/2)&1 == 0 {
			a[i] = b[i]
		}
	}
	e.setWords(d, n, a)
}
