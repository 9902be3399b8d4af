package driver

import (
	"errors"
	"strings"
	"testing"
)

func openEmulated(t *testing.T, o EmulatedOptions) Context {
	t.Helper()
	c, err := Emulated(o).Open(0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEmulatedContext(t *testing.T) { testContext(t, openEmulated(t, EmulatedOptions{})) }

func TestEmulatedDevices(t *testing.T) {
	one := "1"
	d := Emulated(EmulatedOptions{Devices: four(), Visible: &one, CUDA: 11000})
	if v, err := d.Version(); v != 11000 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	all, err := d.Devices()
	if err != nil || len(all) != 1 || all[0].UUID != four()[1].UUID || all[0].Index != 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	if _, err := d.Open(1); err == nil || !strings.Contains(err.Error(), "the only one is 0") {
		t.Errorf("%v", err)
	}
	c, err := d.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if now, _ := d.Devices(); now[0].Free != all[0].Free-1<<20 {
		t.Errorf("%d free, %d before", now[0].Free, all[0].Free)
	}
	free, total, err := c.Memory()
	if free != all[0].Free-1<<20 || total != all[0].Memory || err != nil {
		t.Errorf("%d of %d, %v", free, total, err)
	}
	var out *OutOfMemory
	if _, err := c.Alloc(int(free) + 1); !errors.As(err, &out) || out.Free != free || out.Total != total {
		t.Errorf("%v", err)
	}
	if err := errors.Join(c.Free(p), c.Close()); err != nil {
		t.Error(err)
	}
	// Texts that its driver or device could not run.
	c = openEmulated(t, EmulatedOptions{CUDA: 11000})
	for text, want := range map[string]string{
		strings.Replace(axpyText, "7.0", "7.1", 1):       "they need driver 455.23 (CUDA 11.1), and this one has CUDA 11.0",
		strings.Replace(axpyText, "sm_80", "sm_90a", 1):  "they are for sm_90",
		strings.Replace(axpyText, "fma.rn", "fmx.rn", 1): "load kernels: ",
	} {
		if _, err := c.Load(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The rules that a real driver takes on trust.
func TestEmulatedIsStrict(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(b *bench) error
		want string
	}{
		{"pinned memory changed after an upload", func(b *bench) error {
			b.Upload(b.x, b.in)
			fill(b.in, 1)
			return b.Synchronize()
		}, "upload: pinned memory was changed before Synchronize: 400 bytes"},
		{"pinned memory changed after a graph's launch", func(b *bench) error {
			g, err := b.Capture(func() error { return b.Upload(b.x, b.in) })
			if err != nil {
				return err
			}
			g.Launch()
			fill(b.in, 1)
			return b.Synchronize()
		}, "pinned memory was changed before Synchronize"},
		{"a kernel reads freed memory", func(b *bench) error {
			b.Free(b.x)
			b.add(1)
			return b.Synchronize()
		}, "was freed"},
		{"a kernel runs over the end", func(b *bench) error {
			b.Launch(b.axpy, [3]uint32{4, 1, 1}, [3]uint32{32, 1, 1}, 0, PtrArg(b.y), PtrArg(b.x), F32(1), U32(elements+1))
			return b.Synchronize()
		}, "the device is lost"},
		{"a copy to freed memory", func(b *bench) error {
			b.Free(b.y)
			return b.Copy(b.y, b.x, 4)
		}, "copy: write: "},
		{"a copy beyond the end", func(b *bench) error { return b.Copy(b.y, b.x, 404) }, "copy: read: "},
		{"an upload beyond the end", func(b *bench) error { return b.Upload(b.y+4, b.in) }, "upload: write: "},
		{"a download from nowhere", func(b *bench) error { return b.Download(b.out, 0) }, "download: read: "},
		{"memory freed twice", func(b *bench) error { b.Free(b.y); return b.Free(b.y) }, "free GPU memory: "},
		{"pinned memory freed twice", func(b *bench) error { b.FreeHost(b.in); return b.FreeHost(b.in) }, "freed already"},
		{"a graph with pinned memory that was freed", func(b *bench) error {
			g, err := b.Capture(func() error { return b.Upload(b.x, b.in) })
			if err != nil {
				return err
			}
			b.FreeHost(b.in)
			return g.Launch()
		}, "launch a graph: pinned memory that emulated_test.go:"},
		{"a graph with device memory that was freed", func(b *bench) error {
			g, err := b.Capture(func() error { return b.add(1) })
			if err != nil {
				return err
			}
			b.Free(b.x)
			g.Launch()
			return b.Synchronize()
		}, "was freed"},
		{"a closed graph", func(b *bench) error {
			g, err := b.Capture(func() error { return b.add(1) })
			if err != nil {
				return err
			}
			g.Close()
			return g.Launch()
		}, "it is closed"},
		{"memory that is not pinned in a graph", func(b *bench) error {
			_, err := b.Capture(func() error { return b.Upload(b.x, make([]byte, 4)) })
			return err
		}, "a graph can only use pinned memory"},
		{"the same, and record forgets the error", func(b *bench) error {
			_, err := b.Capture(func() error { b.Download(make([]byte, 4), b.x); return nil })
			return err
		}, "a graph can only use pinned memory"},
		{"memory allocated in a capture", func(b *bench) error {
			_, err := b.Capture(func() error { b.Alloc(4); return nil })
			return err
		}, "a graph is being captured"},
		{"waiting in a capture", func(b *bench) error {
			_, err := b.Capture(func() error { b.Synchronize(); return nil })
			return err
		}, "a graph is being captured"},
		{"an error of record", func(b *bench) error {
			_, err := b.Capture(func() error { return errors.New("mine") })
			return err
		}, "capture a graph: mine"},
		{"a kernel of another context", func(b *bench) error {
			o, err := Emulated(EmulatedOptions{}).Open(0)
			if err != nil {
				return err
			}
			return o.Launch(b.axpy, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0)
		}, "loaded by another context"},
		{"leaks", func(b *bench) error {
			if _, err := b.Capture(func() error { return b.add(1) }); err != nil {
				return err
			}
			b.Free(b.y)
			return b.Close()
		}, "close the GPU: not given back: 1 of device memory (400 B), the first by context_test.go:"},
	} {
		b := newBench(t, openEmulated(t, EmulatedOptions{}))
		if err := c.do(b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %q", c.name, err, c.want)
		}
	}
}

// Work is done at Synchronize, and what a download will fill is no number before.
func TestEmulatedIsAsynchronous(t *testing.T) {
	b := newBench(t, openEmulated(t, EmulatedOptions{}))
	fill(b.in, 3)
	b.Upload(b.x, b.in)
	b.Download(b.out, b.x)
	for i, v := range floats(b.out) {
		if v == v {
			t.Fatalf("element %d is %v before Synchronize", i, v)
		}
	}
	if err := b.Synchronize(); err != nil {
		t.Fatal(err)
	}
	if v := floats(b.out)[0]; v != 3 {
		t.Errorf("%v after Synchronize", v)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
}

func TestEmulatedLosesTheDevice(t *testing.T) {
	d := Emulated(EmulatedOptions{LoseAt: 2})
	c, err := d.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, c)
	if err := b.Synchronize(); err != nil {
		t.Fatal(err)
	}
	var lost *LostDevice
	if err := b.Synchronize(); !errors.As(err, &lost) {
		t.Fatal(err)
	}
	if err := b.Upload(b.x, b.in); !errors.As(err, &lost) {
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
	b := newBench(t, openEmulated(t, EmulatedOptions{}))
	c := b.Context.(*emulatedContext)
	c.busy.Store(true) // a call of another goroutine is under way
	for name, do := range map[string]func() error{
		"synchronize": c.Synchronize, "close": c.Close, "upload": func() error { return c.Upload(b.x, b.in) },
	} {
		if err := do(); !errors.Is(err, errConcurrent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.busy.Store(false)
	if err := b.close(); err != nil {
		t.Error(err)
	}
}
