package ptx

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgrlab/core/testing/racing"
)

// This test checks conversions to the narrow formats, and between integers and f32.
func TestConversionRounding(t *testing.T) {
	racing.Skip(t)
	r := rand.New(rand.NewPCG(5, 6))
	n := 1000
	args := make([]uint32, 0, 4*n)
	for range n {
		x := hardNumber(r)
		switch r.IntN(3) {
		case 0: // half way between two bf16 or tf32
			x = x&^0xffff | []uint64{0x8000, 0x1000, 0x0fff, 0x7fff, 0x8001}[r.IntN(5)]
		case 1:
			x = fb(float32(math.Ldexp(float64(r.IntN(8192)), r.IntN(40)-38)))
		}
		args = append(args, uint32(x), uint32(hardNumber(r)), 0, 0)
	}
	formats := []struct {
		name, text    string
		digits, least int
		most          float64
		bits          func(f float64) uint64
	}{
		{"bf16", "cvt.%s.bf16x2.f32 %%r4, %%f1, %%f1;", 8, -133, 0x1.fep127, func(f float64) uint64 { return fb(float32(f)) >> 16 * 0x10001 }},
		{"tf32", "cvt.%s.tf32.f32 %%r4, %%f1;", 11, -136, math.MaxFloat32, func(f float64) uint64 { return fb(float32(f)) }},
	}
	for _, f := range formats {
		for _, mode := range []string{"rn", "rz", "rna"} {
			if (mode == "rna") != (f.name == "tf32") && mode == "rna" || f.name == "tf32" && mode != "rna" {
				continue
			}
			text := fmt.Sprintf(f.text, mode)
			got := stream(t, text, args)
			for i := range n {
				x := uint64(args[4*i])
				v, _ := rounded(exactly(x), f.digits, f.least, mode).Float64()
				if math.Abs(v) > f.most {
					continue // checked by hand below
				}
				want := f.bits(math.Copysign(v, float64(math.Float32frombits(uint32(x)))))
				if uint64(got[i]) != want {
					t.Fatalf("%s of %#x = %#x, want %#x", text, x, got[i], want)
				}
			}
		}
	}
	for _, mode := range []string{"rn", "rz", "rm", "rp"} {
		text := "cvt." + mode + ".f32.s32 %f4, %r1;"
		for i, got := range stream(t, text, args) {
			x := int32(args[4*i])
			if want := bitsOf(new(big.Float).SetInt64(int64(x)), mode, 0); uint64(got) != want {
				t.Fatalf("%s of %d = %#x, want %#x", text, x, got, want)
			}
		}
		text = "mov.b64 %d1, {%r1, %r2}; cvt." + mode + ".f32.u64 %f4, %d1;"
		for i, got := range stream(t, text, args) {
			x := uint64(args[4*i]) | uint64(args[4*i+1])<<32
			if want := bitsOf(new(big.Float).SetUint64(x), mode, 0); uint64(got) != want {
				t.Fatalf("%s of %d = %#x, want %#x", text, x, got, want)
			}
		}
	}
}

