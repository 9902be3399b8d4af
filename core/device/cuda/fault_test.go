package cuda

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/plan"
	"pgrlab/core/testing/emulator"
)

// faulty is a machine whose driver's nth call of a name returns a code.
type faulty struct {
	driver.Driver
	call      string
	nth, code int
	calls     map[string]int
	beside    bool // the call failed as a program began beside others, which it does without if there is no room
}

func newFaulty() *faulty {
	f := &faulty{calls: map[string]int{}}
	f.Driver = emulator.New(emulator.Options{Unchecked: true, Fail: func(call string) int {
		f.calls[call]++
		if call == f.call && f.calls[call] == f.nth {
			return f.code
		}
		return 0
	}})
	return f
}

func (f *faulty) device() (*Device, error) {
	return New(func() (driver.Context, error) { return f.Open(0) }, Options{})
}

// life makes everything that happens to a device: a program is compiled and runs, its tensors are
// fetched, the device is parked while the program runs beside others and taken again, and the program is closed.
func (f *faulty) life(t *testing.T) (dev *Device, err error) {
	dev, err = f.device()
	if err != nil {
		return nil, err
	}
	l, err := tryLine(dev)
	if err != nil {
		return dev, err
	}
	for i := range uint64(2) {
		if err := l.program.Run(i); err != nil {
			return dev, err
		}
	}
	if err := errors.Join(plan.Fetch(dev, l.w), plan.Push(dev, l.w)); err != nil {
		return dev, err
	}
	before := f.calls[f.call]
	err = l.program.Start(2)
	f.beside = before < f.nth && f.calls[f.call] >= f.nth
	if err := errors.Join(err, dev.Park()); err != nil {
		return dev, err
	}
	if err := dev.Wake(); err != nil {
		return dev, err
	}
	return dev, errors.Join(l.program.Run(2), l.program.Run(3), plan.Fetch(dev, l.w), l.program.Close(), dev.Close())
}

// failNext makes a call of the driver fail: the nth from now on.
func (f *faulty) failNext(call string, nth, code int) {
	f.call, f.nth, f.code = call, f.calls[call]+nth, code
}

// A device that cannot be taken again is parked as before, whatever found no memory, and the next
// run takes it with all numbers.
func TestAWakeThatFails(t *testing.T) {
	if onGPU {
		t.Skip("it is the emulated driver's: without PGRLAB_GPU")
	}
	f := newFaulty()
	dev, err := f.device()
	if err != nil {
		t.Fatal(err)
	}
	l, want := newLine(t, dev), newLine(t, onCPU(t))
	if _, err := dev.Store(4, 3); err != nil {
		t.Fatal(err)
	}
	const held = 8 // w, b, two moments of each, the average, the store
	for nth := 1; nth <= held; nth++ {
		l.run(t, 1)
		want.run(t, 1)
		if err := dev.Park(); err != nil {
			t.Fatal(err)
		}
		f.failNext("cuMemAlloc", nth, 2)
		err := dev.Wake()
		var full *device.OutOfMemory
		if all, _ := f.Devices(); !errors.As(err, &full) || dev.Memory().Total() != 0 || all[0].Free != all[0].Memory {
			t.Fatalf("allocation %d failed: %v; there is %v", nth, err, dev.Memory())
		}
	}
	l.run(t, 1)
	want.run(t, 1)
	if err := errors.Join(plan.Fetch(dev, l.w, l.average), dev.Close()); err != nil {
		t.Fatal(err)
	}
	close32(t, "w", l.w.Data, want.w.Data, 1e-5)
	close32(t, "its average", l.average.Data, want.average.Data, 1e-5)
}

