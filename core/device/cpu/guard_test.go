package cpu

import (
	"fmt"
	"math"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/rng"
)

// The norm of a large gradient is the sum of its squares in one order, block by block
// of each lane's half, whether lanes sum them as they write it or afterwards: with
// halves between rows and not, blocks that end in a row and not, a last piece of few rows.
func TestLargeGradientsAreSquaredInOneOrder(t *testing.T) {
	dev, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, s := range []struct{ rows, in, out int }{{32, 512, 1024}, {64, 640, 333}, {33, 169, 1024}, {48, 1152, 201}, {20, 400, 400}} {
		t.Run(fmt.Sprintf("%dx%dx%d", s.rows, s.in, s.out), func(t *testing.T) {
			p := &device.Program{Name: "gradient"}
			buffer := func(rows, cols int) device.Ref {
				b := device.Buffer{Members: 1, Rows: rows, Cols: cols, Host: make([]float32, rows*cols)}
				rng.New(1, "squares").FillNormal(b.Host, uint64(len(p.Buffers)), 0)
				p.Buffers = append(p.Buffers, b)
				return device.Ref(len(p.Buffers) - 1)
			}
			x, dz := buffer(s.rows, s.in), buffer(s.rows, s.out)
			w, m, v, rate := buffer(s.in, s.out), buffer(s.in, s.out), buffer(s.in, s.out), buffer(1, 1)
			clear(p.Buffers[v].Host)
			p.Buffers = append(p.Buffers, device.Buffer{Members: 1, Rows: s.in, Cols: s.out})
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
				total := 0.0
				for lane := range Lanes {
					sum := 0.0
					for lo, hi := elementRange(s.in*s.out, lane); lo < hi; lo += block {
						sum += dev.kernels.SumSquares(e.Data(grad)[lo:min(lo+block, hi)], nil)
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