var convertCases = []opcodeCase{
	{"cvt.u32.u16 %r0, %h1", 0xffff, args(0xffff)},
	{"cvt.s32.s16 %r0, %h1", 0xffffffff, args(0xffff)},
	{"cvt.s64.s32 %d0, %r1", neg64(1), args(neg32(1))},
	{"cvt.u64.u32 %d0, %r1", 0xffffffff, args(neg32(1))},
	{"cvt.u32.u64 %r0, %d1", 0x9abcdef0, args(0x123456789abcdef0)},
	{"cvt.u16.u32 %h0, %r1", 0x5678, args(0x12345678)},
	{"cvt.s8.s32 %r0, %r1", 0xffffff80, args(0x180)},
	{"cvt.u8.u32 %r0, %r1", 0x80, args(0x180)},
	{"cvt.u32.u8 %r0, %r1", 0x80, args(0x180)},
	{"cvt.sat.u8.s32 %r0, %r1", 0, args(neg32(4))},
	{"cvt.sat.s8.s32 %r0, %r1", 0xffffff80, args(neg32(400))},
	{"cvt.sat.u32.s64 %r0, %d1", 0xffffffff, args(1 << 40)},
	{"cvt.sat.s32.u32 %r0, %r1", 0x7fffffff, args(0xffffffff)},
	{"cvt.rni.s32.f32 %r0, %f1", 2, args(fb(2.5))},
	{"cvt.rzi.s32.f32 %r0, %f1", neg32(2), args(fb(-2.9))},
	{"cvt.rmi.s32.f32 %r0, %f1", neg32(3), args(fb(-2.1))},
	{"cvt.rpi.s32.f32 %r0, %f1", 3, args(fb(2.1))},
	{"cvt.rzi.u32.f32 %r0, %f1", 0, args(fb(-2.9))},
	{"cvt.rzi.u32.f32 %r0, %f1", 0xffffffff, args(fb(1e20))},
	{"cvt.rzi.s32.f32 %r0, %f1", 0x80000000, args(fb(-1e20))},
	{"cvt.rzi.s32.f32 %r0, %f1", 0, args(quiet)},
	{"cvt.rzi.s64.f32 %d0, %f1", 1 << 63, args(quiet)},
	{"cvt.rzi.s32.f64 %r0, %e1", 0x80000000, args(eb(math.NaN()))},
	{"cvt.rzi.u64.f64 %d0, %e1", 1 << 63, args(eb(0x1p63))},
	{"cvt.rzi.s64.f64 %d0, %e1", 1<<63 - 1, args(eb(0x1p63))},
	{"cvt.rzi.u64.f32 %d0, %f1", neg64(1), args(fb(inf))},
	{"cvt.rzi.u16.f32 %h0, %f1", 0xffff, args(fb(70000))},
	{"cvt.rn.f32.u32 %f0, %r1", fb(0x1p32), args(0xffffffff)},
	{"cvt.rn.f32.s64 %f0, %d1", fb(-0x1p63), args(1 << 63)},
	{"cvt.rn.f64.s32 %e0, %r1", eb(-5), args(neg32(5))},
	{"cvt.rn.f64.u64 %e0, %d1", eb(0x1p64), args(neg64(1))},
	{"cvt.rn.f32.u16 %f0, %h1", fb(65535), args(0xffff)},
	{"cvt.rn.f32.s8 %f0, %r1", fb(-128), args(0x180)},
	{"cvt.rni.f32.f32 %f0, %f1", fb(-2), args(fb(-2.5))},
	{"cvt.rzi.f32.f32 %f0, %f1", negative0, args(fb(-0.5))},
	{"cvt.rmi.f64.f64 %e0, %e1", eb(-3), args(eb(-2.5))},
	{"cvt.rpi.ftz.f32.f32 %f0, %f1", 0, args(subnormal)},
	{"cvt.f64.f32 %e0, %f1", eb(0x1.99999ap-4), args(0x3dcccccd)},
	{"cvt.rn.f32.f64 %f0, %e1", 0x3dcccccd, args(eb(0.1))},
	{"cvt.rz.f32.f64 %f0, %e1", 0x3dcccccc, args(eb(0.1))},
	{"cvt.rn.f32.f64 %f0, %e1", nan32, args(eb(math.NaN()))},
	{"cvt.sat.f32.f32 %f0, %f1", fb(1), args(fb(3))},
	{"cvt.sat.f32.f32 %f0, %f1", 0, args(quiet)},
	{"cvt.rn.bf16x2.f32 %r0, %f1, %f2", 0x3f804000, args(fb(1), fb(2))},
	{"cvt.rn.bf16x2.f32 %r0, %f1, %f2", 0x3f803f82, args(0x3f808000, 0x3f818000)},
	{"cvt.rn.bf16x2.f32 %r0, %f1, %f2", 0x7f807fff, args(0x7f7fffff, quiet)},
	{"cvt.rz.bf16x2.f32 %r0, %f1, %f2", 0x3f817f7f, args(0x3f81ffff, 0x7f7fffff)},
	{"cvt.rna.tf32.f32 %r0, %f1", 0x3f802000, args(0x3f801000)},
	{"cvt.rna.tf32.f32 %r0, %f1", 0x3f800000, args(0x3f800fff)},
	{"cvt.rna.tf32.f32 %r0, %f1", 0x7f800000, args(0x7f7ff000)},
	{"cvt.rna.tf32.f32 %r0, %f1", 0xbf802000, args(0xbf801000)},
	{"cvta.shared.u64 %d0, %d1; cvta.to.shared.u64 %d0, %d0", 44, args(44)},
}

func TestConversionOpcodes(t *testing.T) { testOpcodes(t, convertCases) }
