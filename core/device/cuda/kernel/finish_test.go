package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/optest"
)

// tensorsOf makes a program that consists only of host memory, with buffers of these lengths.
func tensorsOf(lengths ...int) *device.Program {
	p := &device.Program{Name: "end"}
	for i, n := range lengths {
		b := device.Buffer{Members: 1, Rows: 1, Cols: n, Host: make([]float32, n)}
		for j := range b.Host {
			b.Host[j] = wave(i, j)
		}
		p.Buffers = append(p.Buffers, b)
	}
	return p
}

// wave returns a number between −1 and 1 that has no pattern, for two indices.
func wave(i, j int) float32 {
	h := uint32(i+1)*2654435761 ^ uint32(j)*2246822519
	h ^= h >> 15
	h *= 2654435761
	return float32(int32(h^h>>13)) / (1 << 31)
}

// kernelsOf returns the kernels that a recipe launches.
func kernelsOf(r Recipe) (names []string) {
	for _, l := range r.Launches {
		names = append(names, l.Kernel)
	}
	return names
}

// The end of a program takes at most three launches, as long as no average needs what another one
// writes.
func TestLaunchesOfTheEnd(t *testing.T) {
	const w, m, v, g, rate, first, second, third = 0, 1, 2, 3, 4, 5, 6, 7
	adam := func(p *device.Program) *device.Adam {
		return &device.Adam{Params: []device.Ref{w}, M: []device.Ref{m}, V: []device.Ref{v}, Grads: []device.Ref{g}, Rate: rate, T: new(uint64)}
	}
	for _, c := range []struct {
		name  string
		adam  bool
		check []device.Ref
		lerps []device.Lerp
		want  []string
		moved int // averages that the optimiser moves
	}{
		{name: "nothing"},
		{name: "a check", check: []device.Ref{w}, want: []string{"check"}},
		{name: "an optimiser", adam: true, want: []string{"check", "adam"}},
		{name: "an average of a parameter", adam: true, lerps: []device.Lerp{{Dst: first, Src: w, Rate: rate}}, want: []string{"check", "adam"}, moved: 1},
		{name: "two of the same", adam: true, lerps: []device.Lerp{{Dst: first, Src: w, Rate: rate}, {Dst: second, Src: w, Rate: device.None}},
			want: []string{"check", "adam", "averages"}, moved: 1},
		{name: "without an optimiser", lerps: []device.Lerp{{Dst: first, Src: w, Rate: rate}, {Dst: second, Src: v, Rate: rate}}, want: []string{"averages"}},
		{name: "a chain", lerps: []device.Lerp{{Dst: first, Src: w, Rate: rate}, {Dst: second, Src: first, Rate: rate}}, want: []string{"averages", "averages"}},
		{name: "into what was read", lerps: []device.Lerp{{Dst: first, Src: w, Rate: rate}, {Dst: w, Src: third, Rate: rate}}, want: []string{"averages", "averages"}},
		{name: "a rate that moves", lerps: []device.Lerp{{Dst: rate, Src: w, Rate: device.None}, {Dst: first, Src: w, Rate: rate}}, want: []string{"averages", "averages"}},
		{name: "out of turn", adam: true, lerps: []device.Lerp{{Dst: second, Src: first, Rate: rate}, {Dst: first, Src: w, Rate: rate}},
			want: []string{"check", "adam", "averages"}},
		{name: "beside it", adam: true, lerps: []device.Lerp{{Dst: second, Src: first, Rate: rate}, {Dst: third, Src: first, Rate: rate}}, want: []string{"check", "adam"}},
		{name: "into a moment", adam: true, lerps: []device.Lerp{{Dst: m, Src: w, Rate: rate}}, want: []string{"check", "adam", "averages"}},
	} {
		p := tensorsOf(1, 1, 1, 1, 1, 1, 1, 1)
		if c.adam {
			p.Adam = adam(p)
		}
		p.Finite, p.Lerps = c.check, c.lerps
		r, err := Finish(p, Target{SM: 80})
		if err != nil {
			t.Fatal(err)
		}
		if got := kernelsOf(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: launches %v, want %v", c.name, got, c.want)
		}
		moved := 0
		for _, l := range r.Launches {
			if l.Kernel == "adam" && l.Args[2].(Table)[6] != any(uint64(0)) {
				moved++
			}
		}
		if moved != c.moved {
			t.Errorf("%s: the optimiser moves %d averages, want %d", c.name, moved, c.moved)
		}
	}
}

// clone returns the program with memory of its own.
func clone(p *device.Program) *device.Program {
	c := *p
	c.Buffers = slices.Clone(p.Buffers)
	for i, b := range c.Buffers {
		c.Buffers[i].Host = slices.Clone(b.Host)
	}
	if p.Adam != nil {
		a, steps := *p.Adam, *p.Adam.T
		a.T = &steps
		c.Adam = &a
	}
	return &c
}

