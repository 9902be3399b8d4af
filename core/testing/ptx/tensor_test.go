package ptx

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// fragment is the place of one element of an operand of mma: lane, register, half of the register.
// The formulas are those in the PTX ISA's section on each shape, for the elements a_i, b_i, c_i of
// a thread; they are not the emulator's.
type fragment struct{ lane, register, half int }

// elementA finds (row, col) of A in the fragment by trying all places.
func elementA(name string, row, col int) fragment {
	for lane := range 32 {
		group, thread := lane>>2, lane%4
		for i := range 8 {
			var r, c int
			f := fragment{lane, i / 2, i % 2}
			switch name {
			case "tf32_8": // row = group for a0, a2; group+8 for a1, a3. col = thread for a0, a1; thread+4 for a2, a3
				if i > 3 {
					continue
				}
				f = fragment{lane, i, 0}
				r, c = group, thread
				if i == 1 || i == 3 {
					r += 8
				}
				if i >= 2 {
					c += 4
				}
			case "tf32_4": // row = group for a0, group+8 for a1; col = thread
				if i > 1 {
					continue
				}
				f = fragment{lane, i, 0}
				r, c = group+8*i, thread
			case "bf16_16": // row = group for a0,a1,a4,a5, else group+8; col = thread*2 + (i&1), +8 for i >= 4
				r, c = group, thread*2+i&1
				if i == 2 || i == 3 || i >= 6 {
					r += 8
				}
				if i >= 4 {
					c += 8
				}
			case "bf16_8": // row = group for i < 2, else group+8; col = thread*2 + (i&1)
				if i > 3 {
					continue
				}
				r, c = group, thread*2+i&1
				if i >= 2 {
					r += 8
				}
			}
			if r == row && c == col {
				return f
			}
		}
	}
	panic("no such element")
}

func elementB(name string, row, col int) fragment {
	for lane := range 32 {
		group, thread := lane>>2, lane%4
		for i := range 4 {
			var r int
			f := fragment{lane, i / 2, i % 2}
			switch name {
			case "tf32_8": // row = thread for b0, thread+4 for b1; col = group
				if i > 1 {
					continue
				}
				f = fragment{lane, i, 0}
				r = thread + 4*i
			case "tf32_4":
				if i > 0 {
					continue
				}
				f = fragment{lane, 0, 0}
				r = thread
			case "bf16_16": // row = thread*2 + (i&1), +8 for i >= 2
				r = thread*2 + i&1
				if i >= 2 {
					r += 8
				}
			case "bf16_8":
				if i > 1 {
					continue
				}
				r = thread*2 + i
			}
			if r == row && group == col {
				return f
			}
		}
	}
	panic("no such element")
}

// elementC: row = group for c0, c1, group+8 for c2, c3; col = thread*2 + (i&1).
func elementC(row, col int) fragment {
	return fragment{lane: row%8*4 + col/2, register: row/8*2 + col%2}
}

