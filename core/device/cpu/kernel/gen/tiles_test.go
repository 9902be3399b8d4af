package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgrlab/core/device/cpu/kernel"
)

// tiled is the family "amx", ready to be emulated.
func tiled(t *testing.T) program {
	file, err := tiles.compile()
	if err != nil {
		t.Fatal(err)
	}
	return newProgram(tiles, file)
}

// A tileProduct is a product of some strips and one chunk, with its operands and its epilogue.
type tileProduct struct {
	m, n, k, lda, ldb, ldc    int
	a, b, c, bias, from, mask []float32
	relu                      bool
}

func newTileProduct(r *rand.Rand) tileProduct {
	p := tileProduct{m: 16 + r.IntN(50), n: 16 + r.IntN(70), k: 32 + r.IntN(65), relu: r.IntN(2) == 0}
	p.lda, p.ldb, p.ldc = p.k+r.IntN(3), p.n+r.IntN(3), p.n+r.IntN(3)
	p.a, p.b = normal(r, (p.m-1)*p.lda+p.k), normal(r, (p.k-1)*p.ldb+p.n)
	p.c = normal(r, (p.m-1)*p.ldc+p.n)
	for _, x := range []*[]float32{&p.from, &p.mask} {
		if r.IntN(2) == 0 {
			*x = normal(r, len(p.c))
		}
	}
	if r.IntN(2) == 0 {
		p.bias = normal(r, p.n)
	}
	return p
}

// epilogue returns the epilogue that kernel.Gemm would be given.
func (p tileProduct) epilogue() kernel.Epilogue {
	return kernel.Epilogue{Bias: p.bias, Accumulate: p.from != nil, From: p.from, ReLU: p.relu, Mask: p.mask}
}

const unitWords = unitBytes / 4

// splitA and splitB pack the operands as the caller of these kernels does.
func (p tileProduct) splitA(e program) []float32 {
	depth := (p.k + 31) / 32
	out := make([]float32, (p.m+15)/16*depth*unitWords)
	for i := 0; i < p.m; i += 16 {
		for u := range depth {
			left := p.k - 32*u
			copy(out[(i/16*depth+u)*unitWords:], e.split(p.a[i*p.lda+32*u:], min(16, p.m-i), p.lda, 16, min(16, left), min(16, max(0, left-16))))
		}
	}
	return out
}

func (p tileProduct) splitB(e program) []float32 {
	depth := (p.k + 31) / 32
	out := make([]float32, (p.n+31)/32*2*depth*unitWords)
	for j := 0; j < p.n; j += 16 {
		columns := min(16, p.n-j)
		for u := range depth {
			to := out[(j/16*depth+u)*unitWords:]
			left := p.k - 32*u
			pairs := min(16, max(0, left-16))
			if pairs > 0 {
				copy(to, e.split(p.b[32*u*p.ldb+j:], pairs, p.ldb, 16*p.ldb, columns, columns))
			}
			if single := min(16, left); single > pairs {
				part := e.split(p.b[(32*u+pairs)*p.ldb+j:], single-pairs, p.ldb, 0, columns, 0)
				for plane := range 3 { // below the rows with a second one
					copy(to[256*plane+16*pairs:256*(plane+1)], part[256*plane:])
				}
			}
		}
	}
	return out
}

// split runs the kernel for one unit; rows that it does not write are zeros.
func (p program) split(src []float32, rows, step, second, tail0, tail1 int) []float32 {
	e := p.emulator
	keep := len(e.regions)
	defer func() { e.regions = e.regions[:keep] }()
	args := map[string]uint64{"tiles": 1, "rows": uint64(rows), "step": uint64(4 * step), "second": uint64(4 * second), "tile": 0,
		"tail0": uint64(tail0), "tail1": uint64(tail1)}
	args["src"], _ = e.put(src)
	var result func() []float32
	args["dst"], result = e.put(make([]float32, unitWords))
	e.run(p.functions["Split"], args)
	return result()
}

