package ptx

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// rounded rounds an exact number to a binary format with the given number of digits, whose last
// place is never below 2^least. It does so the slow way, with integers.
func rounded(x *big.Float, digits, least int, mode string) *big.Float {
	if x.Sign() == 0 {
		return x
	}
	unit := max(x.MantExp(nil)-digits, least)
	scaled := new(big.Float).SetMantExp(x, -unit)
	n, accuracy := scaled.Int(nil) // toward zero
	if accuracy != big.Exact {
		half := new(big.Float).SetPrec(700).Sub(scaled, new(big.Float).SetInt(n))
		half.Abs(half)
		away := false
		switch c := half.Cmp(big.NewFloat(0.5)); mode {
		case "rn":
			away = c > 0 || c == 0 && n.Bit(0) == 1
		case "rna":
			away = c >= 0
		case "rm":
			away = x.Sign() < 0
		case "rp":
			away = x.Sign() > 0
		}
		if away {
			n.Add(n, big.NewInt(int64(x.Sign())))
		}
	}
	return new(big.Float).SetMantExp(new(big.Float).SetPrec(100).SetInt(n), unit)
}

// bitsOf returns the f32 of an exact result; zero is the result for an exact zero.
func bitsOf(x *big.Float, mode string, zero uint64) uint64 {
	r := rounded(x, 24, -149, mode)
	if r.Sign() == 0 && x.Sign() == 0 {
		return zero
	}
	f, _ := r.Float64()
	if math.Abs(f) > math.MaxFloat32 {
		toZero := mode == "rz" || mode == "rm" && f > 0 || mode == "rp" && f < 0
		f32 := float32(math.Copysign(math.Inf(1), f))
		if toZero {
			f32 = float32(math.Copysign(math.MaxFloat32, f))
		}
		return fb(f32)
	}
	if r.Sign() == 0 && x.Sign() < 0 {
		return negative0
	}
	return fb(float32(f))
}

func exactly(x uint64) *big.Float {
	return new(big.Float).SetPrec(700).SetFloat64(float64(math.Float32frombits(uint32(x))))
}

// hardNumber returns an f32 of any size; many of them are close to each other's halves.
func hardNumber(r *rand.Rand) uint64 {
	switch r.IntN(6) {
	case 0:
		return uint64(r.Uint32N(0x7f800000)) | uint64(r.Uint32())&0x80000000
	case 1:
		return uint64(r.Uint32N(1<<24)) | uint64(r.Uint32())&0x80000000 // subnormal or nearly
	case 2:
		return fb(float32(r.IntN(64) - 32))
	case 3:
		return fb(float32(math.Ldexp(float64(r.IntN(1<<24)), r.IntN(40)-20)))
	case 4:
		return fb(float32(math.Ldexp(1+float64(r.IntN(3)-1)*0x1p-23, r.IntN(60)-30)))
	}
	return fb(float32(r.NormFloat64()))
}

// Arithmetic in f32 is rounded once, in every mode, also for subnormal results.
func TestSinglePrecisionRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	n := 250
	args := make([]uint32, 0, 4*3*n)
	for range n {
		x, y, z := hardNumber(r), hardNumber(r), hardNumber(r)
		if r.IntN(4) == 0 { // an addend half a unit of the product's last place
			p := exactly(x)
			p.Mul(p, exactly(y))
			f, _ := p.Float64()
			z = fb(float32(math.Ldexp(f, -24-r.IntN(3))))
		}
		args = append(args, uint32(x), uint32(y), uint32(z), 0)
	}
	for _, mode := range []string{"rn", "rz", "rm", "rp"} {
		for _, op := range []string{"add", "sub", "mul", "fma", "div", "sqrt", "rcp"} {
			text := fmt.Sprintf("%s.%s.f32 %%f4, %%f1, %%f2;", op, mode)
			switch op {
			case "fma":
				text = fmt.Sprintf("fma.%s.f32 %%f4, %%f1, %%f2, %%f3;", mode)
			case "sqrt", "rcp":
				text = fmt.Sprintf("%s.%s.f32 %%f4, %%f1;", op, mode)
			}
			got := stream(t, text, args)
			for i := range n {
				x, y, z := uint64(args[4*i]), uint64(args[4*i+1]), uint64(args[4*i+2])
				want, ok := exactResult(op, x, y, z, mode)
				if ok && uint64(got[i]) != want {
					t.Fatalf("%s of %#x %#x %#x = %#x, want %#x", text, x, y, z, got[i], want)
				}
			}
		}
	}
}

