package cpu

import (
	"fmt"
	"math"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/rng"
)

// The norm of a gradient is the sum of its squares in one order, block by block of each lane's
// half, whether lanes sum them as they write the gradient or afterwards. The cases have large
// weights and members, halves that do and do not end between rows, blocks that do and do not end in
// a row or member, and a last piece of few rows.
func TestGradientsAreSquaredInOneOrder(t *testing.T) {
	dev, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, s := range []struct{ members, rows, in, out int }{
		{1, 32, 512, 1024}, {1, 64, 640, 333}, {1, 33, 169, 1024}, {1, 48, 1152, 201}, {1, 20, 400, 400},
		{2, 32, 90, 256}, {6, 32, 90, 256}, {10, 16, 64, 256}, {4, 16, 33, 7}, {4, 16, 300, 1}, {3, 16, 90, 256},
	} {
		t.Run(fmt.Sprintf("%dx%dx%dx%d", s.members, s.rows, s.in, s.out), func(t *testing.T) {
			p := &device.Program{Name: "gradient"}
			buffer := func(members, rows, cols int) device.Ref {
				b := device.Buffer{Members: members, Rows: rows, Cols: cols, Host: make([]float32, members*rows*cols)}
				rng.New(1, "squares").FillNormal(b.Host, uint64(len(p.Buffers)), 0)
				p.Buffers = append(p.Buffers, b)
				return device.Ref(len(p.Buffers) - 1)
			}
			x, dz, rate := buffer(s.members, s.rows, s.in), buffer(s.members, s.rows, s.out), buffer(1, 1, 1)
			w, m, v := buffer(s.members, s.in, s.out), buffer(s.members, s.in, s.out), buffer(s.members, s.in, s.out)
			clear(p.Buffers[v].Host)
			p.Buffers = append(p.Buffers, device.Buffer{Members: s.members, Rows: s.in, Cols: s.out})
			grad := device.Ref(len(p.Buffers) - 1)
			p.Instrs = []device.Instr{{Code: device.LinearDW, In: []device.Ref{x, dz}, Out: grad, Mask: device.None}}
			p.Adam = &device.Adam{
				Params: []device.Ref{w}, Grads: []device.Ref{grad}, M: []device.Ref{m}, V: []device.Ref{v}, Rate: rate,
				Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, T: new(uint64),
			}
			e, err := dev.Compile(p)
			if err != nil {
				t.Fatal(err)
			}
			for run := range uint64(2) {
				if err := e.Run(run); err != nil {
					t.Fatal(err)
				}
				g, copies := e.Data(grad), e.(*executable).copies[grad]
				total := 0.0
				for lane := range Lanes {
					sum := 0.0
					for lo, hi := elementRange(len(g), lane); lo < hi; lo += block {
						var other []float32 // the other lane's sums
						if copies[1] != nil {
							other = copies[1][lo:min(lo+block, hi)]
						}
						sum += dev.kernels.SumSquares(g[lo:min(lo+block, hi)], other)
					}
					total += sum
				}
				if got := e.(*executable).GradientNorm(); got != math.Sqrt(total) || !(got > 0) {
					t.Errorf("run %d: norm %v, the sum in order %v", run, got, math.Sqrt(total))
				}
				p.Buffers[x].Host[5] += 1000 // the next run has another norm
			}
		})
	}
}