func TestMatrixInstructions(t *testing.T) {
	p := kernels(t, "tensor_sm80.ptx")
	for name, k := range map[string]int{"tf32_8": 8, "tf32_4": 4, "bf16_16": 16, "bf16_8": 8} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			a, b, c := make([]uint32, 128), make([]uint32, 64), make([]float32, 128)
			var A [16][16]float64
			var B [16][8]float64
			var C [16][8]float64
			draw := func(words []uint32, f fragment) float64 {
				x := float32(r.NormFloat64())
				w := &words[32*f.register+f.lane]
				if name[:2] == "tf" { // all 32 bits are there; the hardware reads 19 of them
					*w = math.Float32bits(x)
					return float64(math.Float32frombits(*w >> 13 << 13))
				}
				u := math.Float32bits(x) >> 16
				*w |= u << (16 * f.half)
				return float64(math.Float32frombits(u << 16))
			}
			for i := range 16 {
				for l := range k {
					A[i][l] = draw(a, elementA(name, i, l))
				}
			}
			for l := range k {
				for j := range 8 {
					B[l][j] = draw(b, elementB(name, l, j))
				}
			}
			for i := range 16 {
				for j := range 8 {
					f := elementC(i, j)
					c[32*f.register+f.lane] = float32(i) - float32(j)/8
					C[i][j] = float64(c[32*f.register+f.lane])
				}
			}
			mem := device()
			d := upload(t, mem, make([]float32, 128))
			run(t, p, mem, name, [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, Pack{}.Add(d, 8).
				Add(upload(t, mem, a), 8).Add(upload(t, mem, b), 8).Add(upload(t, mem, c), 8))
			got := download[float32](t, mem, d, 128)
			for i := range 16 {
				for j := range 8 {
					want, size := C[i][j], math.Abs(C[i][j])
					for l := range k {
						want += A[i][l] * B[l][j]
						size += math.Abs(A[i][l] * B[l][j])
					}
					f := elementC(i, j)
					// two roundings to zero of f32, each below 2^-23 of the size of the sum
					if x := float64(got[32*f.register+f.lane]); math.Abs(x-want) > size*0x1p-22 {
						t.Fatalf("d[%d,%d] = %v, want %v", i, j, x, want)
					}
				}
			}
		})
	}
}

func TestAsyncCopies(t *testing.T) {
	p := kernels(t, "tensor_sm80.ptx")
	in := make([]uint32, 128)
	for i := range in {
		in[i] = uint32(i + 1)
	}
	for _, bytes := range []int{16, 12, 8, 0} {
		mem := device()
		out := upload(t, mem, make([]uint32, 7*32))
		run(t, p, mem, "copies", [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, Pack{}.Add(out, 8).Add(upload(t, mem, in), 8).Add(uint64(bytes), 4))
		got := download[uint32](t, mem, out, 7*32)
		for lane := range 32 {
			for word, i := range []int{0, 0, 1, 0, 1, 2, 3} {
				want := in[4*lane+i]
				if word >= 3 && 4*i >= bytes {
					want = 0
				}
				if got[32*word+lane] != want {
					t.Errorf("source of %d bytes, word %d of lane %d: %d, want %d", bytes, word, lane, got[32*word+lane], want)
				}
			}
		}
	}
}

// A pipeline of cp.async and mma computes x x'. A pipeline that waits for one group too few is
// detected by the race check or by a wrong result.
func TestAsyncPipeline(t *testing.T) {
	p := kernels(t, "tensor_sm80.ptx")
	const n = 72
	x := floats(32*n, func(i int) float32 { return float32(i*i%17) - 8 })
	launch := func(name string, c Check) ([]float32, error) {
		mem := NewMemory()
		mem.Check = c
		y := upload(t, mem, make([]float32, 32*32))
		k, err := p.Kernel(name)
		if err != nil {
			t.Fatal(err)
		}
		err = k.Run(mem, [3]uint32{1, 1, 1}, [3]uint32{256, 1, 1}, 0, Pack{}.Add(y, 8).Add(upload(t, mem, x), 8).Add(n, 4))
		return download[float32](t, mem, y, 32*32), err
	}
	want := make([]float32, 32*32)
	for i := range 32 {
		for j := range 32 {
			for k := range n {
				want[32*i+j] += x[n*i+k] * x[n*j+k] // whole numbers below 2^24: exact
			}
		}
	}
	differ := func(got []float32) bool {
		for i := range want {
			if got[i] != want[i] {
				return true
			}
		}
		return false
	}
	got, err := launch("gram_right", Check{Races: true, Unwritten: true})
	if err != nil || differ(got) {
		t.Errorf("the right pipeline: %v, result wrong: %t", err, differ(got))
	}
	_, err = launch("gram_hasty", Check{Races: true})
	var f *Fault
	if !errors.As(err, &f) || !strings.Contains(f.Reason, "cp.async") {
		t.Errorf("the hasty pipeline gives %v, want a fault about cp.async", err)
	}
	if got, err := launch("gram_hasty", Check{}); err != nil || !differ(got) {
		t.Errorf("the hasty pipeline without checks: %v, result wrong: %t, want a wrong result", err, differ(got))
	}
}
