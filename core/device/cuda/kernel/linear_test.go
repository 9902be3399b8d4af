package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgrlab/core/device"
)

// layers is one instruction of the linear family on random numbers.
type layers struct {
	code              device.Code
	members, xs       int // of the weights, and of x: 1 or the same number
	rows, in, in2     int // in2: columns of the second operand
	out               int
	relu, mask, added bool // added: the result has one member
	index             []int
	part              [2]int
}

func (l layers) String() string {
	return fmt.Sprintf("%v of %d members, x of %d: %d rows, %d+%d to %d, %v", l.code, l.members, l.xs, l.rows, l.in, l.in2, l.out, l.index)
}

// program makes the operands; the result is its last buffer.
func (l layers) program() *device.Program {
	p, random := &device.Program{}, rand.New(rand.NewPCG(uint64(l.rows), uint64(l.in)))
	buffer := func(members, rows, cols int) device.Ref {
		b := device.Buffer{Members: members, Rows: rows, Cols: cols, Host: make([]float32, members*rows*cols)}
		for i := range b.Host {
			b.Host[i] = float32(random.NormFloat64())
		}
		p.Buffers = append(p.Buffers, b)
		return device.Ref(len(p.Buffers) - 1)
	}
	in := device.Instr{Code: l.code, Mask: device.None, ReLU: l.relu, I: l.part}
	results, all := l.members, l.in+l.in2
	if l.added {
		results = 1
	}
	switch l.code {
	case device.Linear, device.LinearAt, device.LinearJoined:
		in.In = []device.Ref{buffer(l.xs, l.rows, l.in)}
		if l.code == device.LinearJoined {
			in.In = append(in.In, buffer(l.members, l.rows, l.in2))
		}
		in.In = append(in.In, buffer(l.members, all, l.out), buffer(1, l.members, l.out))
		if l.index != nil {
			in.In = append(in.In, buffer(1, 1, len(l.index)))
			for i, m := range l.index {
				p.Buffers[in.In[3]].Host[i] = float32(m)
			}
			results = len(l.index)
		}
		in.Out = buffer(results, l.rows, l.out)
	case device.LinearDX, device.LinearDXPart:
		in.In = []device.Ref{buffer(l.members, l.rows, l.out), buffer(l.members, l.in, l.out)}
		cols := l.in
		if l.code == device.LinearDXPart {
			cols = l.part[1] - l.part[0]
		}
		if l.mask {
			in.Mask = buffer(results, l.rows, cols)
		}
		in.Out = buffer(results, l.rows, cols)
	case device.LinearDW, device.LinearJoinedDW:
		in.In = []device.Ref{buffer(l.xs, l.rows, l.in)}
		if l.code == device.LinearJoinedDW {
			in.In = append(in.In, buffer(l.second(), l.rows, l.in2))
		}
		in.In = append(in.In, buffer(l.members, l.rows, l.out))
		in.Out = buffer(results, all, l.out)
	case device.ColSum:
		in.In = []device.Ref{buffer(l.members, l.rows, l.out)}
		in.Out = buffer(1, results, l.out)
	}
	p.Instrs, p.Keep = []device.Instr{in}, []device.Ref{in.Out}
	return p
}

// second is the number of members of the second operand of a gradient of weights: all uses of a weight
// share one if their results are added up.
func (l layers) second() int {
	if l.added {
		return 1
	}
	return l.members
}

// want returns element (row, col) of member e of the result, and the sum of its terms' magnitudes,
// by the definition.
func (l layers) want(p *device.Program, e, row, col int) (sum, magnitude float64) {
	in := p.Instrs[0]
	host := func(i int) []float32 { return p.Buffers[in.In[i]].Host }
	add := func(a, b float32) {
		sum += float64(a) * float64(b)
		magnitude += math.Abs(float64(a) * float64(b))
	}
	x := func(e, row, col int) float32 {
		if col >= l.in {
			return host(1)[(e%p.Buffers[in.In[1]].Members*l.rows+row)*l.in2+col-l.in]
		}
		return host(0)[(e%l.xs*l.rows+row)*l.in+col]
	}
	switch l.code {
	case device.Linear, device.LinearAt, device.LinearJoined:
		m, w := e, 1
		if l.index != nil {
			m = l.index[e]
		}
		if l.code == device.LinearJoined {
			w = 2
		}
		for k := range l.in + l.in2 {
			add(x(e, row, k), host(w)[(m*(l.in+l.in2)+k)*l.out+col])
		}
		add(1, host(w + 1)[m*l.out+col])
		if l.relu {
			sum = max(sum, 0)
		}
	case device.LinearDX, device.LinearDXPart:
		for m := range l.members {
			for k := 0; k < l.out && (l.added || m == e); k++ {
				add(host(0)[(m*l.rows+row)*l.out+k], host(1)[(m*l.in+col+l.part[0])*l.out+k])
			}
		}
		if out := p.Buffers[in.Out]; l.mask && !(p.Buffers[in.Mask].Host[(e*out.Rows+row)*out.Cols+col] > 0) {
			sum = 0
		}
	case device.LinearDW, device.LinearJoinedDW:
		for m := range l.members {
			for k := 0; k < l.rows && (l.added || m == e); k++ {
				add(x(m, k, row), host(len(in.In) - 1)[(m*l.rows+k)*l.out+col])
			}
		}
	case device.ColSum:
		for m := range l.members {
			for k := 0; k < l.rows && (l.added || m == row); k++ {
				add(1, host(0)[(m*l.rows+k)*l.out+col])
			}
		}
	}
	return sum, magnitude
}