// exactResult works with exact numbers, and with 700 bits for quotients and roots.
func exactResult(op string, x, y, z uint64, mode string) (uint64, bool) {
	a, b, c := exactly(x), exactly(y), exactly(z)
	r := new(big.Float).SetPrec(700)
	zero := uint64(0) // for a sum that is exactly zero: +0, or -0 when rounding down
	if mode == "rm" {
		zero = negative0
	}
	both := func(x, y uint64) uint64 { // a sum of two zeros of one sign keeps it
		if x>>31 == y>>31 {
			return x & negative0
		}
		return zero
	}
	switch op {
	case "sub":
		y ^= negative0
		b.Neg(b)
		fallthrough
	case "add":
		r.Add(a, b)
		if a.Sign() == 0 && b.Sign() == 0 {
			zero = both(x, y)
		}
	case "mul":
		r.Mul(a, b)
		zero = (x ^ y) & negative0
	case "fma":
		r.Mul(a, b)
		if r.Sign() == 0 && c.Sign() == 0 {
			zero = both(x^y, z)
		}
		r.Add(r, c)
	case "div":
		if b.Sign() == 0 {
			return 0, false
		}
		r.Quo(a, b)
		zero = (x ^ y) & negative0
	case "rcp":
		if a.Sign() == 0 {
			return 0, false
		}
		r.Quo(big.NewFloat(1), a)
	case "sqrt":
		if a.Sign() <= 0 {
			return 0, false
		}
		r.Sqrt(a)
	}
	return bitsOf(r, mode, zero), true
}

// stream runs one instruction on many arguments: %f1 to %f3 or %r1 to %r3 have four words, and the
// result is %f4 or %r4.
func stream(t *testing.T, text string, args []uint32) []uint32 {
	t.Helper()
	n := len(args) / 4
	k := inline(t, `
	mov.u32 %r20, %ctaid.x; mad.lo.s32 %t, %r20, 32, %t;
	mul.wide.u32 %d20, %t, 16; add.u64 %d21, %in, %d20; shr.u64 %d20, %d20, 2; add.u64 %d22, %out, %d20;
	setp.ge.u32 %p1, %t, `+fmt.Sprint(n)+`; @%p1 ret;
	ld.global.v4.b32 {%r1, %r2, %r3, %r5}, [%d21];
	mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3; mov.f32 %f4, 0f00000000; mov.u32 %r4, 0;
	`+text+`
	mov.b32 %r6, %f4; or.b32 %r6, %r6, %r4;
	st.global.b32 [%d22], %r6;`)
	mem := NewMemory()
	out := upload(t, mem, make([]uint32, n))
	if err := k.Run(mem, [3]uint32{uint32(n+31) / 32, 1, 1}, [3]uint32{32, 1, 1}, 0, Pack{}.Add(out, 8).Add(upload(t, mem, args), 8)); err != nil {
		t.Fatal(err)
	}
	return download[uint32](t, mem, out, n)
}

