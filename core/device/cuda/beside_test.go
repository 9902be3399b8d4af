package cuda

import (
	"errors"
	"math"
	"testing"

	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// A program beside which others run computes what it does alone, and so do they, whatever happens to the
// device meanwhile.
func TestAProgramBesideOthers(t *testing.T) {
	for name, between := range map[string]func(t *testing.T, dev *Device, other *line) error{
		"nothing":           func(*testing.T, *Device, *line) error { return nil },
		"a parked device":   func(t *testing.T, dev *Device, _ *line) error { return dev.Park() },
		"a fetched tensor":  func(t *testing.T, dev *Device, other *line) error { return plan.Fetch(dev, other.w) },
		"a pushed tensor":   func(t *testing.T, dev *Device, other *line) error { return plan.Push(dev, tensor("new", 3)) },
		"a larger program":  func(t *testing.T, dev *Device, _ *line) error { return larger(t, dev).Run(0) },
		"a lasting program": func(t *testing.T, dev *Device, _ *line) error { return tryOnce(tryLine(dev)) },
	} {
		for _, without := range []string{"", "beside"} {
			t.Run(name+" "+without, func(t *testing.T) {
				dev, on := unchecked(t, Options{Without: without}), onCPU(t)
				one, other, wantOne, wantOther := newLine(t, dev), newLine(t, dev), newLine(t, on), newLine(t, on)
				for range 3 {
					must(t, one.program.Start(1))
					other.run(t, 1)
					must(t, between(t, dev, other))
					other.run(t, 1)
					must(t, one.program.Run(1))
					wantOne.run(t, 1)
					wantOther.run(t, 2)
					if a, b := one.program.Loss(), wantOne.program.Loss(); math.Abs(a/b-1) > 1e-5 {
						t.Errorf("loss %v, want %v", a, b)
					}
				}
				must(t, plan.Fetch(dev, one.w, one.average, other.w))
				close32(t, "w", one.w.Data, wantOne.w.Data, 1e-5)
				close32(t, "its average", one.average.Data, wantOne.average.Data, 1e-5)
				close32(t, "the other w", other.w.Data, wantOther.w.Data, 1e-5)
			})
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func tryOnce(l *line, err error) error {
	if err != nil {
		return err
	}
	return l.program.Run(0)
}

// larger is a program that needs more of the workspace than a line.
func larger(t *testing.T, dev *Device) *plan.Program {
	t.Helper()
	var out *op.Node
	g, err := op.Build("larger", func(g *op.Graph) {
		x := g.Bind(tensor("x", 64, 300))
		out = g.Sum(g.Linear(g.Square(x), g.Bind(tensor("w", 300, 200)), g.Bind(tensor("b", 200))), 1)
	})
	must(t, err)
	p, err := plan.Compile(g, plan.Spec{Outputs: []*op.Node{out}}, dev)
	must(t, err)
	return p
}

// A program that meets a number that is not finite beside others says so when its run is ended, and has changed
// nothing.
func TestAFaultBesideOthers(t *testing.T) {
	for _, park := range []bool{false, true} {
		dev := unchecked(t, Options{})
		one, other := newLine(t, dev), newLine(t, dev)
		one.run(t, 2)
		must(t, plan.Fetch(dev, one.w))
		before, steps := append([]float32(nil), one.w.Data...), one.adam.T
		one.x.Data[4] = float32(math.NaN())
		must(t, one.program.Start(2))
		other.run(t, 1)
		if park {
			must(t, dev.Park())
		}
		var where *plan.NotFinite
		if err := one.program.Run(2); !errors.As(err, &where) {
			t.Fatalf("%v", err)
		}
		must(t, plan.Fetch(dev, one.w))
		close32(t, "w", one.w.Data, before, 0)
		if one.adam.T != steps {
			t.Errorf("T is %d, want %d", one.adam.T, steps)
		}
		one.x.Data[4] = 1
		must(t, errors.Join(one.program.Start(2), one.program.Run(2)))
	}
}

// A run that was started and never ended has been made.
func TestARunThatIsGivenUp(t *testing.T) {
	dev, want := unchecked(t, Options{}), newLine(t, onCPU(t))
	one := newLine(t, dev)
	must(t, errors.Join(one.program.Start(0), one.program.Start(1), one.program.Run(1)))
	want.run(t, 2)
	must(t, plan.Fetch(dev, one.w))
	close32(t, "w", one.w.Data, want.w.Data, 1e-5)
	must(t, one.program.Start(2))
	must(t, one.program.Close())
}

// A device that is lost while a program runs beside others says so when the run is ended.
func TestALostDeviceBesideOthers(t *testing.T) {
	if onGPU {
		t.Skip("it is the emulated driver's: without PGRLAB_GPU")
	}
	f := newFaulty()
	dev, err := f.device()
	must(t, err)
	one, other := newLine(t, dev), newLine(t, dev)
	must(t, one.program.Start(0))
	f.failNext("cuStreamSynchronize", 1, 700)
	var lost *driver.LostDevice
	if err := other.program.Run(0); !errors.As(err, &lost) {
		t.Errorf("the other program: %v", err)
	}
	if err := one.program.Run(0); !errors.As(err, &lost) {
		t.Errorf("%v", err)
	}
	if err := one.program.Start(1); !errors.As(err, &lost) {
		t.Errorf("once more: %v", err)
	}
	must(t, dev.Close())
}

// Without memory for a workspace of its own, a program does not start, and runs once there is.
func TestNoRoomBesideOthers(t *testing.T) {
	if onGPU {
		t.Skip("it is the emulated driver's: without PGRLAB_GPU")
	}
	f := newFaulty()
	dev, err := f.device()
	must(t, err)
	one, want := newLine(t, dev), newLine(t, onCPU(t))
	one.run(t, 1)
	f.failNext("cuMemAlloc", 1, 2)
	if err := one.program.Start(1); err != nil {
		t.Error(err)
	}
	one.run(t, 1)
	want.run(t, 2)
	must(t, errors.Join(plan.Fetch(dev, one.w), dev.Close()))
	close32(t, "w", one.w.Data, want.w.Data, 1e-5)
}

// A program whose own workspace finds no room makes its runs as others do.
func TestNoRoomBesideOthersForGood(t *testing.T) {
	if onGPU {
		t.Skip("the limit is exact only with the emulated driver")
	}
	first := unchecked(t, Options{})
	whole := newLine(t, first)
	whole.run(t, 1)
	dev, want := unchecked(t, Options{Memory: first.Memory().Total()}), newLine(t, onCPU(t))
	one := newLine(t, dev)
	one.run(t, 1)
	for range 2 {
		must(t, errors.Join(one.program.Start(1), one.program.Run(1)))
	}
	want.run(t, 3)
	must(t, plan.Fetch(dev, one.w))
	close32(t, "w", one.w.Data, want.w.Data, 1e-5)
}
