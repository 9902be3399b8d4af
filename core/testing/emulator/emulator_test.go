package emulator

import (
	"errors"
	"strings"
	"testing"

	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/testing/drivertest"
)

func openEmulated(t *testing.T, o Options) driver.Context {
	t.Helper()
	c, err := New(o).Open(0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestContext(t *testing.T) { drivertest.TestContext(t, openEmulated(t, Options{})) }

func TestDevices(t *testing.T) {
	two := []driver.Info{{Name: "A", UUID: "GPU-a", Capability: [2]int{8, 0}, Memory: 40 << 30}, {Name: "B", UUID: "GPU-b", Capability: [2]int{8, 0}, Free: 39 << 30, Memory: 40 << 30}}
	d := New(Options{Devices: two, CUDA: 11000})
	if v, err := d.Version(); v != 11000 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	all, err := d.Devices()
	if err != nil || len(all) != 2 || all[1].UUID != two[1].UUID || all[1].Index != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if _, err := d.Open(2); err == nil || !strings.Contains(err.Error(), "there are 2") {
		t.Errorf("%v", err)
	}
	c, err := d.Open(1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if now, _ := d.Devices(); now[1].Free != all[1].Free-1<<20 {
		t.Errorf("%d free, %d before", now[1].Free, all[1].Free)
	}
	free, total, err := c.Memory()
	if free != all[1].Free-1<<20 || total != all[1].Memory || err != nil {
		t.Errorf("%d of %d, %v", free, total, err)
	}
	var out *driver.OutOfMemory
	if _, err := c.Alloc(int(free) + 1); !errors.As(err, &out) || out.Free != free || out.Total != total {
		t.Errorf("%v", err)
	}
	if err := errors.Join(c.Free(p), c.Close()); err != nil {
		t.Error(err)
	}
	// These texts need more than its driver or device can run.
	c = openEmulated(t, Options{CUDA: 11000})
	for text, want := range map[string]string{
		strings.Replace(drivertest.AxpyText, "7.0", "7.1", 1):       "they need driver 455.23 (CUDA 11.1), and this one has CUDA 11.0",
		strings.Replace(drivertest.AxpyText, "sm_80", "sm_90a", 1):  "they are for sm_90",
		strings.Replace(drivertest.AxpyText, "fma.rn", "fmx.rn", 1): "load kernels: ",
	} {
		if _, err := c.Load(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The emulator enforces rules that a real driver does not check.
func TestIsStrict(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(b *drivertest.Bench) error
		want string
	}{
		{"pinned memory changed after an upload", func(b *drivertest.Bench) error {
			b.Upload(b.X, b.In)
			drivertest.Fill(b.In, 1)
			return b.Synchronize()
		}, "upload: pinned memory was changed before Synchronize: 400 bytes"},
		{"pinned memory changed after a graph's launch", func(b *drivertest.Bench) error {
			g, err := b.Capture(func() error { return b.Upload(b.X, b.In) })
			if err != nil {
				return err
			}
			g.Launch()
			drivertest.Fill(b.In, 1)
			return b.Synchronize()
		}, "pinned memory was changed before Synchronize"},
		{"a kernel reads freed memory", func(b *drivertest.Bench) error {
			b.Free(b.X)
			b.Add(1)
			return b.Synchronize()
		}, "was freed"},
		{"a kernel runs over the end", func(b *drivertest.Bench) error {
			b.Launch(b.Axpy, [3]uint32{4, 1, 1}, [3]uint32{32, 1, 1}, 0, driver.PtrArg(b.Y), driver.PtrArg(b.X), driver.F32(1), driver.U32(drivertest.Elements+1))
			return b.Synchronize()
		}, "the device is lost"},
		{"a copy to freed memory", func(b *drivertest.Bench) error {
			b.Free(b.Y)
			return b.Copy(b.Y, b.X, 4)
		}, "copy: write: "},
		{"a copy beyond the end", func(b *drivertest.Bench) error { return b.Copy(b.Y, b.X, 404) }, "copy: read: "},
		{"an upload beyond the end", func(b *drivertest.Bench) error { return b.Upload(b.Y+4, b.In) }, "upload: write: "},
		{"a download from nowhere", func(b *drivertest.Bench) error { return b.Download(b.Out, 0) }, "download: read: "},
		{"memory freed twice", func(b *drivertest.Bench) error { b.Free(b.Y); return b.Free(b.Y) }, "free GPU memory: "},
		{"pinned memory freed twice", func(b *drivertest.Bench) error { b.FreeHost(b.In); return b.FreeHost(b.In) }, "freed already"},
		{"a graph with pinned memory that was freed", func(b *drivertest.Bench) error {
			g, err := b.Capture(func() error { return b.Upload(b.X, b.In) })
			if err != nil {
				return err
			}
			b.FreeHost(b.In)
			return g.Launch()
		}, "launch a graph: pinned memory that emulator_test.go:"},
		{"a graph with device memory that was freed", func(b *drivertest.Bench) error {
			g, err := b.Capture(func() error { return b.Add(1) })
			if err != nil {
				return err
			}
			b.Free(b.X)
			g.Launch()
			return b.Synchronize()
		}, "was freed"},
		{"a closed graph", func(b *drivertest.Bench) error {
			g, err := b.Capture(func() error { return b.Add(1) })
			if err != nil {
				return err
			}
			g.Close()
			return g.Launch()
		}, "it is closed"},
		{"memory that is not pinned in a graph", func(b *drivertest.Bench) error {
			_, err := b.Capture(func() error { return b.Upload(b.X, make([]byte, 4)) })
			return err
		}, "a graph can only use pinned memory"},
		{"the same, and record forgets the error", func(b *drivertest.Bench) error {
			_, err := b.Capture(func() error { b.Download(make([]byte, 4), b.X); return nil })
			return err
		}, "a graph can only use pinned memory"},
		{"memory allocated in a capture", func(b *drivertest.Bench) error {
			_, err := b.Capture(func() error { b.Alloc(4); return nil })
			return err
		}, "a graph is being captured"},
		{"waiting in a capture", func(b *drivertest.Bench) error {
			_, err := b.Capture(func() error { b.Synchronize(); return nil })
			return err
		}, "a graph is being captured"},
		{"an error of record", func(b *drivertest.Bench) error {
			_, err := b.Capture(func() error { return errors.New("mine") })
			return err
		}, "capture a graph: mine"},
		{"a kernel of another context", func(b *drivertest.Bench) error {
			o, err := New(Options{}).Open(0)
			if err != nil {
				return err
			}
			return o.Launch(b.Axpy, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0)
		}, "loaded by another context"},
		{"leaks", func(b *drivertest.Bench) error {
			if _, err := b.Capture(func() error { return b.Add(1) }); err != nil {
				return err
			}
			b.Free(b.Y)
			return b.Close()
		}, "close the GPU: not given back: 1 of device memory (400 B), the first by context.go:"},
	} {
		b := drivertest.NewBench(t, openEmulated(t, Options{}))
		if err := c.do(b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %q", c.name, err, c.want)
		}
	}
}

// Work is done at Synchronize; before it, the destination of a download holds NaN.
func TestIsAsynchronous(t *testing.T) {
	b := drivertest.NewBench(t, openEmulated(t, Options{}))
	drivertest.Fill(b.In, 3)
	b.Upload(b.X, b.In)
	b.Download(b.Out, b.X)
	for i, v := range drivertest.Floats(b.Out) {
		if v == v {
			t.Fatalf("element %d is %v before Synchronize", i, v)
		}
	}
	if err := b.Synchronize(); err != nil {
		t.Fatal(err)
	}
	if v := drivertest.Floats(b.Out)[0]; v != 3 {
		t.Errorf("%v after Synchronize", v)
	}
	if err := b.GiveBack(); err != nil {
		t.Error(err)
	}
}

func TestLosesTheDevice(t *testing.T) {
	d := New(Options{LoseAt: 2})
	c, err := d.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	b := drivertest.NewBench(t, c)
	if err := b.Synchronize(); err != nil {
		t.Fatal(err)
	}
	var lost *driver.LostDevice
	if err := b.Synchronize(); !errors.As(err, &lost) {
		t.Fatal(err)
	}
	if err := b.Upload(b.X, b.In); !errors.As(err, &lost) {
		t.Errorf("afterwards: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("closing what is lost: %v", err)
	}
	all, err := d.Devices()
	if err != nil || all[0].Free != all[0].Memory {
		t.Errorf("its memory did not come back: %+v, %v", all, err)
	}
	c, err = d.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Synchronize(), c.Close()); err != nil {
		t.Errorf("opened again: %v", err)
	}
}

func TestAContextBelongsToOneGoroutine(t *testing.T) {
	b := drivertest.NewBench(t, openEmulated(t, Options{}))
	c := b.Context.(*gpuContext)
	if err := c.EnterAnyhow("work"); err != nil { // another goroutine's call is under way
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"synchronize": c.Synchronize, "close": c.Close, "upload": func() error { return c.Upload(b.X, b.In) },
	} {
		if err := do(); !errors.Is(err, driver.ErrConcurrent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.Leave()
	if err := b.GiveBack(); err != nil {
		t.Error(err)
	}
}
