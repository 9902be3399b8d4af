package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/mmcloughlin/avo/ir"

	"pgrlab/core/device/cpu/kernel"
)

// program is one family, ready to be emulated.
type program struct {
	*emulator
	isa
	functions map[string]*ir.Function
}

func programs(t *testing.T) []program {
	ps, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// compiled serves all tests, which run one after the other.
var compiled = sync.OnceValues(func() ([]program, error) {
	var ps []program
	for _, s := range isas {
		file, err := s.compile()
		if err != nil {
			return nil, err
		}
		ps = append(ps, newProgram(s, file))
	}
	return ps, nil
})

func newProgram(s isa, file *ir.File) program {
	p := program{newEmulator(file), s, map[string]*ir.Function{}}
	for _, f := range file.Functions() {
		p.functions[f.Name[len(s.name):]] = f
	}
	return p
}

// put places numbers in the emulator's memory and returns their address, and a
// function that reads them back.
func (e *emulator) put(x []float32) (uint64, func() []float32) {
	data := make([]byte, 0, 4*len(x))
	for _, v := range x {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return e.place(data), func() []float32 {
		y := make([]float32, len(x))
		for i := range y {
			y[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		return y
	}
}

func normal(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func equal(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && !(got[i] != got[i] && want[i] != want[i]) {
			t.Fatalf("%s: [%d] = %g, want %g", what, i, got[i], want[i])
		}
	}
}

// elements returns inputs of the elementwise functions: numbers of all sizes, infinities and NaN.
func elements(r *rand.Rand, n int) []float32 {
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e-45, -1e-45, 3e38, -3e38, 88.8, -88.8, -104, 1e-39}
	x := make([]float32, n)
	for i := range x {
		switch {
		case r.IntN(6) == 0:
			x[i] = float32(special[r.IntN(len(special))])
		case r.IntN(2) == 0:
			x[i] = math.Float32frombits(r.Uint32())
		default:
			x[i] = float32(8 * r.NormFloat64())
		}
	}
	return x
}

// TestElementwise runs every elementwise function of both families in the emulator, at every length
// up to a few vectors. The bits of both must be equal, and equal to those of the hardware if it has
// AVX2.
func TestElementwise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	hardware, _ := kernel.Select("avx2")
	ps := programs(t)
	for _, name := range []string{"Add", "Sub", "Mul", "ReLUGrad", "TanhGrad", "SiLUGrad", "MishGrad", "ELUGrad",
		"ReLU", "Tanh", "SiLU", "Mish", "ELU", "Exp", "Log", "Sigmoid", "Softplus", "SigmoidGrad", "SoftplusGrad", "Scale", "Axpy", "Lerp", "Adam1", "Adam2", "LaProp1", "LaProp2"} {
		for n := 1; n <= 150; n += 1 + n/10 {
			arrays := [][]float32{elements(r, n), elements(r, n), elements(r, n), elements(r, n), elements(r, n)}
			want := onHardware(hardware, name, arrays)
			for _, p := range ps {
				got := p.emulate(name, arrays)
				if want == nil {
					want = got
				}
				for i := range got {
					equal(t, fmt.Sprintf("%s%s of %d, output %d", p.name, name, n, i), got[i], want[i])
				}
			}
		}
	}
}

var adamStep = kernel.AdamStep{Beta1: 0.9, Beta2: 0.99, Step: 3e-3, InvSqrtC2: 2, Eps: 1e-8, Decay: 1e-3, GradScale: 0.5}

// emulate calls an elementwise function. The arrays are, by name, dst (or w), a or x (m), b (v),
// and an optimiser's gradients.
func (p program) emulate(name string, arrays [][]float32) [][]float32 {
	e := p.emulator
	keep := len(e.regions)
	defer func() { e.regions = e.regions[:keep] }()
	bits := func(x float32) uint64 { return uint64(math.Float32bits(x)) }
	args := map[string]uint64{"n": uint64(len(arrays[0])), "c": bits(0.3)}
	h := adamStep
	for name, x := range map[string]float32{"b1": h.Beta1, "r1": 1 - h.Beta1, "b2": h.Beta2, "r2": 1 - h.Beta2, "step": h.Step,
		"inverse": h.InvSqrtC2, "eps": h.Eps, "keep": 1 - h.Decay, "scale": h.GradScale} {
		args[name] = bits(x)
	}
	names := [][]string{{"dst", "w"}, {"a", "x", "m"}, {"b", "v"}, {"g0"}, {"g1"}}
	read := make([]func() []float32, len(arrays))
	for i, x := range arrays {
		var at uint64
		at, read[i] = e.put(x)
		for _, name := range names[i] {
			args[name] = at
		}
	}
	e.run(p.functions[name], args)
	return [][]float32{read[0](), read[1](), read[2]()}
}

// onHardware does the same with the kernels of this machine; it returns nil without AVX2.
func onHardware(f *kernel.Family, name string, arrays [][]float32) [][]float32 {
	if f == nil {
		return nil
	}
	var x [5][]float32
	for i := range x {
		x[i] = append([]float32(nil), arrays[i]...)
	}
	unary := map[string]func(dst, x []float32){"ReLU": f.ReLU, "Tanh": f.Tanh, "SiLU": f.SiLU, "Mish": f.Mish, "ELU": f.ELU, "Exp": f.Exp, "Log": f.Log,
		"Sigmoid": f.Sigmoid, "Softplus": f.Softplus}
	binary := map[string]func(dst, a, b []float32){"Add": f.Add, "Sub": f.Sub, "Mul": f.Mul, "ReLUGrad": f.ReLUGrad,
		"TanhGrad": f.TanhGrad, "SiLUGrad": f.SiLUGrad, "MishGrad": f.MishGrad, "ELUGrad": f.ELUGrad,
		"SigmoidGrad": f.SigmoidGrad, "SoftplusGrad": f.SoftplusGrad}
	switch {
	case unary[name] != nil:
		unary[name](x[0], x[1])
	case binary[name] != nil:
		binary[name](x[0], x[1], x[2])
	case name == "Scale":
		f.Scale(x[0], x[1], 0.3)
	case name == "Axpy":
		f.Axpy(x[0], 0.3, x[1])
	case name == "Lerp":
		f.Lerp(x[0], x[1], 0.3)
	case name == "Adam1":
		f.Adam(x[0], x[1], x[2], x[3], nil, &adamStep)
	case name == "Adam2":
		f.Adam(x[0], x[1], x[2], x[3], x[4], &adamStep)
	case name == "LaProp1":
		f.LaProp(x[0], x[1], x[2], x[3], nil, &adamStep)
	case name == "LaProp2":
		f.LaProp(x[0], x[1], x[2], x[3], x[4], &adamStep)
	}
	return x[:3]
}

// TestTiles runs every microkernel of both families on slices without a spare element: each element
// of C must be exactly the chain of multiply-adds that Gemm promises.
func TestTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, p := range programs(t) {
		g := newGen(p.isa)
		for _, tile := range g.tiles() {
			for range 12 {
				p.checkTile(t, r, tile)
			}
		}
	}
}

func (p program) checkTile(t *testing.T, r *rand.Rand, tile tile) {
	t.Helper()
	e := p.emulator
	keep := len(e.regions)
	defer func() { e.regions = e.regions[:keep] }()
	blocks, k, tail := 1+r.IntN(3), r.IntN(27), p.lanes
	if tile.masked {
		tail = 1 + r.IntN(p.lanes)
	}
	m, n := blocks*tile.rows, (tile.vecs-1)*p.lanes+tail
	ars, aks, ldb, ldc := k+r.IntN(3), 1, n+r.IntN(3), n+r.IntN(3)
	if r.IntN(2) == 0 {
		ars, aks = 1, m+r.IntN(3)
	}
	if r.IntN(2) == 0 { // as a packed panel
		ldb = tile.vecs * p.lanes
	}
	a, b := normal(r, max(0, (m-1)*ars+(k-1)*aks+1)), normal(r, max(0, (k-1)*ldb+n))
	c, mask, bias := normal(r, (m-1)*ldc+n), normal(r, (m-1)*ldc+n), normal(r, n)
	flags := r.Uint64N(8)
	args := map[string]uint64{"blocks": uint64(blocks), "k": uint64(k), "ars": uint64(4 * ars), "aks": uint64(4 * aks),
		"ldb": uint64(4 * ldb), "ldc": uint64(4 * ldc), "tail": uint64(tail), "flags": flags, "bias": 0, "mask": 0,
		"next": 1 << 40, "step": 64, "run": uint64(1 + r.IntN(9)), "skip": uint64(64 * r.IntN(5)), "left": uint64(1 + r.IntN(9))}
	args["a"], _ = e.put(a)
	args["b"], _ = e.put(b)
	var result func() []float32
	args["c"], result = e.put(c)
	from, ldf := c, ldc
	if args["from"], args["ldf"] = args["c"], uint64(4*ldc); r.IntN(2) == 0 { // the initial values of the sums are stored elsewhere
		ldf = n + r.IntN(3)
		from = normal(r, (m-1)*ldf+n)
		args["ldf"] = uint64(4 * ldf)
		args["from"], _ = e.put(from)
	}
	if r.IntN(2) == 0 {
		args["bias"], _ = e.put(bias)
	}
	if r.IntN(2) == 0 {
		args["mask"], _ = e.put(mask)
	}
	want := append([]float32(nil), c...)
	for i := range m {
		for j := range n {
			s := float32(0)
			if flags&flagLoad != 0 {
				s = from[i*ldf+j]
			}
			for l := range k {
				s = fma32(a[i*ars+l*aks], b[l*ldb+j], s)
			}
			if args["bias"] != 0 {
				s += bias[j]
			}
			if flags&flagReLU != 0 && s < 0 || args["mask"] != 0 && !(mask[i*ldc+j] > 0) {
				s = 0
			}
			want[i*ldc+j] = s
		}
	}
	near := tile.near(blocks, k, ars, aks, ldb, p.lanes, args)
	e.near = e.near[:0]
	e.run(p.functions[tile.name()], args)
	if !slices.Equal(e.near, near) {
		t.Fatalf("%s%s with k %d brings %x near, want %x", p.name, tile.name(), k, e.near, near)
	}
	equal(t, fmt.Sprintf("%s%s with k %d, tail %d, flags %d", p.name, tile.name(), k, tail, flags), result(), want)
}

// TestReductions runs dot products, column sums, sums of squares and the packing
// of B in the emulator.
func TestReductions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, p := range programs(t) {
		for range 60 {
			p.checkDots(t, r)
			p.checkSums(t, r)
			p.checkPack(t, r)
		}
	}
}

