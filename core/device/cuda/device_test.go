package cuda

import (
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/emulator"
)

// card is a device of the driver that interprets PTX, or with PGRLAB_GPU=N the N-th GPU of this
// machine: the same tests run on either. Anything that programs leave behind is an error.
func card(t testing.TB, o Options) *Device {
	t.Helper()
	if !onGPU {
		return emulated(t, emulator.Options{}, o)
	}
	index, err := strconv.Atoi(os.Getenv("PGRLAB_GPU"))
	if err != nil {
		t.Fatalf("PGRLAB_GPU is %q: want the index of a GPU", os.Getenv("PGRLAB_GPU"))
	}
	d, err := driver.Native(driver.NativeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return deviceOf(t, func() (driver.Context, error) { return d.Open(index) }, o)
}

var onGPU, soak = os.Getenv("PGRLAB_GPU") != "", os.Getenv("PGRLAB_SOAK") != ""

func emulated(t testing.TB, e emulator.Options, o Options) *Device {
	t.Helper()
	d := emulator.New(e)
	return deviceOf(t, func() (driver.Context, error) { return d.Open(0) }, o)
}

func deviceOf(t testing.TB, open func() (driver.Context, error), o Options) *Device {
	t.Helper()
	dev, err := New(noting(open), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil && !t.Failed() {
			t.Errorf("close: %v", err)
		}
	})
	return dev
}

func onCPU(t testing.TB) device.Device {
	t.Helper()
	return cputest.New(t, cpu.Options{Threads: 1})
}

func tensor(name string, shape ...int) *op.Tensor {
	x := op.NewTensor(name, shape...)
	rng.New(5, name).FillNormal(x.Data, 0, 0)
	return x
}

// line is a program that fits y = x·w + b, with its tensors.
type line struct {
	x, y, w, b, rate, average *op.Tensor
	adam                      *plan.Adam
	program                   *plan.Program
}

func newLine(t testing.TB, dev device.Device) *line {
	t.Helper()
	l, err := tryLine(dev)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func tryLine(dev device.Device) (*line, error) {
	l := &line{x: tensor("x", 6, 3), y: tensor("y", 6, 2), w: tensor("w", 3, 2), b: tensor("b", 2), rate: tensor("rate", 1), average: tensor("w.average", 3, 2)}
	l.rate.Data[0] = 0.01
	l.adam = plan.NewAdam([]*op.Tensor{l.w, l.b}, plan.DefaultAdam, l.rate)
	var loss *op.Node
	g, err := op.Build("line", func(g *op.Graph) {
		loss = g.SquaredError(g.Linear(g.Bind(l.x), g.Bind(l.w), g.Bind(l.b)), g.Bind(l.y), 6)
	})
	if err != nil {
		return nil, err
	}
	l.program, err = plan.Compile(g, plan.Spec{Loss: loss, Optimiser: l.adam, Lerps: []plan.Lerp{{Dst: l.average, Src: l.w, Rate: l.rate}}}, dev)
	return l, err
}

func (l *line) run(t testing.TB, runs int) {
	t.Helper()
	for i := range runs {
		if err := l.program.Run(uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
}

func close32(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(float64(v)))
	}
	for i := range want {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= tolerance*max(largest, 1e-6)) {
			t.Fatalf("%s: element %d is %v, want %v (within %g of %g)", what, i, got[i], want[i], tolerance, largest)
		}
	}
}