// A device stays taken if a tensor cannot be copied from it.
func TestAParkThatFails(t *testing.T) {
	if onGPU {
		t.Skip("it is the emulated driver's: without PGRLAB_GPU")
	}
	f := newFaulty()
	dev, err := f.device()
	if err != nil {
		t.Fatal(err)
	}
	l, want := newLine(t, dev), newLine(t, onCPU(t))
	l.run(t, 2)
	want.run(t, 2)
	f.failNext("cuMemcpyDtoHAsync", 2, 1)
	if err := dev.Park(); err == nil || dev.Memory().Tensors == 0 {
		t.Fatalf("parked without a tensor: %v, %v", err, dev.Memory())
	}
	l.run(t, 1)
	want.run(t, 1)
	if err := errors.Join(dev.Park(), dev.Close()); err != nil {
		t.Fatal(err)
	}
	close32(t, "w", l.w.Data, want.w.Data, 1e-5)
	close32(t, "its average", l.average.Data, want.average.Data, 1e-5)
}

// whenFull are the calls that may run out of memory.
var whenFull = []string{"cuDevicePrimaryCtxRetain", "cuMemAlloc", "cuMemHostAlloc", "cuModuleLoadDataEx", "cuModuleGetFunction", "cuGraphInstantiate", "cuLaunchKernel", "cuGraphLaunch"}

// Any call of the driver may fail, with any code: the caller gets an error, what is lost stays lost and
// says so, nothing hangs or panics, closing gives all memory back, and the next device works.
func TestEveryCallCanFail(t *testing.T) {
	if onGPU {
		t.Skip("it is the emulated driver's: without PGRLAB_GPU")
	}
	whole := newFaulty()
	if _, err := whole.life(t); err != nil {
		t.Fatal(err)
	}
	if len(whole.calls) < 13 {
		t.Errorf("a device's life has only the calls %v", whole.calls)
	}
	for _, call := range slices.Sorted(maps.Keys(whole.calls)) {
		for i, nth := range []int{1, (whole.calls[call] + 1) / 2, whole.calls[call]} {
			lost := []int{700, 719, 999}
			for _, code := range append(lost, 2, 1) {
				if code == 2 && !slices.Contains(whenFull, call) || !soak && code > 2 && code != lost[i] || !soak && code == 1 && i > 0 {
					continue
				}
				name := fmt.Sprintf("%s number %d returns %d", call, nth, code)
				f := newFaulty()
				f.call, f.nth, f.code = call, nth, code
				dev, err := f.life(t)
				var gone interface {
					error
					DeviceFailed() bool
				}
				var full *device.OutOfMemory
				switch {
				case err == nil && (call == "cuModuleGetFunction" || code == 2 && f.beside):
				case err == nil:
					t.Errorf("%s, without an error", name)
				case code == 2 && call != "cuDevicePrimaryCtxRetain" && !errors.As(err, &full):
					t.Errorf("%s: %v is no lack of memory", name, err)
				case code != 1 && !errors.As(err, &gone):
					t.Errorf("%s: %v is no failure of the device", name, err)
				case code == 1 && errors.As(err, &gone):
					t.Errorf("%s: %v is a failure of the device", name, err)
				}
				if dev != nil {
					f.afterwards(t, name, dev)
				}
			}
		}
	}
}

// afterwards checks what must be true after a failure.
func (f *faulty) afterwards(t *testing.T, name string, dev *Device) {
	t.Helper()
	var lost *driver.LostDevice
	isLost := dev.lost != nil && errors.As(dev.lost, &lost)
	if isLost {
		if _, err := tryLine(dev); !errors.As(err, &lost) {
			t.Errorf("%s: later: %v", name, err)
		}
	}
	if err := dev.Close(); err != nil && (isLost || f.code == 2) {
		t.Errorf("%s: closing: %v", name, err)
	}
	f.call = ""
	if all, err := f.Devices(); err != nil || all[0].Free != all[0].Memory {
		t.Errorf("%s: memory was not given back: %+v, %v", name, all, err)
	}
	if _, err := f.life(t); err != nil {
		t.Errorf("%s: the next device: %v", name, err)
	}
}
