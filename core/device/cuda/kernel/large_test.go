package kernel

import (
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/optest"
)

// sizes are those of a buffer: members, rows, columns.
type sizes [3]int

// operation is an instruction on operands of these sizes.
type operation struct {
	code   device.Code
	in     []sizes
	out    sizes
	f      [3]float64
	i      [2]int
	places map[int]int // operands that are indices, with the bound of each
	// tolerance is the largest error; 0 stands for 4e-7.
	tolerance float64
}

// building is a program under construction.
type building struct{ *device.Program }

// add appends a buffer with numbers between 0.1 and 1 that have no pattern.
func (d building) add(s sizes, seed int) device.Ref {
	b := device.Buffer{Members: s[0], Rows: s[1], Cols: s[2]}
	b.Host = make([]float32, b.Len())
	for j := range b.Host {
		b.Host[j] = 0.55 + 0.45*wave(seed, j)
	}
	d.Buffers = append(d.Buffers, b)
	return device.Ref(len(d.Buffers) - 1)
}

// of makes a program of an operation.
func (o operation) of() building {
	p := building{&device.Program{Name: o.code.String()}}
	in := device.Instr{Code: o.code, F: o.f, I: o.i, Mask: device.None}
	for k, s := range o.in {
		in.In = append(in.In, p.add(s, k))
		for j, v := range p.Buffers[k].Host {
			if below, ok := o.places[k]; ok {
				p.Buffers[k].Host[j] = float32(int(v * float32(below)))
			}
		}
	}
	in.Out = p.add(o.out, 0)
	clear(p.Buffers[in.Out].Host)
	p.Instrs, p.Keep = []device.Instr{in}, []device.Ref{in.Out}
	return p
}

// large returns operations in which several blocks share the work of one, or go round the grid more
// than once.
func large() []operation {
	x, y := sizes{2, 2051, 5}, sizes{1, 17011, 3}
	one, stats, columns := sizes{1, 1, 1}, sizes{2, 3, 5}, sizes{1, 2, 5}
	norm := [3]float64{7, 0.3}
	return []operation{
		{code: device.Add, in: []sizes{{1, 1, 1100001}, {1, 1, 1100001}}, out: sizes{1, 1, 1100001}},
		{code: device.Mish, in: []sizes{{1, 1, 270001}}, out: sizes{1, 1, 270001}},
		{code: device.RowScale, in: []sizes{{2, 45001, 3}, {1, 45001, 1}}, out: sizes{2, 45001, 3}},
		{code: device.BatchStats, in: []sizes{x}, out: stats},
		{code: device.BatchNormDX, in: []sizes{x, columns, stats, x}, out: x},
		// The CPU adds these up in float32.
		{code: device.BatchNormDGamma, in: []sizes{x, stats, x}, out: columns, tolerance: 5e-6},
		{code: device.LayerNormDGamma, in: []sizes{x, x}, out: columns, f: [3]float64{1e-3}, tolerance: 5e-6},
		{code: device.LayerNorm, in: []sizes{{2, 4200, 37}, {1, 2, 37}, {1, 2, 37}}, out: sizes{2, 4200, 37}, f: [3]float64{1e-3}},
		{code: device.RMSNormDGamma, in: []sizes{x, x}, out: columns, f: [3]float64{1e-3}, i: [2]int{5}, tolerance: 5e-6},
		{code: device.RMSNormDX, in: []sizes{{2, 4200, 37}, {1, 2, 37}, {2, 4200, 37}}, out: sizes{2, 4200, 37}, f: [3]float64{1e-3}},
		{code: device.GroupSoftmax, in: []sizes{{1, 45001, 8}}, out: sizes{1, 45001, 8}, f: [3]float64{0.01}, i: [2]int{4}},
		{code: device.GroupSample, in: []sizes{{1, 45001, 8}, {1, 45001, 2}}, out: sizes{1, 45001, 8}, i: [2]int{4}},
		{code: device.SplitColumns, in: []sizes{{1, 20001, 24}}, out: sizes{8, 20001, 3}, i: [2]int{8, 1}},
		{code: device.BinMean, in: []sizes{{1, 8500, 71}, {1, 1, 71}}, out: sizes{1, 8500, 1}},
		{code: device.SumColumns, in: []sizes{{1, 8500, 70}}, out: sizes{1, 8500, 1}, f: [3]float64{0.5}},
		{code: device.Sum, in: []sizes{y}, out: one, f: norm},
		{code: device.SquaredError, in: []sizes{{2, 17011, 3}, y}, out: one, f: norm},
		{code: device.WeightedSquaredError, in: []sizes{{2, 17011, 3}, y, {1, 17011, 1}}, out: one, f: norm},
		{code: device.BCE, in: []sizes{y, y}, out: one, f: norm},
		{code: device.CrossEntropy, in: []sizes{x, x, {2, 2051, 1}}, out: one, f: norm},
		{code: device.CrossEntropyGrad, in: []sizes{x, x, {2, 2051, 1}, one}, out: x, f: norm},
		{code: device.EntropyLoss, in: []sizes{{1, 17011, 1}, {1, 17011, 1}, one}, out: one},
		{code: device.GaussianKL, in: []sizes{{1, 9011, 4}}, out: one, f: norm},
		{code: device.Gather, in: []sizes{{1, 300, 7}, {1, 45000, 1}}, out: sizes{1, 45000, 7}, places: map[int]int{1: 300}},
		{code: device.GatherGrad, in: []sizes{{2, 40, 130}, {2, 300, 1}, {2, 300, 130}}, out: sizes{2, 40, 130}, places: map[int]int{1: 40}},
		{code: device.FromBytes, in: []sizes{{1, 300, 1001}}, out: sizes{1, 300, 4003}, f: [3]float64{-0.5}, i: [2]int{4003}},
		{code: device.Concat, in: []sizes{{1, 60, 1}, {1, 60, 2}, {1, 60, 3}, {1, 60, 1}, {1, 60, 5}, {1, 60, 4}}, out: sizes{1, 60, 16}},
	}
}

// Operations on large operands agree with the CPU. The tolerance is the rounding of a tensor's
// largest number in float32 over a few operations; sums are in float64 on both sides.
func TestLargeOperandsAgreeWithTheCPU(t *testing.T) {
	host := cputest.New(t, cpu.Options{Threads: 1})
	card := newCard(t, Target{SM: 80})
	for _, o := range large() {
		a := o.of().Program
		b := clone(a)
		want := execute(t, host, a).Data(a.Instrs[0].Out)
		got := execute(t, card, b)
		optest.Near(t, o.code.String(), got.Data(b.Instrs[0].Out), doubles(want), max(o.tolerance, 4e-7))
		first := slices.Clone(got.Data(b.Instrs[0].Out))
		if o.code != device.GatherGrad { // checking this for all operations would take long
			continue
		}
		if err := got.Run(0); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(first, got.Data(b.Instrs[0].Out)) {
			t.Errorf("%v: another run, other numbers", o.code)
		}
	}
}