// Tensors stay on the device until they are fetched, even when it is parked and after the last
// program is closed.
func TestTensorsStayOnTheDevice(t *testing.T) {
	dev, want := card(t, Options{}), newLine(t, onCPU(t))
	l := newLine(t, dev)
	before := append([]float32(nil), l.w.Data...)
	l.run(t, 3)
	want.run(t, 3)
	close32(t, "the host's copy", l.w.Data, before, 0)
	if err := plan.Fetch(dev, l.w, l.average); err != nil {
		t.Fatal(err)
	}
	close32(t, "w", l.w.Data, want.w.Data, 1e-5)
	close32(t, "its average", l.average.Data, want.average.Data, 1e-5)
	if l.adam.T != 3 || math.Abs(l.program.GradientNorm()/want.program.GradientNorm()-1) > 1e-5 || math.Abs(l.program.Loss()/want.program.Loss()-1) > 1e-5 {
		t.Errorf("T %d, norm %v, loss %v; want 3, %v, %v", l.adam.T, l.program.GradientNorm(), l.program.Loss(), want.program.GradientNorm(), want.program.Loss())
	}
	l.run(t, 1)
	want.run(t, 1)
	if err := dev.Park(); err != nil {
		t.Fatal(err)
	}
	close32(t, "b of a parked device", l.b.Data, want.b.Data, 1e-5)
	if m := dev.Memory(); m.Total() != 0 {
		t.Errorf("a parked device has %v", m)
	}
	copy(l.w.Data, before)
	copy(want.w.Data, before)
	if err := plan.Push(dev, l.w); err != nil {
		t.Fatal(err)
	}
	l.run(t, 2)
	want.run(t, 2)
	if err := l.program.Close(); err != nil {
		t.Fatal(err)
	}
	close32(t, "w after its program", l.w.Data, want.w.Data, 1e-5)
	if m := dev.Memory(); m.Tensors != 0 || m.Programs != 0 {
		t.Errorf("without programs there is %v", m)
	}
}

// A program that read a tensor from the host reads it from the device after another program has
// changed it.
func TestATensorBecomesResident(t *testing.T) {
	dev := card(t, Options{})
	w := tensor("w", 3, 2)
	l := &line{w: w}
	var out *op.Node
	g, err := op.Build("reader", func(g *op.Graph) { out = g.Scale(g.Bind(w), 2) })
	if err != nil {
		t.Fatal(err)
	}
	reader, err := plan.Compile(g, plan.Spec{Outputs: []*op.Node{out}}, dev)
	if err != nil {
		t.Fatal(err)
	}
	read := func(want float32) {
		t.Helper()
		if err := reader.Run(0); err != nil {
			t.Fatal(err)
		}
		if got := reader.Data(out)[4]; got != want {
			t.Fatalf("it reads %v, want %v", got, want)
		}
	}
	read(2 * w.Data[4])
	w.Data[4] = 7
	read(14)
	zero := op.NewTensor("zero", 3, 2)
	mover, err := plan.Compile(nil, plan.Spec{Lerps: []plan.Lerp{{Dst: l.w, Src: zero}}}, dev)
	if err != nil {
		t.Fatal(err)
	}
	read(14)
	if err := mover.Run(0); err != nil {
		t.Fatal(err)
	}
	read(0)
	if w.Data[4] != 7 {
		t.Errorf("the host has %v without a fetch", w.Data[4])
	}
	w.Data[4] = 9
	if err := plan.Push(dev, w); err != nil {
		t.Fatal(err)
	}
	read(18)
}

// Numbers that are not finite stop a run before it changes anything, and are located.
func TestNotFiniteIsFound(t *testing.T) {
	dev, on := card(t, Options{}), onCPU(t)
	l, want := newLine(t, dev), newLine(t, on)
	for _, change := range []func(l *line){
		func(l *line) { l.x.Data[4] = float32(math.Inf(1)) },
		func(l *line) { l.x.Data[4] = 1e38; l.y.Data[0] = -1e38 },
		func(l *line) { l.x.Data[4] = 1e15; l.y.Data[0] = 1e15 },
	} {
		l.run(t, 1)
		want.run(t, 1)
		x, y := append([]float32(nil), l.x.Data...), append([]float32(nil), l.y.Data...)
		change(l)
		change(want)
		got, expected := l.program.Run(1), want.program.Run(1)
		var a, b *plan.NotFinite
		if !errors.As(got, &a) || !errors.As(expected, &b) {
			t.Fatalf("on the device %v, on the CPU %v", got, expected)
		}
		if a.Step != b.Step || a.Op != b.Op || a.Tensor != b.Tensor || a.Row != b.Row || a.Col != b.Col {
			t.Errorf("on the device: %v\non the CPU: %v", got, expected)
		}
		if l.adam.T != want.adam.T {
			t.Errorf("%d steps, want %d", l.adam.T, want.adam.T)
		}
		copy(l.x.Data, x)
		copy(l.y.Data, y)
		copy(want.x.Data, x)
		copy(want.y.Data, y)
	}
	l.run(t, 1)
	want.run(t, 1)
	if err := plan.Fetch(dev, l.w); err != nil {
		t.Fatal(err)
	}
	close32(t, "w", l.w.Data, want.w.Data, 1e-5)
}