func (p program) checkDots(t *testing.T, r *rand.Rand) {
	t.Helper()
	e := p.emulator
	keep := len(e.regions)
	defer func() { e.regions = e.regions[:keep] }()
	for _, rows := range []int{1, 4} {
		m, k := rows*(1+r.IntN(2)), 1+r.IntN(90)
		lda, ldo := k+r.IntN(3), 1+r.IntN(3)
		a, w, out := normal(r, (m-1)*lda+k), normal(r, k), make([]float32, (m-1)*ldo+1)
		args := map[string]uint64{"blocks": uint64(m / rows), "k": uint64(k), "lda": uint64(4 * lda), "ldo": uint64(4 * ldo),
			"bias": uint64(math.Float32bits(0.5))}
		args["a"], _ = e.put(a)
		args["w"], _ = e.put(w)
		var result func() []float32
		args["out"], result = e.put(out)
		e.run(p.functions[fmt.Sprintf("RowDot%d", rows)], args)
		got := result()
		for i := range m {
			want := 0.5
			for l := range k {
				want += float64(a[i*lda+l]) * float64(w[l])
			}
			if math.Abs(float64(got[i*ldo])-want) > 1e-4 {
				t.Fatalf("%s row dot %d×%d: %g, want %g", p.name, m, k, got[i*ldo], want)
			}
		}
	}
}

