package cuda

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// ring returns a ring with n rows, each of which contains its own index.
func ring(shape replay.Shape, n int) *replay.Ring {
	r := replay.NewRing(shape, n)
	rows := make([]float32, n*shape.Width())
	for i := range rows {
		rows[i] = float32(i)
	}
	r.AddRows(rows)
	return r
}

func stored(t *testing.T, dev *Device, r *replay.Ring) device.Store {
	t.Helper()
	s, err := dev.Store(r.Cap(), r.Shape().Width())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	put(t, s, r)
	return s
}

func put(t *testing.T, s device.Store, r *replay.Ring) {
	t.Helper()
	for i := 0; i < r.Len(); i += len(r.Span(i)) / r.Shape().Width() {
		if err := s.Put(i, r.Span(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// rejection returns the index of the number below n that is rejected among the first numbers; −1:
// none is.
func rejection(s rng.Stream, occasion uint64, n, numbers int) int {
	for i := range numbers {
		if word := s.Block(occasion, uint64(i/4))[i%4]; uint32(uint64(word)*uint64(n)) < uint32(1<<32%uint64(n)) {
			return i
		}
	}
	return -1
}

// sampling is a batch in a device's memory, with the program that samples it.
type sampling struct {
	program *plan.Program
	mix     device.Mix
	tensors []*op.Tensor
}

func newSampling(t *testing.T, dev *Device, shape replay.Shape, size int, m replay.Mixer, from [2]device.Store) *sampling {
	t.Helper()
	d := &sampling{}
	routine := plan.SampleBatch{From: from, Streams: m.Streams(), Width: shape.Width(), Mix: &d.mix}
	for at, cols := 0, []int{shape.Obs, shape.Act, 1, shape.Obs, 1}; len(cols) > 0; cols = cols[1:] {
		x := op.NewTensor("columns", size, cols[0])
		d.tensors = append(d.tensors, x)
		routine.Into = append(routine.Into, plan.Into{To: x, First: at})
		at += cols[0]
	}
	var err error
	if d.program, err = plan.CompileRoutine("sample", routine, dev); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.program.Close() })
	return d
}

// Rows are those of replay.Mixer, wherever a number is rejected, and for any mix.
func TestSampleBatch(t *testing.T) {
	dev, shape := card(t, Options{}), replay.Shape{Obs: 1, Act: 1}
	mixer := replay.NewMixer(rng.New(4, "draws"))
	const size, many, few = 75, 60_001, 50_003
	real, synthetic := ring(shape, many), ring(shape, few)
	d := newSampling(t, dev, shape, size, mixer, [2]device.Store{stored(t, dev, real), stored(t, dev, synthetic)})
	want := replay.NewBatch(shape, size)
	check := func(split int, occasion uint64) {
		t.Helper()
		d.mix = device.Mix{First: split, Held: [2]int{many, few}}
		if err := d.program.Run(occasion); err != nil {
			t.Fatal(err)
		}
		if err := plan.Fetch(dev, d.tensors...); err != nil {
			t.Fatal(err)
		}
		if err := mixer.Sample(want, replay.Mix{Real: split, Synthetic: size - split}, real, synthetic, occasion); err != nil {
			t.Fatal(err)
		}
		for i, x := range [][]float32{want.Obs, want.Act, want.Reward, want.Next, want.Done} {
			if !slices.Equal(d.tensors[i].Data, x) {
				t.Fatalf("%d real rows at occasion %d: part %d is %v, want %v", split, occasion, i, d.tensors[i].Data, x)
			}
		}
	}
	for occasion, split := range []int{75, 0, 40, 32, 33, 1, 64} {
		check(split, uint64(occasion)<<33+5)
	}
	// A number is rejected in the first rows of a block, in the last rows, after the first block,
	// and in the second store.
	wanted := []func(real, synthetic int) bool{
		func(real, _ int) bool { return real >= 0 && real < 3 },
		func(real, _ int) bool { return real == 31 },
		func(real, _ int) bool { return real > 32 },
		func(_, synthetic int) bool { return synthetic >= 0 },
	}
	streams := mixer.Streams()
	for occasion := uint64(0); len(wanted) > 0; occasion++ {
		if wanted[0](rejection(streams[0], occasion, many, 40), rejection(streams[1], occasion, few, 35)) {
			check(40, occasion)
			wanted = wanted[1:]
		}
	}
}

// A parked device has lost the rows and says so.
func TestStoresAreLostByParking(t *testing.T) {
	dev, shape := card(t, Options{}), replay.Shape{Obs: 2, Act: 1}
	r, mixer := ring(shape, 20), replay.NewMixer(rng.New(4, "draws"))
	s := stored(t, dev, r)
	d := newSampling(t, dev, shape, 4, mixer, [2]device.Store{s})
	d.mix = device.Mix{First: 4, Held: [2]int{20}}
	if m := dev.Memory(); s.Lost() != 0 || m.Transitions == 0 {
		t.Errorf("lost %d times, %v", s.Lost(), m)
	}
	want := replay.NewBatch(shape, 4)
	if err := mixer.Sample(want, replay.Mix{Real: 4}, r, nil, 9); err != nil {
		t.Fatal(err)
	}
	for parked := range 2 {
		if parked > 0 {
			if err := dev.Park(); err != nil {
				t.Fatal(err)
			}
			if m := dev.Memory(); s.Lost() != 1 || m.Total() != 0 {
				t.Errorf("lost %d times, %v", s.Lost(), m)
			}
			put(t, s, r)
		}
		if err := d.program.Run(9); err != nil {
			t.Fatal(err)
		}
		if err := plan.Fetch(dev, d.tensors...); err != nil {
			t.Fatal(err)
		}
		close32(t, "drawn", d.tensors[0].Data, want.Obs, 0)
	}
	if err := s.Put(19, make([]float32, 2*shape.Width())); err == nil {
		t.Error("rows were put after the end")
	}
}

// Subsets are those of rng.Sequence.Choose.
func TestChoose(t *testing.T) {
	dev, stream := card(t, Options{}), rng.New(8, "subset")
	for _, c := range []struct{ m, of int }{{1, 1}, {2, 10}, {5, 5}, {7, 9}} {
		out := op.NewTensor("members", c.m)
		p, err := plan.CompileRoutine("choose", plan.Choose{Out: out, Of: c.of, Stream: stream}, dev)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]int, c.m)
		for occasion := range uint64(20) {
			if err := p.Run(occasion); err != nil {
				t.Fatal(err)
			}
			if err := plan.Fetch(dev, out); err != nil {
				t.Fatal(err)
			}
			stream.At(occasion).Choose(want, c.of)
			for i, w := range want {
				if out.Data[i] != float32(w) {
					t.Fatalf("%d of %d at occasion %d: %v, want %v", c.m, c.of, occasion, out.Data, want)
				}
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := plan.CompileRoutine("choose", plan.Choose{Out: op.NewTensor("members", 3), Of: 2, Stream: stream}, dev); err == nil {
		t.Error("three different numbers of two")
	}
}

// words64 returns the 64-bit numbers stored in the memory of a tensor.
func words64(x []float32) (words []uint64) {
	for i := 0; i < len(x); i += 2 {
		words = append(words, uint64(math.Float32bits(x[i]))|uint64(math.Float32bits(x[i+1]))<<32)
	}
	return words
}

// Steps of log α agree with the same formulas on the host: sums of log π are in another order, and
// powers and exponentials differ in their last bits.
func TestTemperature(t *testing.T) {
	dev, n := card(t, Options{}), 300
	logp, state, alpha := op.NewTensor("log π", n, 1), op.NewTensor("state", 8), op.NewTensor("α", 1)
	rate, target := 3e-2, -1.5
	p, err := plan.CompileRoutine("temperature", plan.Temperature{LogP: logp, State: state, Alpha: alpha, Rate: &rate, Target: target, AdamConfig: plan.DefaultAdam}, dev)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, step int, got, want, tolerance float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tolerance*max(1e-3, math.Abs(want))) {
			t.Fatalf("step %d: %s is %v, want %v", step, what, got, want)
		}
	}
	var log, m, v float64
	for step := 1; step <= 30; step++ {
		rng.New(1, "log π").FillNormal(logp.Data, uint64(step), 0)
		if step == 20 {
			rate = 0.4
		}
		sum := 0.0
		for _, x := range logp.Data {
			sum += float64(x) + target
		}
		g := -sum / float64(n)
		loss := log * g
		m, v = 0.9*m+(1-0.9)*g, 0.999*v+(1-0.999)*g*g
		log -= rate * (m / (1 - math.Pow(0.9, float64(step)))) / (math.Sqrt(v/(1-math.Pow(0.999, float64(step)))) + 1e-8)
		if err := p.Run(uint64(step)); err != nil {
			t.Fatal(err)
		}
		if err := plan.Fetch(dev, state, alpha); err != nil {
			t.Fatal(err)
		}
		w := words64(state.Data)
		near("log α", step, math.Float64frombits(w[0]), log, 1e-12)
		near("m", step, math.Float64frombits(w[1]), m, 1e-12)
		near("v", step, math.Float64frombits(w[2]), v, 1e-12)
		near("α", step, float64(alpha.Data[0]), math.Exp(log), 1e-7)
		near("the loss", step, float64(p.Result()[0]), loss, 1e-6)
		if w[3] != uint64(step) || p.Result()[1] != alpha.Data[0] {
			t.Fatalf("step %d: %d are counted, α is %v and %v", step, w[3], p.Result()[1], alpha.Data[0])
		}
	}
}