func TestTheLimitOfMemory(t *testing.T) {
	dev := card(t, Options{Memory: 16 << 10})
	var full *device.OutOfMemory
	x := tensor("x", 100, 100)
	var out *op.Node
	g, err := op.Build("large", func(g *op.Graph) { out = g.Sum(g.Tanh(g.Tanh(g.Bind(x))), 1) })
	if err != nil {
		t.Fatal(err)
	}
	_, err = plan.Compile(g, plan.Spec{Outputs: []*op.Node{out}}, dev)
	if !errors.As(err, &full) || full.Total != 16<<10 || full.Asked < 40_000 || !strings.Contains(err.Error(), "--gpu-mem") {
		t.Errorf("%v", err)
	}
	if m := dev.Memory(); m.Total() != 0 {
		t.Errorf("after a refusal there is %v", m)
	}
	l := newLine(t, dev)
	l.run(t, 1) // a small one still fits
	if _, err = plan.Compile(g, plan.Spec{Outputs: []*op.Node{out}}, dev); !errors.As(err, &full) {
		t.Errorf("beside a small one: %v", err)
	}
	l.run(t, 1) // and still runs after another refusal, which may have cost it the workspace
	if said := dev.Memory().String(); !strings.Contains(said, "of at most 16 KiB of GPU memory") {
		t.Error(said)
	}
}

func TestALostDevice(t *testing.T) {
	dev := emulated(t, emulator.Options{LoseAt: 4}, Options{})
	l := newLine(t, dev)
	var lost *driver.LostDevice
	var err error
	for i := uint64(0); err == nil && i < 10; i++ {
		err = l.program.Run(i)
	}
	if !errors.As(err, &lost) {
		t.Fatalf("%v", err)
	}
	if err := l.program.Run(11); !errors.As(err, &lost) {
		t.Errorf("later: %v", err)
	}
	if err := plan.Fetch(dev, l.w); !errors.As(err, &lost) {
		t.Errorf("fetched: %v", err)
	}
}

func TestNames(t *testing.T) {
	dev := emulated(t, emulator.Options{}, Options{Precision: kernel.BF16})
	if got := dev.Name(); got != "cuda emulated GPU bf16, cuda:0 GPU-00000000-0000-0000-0000-000000000000" {
		t.Error(got)
	}
	old := emulator.New(emulator.Options{Devices: []driver.Info{{Name: "old", Capability: [2]int{7, 0}, Memory: 1 << 30}}})
	if _, err := New(func() (driver.Context, error) { return old.Open(0) }, Options{Precision: kernel.TF32}); err == nil || !strings.Contains(err.Error(), "use fp32") {
		t.Errorf("tf32 on 7.0: %v", err)
	}
	ancient := emulator.New(emulator.Options{Devices: []driver.Info{{Name: "ancient", Capability: [2]int{6, 1}, Memory: 1 << 30}}})
	if _, err := New(func() (driver.Context, error) { return ancient.Open(0) }, Options{}); err == nil || !strings.Contains(err.Error(), "below 7.0") {
		t.Errorf("compute capability 6.1: %v", err)
	}
}
