package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

// The gradient of a sample is the same whether its program made the sample or was given it,
// including the limits of log σ and the far ends of tanh.
func TestGaussianGradientAlone(t *testing.T) {
	const members, rows, n = 2, 33, 5
	r := rand.New(rand.NewPCG(1, 2))
	host := func(cols int, spread float64) []float32 {
		x := make([]float32, members*rows*cols)
		for i := range x {
			x[i] = float32(spread * r.NormFloat64())
		}
		return x
	}
	h, eps, dout := host(2*n, 12), host(n, 1), host(n+1, 1)
	buffers := func(out []float32) []device.Buffer {
		return []device.Buffer{
			{Name: "h", Members: members, Rows: rows, Cols: 2 * n, Host: h}, {Name: "eps", Members: members, Rows: rows, Cols: n, Host: eps},
			{Name: "out", Members: members, Rows: rows, Cols: n + 1, Host: out}, {Name: "dout", Members: members, Rows: rows, Cols: n + 1, Host: dout},
			{Name: "dh", Members: members, Rows: rows, Cols: 2 * n},
		}
	}
	sample := device.Instr{Code: device.TanhGaussian, In: []device.Ref{0, 1}, Out: 2, Mask: device.None}
	grad := device.Instr{Code: device.TanhGaussianGrad, In: []device.Ref{0, 1, 2, 3}, Out: 4, Mask: device.None}
	for _, family := range kernel.Available() {
		dev, err := New(Options{Threads: 1, Family: family})
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		run := func(p *device.Program) device.Executable {
			t.Helper()
			x, err := dev.Compile(p)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := x.Run(0); err != nil {
					t.Fatal(err)
				}
			}
			return x
		}
		both := run(&device.Program{Name: "both", Buffers: buffers(nil), Instrs: []device.Instr{sample, grad}, Keep: []device.Ref{2, 4}})
		alone := run(&device.Program{Name: "alone", Buffers: buffers(slices.Clone(both.Data(2))), Instrs: []device.Instr{grad}, Keep: []device.Ref{4}})
		if !slices.Equal(both.Data(4), alone.Data(4)) {
			t.Errorf("%s: the gradient alone differs", family)
		}
		if slices.Max(both.Data(4)) == 0 {
			t.Errorf("%s: there is no gradient", family)
		}
	}
}