// ending is a program that steps parameters of awkward sizes and moves averages of all kinds; its
// gradients are read in place. scale multiplies the gradients.
func ending(scale float32, adam device.Adam) *device.Program {
	sizes := []int{1, 1023, 1024, 1025, 3, 5000, 6}
	var lengths []int
	for range 5 { // parameters, gradients, both moments, averages
		lengths = append(lengths, sizes...)
	}
	p := tensorsOf(append(lengths, 1, 1)...)
	n := len(sizes)
	rate, share := device.Ref(5*n), device.Ref(5*n+1)
	p.Buffers[rate].Host[0], p.Buffers[share].Host[0] = 3e-3, 0.005
	for i := range n {
		w := device.Ref(i)
		g, m, v, average := w+device.Ref(n), w+device.Ref(2*n), w+device.Ref(3*n), w+device.Ref(4*n)
		adam.Params, adam.Grads = append(adam.Params, w), append(adam.Grads, g)
		adam.M, adam.V = append(adam.M, m), append(adam.V, v)
		for j := range p.Buffers[g].Host {
			p.Buffers[g].Host[j] *= scale
			p.Buffers[v].Host[j] = max(p.Buffers[v].Host[j], -p.Buffers[v].Host[j]) / 100
		}
		l := device.Lerp{Dst: average, Src: w, Rate: share}
		switch i {
		case 2:
			l.Rate = device.None
		case 4:
			l.Src = g // not a parameter
		}
		p.Lerps = append(p.Lerps, l)
	}
	adam.Rate, adam.T = rate, new(uint64)
	*adam.T = 16
	p.Adam = &adam
	p.Finite = []device.Ref{share}
	return p
}

// The optimiser and the averages agree with the CPU's kernels step by step, within two units of the
// last place of a tensor's largest number: they differ where an instruction set adds with one
// rounding or with two.
func TestTheEndAgreesWithTheCPU(t *testing.T) {
	host := cputest.New(t, cpu.Options{Threads: 1})
	for _, c := range []struct {
		name string
		adam device.Adam
	}{
		{"Adam", device.Adam{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}},
		{"Adam with a clip", device.Adam{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, ClipNorm: 0.5}},
		{"a clip that is not reached", device.Adam{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, ClipNorm: 1e6}},
		{"Adam with a clip of tensors", device.Adam{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, ClipNorm: 20, ClipTensor: 0.1}},
		{"LaProp", device.Adam{Rule: device.RuleLaProp, Beta1: 0.9, Beta2: 0.999, Eps: 1e-20}},
		{"LaProp with a clip of tensors", device.Adam{Rule: device.RuleLaProp, Beta1: 0.9, Beta2: 0.999, Eps: 1e-20, ClipTensor: 0.3}},
		{"AdamW", device.Adam{Beta1: 0.5, Beta2: 0.95, Eps: 1e-3, WeightDecay: 0.1, ClipNorm: 1}},
	} {
		a := ending(3, c.adam)
		b := clone(a)
		x, err := host.Compile(a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := newCard(t, Target{SM: 80}).Compile(b)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			for _, e := range []device.Executable{x, y} {
				if err := e.Run(0); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got, want := y.GradientNorm(), x.GradientNorm(); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s: the norm is %v, the CPU says %v", c.name, got, want)
		}
		if *b.Adam.T != 19 {
			t.Errorf("%s: %d steps are counted, want 19", c.name, *b.Adam.T)
		}
		for i := range a.Buffers {
			optest.Near(t, fmt.Sprintf("%s: tensor %d", c.name, i), b.Buffers[i].Host, doubles(a.Buffers[i].Host), 2.4e-7)
		}
	}
}

func doubles(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// If one number is not finite, wherever it is, nothing changes, and nothing changes in later runs
// that the host does not begin.
func TestNothingChangesAfterWhatIsNotFinite(t *testing.T) {
	bad := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}
	at := func(p *device.Program, r device.Ref, i int, v float32) *device.Program {
		p.Buffers[r].Host[i] = v
		return p
	}
	programs := map[string]*device.Program{
		"the first gradient":    at(ending(1, device.Adam{Beta1: 0.9, Beta2: 0.99}), 7, 0, bad[0]),
		"the end of a gradient": at(ending(1, device.Adam{Beta1: 0.9, Beta2: 0.99}), 12, 4999, bad[1]),
		"the last gradient":     at(ending(1, device.Adam{Beta1: 0.9, Beta2: 0.99}), 13, 5, bad[2]),
		"what must be finite":   at(ending(1, device.Adam{Beta1: 0.9, Beta2: 0.99}), 36, 0, bad[0]),
		"the norm":              ending(1e19, device.Adam{Beta1: 0.9, Beta2: 0.99}),
	}
	averages := tensorsOf(5, 5, 1)
	averages.Finite, averages.Lerps = []device.Ref{1}, []device.Lerp{{Dst: 0, Src: 1, Rate: device.None}}
	programs["without an optimiser"] = at(averages, 1, 3, bad[1])
	for name, p := range programs {
		before := clone(p)
		x, err := newCard(t, Target{SM: 80}).Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, ok := x.Run(0).(*device.NotFinite); !ok {
				t.Errorf("%s: the run was not stopped", name)
			}
		}
		for i, b := range p.Buffers {
			for j, v := range b.Host {
				if was := before.Buffers[i].Host[j]; math.Float32bits(v) != math.Float32bits(was) {
					t.Fatalf("%s: element %d of tensor %d was %v, is %v", name, j, i, was, v)
				}
			}
		}
		if p.Adam != nil && *p.Adam.T != 16 {
			t.Errorf("%s: %d steps are counted", name, *p.Adam.T)
		}
	}
}
