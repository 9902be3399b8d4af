package ptx

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// integerReference computes the list of testdata/arith.cu in Go.
func integerReference(a, b uint64) []uint64 {
	sa, sb := int64(a), int64(b)
	x, y := uint32(a), uint32(b)
	sx, sy := int32(x), int32(y)
	k, l := uint(b&31), uint(b&63)
	h, g := uint16(a), uint16(b)
	sh, sg := int16(h), int16(g)
	c, d := uint8(a), uint8(b)
	sc, sd := int8(c), int8(d)
	yes := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	signed := func(x int32) uint64 { return uint64(int64(x)) } // int to unsigned long long
	high, _ := bits.Mul64(a, b)
	signedHigh := new(big.Int).Mul(big.NewInt(sa), big.NewInt(sb))
	signedHigh.Rsh(signedHigh, 64)
	magnitude := x
	if sx < 0 {
		magnitude = -x
	}
	sum := int64(sx) + int64(sy)
	overflow := uint64(1)
	if sum == int64(int32(sum)) {
		overflow = uint64(sum)
	}
	return []uint64{
		a + b, a - b, a * b, a / (b | 1), a % (b | 1),
		uint64(sa / int64(b>>1|1)), uint64(sa % int64(b>>1|1)),
		high, uint64(signedHigh.Int64()),
		a << l, a >> l, uint64(sa >> l),
		a & b, a | b, a ^ ^b, yes(a < b), yes(sa < sb),
		uint64(max(sa, sb)), max(a, b),
		uint64(x + y), uint64(x - y), uint64(x * y), uint64(x) * uint64(y), uint64(int64(sx) * int64(sy)),
		uint64(x / (y | 1)), uint64(x % 1000), signed(sx / 7), signed(sx % int32(y>>1|1)),
		uint64(x << k), uint64(x >> k), signed(sx >> k),
		uint64(magnitude), uint64(max(x, y) - min(x, y)), signed(min(sx, sy)),
		uint64(x>>5&0x7f | y&0xff<<9), uint64(h * g), uint64(int64(sh / (sg | 1))), uint64(int64(sh + sg)),
		uint64(h >> (k & 15)), uint64(c + d), uint64(int64(sc * sd)), uint64(c % (d | 1)), uint64(int64(sc)),
		overflow, yes(h == g || c != d && sc > sd),
	}
}

func eachArith(t *testing.T, f func(t *testing.T, m *Module)) {
	for _, file := range []string{"arith_sm70", "arith_sm80", "arith_sm80_O0"} {
		t.Run(file, func(t *testing.T) { f(t, kernels(t, file+".ptx")) })
	}
}

func TestIntegersAsClangCompilesThem(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	edges := []uint64{0, 1, 2, 7, 31, 32, 63, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 63, 1<<63 - 1, ^uint64(0)}
	var in []uint64
	for _, a := range edges {
		for _, b := range edges {
			in = append(in, a, b)
		}
	}
	for range 200 {
		in = append(in, r.Uint64()>>r.IntN(64), r.Uint64()>>r.IntN(64))
	}
	n := len(in) / 2
	eachArith(t, func(t *testing.T, p *Module) {
		width := len(integerReference(0, 0))
		mem := device()
		out := upload(t, mem, make([]uint64, n*width))
		run(t, p, mem, "integers", [3]uint32{uint32(n+63) / 64, 1, 1}, [3]uint32{64, 1, 1}, 0, Pack{}.Add(out, 8).Add(upload(t, mem, in), 8).Add(uint64(n), 4))
		got := download[uint64](t, mem, out, n*width)
		for i := range n {
			for j, want := range integerReference(in[2*i], in[2*i+1]) {
				if got[width*i+j] != want {
					t.Errorf("operation %d of %#x, %#x: %#x, want %#x", j, in[2*i], in[2*i+1], got[width*i+j], want)
				}
			}
		}
	})
}

