//go:build !nogpu && (amd64 || arm64)

package driver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// axpy is y += a x over n elements; the fake driver has it in C.
const axpy = `.version 7.0
.target sm_80
.address_size 64
.visible .entry axpy(
	.param .u64 axpy_param_0,
	.param .u64 axpy_param_1,
	.param .f32 axpy_param_2,
	.param .u32 axpy_param_3
)
.maxntid 256, 1, 1
{
	ret;
}
.visible .entry empty()
{
	ret;
}
.visible .entry missing()
{
	ret;
}
`

// openFake opens the fake driver's first GPU.
func openFake(t *testing.T, o NativeOptions) (*fakeLibrary, Driver, Context) {
	t.Helper()
	t.Setenv("CUDA_DEVICE_ORDER", "")
	l := build(t, "fakecuda.c")
	o.Library = l.path
	d, err := Native(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return l, d, c
}

func TestNativeStarts(t *testing.T) {
	l := build(t, "fakecuda.c")
	cache := filepath.Join(t.TempDir(), "kernels")
	t.Setenv("CUDA_DEVICE_ORDER", "FASTEST_FIRST")
	t.Setenv("CUDA_CACHE_PATH", "")
	os.Unsetenv("CUDA_CACHE_PATH")
	l.set(t, "devices", 2)
	d, err := Native(NativeOptions{Library: l.path, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	// C sees the variables when it starts, and not only Go.
	expect(t, l.calls(t, 0), "cuDriverGetVersion", "cuInit 0 order=PCI_BUS_ID cache="+cache)
	if info, err := os.Stat(cache); err != nil || !info.IsDir() {
		t.Errorf("the folder for compiled kernels was not made: %v", err)
	}
	if v, err := d.Version(); v != 12040 || err != nil {
		t.Errorf("version %d, %v", v, err)
	}
	all, err := d.Devices()
	if err != nil || len(all) != 2 {
		t.Fatalf("%d devices, %v", len(all), err)
	}
	want := Info{Index: 1, Name: "Fake GPU 1", UUID: "GPU-20212223-2425-2627-2829-2a2b2c2d2e2f", Capability: [2]int{8, 0},
		Memory: 1 << 20, Free: 1 << 20, Processors: 108, SharedPerBlock: 166912}
	if all[1] != want {
		t.Errorf("device 1 is %+v\nwant %+v", all[1], want)
	}
}

// A part of a GPU is named as nvidia-smi names it; a driver that does not know the parts' own UUIDs
// names the GPU.
func TestNativeNamesAPart(t *testing.T) {
	l, d, _ := openFake(t, NativeOptions{})
	l.set(t, "part", 32)
	for _, want := range []string{"MIG-30313233-3435-3637-3839-3a3b3c3d3e3f", fakeUUID} {
		if all, err := d.Devices(); err != nil || all[0].UUID != want {
			t.Errorf("%+v, %v; want %s", all, err, want)
		}
		d.(*native).addresses[cuDeviceGetUUIDOfPart] = 0
	}
}

// A home folder that cannot be written to is no reason to do without the GPU.
func TestNativeStartsWithoutACache(t *testing.T) {
	l := build(t, "fakecuda.c")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{filepath.Join(file, "below", "a", "file"), "/proc/kernels", "nul\x00"} {
		l.reset(t)
		t.Setenv("CUDA_DEVICE_ORDER", "")
		t.Setenv("CUDA_CACHE_PATH", "")
		os.Unsetenv("CUDA_CACHE_PATH")
		if _, err := Native(NativeOptions{Library: l.path, Cache: cache}); err != nil {
			t.Errorf("%q: %v", cache, err)
			continue
		}
		if got := l.calls(t, 0)[1]; got != "cuInit 0 order=PCI_BUS_ID cache=-" {
			t.Errorf("%q: started with %s", cache, got)
		}
	}
}

func TestNativeObeysACacheThatWasChosen(t *testing.T) {
	l := build(t, "fakecuda.c")
	t.Setenv("CUDA_DEVICE_ORDER", "")
	t.Setenv("CUDA_CACHE_PATH", "/theirs")
	if _, err := Native(NativeOptions{Library: l.path, Cache: filepath.Join(t.TempDir(), "ours")}); err != nil {
		t.Fatal(err)
	}
	if got := l.calls(t, 0)[1]; got != "cuInit 0 order=PCI_BUS_ID cache=/theirs" {
		t.Errorf("started with %s", got)
	}
}

func TestNativeSaysWhyThereIsNoGPU(t *testing.T) {
	l := build(t, "fakecuda.c")
	t.Setenv("CUDA_DEVICE_ORDER", "")
	nothing := build(t, "fakenvml.c") // a library, but no CUDA driver
	for _, c := range []struct {
		name    string
		library string
		prepare func()
		want    string
	}{
		{"no driver", filepath.Join(t.TempDir(), "libcuda.so.1"), func() {}, "no CUDA driver: "},
		{"no CUDA in it", nothing.path, func() {}, "too old a CUDA driver: it has no cuInit: install driver 450.80.02 (CUDA 11.0) or newer"},
		{"old", l.path, func() { l.set(t, "version", 10020) }, "too old a CUDA driver: it has CUDA 10.2: install driver 450.80.02 (CUDA 11.0) or newer"},
		{"none", l.path, func() { l.set(t, "devices", 0) }, "words for 100 (CUDA_ERROR_100, 100): the driver found no GPU"},
		{"hidden", l.path, func() { t.Setenv("CUDA_VISIBLE_DEVICES", "") }, `no GPU is visible: CUDA_VISIBLE_DEVICES is ""`},
		{"updated", l.path, func() { l.fail(t, "cuInit", 1, 803) }, "driver and kernel module differ, as after an update: restart the machine"},
		{"stub", l.path, func() { l.fail(t, "cuInit", 1, 34) }, "this libcuda is a stub"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l.reset(t)
			if v, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
				t.Setenv("CUDA_VISIBLE_DEVICES", v)
				os.Unsetenv("CUDA_VISIBLE_DEVICES")
			}
			c.prepare()
			_, err := Native(NativeOptions{Library: c.library})
			var none *Unavailable
			if !errors.As(err, &none) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%T %v; want a sentence with %q", err, err, c.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestNativeOpensAndCloses(t *testing.T) {
	l, d, c := openFake(t, NativeOptions{})
	opened := l.calls(t, 0)
	if want := "cuDevicePrimaryCtxSetFlags_v2 0 4"; !strings.Contains(strings.Join(opened, "\n"), want+"\ncuDevicePrimaryCtxRetain 0\ncuStreamCreate 1") {
		t.Errorf("the context was not made with blocking waits before it was taken:\n%s", strings.Join(opened, "\n"))
	}
	if _, err := c.Alloc(1000); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AllocHost(100); err != nil {
		t.Fatal(err)
	}
	f := kernelOf(t, c, axpy, "empty")
	if _, err := c.Capture(func() error { return c.Launch(f, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0) }); err != nil {
		t.Fatal(err)
	}
	from := len(l.lines(t))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	expect(t, l.calls(t, from), "cuStreamQuery 0x5000", "cuGraphExecDestroy 0x7000", "cuModuleUnload 0x8000",
		"cuMemFreeHost", "cuMemFree_v2 0x700000000000", "cuEventDestroy_v2 0xe000", "cuStreamDestroy_v2 0x5100", "cuStreamDestroy_v2 0x5000", "cuDevicePrimaryCtxRelease_v2 0 live=0")
	if err := c.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := c.Alloc(1); err == nil {
		t.Error("a closed context gives memory")
	}
	if _, err := d.Open(1); err == nil || !strings.Contains(err.Error(), "open GPU 1: there is no such GPU: the only one is 0") {
		t.Errorf("opening a GPU that does not exist: %v", err)
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
