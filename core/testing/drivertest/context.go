// Package drivertest has the tests for every implementation of a CUDA driver.
package drivertest

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"pgrlab/core/device/cuda/driver"
)

// AxpyText is PTX with the kernel axpy: y += a x over n Elements, one thread each.
const AxpyText = `.version 7.0
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

// Floats returns the numbers in data.
func Floats(data []byte) []float32 {
	all := make([]float32, len(data)/4)
	for i := range all {
		all[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return all
}

// Fill sets all numbers in data to v.
func Fill(data []byte, v float32) {
	for i := 0; i < len(data); i += 4 {
		binary.LittleEndian.PutUint32(data[i:], math.Float32bits(v))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kernelOf loads a text and returns a kernel in it.
func kernelOf(t *testing.T, c driver.Context, text, name string) driver.Function {
	t.Helper()
	m, err := c.Load(text)
	must(t, err)
	f, err := m.Function(name)
	must(t, err)
	return f
}

// Bench is an open device with the kernel and the memory that most tests need.
type Bench struct {
	driver.Context
	Axpy    driver.Function
	X, Y    driver.Ptr
	In, Out []byte // pinned
}

// Elements is the length of X, Y, In and Out, in numbers of 32 bits.
const Elements = 100

// NewBench loads the kernel and allocates the memory.
func NewBench(t *testing.T, c driver.Context) *Bench {
	t.Helper()
	b := &Bench{Context: c}
	b.Axpy = kernelOf(t, c, AxpyText, "axpy")
	var err error
	b.X, err = c.Alloc(4 * Elements)
	must(t, err)
	b.Y, err = c.Alloc(4 * Elements)
	must(t, err)
	b.In, err = c.AllocHost(4 * Elements)
	must(t, err)
	b.Out, err = c.AllocHost(4 * Elements)
	must(t, err)
	return b
}

// Add enqueues y += a x in the stream.
func (b *Bench) Add(a float32) error {
	return b.Launch(b.Axpy, [3]uint32{4, 1, 1}, [3]uint32{32, 1, 1}, 0, driver.PtrArg(b.Y), driver.PtrArg(b.X), driver.F32(a), driver.U32(Elements))
}

// GiveBack frees the memory of the bench and closes its context.
func (b *Bench) GiveBack() error {
	return errors.Join(b.Free(b.X), b.Free(b.Y), b.FreeHost(b.In), b.FreeHost(b.Out), b.Close())
}

// TestContext does what a program does. The result must be the same on every driver.
func TestContext(t *testing.T, c driver.Context) {
	b := NewBench(t, c)
	all := func(what string, data []byte, want float32) {
		t.Helper()
		for i, v := range Floats(data) {
			if v != want {
				t.Fatalf("%s: element %d is %v, want %v", what, i, v, want)
			}
		}
	}
	for _, p := range []driver.Ptr{b.X, b.Y} {
		if p == 0 || p%256 != 0 {
			t.Errorf("address %#x", p)
		}
	}
	must(t, b.Download(b.Out, b.X))
	must(t, b.Synchronize())
	all("new memory", b.Out, 0)
	all("new pinned memory", b.In, 0)

	ones := make([]byte, 4*Elements)
	Fill(ones, 1)
	must(t, b.Upload(b.X, ones))
	Fill(ones, 7) // copied already
	must(t, b.Add(2))
	must(t, b.Add(3))
	got := make([]byte, 4*Elements)
	must(t, b.Download(got, b.Y))
	must(t, b.Synchronize())
	all("y = 2 x + 3 x", got, 5)

	must(t, b.Copy(b.X, b.Y, 4*Elements/2))
	must(t, b.Download(b.Out, b.X))
	must(t, b.Synchronize())
	all("half that was copied", b.Out[:2*Elements], 5)
	all("half that was not", b.Out[2*Elements:], 1)

	g, err := b.Capture(func() error {
		return errors.Join(b.Upload(b.X, b.In), b.Add(1), b.Download(b.Out, b.Y))
	})
	must(t, err)
	must(t, b.Download(got, b.Y))
	must(t, b.Synchronize())
	all("y, while it was only captured", got, 5)
	for i, want := range []float32{15, 35} {
		Fill(b.In, float32(10*(i+1)))
		must(t, g.Launch())
		must(t, b.Synchronize())
		all("graph", b.Out, want)
	}
	must(t, g.Close())
	must(t, g.Close())
	testBeside(t, b, all)

	// An allocation of 0 bytes is not an error and has an address.
	none, err := b.Alloc(0)
	must(t, err)
	if none == 0 {
		t.Error("no bytes have no address")
	}
	must(t, errors.Join(b.Upload(none, nil), b.Download(nil, none), b.Copy(none, b.X, 0), b.Free(none)))

	if err := b.Launch(b.Axpy, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, driver.PtrArg(b.Y)); err == nil {
		t.Error("a launch with too few arguments")
	}
	if err := b.Copy(b.X+4, b.X, 8); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("a copy over itself: %v", err)
	}
	if err := b.FreeHost(make([]byte, 8)); err == nil {
		t.Error("memory was freed that is not pinned")
	}
	must(t, b.Synchronize())
	must(t, b.GiveBack())
	if err := b.Synchronize(); err == nil {
		t.Error("a closed context works")
	}
}

// testBeside puts work into the second stream: it waits for what the first one had, and both are waited for.
func testBeside(t *testing.T, b *Bench, all func(what string, data []byte, want float32)) {
	t.Helper()
	z, err := b.Alloc(4 * Elements)
	must(t, err)
	out, err := b.AllocHost(4 * Elements)
	must(t, err)
	double := func() error { // z += 2 x
		return errors.Join(
			b.Launch(b.Axpy, [3]uint32{4, 1, 1}, [3]uint32{32, 1, 1}, 0, driver.PtrArg(z), driver.PtrArg(b.X), driver.F32(2), driver.U32(Elements)),
			b.Download(out, z))
	}
	must(t, b.Copy(b.Y, z, 4*Elements))
	g, err := b.Capture(func() error {
		return errors.Join(b.Upload(b.X, b.In), b.Beside(double), b.Add(1), b.Download(b.Out, b.Y))
	})
	must(t, err)
	for i := range 3 {
		Fill(b.In, 10)
		must(t, errors.Join(b.Upload(b.X, b.In), b.Beside(double), b.Add(1), b.Synchronize()))
		Fill(b.In, 1)
		must(t, errors.Join(g.Launch(), b.Beside(double), b.Synchronize()))
		all("z beside", out, float32(24*(i+1)))
		all("y beside it", b.Out, float32(11*(i+1)))
	}
	must(t, errors.Join(g.Close(), b.Free(z), b.FreeHost(out)))
	if err := b.Beside(func() error { return b.Beside(func() error { return nil }) }); err == nil {
		t.Error("work beside work beside")
	}
}
