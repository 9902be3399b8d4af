package plan

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/optest"
)

// Every program agrees with Gorgonia's TapeMachine, which runs the reference implementations in
// float64. The tolerance of 1e-5 of a tensor's largest magnitude is float32's rounding through some
// ten operations.
func TestProgramsAgreeWithTheTapeMachine(t *testing.T) {
	for _, family := range kernel.Available() {
		dev := cputest.New(t, cpu.Options{Threads: 2, Family: family})
		for _, d := range examples() {
			t.Run(family+"/"+d.Name, func(t *testing.T) { agree(t, d, dev) })
		}
	}
}

func agree(t *testing.T, d optest.Example, dev *cpu.Device) {
	p, nodes := compile(t, d, dev, nil)
	d.Agree(t, p, nodes)
	for _, n := range nodes {
		if n.Shape().IsScalar() {
			continue // and therefore copied
		}
		if view := optest.Numbers[float32](n); &view[0] != &p.Data(n)[0] {
			t.Error("node.Value() is no view of the program's memory")
		}
	}
}

func compile(t *testing.T, d optest.Example, dev *cpu.Device, optimiser *Adam) (*Program, []*op.Node) {
	t.Helper()
	var outputs []*op.Node
	p, err := Build(d.Name, dev, func(g *op.Graph) Spec {
		s := Spec{Gradients: d.Wrt, Optimiser: optimiser}
		s.Loss, s.Outputs = d.Build(g)
		outputs = s.Outputs
		return s
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, outputs
}

// Two hundred updates by one worker and by more end in the same bits; more than two workers cut
// lanes into parts, however little there is to do.
func TestWorkersDoNotChangeBits(t *testing.T) {
	weights := func(threads int) (all [][]float32) {
		dev := cputest.New(t, cpu.Options{Threads: threads, LeastShare: 1})
		for _, d := range []optest.Example{twin(), curiosity(), denoiser(), wide(), large(), actor(), pixels()} {
			rate := op.NewTensor("rate", 1)
			rate.Data[0] = 3e-3
			c := DefaultAdam
			c.ClipNorm = 0.5
			p, _ := compile(t, d, dev, NewAdam(d.Wrt, c, rate))
			for i := range uint64(200) {
				if err := p.Run(i); err != nil {
					t.Fatal(err)
				}
			}
			for _, w := range d.Wrt {
				all = append(all, slices.Clone(w.Data))
			}
		}
		return all
	}
	one := weights(1)
	for _, threads := range []int{2, 3, 5, 8} {
		for i, w := range weights(threads) {
			if !slices.Equal(one[i], w) {
				t.Errorf("parameter %d differs between one worker and %d", i, threads)
			}
		}
	}
}

func machine(t testing.TB) *cpu.Device {
	t.Helper()
	return cputest.New(t, cpu.Options{})
}

// Adam and AdamW with a clip are compared with their formulas in float64 (in PyTorch's order).
func TestAdamByHand(t *testing.T) {
	d := critic()
	rate := op.NewTensor("rate", 1)
	rate.Data[0] = 1e-2
	c := AdamConfig{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.1, ClipNorm: 0.05}
	p, _ := compile(t, d, machine(t), NewAdam(d.Wrt, c, rate))
	w, m, v := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for _, x := range d.Wrt {
		for _, f := range x.Data {
			w[x.Name] = append(w[x.Name], float64(f))
		}
		m[x.Name], v[x.Name] = make([]float64, len(x.Data)), make([]float64, len(x.Data))
	}
	for step := 1; step <= 20; step++ {
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		squares := 0.0
		for _, x := range d.Wrt {
			g, _ := p.Gradient(x)
			for _, f := range g {
				squares += float64(f) * float64(f)
			}
		}
		clip := min(1, c.ClipNorm/(math.Sqrt(squares)+1e-6))
		for _, x := range d.Wrt {
			g, _ := p.Gradient(x)
			for i, f := range g {
				gi := clip * float64(f)
				mi, vi := &m[x.Name][i], &v[x.Name][i]
				*mi = c.Beta1**mi + (1-c.Beta1)*gi
				*vi = c.Beta2**vi + (1-c.Beta2)*gi*gi
				hat := math.Sqrt(*vi)/math.Sqrt(1-math.Pow(c.Beta2, float64(step))) + c.Eps
				w[x.Name][i] -= 1e-2 * c.WeightDecay * w[x.Name][i]
				w[x.Name][i] -= 1e-2 / (1 - math.Pow(c.Beta1, float64(step))) * *mi / hat
				if !(math.Abs(w[x.Name][i]-float64(x.Data[i])) <= 2e-5) {
					t.Fatalf("step %d: %s[%d] is %v, want %v", step, x.Name, i, x.Data[i], w[x.Name][i])
				}
			}
		}
	}
}

func TestFillsAndAverages(t *testing.T) {
	average, source, rate := random("average", 5), random("source", 5), op.NewTensor("tau", 1)
	rate.Data[0] = 0.25
	var filled, copied *op.Node
	g, err := op.Build("fills", func(g *op.Graph) {
		filled = g.Input("filled", 6, 3)
		copied = g.Scale(filled, 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	stream := rng.New(9, "fill")
	p, err := Compile(g, Spec{
		Outputs: []*op.Node{copied}, Fills: []Fill{{Node: filled, Stream: stream}},
		Lerps: []Lerp{{Dst: average, Src: source, Rate: rate}},
	}, machine(t))
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, 5)
	for i, v := range average.Data {
		want[i] = float64(v) + 0.25*float64(source.Data[i]-v)
	}
	for _, occasion := range []uint64{4, 11} {
		if err := p.Run(occasion); err != nil {
			t.Fatal(err)
		}
		numbers := make([]float32, 18)
		stream.FillNormal(numbers, occasion, 0)
		if !slices.Equal(p.Data(copied), numbers) {
			t.Errorf("the fill of occasion %d drew other numbers than its stream", occasion)
		}
		if occasion == 4 {
			optest.Near(t, "average", average.Data, want, 1e-6)
		}
	}
}

func TestSteadyUpdatesDoNotAllocate(t *testing.T) {
	dev := machine(t)
	for _, d := range examples() {
		var optimiser *Adam
		if len(d.Wrt) > 0 {
			rate := op.NewTensor("rate", 1)
			optimiser = NewAdam(d.Wrt, AdamConfig{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, ClipNorm: 1}, rate)
		}
		p, _ := compile(t, d, dev, optimiser)
		if n := testing.AllocsPerRun(20, func() {
			if err := p.Run(0); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			t.Errorf("%s allocates %v times an update", d.Name, n)
		}
	}
}
