package kernel

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"pgrlab/core/rng"
)

// Environment names the variable that overrides the choice of Select("").
const Environment = "PGRLAB_KERNELS"

// A Family is one complete set of kernels. It holds no state except its table of functions: any
// number of goroutines may use it at once.
type Family struct {
	name  string
	table table
}

// table holds the functions that a family implements. Every function may trust its arguments: the
// methods of Family have checked lengths and cut the slices to size.
type table struct {
	gemm      func(o operands)
	patches   func(o patchwork)
	strip     int // number of columns that a product of patches takes at a time
	rowDot    func(m, k int, a []float32, lda int, w []float32, bias float32, out []float32, ldo int)
	colSum    func(m, n int, a []float32, lda int, out []float32)
	transpose func(rows, cols int, src []float32, lds int, dst []float32, ldd int)

	add, sub, mul     func(dst, a, b []float32)
	scale, axpy, lerp func(dst, a []float32, c float32)

	relu, tanh, silu, mish, elu, exp, log, sigmoid, softplus func(dst, x []float32)
	reluGrad, tanhGrad, siluGrad, mishGrad, eluGrad          func(dst, dy, x []float32)
	sigmoidGrad, softplusGrad                                func(dst, dy, x []float32)

	adam, laprop               func(w, m, v, g0, g1 []float32, h AdamStep)
	sumSquares, sumSquaredDiff func(a, b []float32) float64
	normals                    func(s rng.Stream, dst []float32, occasion, first uint64)
	fromBytes                  func(dst []float32, src []byte, offset float32)

	largest       func(x []float32) float32
	expSum        func(dst, x []float32, shift float32) float64
	sum           func(x []float32) float64
	dot           func(a, b []float32) float64
	mirroredDot   func(a, b []float32) float64
	groupSoftmax4 func(dst, x []float32, rest, even float32)
	gatedUpdate   func(dst, r, c, u, h []float32)
	gatedGrad     func(dr, dc, du, r, c, u, h, d []float32)
	gatedKeep     func(dst, u, d []float32)
	rmsNorm       func(dst, x, gamma []float32, eps float64)
	rmsNormDX     func(dst, x, gamma, dy []float32, eps float64)
	rmsNormDGamma func(sums, x, dy []float32, eps float64)

	// multiplyAdds does at least n multiply-adds on registers alone and returns how many; nil: the
	// family has no such loop.
	multiplyAdds func(n int) int
}

// Select returns the family with the given name: "amx", "avx512", "avx2" or "go". The empty name
// selects the one in $PGRLAB_KERNELS or, if that is not set, the quickest family that Available
// lists. Forcing a family that this machine cannot run is an error that says why.
func Select(name string) (*Family, error) {
	if name == "" {
		name = os.Getenv(Environment)
	}
	families, refused := probed()
	if name == "" {
		return families[0], nil
	}
	for _, f := range families {
		if f.name == name {
			return f, nil
		}
	}
	if why, ok := refused[name]; ok {
		return nil, fmt.Errorf("select kernels: %q cannot run here: %s", name, why)
	}
	return nil, fmt.Errorf("select kernels: no family %q; there are %s", name, strings.Join(Available(), ", "))
}

// Available lists the families that run on this machine, the quickest first.
func Available() []string {
	families, _ := probed()
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// Name returns the name by which Select finds the family.
func (f *Family) Name() string { return f.name }

// MultiplyAdds does at least n multiply-adds of float32 on registers alone, as quickly as a core
// can, and returns their number. That rate limits every other function. It returns 0 if the family
// has no such loop.
func (f *Family) MultiplyAdds(n int) int {
	if f.table.multiplyAdds == nil {
		return 0
	}
	return f.table.multiplyAdds(n)
}

// probed returns the families that run here, the quickest first, and why the others do not.
var probed = sync.OnceValues(probe)