func (p program) checkSums(t *testing.T, r *rand.Rand) {
	t.Helper()
	e := p.emulator
	keep := len(e.regions)
	defer func() { e.regions = e.regions[:keep] }()
	for _, vecs := range []int{1, 8} {
		m, n := 1+r.IntN(5), 1+r.IntN(p.lanes)
		if vecs == 8 {
			n = 8 * p.lanes * (1 + r.IntN(2))
		}
		lda := n + r.IntN(3)
		a, out := normal(r, (m-1)*lda+n), normal(r, n)
		args := map[string]uint64{"m": uint64(m), "n": uint64(n), "lda": uint64(4 * lda)}
		args["a"], _ = e.put(a)
		var result func() []float32
		args["out"], result = e.put(out)
		e.run(p.functions[fmt.Sprintf("ColSum%d", vecs)], args)
		for i := range m {
			for j := range n {
				out[j] += a[i*lda+j]
			}
		}
		equal(t, p.name+" column sums", result(), out)
	}
	n := 1 + r.IntN(100)
	a, b := normal(r, n), normal(r, n)
	args := map[string]uint64{"n": uint64(n)}
	args["a"], _ = e.put(a)
	args["b"], _ = e.put(b)
	for name, f := range map[string]func(x, y float32) float32{
		"Squares1":    func(x, _ float32) float32 { return x },
		"Squares2":    func(x, y float32) float32 { return x + y },
		"SquaresDiff": func(x, y float32) float32 { return x - y },
	} {
		want := 0.0
		for i := range a {
			x := float64(f(a[i], b[i]))
			want += x * x
		}
		got := math.Float64frombits(e.run(p.functions[name], args))
		if math.Abs(got-want) > 1e-12*want {
			t.Fatalf("%s %s of %d: %g, want %g", p.name, name, n, got, want)
		}
	}
}

func (p program) checkPack(t *testing.T, r *rand.Rand) {
	t.Helper()
	e := p.emulator
	keep := len(e.regions)
	defer func() { e.regions = e.regions[:keep] }()
	k, vecs, tail := 1+r.IntN(5), 2, p.lanes
	if !p.wide() {
		vecs += r.IntN(2)
	}
	name := fmt.Sprintf("Pack%d", vecs)
	if vecs == 2 && r.IntN(2) == 0 {
		name, tail = "Pack2Tail", 1+r.IntN(p.lanes)
	}
	width := vecs * p.lanes
	n := width - p.lanes + tail
	lds := n + r.IntN(3)
	src, dst := normal(r, (k-1)*lds+n), make([]float32, k*width)
	args := map[string]uint64{"k": uint64(k), "lds": uint64(4 * lds), "tail": uint64(tail)}
	args["src"], _ = e.put(src)
	var result func() []float32
	args["dst"], result = e.put(dst)
	e.run(p.functions[name], args)
	for l := range k {
		copy(dst[l*width:], src[l*lds:l*lds+n])
	}
	equal(t, p.name+name, result(), dst)
}
