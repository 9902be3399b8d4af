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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kernelOf loads a text and finds a kernel in it.
func kernelOf(t *testing.T, c Context, text, name string) Function {
	t.Helper()
	m, err := c.Load(text)
	must(t, err)
	f, err := m.Function(name)
	must(t, err)
	return f
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
	b.axpy = kernelOf(t, c, axpyText, "axpy")
	var err error
	b.x, err = c.Alloc(4 * elements)
	must(t, err)
	b.y, err = c.Alloc(4 * elements)
	must(t, err)
	b.in, err = c.AllocHost(4 * elements)
	must(t, err)
	b.out, err = c.AllocHost(4 * elements)
	must(t, err)
	return b
}

// add puts y += a x into the stream.
func (b *bench) add(a float32) error {
	return b.Launch(b.axpy, [3]uint32{4, 1, 1}, [3]uint32{32, 1, 1}, 0, PtrArg(b.y), PtrArg(b.x), F32(a), U32(elements))
}

func (b *bench) close() error {
	return errors.Join(b.Free(b.x), b.Free(b.y), b.FreeHost(b.in), b.FreeHost(b.out), b.Close())
}

// What a program does, on every driver that there is: the result must be the same.
func testContext(t *testing.T, c Context) {
	b := newBench(t, c)
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
	must(t, b.Download(b.out, b.x))
	must(t, b.Synchronize())
	all("new memory", b.out, 0)
	all("new pinned memory", b.in, 0)

	ones := make([]byte, 4*elements)
	fill(ones, 1)
	must(t, b.Upload(b.x, ones))
	fill(ones, 7) // copied already
	must(t, b.add(2))
	must(t, b.add(3))
	got := make([]byte, 4*elements)
	must(t, b.Download(got, b.y))
	must(t, b.Synchronize())
	all("y = 2 x + 3 x", got, 5)

	must(t, b.Copy(b.x, b.y, 4*elements/2))
	must(t, b.Download(b.out, b.x))
	must(t, b.Synchronize())
	all("half that was copied", b.out[:2*elements], 5)
	all("half that was not", b.out[2*elements:], 1)

	g, err := b.Capture(func() error {
		return errors.Join(b.Upload(b.x, b.in), b.add(1), b.Download(b.out, b.y))
	})
	must(t, err)
	must(t, b.Download(got, b.y))
	must(t, b.Synchronize())
	all("y, while it was only captured", got, 5)
	for i, want := range []float32{15, 35} {
		fill(b.in, float32(10*(i+1)))
		must(t, g.Launch())
		must(t, b.Synchronize())
		all("graph", b.out, want)
	}
	must(t, g.Close())
	must(t, g.Close())

	// Nothing at all is no error, and has an address.
	none, err := b.Alloc(0)
	must(t, err)
	if none == 0 {
		t.Error("no bytes have no address")
	}
	must(t, errors.Join(b.Upload(none, nil), b.Download(nil, none), b.Copy(none, b.x, 0), b.Free(none)))

	if err := b.Launch(b.axpy, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, PtrArg(b.y)); err == nil {
		t.Error("a launch with too few arguments")
	}
	if err := b.Copy(b.x+4, b.x, 8); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("a copy over itself: %v", err)
	}
	if err := b.FreeHost(make([]byte, 8)); err == nil {
		t.Error("memory was freed that is not pinned")
	}
	must(t, b.Synchronize())
	must(t, b.close())
	if err := b.Synchronize(); err == nil {
		t.Error("a closed context works")
	}
}
