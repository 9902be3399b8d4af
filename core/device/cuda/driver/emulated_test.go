package driver

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
)

// Axpy is y += a x over n elements, one thread each.
const axpyText = `.version 7.0
.target sm_80
.address_size 64
.visible .entry axpy(
	.param .u64 y,
	.param .u64 x,
	.param .f32 a,
	.param .u32 n
)
{
	.reg .pred %p<2>;
	.reg .f32 %f<5>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [y];
	ld.param.u64 %rd2, [x];
	ld.param.f32 %f1, [a];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p1, %r5, %r1;
	@%p1 bra $done;
	cvta.to.global.u64 %rd3, %rd1;
	cvta.to.global.u64 %rd4, %rd2;
	mul.wide.u32 %rd5, %r5, 4;
	add.s64 %rd6, %rd3, %rd5;
	add.s64 %rd7, %rd4, %rd5;
	ld.global.f32 %f2, [%rd7];
	ld.global.f32 %f3, [%rd6];
	fma.rn.f32 %f4, %f2, %f1, %f3;
	st.global.f32 [%rd6], %f4;
$done:
	ret;
}
`

func floats(data []byte) []float32 {
	all := make([]float32, len(data)/4)
	for i := range all {
		all[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return all
}

func fill(data []byte, v float32) {
	for i := 0; i < len(data); i += 4 {
		binary.LittleEndian.PutUint32(data[i:], math.Float32bits(v))
	}
}

// bench is an open device with what most tests need on it.
type bench struct {
	Context
	axpy    Function
	x, y    Ptr
	in, out []byte // pinned
}

const elements = 100

func newBench(t *testing.T, c Context) *bench {
	t.Helper()
	b := &bench{Context: c}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	m, err := c.Load(axpyText)
	must(err)
	b.axpy, err = m.Function("axpy")
	must(err)
	b.x, err = c.Alloc(4 * elements)
	must(err)
	b.y, err = c.Alloc(4 * elements)
	must(err)
	b.in, err = c.AllocHost(4 * elements)
	must(err)
	b.out, err = c.AllocHost(4 * elements)
	must(err)
	return b
}

// add puts y += a x into the stream.
func (b *bench) add(a float32) error {
	return b.Launch(b.axpy, [3]uint32{4, 1, 1}, [3]uint32{32, 1, 1}, 0, PtrArg(b.y), PtrArg(b.x), F32(a), U32(elements))
}

func (b *bench) close() error {
	return errors.Join(b.Free(b.x), b.Free(b.y), b.FreeHost(b.in), b.FreeHost(b.out), b.Close())
}

func openEmulated(t *testing.T, o EmulatedOptions) Context {
	t.Helper()
	c, err := Emulated(o).Open(0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a program does, on every driver that there is: the result must be the same.
func testContext(t *testing.T, c Context) {
	b := newBench(t, c)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	all := func(what string, data []byte, want float32) {
		t.Helper()
		for i, v := range floats(data) {
			if v != want {
				t.Fatalf("%s: element %d is %v, want %v", what, i, v, want)
			}
		}
	}
	for _, p := range []Ptr{b.x, b.y} {
		if p == 0 || p%256 != 0 {
			t.Errorf("address %#x", p)
		}
	}
	must(b.Download(b.out, b.x))
	must(b.Synchronize())
	all("new memory", b.out, 0)
	all("new pinned memory", b.in, 0)

	ones := make([]byte, 4*elements)
	fill(ones, 1)
	must(b.Upload(b.x, ones))
	fill(ones, 7) // copied already
	must(b.add(2))
	must(b.add(3))
	got := make([]byte, 4*elements)
	must(b.Download(got, b.y))
	must(b.Synchronize())
	all("y = 2 x + 3 x", got, 5)

	must(b.Copy(b.x, b.y, 4*elements/2))
	must(b.Download(b.out, b.x))
	must(b.Synchronize())
	all("half that was copied", b.out[:2*elements], 5)
	all("half that was not", b.out[2*elements:], 1)

	g, err := b.Capture(func() error {
		return errors.Join(b.Upload(b.x, b.in), b.add(1), b.Download(b.out, b.y))
	})
	must(err)
	must(b.Download(got, b.y))
	must(b.Synchronize())
	all("y, while it was only captured", got, 5)
	for i, want := range []float32{15, 35} {
		fill(b.in, float32(10*(i+1)))
		must(g.Launch())
		must(b.Synchronize())
		all("graph", b.out, want)
	}
	must(g.Close())
	must(g.Close())

	// Nothing at all is no error, and has an address.
	none, err := b.Alloc(0)
	must(err)
	if none == 0 {
		t.Error("no bytes have no address")
	}
	must(errors.Join(b.Upload(none, nil), b.Download(nil, none), b.Copy(none, b.x, 0), b.Free(none)))

	if err := b.Launch(b.axpy, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, PtrArg(b.y)); err == nil {
		t.Error("a launch with too few arguments")
	}
	if err := b.Copy(b.x+4, b.x, 8); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("a copy over itself: %v", err)
	}
	if err := b.FreeHost(make([]byte, 8)); err == nil {
		t.Error("memory was freed that is not pinned")
	}
	must(b.Synchronize())
	must(b.close())
	if err := b.Synchronize(); err == nil {
		t.Error("a closed context works")
	}
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
		}, "close the GPU: not given back: 1 of device memory (400 B), the first by emulated_test.go:"},
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
