package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgrlab/core/device/cpu/kernel"
)

// rowCall is a function on rows: its arguments by name, and how a family calls it. It returns the
// function's sum, or 0.
type rowCall struct {
	name    string
	numbers map[string]uint64
	arrays  map[string][]float32
	call    func(f *kernel.Family, x map[string][]float32) float64
}

// rowCalls are calls on rows of n elements.
func rowCalls(r *rand.Rand, n, lanes int) []rowCall {
	arrays := func(names ...string) map[string][]float32 {
		x := map[string][]float32{}
		for _, name := range names {
			x[name] = normal(r, n)
		}
		return x
	}
	number := func(x float32) uint64 { return uint64(math.Float32bits(x)) }
	count := map[string]uint64{"n": uint64(n)}
	calls := []rowCall{
		{"ExpSum", map[string]uint64{"n": uint64(n), "shift": number(1.5)}, arrays("dst", "x"),
			func(f *kernel.Family, x map[string][]float32) float64 { return f.ExpSum(x["dst"], x["x"], 1.5) }},
		{"Sum", count, arrays("a"), func(f *kernel.Family, x map[string][]float32) float64 { return f.Sum(x["a"]) }},
		{"Dot", count, arrays("a", "b"), func(f *kernel.Family, x map[string][]float32) float64 { return f.Dot(x["a"], x["b"]) }},
		{"GatedUpdate", count, arrays("dst", "r", "c", "u", "h"), func(f *kernel.Family, x map[string][]float32) float64 {
			f.GatedUpdate(x["dst"], x["r"], x["c"], x["u"], x["h"])
			return 0
		}},
		{"GatedGrad", count, arrays("dr", "dc", "du", "r", "c", "u", "h", "d"), func(f *kernel.Family, x map[string][]float32) float64 {
			f.GatedGrad(x["dr"], x["dc"], x["du"], x["r"], x["c"], x["u"], x["h"], x["d"])
			return 0
		}},
		{"GatedKeep", count, arrays("dst", "u", "d"), func(f *kernel.Family, x map[string][]float32) float64 {
			f.GatedKeep(x["dst"], x["u"], x["d"])
			return 0
		}},
	}
	if n%4 == 0 {
		calls = append(calls, rowCall{"GroupSoftmax4", map[string]uint64{"n": uint64(n), "rest": number(0.9), "even": number(0.025)}, arrays("dst", "x"),
			func(f *kernel.Family, x map[string][]float32) float64 {
				f.GroupSoftmax4(x["dst"], x["x"], 0.9, 0.025)
				return 0
			}})
	}
	if n >= lanes {
		calls = append(calls, rowCall{"Largest", count, arrays("a"), func(f *kernel.Family, x map[string][]float32) float64 { return float64(f.Largest(x["a"])) }})
	}
	return calls
}

// normCalls are calls on three rows of some vectors.
func normCalls(r *rand.Rand, vectors, lanes int) []rowCall {
	const rows, eps = 3, 1e-4
	n := vectors * lanes
	numbers := map[string]uint64{"rows": rows, "vectors": uint64(vectors), "share": math.Float64bits(1 / float64(n)), "eps": math.Float64bits(eps)}
	return []rowCall{
		{"RMSNorm", numbers, map[string][]float32{"dst": normal(r, rows*n), "x": normal(r, rows*n), "gamma": normal(r, n)},
			func(f *kernel.Family, x map[string][]float32) float64 {
				f.RMSNorm(x["dst"], x["x"], x["gamma"], eps)
				return 0
			}},
		{"RMSNormDX", numbers, map[string][]float32{"dst": normal(r, rows*n), "x": normal(r, rows*n), "gamma": normal(r, n), "dy": normal(r, rows*n)},
			func(f *kernel.Family, x map[string][]float32) float64 {
				f.RMSNormDX(x["dst"], x["x"], x["gamma"], x["dy"], eps)
				return 0
			}},
		{"RMSNormDGamma", numbers, map[string][]float32{"gamma": normal(r, n), "x": normal(r, rows*n), "dy": normal(r, rows*n)},
			func(f *kernel.Family, x map[string][]float32) float64 {
				f.RMSNormDGamma(x["gamma"], x["x"], x["dy"], eps)
				return 0
			}},
	}
}

