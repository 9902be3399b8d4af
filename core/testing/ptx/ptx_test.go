package ptx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"pgrlab/core/testing/racing"
)

//go:generate sh testdata/generate.sh

// The PTX of the tests is what clang compiles from their CUDA C: one file is always checked, all of
// them with PGRLAB_SOAK=1.
func TestDataRegenerates(t *testing.T) {
	if _, err := exec.LookPath("clang-19"); err != nil {
		t.Skip("no clang-19 here: the PTX of the tests is taken as it is")
	}
	dir := t.TempDir()
	command := []string{"testdata/generate.sh", dir}
	if os.Getenv("PGRLAB_SOAK") == "" {
		command = append(command, "warp.cu")
	}
	if out, err := exec.Command("sh", command...).CombinedOutput(); err != nil {
		t.Fatalf("generate: %v: %s", err, out)
	}
	made, _ := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if len(made) == 0 {
		t.Fatal("nothing was made")
	}
	for _, file := range made {
		want, _ := os.ReadFile(file)
		got, err := os.ReadFile(filepath.Join("testdata", filepath.Base(file)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from what clang-19 makes: run go generate", filepath.Base(file))
		}
	}
}

// kernels loads a text of testdata.
func kernels(t testing.TB, file string) *Module {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return m
}

// inline makes a module from the body of one kernel k. The pointers "out" and "in" are already in
// %out and %in, and the thread is in %t.
func inline(t testing.TB, body string) *Kernel {
	t.Helper()
	m, err := Parse(wrap(body))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, body)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func wrap(body string) string {
	return `.version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1)
{
	.reg .pred %p<9>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %d<40>; .reg .f64 %e<20>;
	.reg .b64 %out, %in; .reg .b32 %t;
	ld.param.u64 %out, [p0];
	ld.param.u64 %in, [p1];
	mov.u32 %t, %tid.x;
` + body + "\n}\n"
}

// device is a memory with all checks on.
func device() *Memory {
	m := NewMemory()
	m.Check = Check{Races: true, Unwritten: true, Blocks: true}
	return m
}

// upload puts numbers on the device.
func upload[T float32 | int32 | uint32 | uint64](t testing.TB, m *Memory, x []T) uint64 {
	t.Helper()
	p, err := m.Alloc(binary.Size(x))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, x)
	if err := m.Write(p, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	return p
}

// download returns n numbers.
func download[T float32 | int32 | uint32 | uint64](t testing.TB, m *Memory, p uint64, n int) []T {
	t.Helper()
	x := make([]T, n)
	b := make([]byte, binary.Size(x))
	if err := m.Read(b, p); err != nil {
		t.Fatal(err)
	}
	binary.Read(bytes.NewReader(b), binary.LittleEndian, x)
	return x
}

func floats(n int, f func(i int) float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = f(i)
	}
	return x
}

func run(t testing.TB, m *Module, mem *Memory, name string, grid, block [3]uint32, shared uint32, params Pack) {
	t.Helper()
	k, err := m.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Run(mem, grid, block, shared, params); err != nil {
		t.Fatal(err)
	}
}

func eachTarget(t *testing.T, file string, f func(t *testing.T, m *Module)) {
	for _, sm := range []string{"sm70", "sm80", "sm80_O0"} {
		if _, err := os.Stat(fmt.Sprintf("testdata/%s_%s.ptx", file, sm)); err != nil && sm == "sm80_O0" {
			continue // only some are compiled without optimisation too
		}
		t.Run(sm, func(t *testing.T) { f(t, kernels(t, fmt.Sprintf("%s_%s.ptx", file, sm))) })
	}
}

