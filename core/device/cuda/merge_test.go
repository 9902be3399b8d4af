package cuda

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/relevance"
)

// tangle is a random program that uses a few weights again and again: layers on what there is,
// elementwise work, gradients of operands, and for each weight and bias the sum of its gradients.
type tangle struct {
	*device.Program
	r       *rand.Rand
	rows    int
	values  []device.Ref // [rows,16]
	weights []device.Ref // [16,16]
	biases  []device.Ref
	slopes  map[device.Ref][]device.Ref // gradients of weights, by weight
}

func (g *tangle) buffer(rows, cols int, host float64) device.Ref {
	b := device.Buffer{Members: 1, Rows: rows, Cols: cols}
	if host > 0 {
		b.Host = make([]float32, b.Len())
		for i := range b.Host {
			b.Host[i] = float32(host * g.r.NormFloat64())
		}
	}
	g.Buffers = append(g.Buffers, b)
	return device.Ref(len(g.Buffers) - 1)
}

func (g *tangle) any(of []device.Ref) device.Ref { return of[g.r.IntN(len(of))] }

func (g *tangle) do(code device.Code, rows, cols int, in ...device.Ref) device.Ref {
	out := g.buffer(rows, cols, 0)
	g.Instrs = append(g.Instrs, device.Instr{Code: code, Out: out, In: in, Mask: device.None})
	return out
}

const tangled = 16 // columns

func newTangle(seed uint64, n int) *tangle {
	g := &tangle{Program: &device.Program{Name: "tangle"}, r: rand.New(rand.NewPCG(seed, 5)), rows: 16, slopes: map[device.Ref][]device.Ref{}}
	for range 3 {
		g.values = append(g.values, g.buffer(g.rows, tangled, 1))
		g.weights, g.biases = append(g.weights, g.buffer(tangled, tangled, 0.25)), append(g.biases, g.buffer(1, tangled, 1))
	}
	joined, bias, beside := g.buffer(tangled+4, tangled, 0.25), g.buffer(1, tangled, 1), g.buffer(g.rows, 4, 1)
	for range n {
		w := g.r.IntN(len(g.weights))
		x, y := g.any(g.values), g.any(g.values)
		switch g.r.IntN(9) {
		case 0, 1:
			g.values = append(g.values, g.do(device.Linear, g.rows, tangled, x, g.weights[w], g.biases[w]))
			g.slopes[g.biases[w]] = append(g.slopes[g.biases[w]], g.do(device.ColSum, 1, tangled, y))
		case 2:
			g.values = append(g.values, g.do(device.LinearDX, g.rows, tangled, x, g.weights[w]))
		case 3:
			g.slopes[g.weights[w]] = append(g.slopes[g.weights[w]], g.do(device.LinearDW, tangled, tangled, x, y))
			if g.r.IntN(10) == 0 {
				g.Keep = append(g.Keep, g.Instrs[len(g.Instrs)-1].Out)
			}
		case 4:
			g.values = append(g.values, g.do(device.LinearJoined, g.rows, tangled, x, beside, joined, bias))
			g.slopes[joined] = append(g.slopes[joined], g.do(device.LinearJoinedDW, tangled+4, tangled, x, beside, y))
		case 5:
			g.values = append(g.values, g.do(device.SiLU, g.rows, tangled, x))
		case 6:
			g.values = append(g.values, g.do(device.SiLUGrad, g.rows, tangled, x, y))
		case 7:
			g.values = append(g.values, g.do(device.Add, g.rows, tangled, x, y))
		case 8: // a layer and its activation on two operands
			for _, x := range []device.Ref{x, y} {
				z := g.do(device.Linear, g.rows, tangled, x, g.weights[w], g.biases[w])
				g.values = append(g.values, z, g.do(device.SiLU, g.rows, tangled, z))
			}
		}
	}
	for _, of := range slices.Concat(g.weights, g.biases, []device.Ref{joined}) {
		g.sum(of)
	}
	g.Keep = append(g.Keep, g.values[len(g.values)-3:]...)
	return g
}