// floatReference computes the other list, with Go's arithmetic and with exact numbers.
func floatReference(a, b, c float32) []float32 {
	x, y, z := float64(a), float64(b), float64(c)
	yes := func(b bool) float32 {
		if b {
			return 1
		}
		return 0
	}
	pick := func(f func(x, y float64) float64) float32 {
		switch {
		case a != a:
			return b
		case b != b:
			return a
		}
		return float32(f(x, y))
	}
	exact := func(op, mode string) float32 {
		if bad := math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsInf(z, 0) || x != x || y != y || z != z; bad {
			return float32(math.Inf(1)) // not compared
		}
		u, _ := exactResult(op, fb(a), fb(b), fb(c), mode)
		return single(u)
	}
	choose := a
	if a > b {
		choose = c
	}
	whole := func(f float64, n int) float32 { // (int) with the device's clamping
		if f != f {
			if n == 64 {
				return -0x1p63
			}
			return 0
		}
		return float32(max(-math.Ldexp(1, n-1), min(math.Trunc(f), math.Ldexp(1, n-1)-1)) + 0) // not -0
	}
	asUnsigned := float32(0)
	if w := math.Trunc(y); w == w {
		asUnsigned = float32(uint32(int32(max(-0x1p31, min(w, 0x1p31-1)))))
	}
	return []float32{
		a + b, a - b, a * b, a / b, exact("fma", "rn"), pick(math.Min), pick(math.Max),
		float32(math.Abs(x)), -a, float32(math.Copysign(x, y)),
		float32(math.Floor(x)), float32(math.Ceil(x)), float32(math.Trunc(x)), float32(math.RoundToEven(x)),
		float32(math.Sqrt(x)),
		yes(a < b), yes(a <= b), yes(a == b), yes(a != b), yes(!(a < b)), choose,
		whole(y, 32), asUnsigned, whole(y, 64),
		float32(math.FMA(x, y, z)), float32(x / y), float32(math.FMA(x, y, z)),
		exact("add", "rz"), exact("mul", "rp"), exact("fma", "rm"), 1 / a, whole(x*1000, 64),
	}
}

func TestFloatsAsClangCompilesThem(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	edges := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, 2.5, -2.5, 1e9, -3e9, 1e20, 1e-40, inf, -inf, float32(math.NaN()), 16777217, math.MaxFloat32}
	var in []float32
	for _, a := range edges {
		for _, b := range edges {
			in = append(in, a, b, edges[r.IntN(len(edges))])
		}
	}
	for range 300 {
		in = append(in, single(hardNumber(r)), single(hardNumber(r)), single(hardNumber(r)))
	}
	n := len(in) / 3
	eachArith(t, func(t *testing.T, p *Module) {
		width := len(floatReference(1, 1, 1))
		mem := device()
		out := upload(t, mem, make([]float32, n*width))
		run(t, p, mem, "floating", [3]uint32{uint32(n+63) / 64, 1, 1}, [3]uint32{64, 1, 1}, 0, Pack{}.Add(out, 8).Add(upload(t, mem, in), 8).Add(uint64(n), 4))
		got := download[float32](t, mem, out, n*width)
		for i := range n {
			a, b, c := in[3*i], in[3*i+1], in[3*i+2]
			infinite := a-a != 0 || b-b != 0 || c-c != 0
			for j, want := range floatReference(a, b, c) {
				if infinite && (j == 4 || j >= 27 && j <= 29) {
					continue // exact numbers have no infinity
				}
				if x := got[width*i+j]; math.Float32bits(x) != math.Float32bits(want) && !(x != x && want != want) {
					t.Errorf("operation %d of %v, %v, %v: %v, want %v", j, a, b, c, x, want)
				}
			}
		}
	})
}

// The structures have 20 bytes: key, three weights, tag, mark.
func TestStructures(t *testing.T) {
	type node struct {
		Key     int32
		Weights [3]float32
		Tag     int8
		_       int8
		Mark    uint16
	}
	in := make([]node, 4)
	for i := range in {
		in[i] = node{Key: int32(10 * i), Weights: [3]float32{float32(i), float32(i) / 2, -float32(i)}, Tag: int8(i), Mark: uint16(1000 * i)}
	}
	eachArith(t, func(t *testing.T, p *Module) {
		const threads = 40
		mem := device()
		raw, _ := binary.Append(nil, binary.LittleEndian, in)
		pin, _ := mem.Alloc(len(raw))
		if err := mem.Write(pin, raw); err != nil {
			t.Fatal(err)
		}
		out, _ := mem.Alloc(20 * threads)
		quads := upload(t, mem, floats(4*threads, func(i int) float32 { return float32(i) }))
		run(t, p, mem, "structures", [3]uint32{1, 1, 1}, [3]uint32{threads, 1, 1}, 0, Pack{}.Add(out, 8).Add(pin, 8).Add(quads, 8))
		got := make([]node, threads)
		raw, _ = mem.Bytes(out, 20*threads)
		if _, err := binary.Decode(raw, binary.LittleEndian, got); err != nil {
			t.Fatal(err)
		}
		q := download[float32](t, mem, quads, 4*threads)
		for i := range threads {
			all := [4]node{in[i%4], in[(i+1)%4], in[(i+2)%4], in[(i+3)%4]}
			c := all[i%4]
			c.Key += int32(i)
			c.Weights[i%3] *= 2
			c.Tag = int8(-i)
			c.Mark += 60000
			all[i&1] = c
			if got[i] != all[i%3] {
				t.Errorf("thread %d: %v, want %v", i, got[i], all[i%3])
			}
			for j := range 4 {
				if want := float32(4*i+3-j)*float32(i) + float32(4*i+j); q[4*i+j] != want {
					t.Errorf("vector %d of %d: %v, want %v", i, j, q[4*i+j], want)
				}
			}
		}
	})
}