// The functions on rows, in the emulator, have the bits of this machine's, if it can run them, and
// agree with those of plain Go.
func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	plain, err := kernel.Select("go")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs(t) {
		hardware, _ := kernel.Select(p.name)
		var calls []rowCall
		for _, n := range []int{1, 3, 4, 7, 8, 12, 16, 17, 31, 32, 40, 64, 65, 100} {
			calls = append(calls, rowCalls(r, n, p.lanes)...)
		}
		for vectors := 1; vectors <= 3; vectors++ {
			calls = append(calls, normCalls(r, vectors, p.lanes)...)
		}
		for _, c := range calls {
			what := fmt.Sprintf("%s%s of %v", p.name, c.name, c.numbers)
			got, sum := p.emulateRows(c)
			if hardware != nil {
				want, wanted := onFamily(hardware, c)
				if sum != wanted {
					t.Fatalf("%s returns %v, on hardware %v", what, sum, wanted)
				}
				for name, x := range got {
					equal(t, what+", "+name, x, want[name])
				}
			}
			want, wanted := onFamily(plain, c)
			if math.Abs(sum-wanted) > 1e-6*(1+math.Abs(wanted)) {
				t.Fatalf("%s returns %v, want %v", what, sum, wanted)
			}
			for name, x := range got {
				for i, v := range x {
					if w := want[name][i]; math.Abs(float64(v-w)) > 1e-5*(1+math.Abs(float64(w))) {
						t.Fatalf("%s: %s[%d] is %v, want %v", what, name, i, v, w)
					}
				}
			}
		}
	}
}

// Pairs of opposite products cancel in the emulator too, and others add up.
func TestMirrored(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, p := range programs(t) {
		for vectors := 1; vectors <= 3; vectors++ {
			n := vectors * p.lanes
			a, b := normal(r, 2*n), normal(r, 2*n)
			want := 0.0
			for i, v := range a {
				want += float64(v) * float64(b[i])
			}
			if got := p.emulateMirrored(a, b); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: the sum of %d vectors is %v, want %v", p.name, vectors, got, want)
			}
			for i := range n {
				a[2*n-1-i], b[2*n-1-i] = a[i], -b[i]
			}
			if got := p.emulateMirrored(a, b); got != 0 {
				t.Errorf("%s: %v is left of %d vectors", p.name, got, vectors)
			}
		}
	}
}

func (p program) emulateMirrored(a, b []float32) float64 {
	e := p.emulator
	keep := len(e.regions)
	defer func() { e.regions = e.regions[:keep] }()
	atA, _ := e.put(a)
	atB, _ := e.put(b)
	half := uint64(4 * len(a) / 2)
	low := half - uint64(4*p.lanes)
	return math.Float64frombits(e.run(p.functions["Mirrored"], map[string]uint64{"vectors": uint64(len(a) / 2 / p.lanes),
		"lowA": atA + low, "highA": atA + half, "lowB": atB + low, "highB": atB + half}))
}

func (p program) emulateRows(c rowCall) (arrays map[string][]float32, sum float64) {
	e := p.emulator
	keep := len(e.regions)
	defer func() { e.regions = e.regions[:keep] }()
	args, read := map[string]uint64{}, map[string]func() []float32{}
	for name, v := range c.numbers {
		args[name] = v
	}
	for name, x := range c.arrays {
		args[name], read[name] = e.put(x)
	}
	result := e.run(p.functions[c.name], args)
	arrays = map[string][]float32{}
	for name, x := range read {
		arrays[name] = x()
	}
	if c.name == "Largest" {
		return arrays, float64(math.Float32frombits(uint32(result)))
	}
	return arrays, math.Float64frombits(result)
}

func onFamily(f *kernel.Family, c rowCall) (arrays map[string][]float32, sum float64) {
	arrays = map[string][]float32{}
	for name, x := range c.arrays {
		arrays[name] = append([]float32(nil), x...)
	}
	return arrays, c.call(f, arrays)
}