// run computes the product in one range, or in two with the sums kept in between, which start with
// those of p. It also splits ahead if ahead is not nil.
func (p tileProduct) run(e program, first int, ahead *splitAhead) []float32 {
	keep := len(e.regions)
	defer func() { e.regions = e.regions[:keep] }()
	depth, blocks, strips := (p.k+31)/32, (p.m+15)/16, (p.n+31)/32
	a, _ := e.put(p.splitA(e))
	b, _ := e.put(p.splitB(e))
	sums, _ := e.put(make([]float32, strips*blocks*512))
	scratch, _ := e.put(make([]float32, 512))
	args := map[string]uint64{"strips": uint64(strips), "blocks": uint64(blocks), "depth": uint64(first), "panel": uint64(depth * unitBytes), "a": a, "b": b, "sums": sums, "flags": 0, "ahead": ahead.put(e)}
	if first > 0 {
		e.run(e.functions["Range"], args)
		args["flags"] = flagLoad
	}
	args["depth"], args["a"], args["b"] = uint64(depth-first), a+uint64(first*unitBytes), b+uint64(first*unitBytes)
	args["scratch"], args["ldc"], args["rows"], args["columns"] = scratch, uint64(4*p.ldc), uint64(p.m), uint64(p.n)
	args["bias"], args["from"], args["mask"] = 0, 0, 0
	if p.relu {
		args["flags"] |= flagReLU
	}
	for name, x := range map[string][]float32{"bias": p.bias, "from": p.from, "mask": p.mask} {
		if x != nil {
			args[name], _ = e.put(x)
			args["flags"] |= map[string]uint64{"from": flagFrom, "mask": flagMask}[name]
		}
	}
	var result func() []float32
	args["c"], result = e.put(slices.Clone(p.c))
	e.run(e.functions["Product"], args)
	ahead.take()
	return result()
}

// TestTileProducts runs the kernels of AMX in the emulator. The result must be the product within
// half the error bound of a chain of multiply-adds, nothing else may be touched, and on a machine
// with AMX the bits must be those of the hardware.
func TestTileProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	e := tiled(t)
	hardware, _ := kernel.Select("amx")
	for range 12 {
		p := newTileProduct(r)
		what := fmt.Sprintf("%d×%d×%d from %t mask %t bias %t", p.m, p.n, p.k, p.from != nil, p.mask != nil, p.bias != nil)
		got := p.run(e, 0, nil)
		p.check(t, what, got)
		if hardware != nil {
			c := slices.Clone(p.c)
			hardware.Gemm(p.m, p.n, p.k, p.a, p.lda, 1, p.b, p.ldb, c, p.ldc, p.epilogue())
			equal(t, what+" beside the hardware", got, c)
		}
		if p.k > 32 {
			p.check(t, what+" in two ranges", p.run(e, 1, nil))
		}
	}
}

func (p tileProduct) check(t *testing.T, what string, got []float32) {
	t.Helper()
	for i := range p.m {
		for j := range p.ldc {
			at := i*p.ldc + j
			if at >= len(got) {
				return
			}
			if j >= p.n {
				if got[at] != p.c[at] {
					t.Fatalf("%s: wrote between the rows of C, at (%d,%d)", what, i, j)
				}
				continue
			}
			var want, size float64
			for l := range p.k {
				x := float64(p.a[i*p.lda+l]) * float64(p.b[l*p.ldb+j])
				want, size = want+x, size+math.Abs(x)
			}
			for _, x := range []float64{value(p.from, at), value(p.bias, j)} {
				want, size = want+x, size+math.Abs(x)
			}
			if p.relu {
				want = max(0, want)
			}
			if p.mask != nil && !(p.mask[at] > 0) {
				want = 0
			}
			if bound := float64(p.k) / 2 * 0x1p-24 * size; !(math.Abs(float64(got[at])-want) <= bound) {
				t.Fatalf("%s: (%d,%d) is %g, want %g ± %g", what, i, j, got[at], want, bound)
			}
		}
	}
}

// value returns x[i], or 0 without x.
func value(x []float32, i int) float64 {
	if x == nil {
		return 0
	}
	return float64(x[i])
}