var floatCases = []opcodeCase{
	// NaN is canonical, infinities work as they should
	{"add.f32 %f0, %f1, %f2", nan32, args(quiet, fb(1))},
	{"sub.f32 %f0, %f1, %f2", nan32, args(fb(inf), fb(inf))},
	{"mul.f32 %f0, %f1, %f2", nan32, args(fb(inf), 0)},
	{"fma.rn.f32 %f0, %f1, %f2, %f3", nan32, args(fb(inf), 0, fb(1))},
	{"fma.rn.f32 %f0, %f1, %f2, %f3", fb(-inf), args(fb(2), fb(1), fb(-inf))},
	{"div.rn.f32 %f0, %f1, %f2", fb(-inf), args(fb(-1), 0)},
	{"add.ftz.f32 %f0, %f1, %f2", 0, args(subnormal, subnormal)},
	{"mul.ftz.f32 %f0, %f1, %f2", negative0, args(0x00800000, fb(-0.5))},
	{"mul.rn.f32 %f0, %f1, %f2", nSubnormal, args(0x00800000, fb(-0.5))},
	{"add.sat.f32 %f0, %f1, %f2", fb(1), args(fb(1), fb(0.5))},
	{"add.sat.f32 %f0, %f1, %f2", 0, args(fb(-1), fb(0.5))},
	{"fma.rn.sat.f32 %f0, %f1, %f2, %f3", 0, args(quiet, fb(0.5), fb(1))},
	{"mad.rn.f32 %f0, %f1, %f2, %f3", fb(7), args(fb(2), fb(3), fb(1))},
	{"fma.rn.f64 %e0, %e1, %e2, %e3", eb(-0x1p-104), args(eb(1+0x1p-52), eb(1-0x1p-52), eb(-1))},
	{"add.f64 %e0, %e1, %e2", eb(1), args(eb(1), eb(0x1p-53))},
	{"sub.rn.f64 %e0, %e1, %e2", nan64, args(eb(math.Inf(1)), eb(math.Inf(1)))},
	{"mul.f64 %e0, %e1, %e2", eb(-6), args(eb(2), eb(-3))},
	{"div.rn.f64 %e0, %e1, %e2", eb(0.1), args(eb(1), eb(10))},
	{"sqrt.rn.f64 %e0, %e1", eb(math.Sqrt2), args(eb(2))},

	// min and max: the number where the other is NaN; -0 below +0
	{"min.f32 %f0, %f1, %f2", fb(3), args(quiet, fb(3))},
	{"max.f32 %f0, %f1, %f2", fb(3), args(fb(3), quiet)},
	{"max.f32 %f0, %f1, %f2", nan32, args(quiet, quiet)},
	{"max.NaN.f32 %f0, %f1, %f2", nan32, args(fb(3), quiet)},
	{"min.f32 %f0, %f1, %f2", negative0, args(0, negative0)},
	{"max.f32 %f0, %f1, %f2", 0, args(negative0, 0)},
	{"max.f32 %f0, %f1, %f2", negative0, args(negative0, negative0)},
	{"min.f32 %f0, %f1, %f2", fb(-inf), args(fb(-inf), fb(3))},
	{"max.f32 %f0, %f1, %f2", fb(-2), args(fb(-2), fb(-3))},
	{"max.ftz.f32 %f0, %f1, %f2", 0, args(subnormal, fb(-1))},
	{"max.f64 %e0, %e1, %e2", eb(3), args(eb(math.NaN()), eb(3))},
	{"abs.f32 %f0, %f1", fb(2), args(fb(-2))},
	{"abs.ftz.f32 %f0, %f1", 0, args(nSubnormal)},
	{"neg.f32 %f0, %f1", 0, args(negative0)},
	{"neg.f64 %e0, %e1", eb(-1), args(eb(1))},

	// roots and reciprocals at their special values
	{"rcp.rn.f64 %e0, %e1", eb(0.1), args(eb(10))},
	{"sqrt.rn.f32 %f0, %f1", negative0, args(negative0)},
	{"sqrt.rn.f32 %f0, %f1", nan32, args(fb(-1))},

	// selection and comparison
	{"selp.f32 %f0, %f1, %f2, %p3", fb(1), args(fb(1), fb(2), 1)},
	{"selp.b64 %d0, %d1, %d2, %p3", 2, args(1, 2, 0)},

	// moves
	{"mov.b64 %d0, {%r1, %r2}", 0x0000000200000001, args(1, 2)},
	{"mov.b64 {%r0, _}, %d1", 5, args(7<<32 | 5)},
	{"mov.b64 {_, %r0}, %d1", 7, args(7<<32 | 5)},
	{"mov.b32 %r0, {%h1, %h2}", 0x00020001, args(1, 2)},
	{"mov.b32 {%h5, %h0}, %r1", 0xabcd, args(0xabcd1234)},
	{"mov.f32 %f0, 0fBF800000", fb(-1), nil},
	{"mov.f64 %e0, 0d3FF8000000000000", eb(1.5), nil},
	{"mov.f32 %f0, 1.5", fb(1.5), nil},
	{"mov.u32 %r0, -1", 0xffffffff, nil},
	{"mov.s16 %h0, -1", 0xffff, nil},
	{"mov.u64 %d0, 0x123456789abcdef", 0x123456789abcdef, nil},
	{"mov.pred %p0, %p1", 1, args(1)},
	{"and.pred %p0, %p1, %p2", 0, args(1, 0)},
	{"or.pred %p0, %p1, !%p2", 1, args(0, 0)},
	{"xor.pred %p0, %p1, %p2", 1, args(1, 0)},
	{"not.pred %p0, %p1", 0, args(1)},
	{"setp.ne.s32 %p5, %r1, 0; @!%p5 mov.u32 %r0, 4; @%p5 mov.u32 %r0, 9", 9, args(3)},
}