// sum adds the gradients of a weight, and keeps the result.
func (g *tangle) sum(of device.Ref) {
	all := g.slopes[of]
	if len(all) == 0 {
		return
	}
	b := g.Buffers[of]
	total := all[0]
	for _, r := range all[1:] {
		total = g.do(device.Add, b.Rows, b.Cols, total, r)
	}
	g.Keep = append(g.Keep, total)
}

// precisions are those of a card: a tile, if it must be named for products that are small, and the
// rounding of a factor.
var precisions = map[kernel.Precision]struct {
	tile      string
	tolerance float64
}{kernel.FP32: {"", 1e-5}, kernel.TF32: {"TF32_64x64", 1e-3}, kernel.BF16: {"BF16_64x64", 8e-3}}

// Programs in which uses of a weight are merged compute what they computed, with fewer instructions.
func TestMergedProgramsAgree(t *testing.T) {
	on := onCPU(t)
	for precision, of := range precisions {
		dev, fewer, seeds := card(t, Options{Precision: precision, Tile: of.tile}), 0, uint64(3)
		if precision == kernel.FP32 {
			seeds = 16
		}
		for seed := range seeds {
			p := newTangle(seed, 30+int(seed))
			want, got := ran(t, on, p.Program), ran(t, dev, p.Program)
			for i, r := range p.Keep {
				close32(t, fmt.Sprintf("%v, seed %d: result %d", precision, seed, i), got.Data(r), want.Data(r), 8*of.tolerance)
			}
			outlined(t, p.Program, got.(device.Outliner).Outline())
			fewer += len(p.Instrs) - len(kernel.Merge(p.Program, dev.target()).Instrs)
			if err := got.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if fewer < 3*int(seeds) {
			t.Errorf("%v: merging %d programs saved only %d instructions", precision, seeds, fewer)
		}
	}
}

// outlined checks that an outline speaks of the instructions and buffers of the program that was compiled.
func outlined(t *testing.T, p *device.Program, o device.Outline) {
	t.Helper()
	for i, in := range p.Instrs {
		if by := o.Into[i]; o.Into[by] != by || o.Lanes[by] == "" || int(o.Owner[in.Out]) >= len(p.Buffers) {
			t.Errorf("instruction %d is done by %d, %q, in the memory of %d", i, by, o.Lanes[by], o.Owner[in.Out])
		}
	}
}

func ran(t *testing.T, dev device.Device, p *device.Program) device.Executable {
	t.Helper()
	x, err := dev.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Run(0); err != nil {
		t.Fatal(err)
	}
	return x
}

// The curiosity model, which uses one block eight times and its encoder on both observations, learns as on
// the CPU, also where its products go to the tensor cores.
func TestCuriosityInEachPrecision(t *testing.T) {
	c := relevance.DefaultICM()
	c.Hidden, c.Batch, c.ScoreRows = 32, 32, 32
	losses := func(dev device.Device) said {
		m, err := relevance.NewICM(c, shape, dev, 3)
		return modelling(t, m, err)[:4]
	}
	want := losses(onCPU(t))
	for precision, of := range precisions {
		dev := noticing{unchecked(t, Options{Precision: precision, Tile: of.tile}), map[string]*device.Program{}}
		agree(t, losses(dev), want, of.tolerance)
		p := dev.programs["curiosity update"]
		if n := len(kernel.Merge(p, dev.target()).Instrs); n > len(p.Instrs)-60 {
			t.Errorf("%v: %d of %d instructions of an update are left", precision, n, len(p.Instrs))
		}
	}
}

// noticing keeps the programs that it compiles, by name.
type noticing struct {
	*Device
	programs map[string]*device.Program
}

func (n noticing) Compile(p *device.Program) (device.Executable, error) {
	n.programs[p.Name] = p
	return n.Device.Compile(p)
}