// Every instruction of the family is tested in the forms that Lower gives it: members and shared
// operands, heads of one column, one summand, sums over members, divided sums, operands side by
// side, members by index, many rows, no rows.
func TestLinearFamily(t *testing.T) {
	dev := newCard(t, Target{SM: 80})
	for _, l := range []layers{
		{code: device.Linear, members: 1, xs: 1, rows: 1, in: 1, out: 1},
		{code: device.Linear, members: 1, xs: 1, rows: 33, in: 90, out: 12, relu: true},
		{code: device.Linear, members: 3, xs: 1, rows: 21, in: 64, out: 40, relu: true},
		{code: device.Linear, members: 2, xs: 2, rows: 17, in: 1, out: 5},
		{code: device.Linear, members: 3, xs: 3, rows: 13, in: 132, out: 1},
		{code: device.Linear, members: 2, xs: 1, rows: 9, in: 7, out: 1, relu: true},
		{code: device.Linear, members: 1, xs: 1, rows: 3, in: 1100, out: 6, relu: true}, // in parts
		{code: device.LinearAt, members: 4, xs: 1, rows: 5, in: 9, out: 6, index: []int{3, 1}},
		{code: device.LinearAt, members: 4, xs: 2, rows: 5, in: 8, out: 8, index: []int{2, 0}, relu: true},
		{code: device.LinearAt, members: 3, xs: 1, rows: 5, in: 8, out: 1, index: []int{2}},
		{code: device.LinearAt, members: 3, xs: 2, rows: 4, in: 1030, out: 4, index: []int{2, 1}},
		{code: device.LinearJoined, members: 2, xs: 1, rows: 20, in: 12, in2: 6, out: 9, relu: true},
		{code: device.LinearJoined, members: 1, xs: 1, rows: 20, in: 64, in2: 32, out: 1},
		{code: device.LinearDX, members: 3, rows: 19, in: 23, out: 14, mask: true},
		{code: device.LinearDX, members: 3, rows: 19, in: 24, out: 16, mask: true, added: true},
		{code: device.LinearDX, members: 10, rows: 6, in: 24, out: 128, mask: true, added: true}, // in parts
		{code: device.LinearDX, members: 2, rows: 19, in: 24, out: 1, mask: true},
		{code: device.LinearDX, members: 4, rows: 11, in: 7, out: 1, mask: true, added: true},
		{code: device.LinearDXPart, members: 2, rows: 18, in: 30, out: 12, part: [2]int{17, 23}, added: true},
		{code: device.LinearDXPart, members: 2, rows: 18, in: 30, out: 1, part: [2]int{5, 9}},
		{code: device.LinearDW, members: 2, xs: 1, rows: 40, in: 18, out: 22},
		{code: device.LinearDW, members: 2, xs: 2, rows: 700, in: 5, out: 6}, // in parts
		{code: device.LinearDW, members: 3, xs: 1, rows: 35, in: 40, out: 1},
		{code: device.LinearDW, members: 1, xs: 1, rows: 2100, in: 3, out: 1}, // in parts
		{code: device.LinearJoinedDW, members: 2, xs: 1, rows: 33, in: 12, in2: 20, out: 8},
		{code: device.LinearJoinedDW, members: 1, xs: 1, rows: 33, in: 7, in2: 2, out: 5},
		{code: device.ColSum, members: 2, rows: 70, out: 37},
		{code: device.LinearDW, members: 3, xs: 3, rows: 16, in: 18, out: 12, added: true},
		{code: device.LinearDW, members: 3, xs: 1, rows: 16, in: 18, out: 12, added: true},
		{code: device.LinearDW, members: 8, xs: 8, rows: 64, in: 4, out: 8, added: true}, // in parts
		{code: device.LinearJoinedDW, members: 3, xs: 3, rows: 16, in: 12, in2: 6, out: 8, added: true},
		{code: device.ColSum, members: 3, rows: 400, out: 37, added: true},
		{code: device.ColSum, members: 3, rows: 1400, out: 2, added: true}, // in parts
		{code: device.ColSum, members: 2, rows: 1025, out: 2},              // in parts
		{code: device.Linear, members: 2, xs: 1, in: 3, out: 4},
		{code: device.LinearDX, members: 2, in: 3, out: 4},
		{code: device.LinearDW, members: 2, xs: 1, in: 3, out: 4},
		{code: device.LinearDW, members: 2, xs: 1, in: 3, out: 1},
		{code: device.ColSum, members: 2, out: 5},
	} {
		l.check(t, dev)
	}
}

func (l layers) check(t *testing.T, dev device.Device) {
	t.Helper()
	p := l.program()
	x, err := dev.Compile(p)
	if err != nil {
		t.Fatalf("%v: %v", l, err)
	}
	if err := x.Run(0); err != nil {
		t.Fatalf("%v: %v", l, err)
	}
	out := p.Buffers[p.Instrs[0].Out]
	for i, got := range x.Data(p.Instrs[0].Out) {
		want, magnitude := l.want(p, i/(out.Rows*out.Cols), i/out.Cols%out.Rows, i%out.Cols)
		if !(math.Abs(float64(got)-want) <= summation*magnitude) {
			t.Errorf("%v: element %d is %v, want %v ± %.1e", l, i, got, want, summation*magnitude)
			return
		}
	}
}