func TestGemm(t *testing.T) {
	racing.Skip(t)
	eachTarget(t, "basic", func(t *testing.T, p *Module) {
		const m, n, k = 70, 100, 37
		x := floats(m*k, func(i int) float32 { return float32(i%13) - 6.25 })
		w := floats(k*n, func(i int) float32 { return float32(i%7)/3 - 1 })
		b := floats(n, func(i int) float32 { return float32(i) })
		mem := device()
		py, err := mem.Reserve(4 * m * n)
		if err != nil {
			t.Fatal(err)
		}
		run(t, p, mem, "gemm", [3]uint32{2, 2, 1}, [3]uint32{256, 1, 1}, 0, Pack{}.Add(py, 8).
			Add(upload(t, mem, x), 8).Add(upload(t, mem, w), 8).Add(upload(t, mem, b), 8).Add(m, 4).Add(n, 4).Add(k, 4))
		y := download[float32](t, mem, py, m*n)
		for i := range m {
			for j := range n {
				var sum float32
				for l := range k { // the same order of fma: the same bits
					sum = fused32(x[i*k+l], w[l*n+j], sum, 'n')
				}
				if want := max(sum+b[j], 0); y[i*n+j] != want {
					t.Fatalf("y[%d,%d] = %v, want %v", i, j, y[i*n+j], want)
				}
			}
		}
	})
}

func TestRowSum(t *testing.T) {
	eachTarget(t, "basic", func(t *testing.T, p *Module) {
		mem := device()
		x := floats(5*256, func(i int) float32 { return float32(i % 100) })
		y := upload(t, mem, make([]float32, 5))
		run(t, p, mem, "rowsum", [3]uint32{5, 1, 1}, [3]uint32{256, 1, 1}, 1024, Pack{}.Add(y, 8).Add(upload(t, mem, x), 8))
		for i, got := range download[float32](t, mem, y, 5) {
			var want float32
			for _, v := range x[256*i:][:256] {
				want += v // whole numbers: exact in any order
			}
			if got != want {
				t.Errorf("row %d: %v, want %v", i, got, want)
			}
		}
	})
}

func TestDivergence(t *testing.T) {
	eachTarget(t, "basic", func(t *testing.T, p *Module) {
		mem := device()
		y := upload(t, mem, make([]int32, 100))
		run(t, p, mem, "collatz", [3]uint32{2, 1, 1}, [3]uint32{64, 1, 1}, 0, Pack{}.Add(y, 8).Add(100, 4))
		for i, got := range download[int32](t, mem, y, 100) {
			want := int32(0)
			for v := i + 1; v != 1; want++ {
				if v%2 == 1 {
					v = 3*v + 1
				} else {
					v /= 2
				}
			}
			if got != want {
				t.Errorf("collatz(%d) = %d, want %d", i+1, got, want)
			}
		}
	})
}

func TestCallsAndTables(t *testing.T) {
	eachTarget(t, "basic", func(t *testing.T, p *Module) {
		mem := device()
		y := upload(t, mem, make([]float32, 50))
		const a, b, c, n = 1.5, 4, 0.25, 13
		params := Pack{}.Add(y, 8).Add(n, 4).Add(0, 4).Add(uint64(math.Float32bits(a)), 4).Add(b, 4).Add(math.Float64bits(c), 8)
		run(t, p, mem, "mixture", [3]uint32{1, 1, 1}, [3]uint32{50, 1, 1}, 0, params)
		weights, primes := []float32{0.5, -1, 2, 8}, []float32{2, 3, 5, 7, 11}
		for i, got := range download[float32](t, mem, y, 50) {
			var v, q float32
			if i%3 == 0 {
				v, q = float32(i*(i%8))*a+c, 3*b
			} else {
				v = (float32(i*(n&7))*a+c)*2 + 3*b
			}
			if want := v + weights[i%4] + primes[i%5] + primes[i%4+1] + q; got != want {
				t.Errorf("thread %d: %v, want %v", i, got, want)
			}
		}
	})
}

func TestWays(t *testing.T) {
	eachTarget(t, "basic", func(t *testing.T, p *Module) {
		mem := device()
		x := []int32{0, 1, 2, 3, 4, 5, 6, -1, 3, 0}
		old := []int32{5, 6, -7, -8, 9, 10, 11, 12, 13, 14}
		y := upload(t, mem, old)
		run(t, p, mem, "ways", [3]uint32{1, 1, 1}, [3]uint32{10, 1, 1}, 0, Pack{}.Add(y, 8).Add(upload(t, mem, x), 8))
		want := []int32{5, 462, -2, -3, -9, 80, 1000, 1000, 3, 14}
		if got := download[int32](t, mem, y, 10); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
