//go:build !nogpu && (amd64 || arm64)

package driver

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// native is the machine's own driver.
type native struct {
	*library
	options NativeOptions
	version int
	pollFor time.Duration
}

// Native opens the CUDA driver of this machine. The error is an *Unavailable if there is no driver,
// no sufficiently new one, or no GPU that this process may use.
//
// Native sets CUDA_DEVICE_ORDER=PCI_BUS_ID, so that devices are counted as nvidia-smi counts them.
// The driver obeys CUDA_VISIBLE_DEVICES.
func Native(o NativeOptions) (Driver, error) {
	if err := setEnvironment(o.Cache); err != nil {
		return nil, fmt.Errorf("start the CUDA driver: %w", err)
	}
	l, err := openLibrary(o.Library)
	if err != nil {
		return nil, err
	}
	n := &native{library: l, options: o, pollFor: pollFor}
	if n.version, err = n.Version(); err != nil {
		return nil, err
	}
	if n.version < first {
		return nil, &Unavailable{
			Reason: fmt.Sprintf("too old a CUDA driver: it has CUDA %s", VersionText(n.version)),
			Advice: fmt.Sprintf("install driver %s or newer, or use --device cpu", minOf(first)),
		}
	}
	if r := l.call(cuInit, 0); r == noDevice {
		return nil, n.noDevices()
	} else if r != success {
		return nil, l.fail("start the CUDA driver", r)
	}
	return n, nil
}

// noDevices returns the error for a machine without a GPU, or with a hidden one.
func (n *native) noDevices() error {
	if list, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
		return &Unavailable{
			Reason: fmt.Sprintf("no GPU is visible: CUDA_VISIBLE_DEVICES is %q", list),
			Advice: "unset it or name GPUs by index or UUID as nvidia-smi -L shows them, or use --device cpu",
		}
	}
	return n.fail("start the CUDA driver", noDevice)
}

func (n *native) Version() (int, error) {
	c := newCells()
	if r := n.call(cuDriverGetVersion, at(&c.number)); r != success {
		return 0, n.fail("ask the CUDA driver for its version", r)
	}
	return int(c.number), nil
}

func (n *native) Devices() ([]Info, error) {
	c := newCells()
	if r := n.call(cuDeviceGetCount, at(&c.number)); r != success && r != noDevice {
		return nil, n.fail("count GPUs", r)
	}
	count := int(c.number)
	if count == 0 {
		return nil, n.noDevices()
	}
	all := make([]Info, count)
	for i := range all {
		var err error
		if all[i], err = n.describe(i); err != nil {
			return nil, err
		}
		if all[i].Free, err = n.free(all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// CUdevice_attribute
const (
	attributeProcessors  = 16
	attributeMajor       = 75
	attributeMinor       = 76
	attributeSharedOptIn = 97
)

// describe queries everything in Info except the free memory.
func (n *native) describe(i int) (Info, error) {
	c := newCells()
	fail := func(r result) (Info, error) {
		return Info{}, n.fail(fmt.Sprintf("look at GPU %d", i), r)
	}
	if r := n.call(cuDeviceGet, at(&c.number), uintptr(i)); r != success {
		return fail(r)
	}
	device := uintptr(c.number)
	d := Info{Index: i}
	if r := n.call(cuDeviceGetName, at(&c.text), uintptr(len(c.text)), device); r != success {
		return fail(r)
	}
	d.Name, _, _ = strings.Cut(string(c.text[:]), "\x00")
	var r result
	if d.UUID, r = n.uuid(c, device); r != success {
		return fail(r)
	}
	if r := n.call(cuDeviceTotalMem, at(&c.word), device); r != success {
		return fail(r)
	}
	d.Memory = c.word
	for _, a := range []struct {
		attribute uintptr
		into      *int
	}{
		{attributeProcessors, &d.Processors}, {attributeMajor, &d.Capability[0]},
		{attributeMinor, &d.Capability[1]}, {attributeSharedOptIn, &d.SharedPerBlock},
	} {
		if r := n.call(cuDeviceGetAttribute, at(&c.number), a.attribute, device); r != success {
			return fail(r)
		}
		*a.into = int(c.number)
	}
	return d, nil
}

// uuid returns a device's UUID as nvidia-smi and NVML write it. A part of a GPU (MIG) has a UUID of
// its own, and only the newer function returns that one instead of the whole GPU's.
func (n *native) uuid(c *cells, device uintptr) (string, result) {
	if r := n.call(cuDeviceGetUUID, at(&c.uuid), device); r != success {
		return "", r
	}
	u, kind := c.uuid, "GPU"
	if n.addresses[cuDeviceGetUUIDOfPart] != 0 {
		if r := n.call(cuDeviceGetUUIDOfPart, at(&c.uuid), device); r != success {
			return "", r
		}
		if c.uuid != u {
			u, kind = c.uuid, "MIG"
		}
	}
	return fmt.Sprintf("%s-%x-%x-%x-%x-%x", kind, u[:4], u[4:6], u[6:8], u[8:10], u[10:]), success
}

// free returns the memory of a device that is not in use. If there is no other source, the device
// is opened to find out; a device that cannot be opened has none.
func (n *native) free(d Info) (uint64, error) {
	if n.options.Watcher != nil {
		if u, err := n.options.Watcher.Usage(d.UUID); err == nil && u.Total > 0 {
			return u.Total - min(u.Used, u.Total), nil
		}
	}
	c, err := n.open(d)
	if err != nil {
		return 0, nil
	}
	free, _, err := c.Memory()
	if err2 := c.Close(); err == nil {
		err = err2
	}
	return free, err
}

func (n *native) Open(i int) (Context, error) {
	c := newCells()
	if r := n.call(cuDeviceGetCount, at(&c.number)); r != success {
		return nil, n.fail("count GPUs", r)
	}
	if i < 0 || i >= int(c.number) {
		return nil, fmt.Errorf("open GPU %d: there is no such GPU: %s%s (pgrlab list devices)", i, span(int(c.number)), underVisible())
	}
	d, err := n.describe(i)
	if err != nil {
		return nil, err
	}
	context, err := n.open(d)
	if err != nil {
		return nil, err
	}
	if context.info.Free, _, err = context.Memory(); err != nil {
		context.Close()
		return nil, err
	}
	return context, nil
}

// Flags of contexts, streams and captures.
const (
	blockingSync      = 4 // CU_CTX_SCHED_BLOCKING_SYNC
	nonBlockingStream = 1 // CU_STREAM_NON_BLOCKING: the legacy stream does not hold it up
	captureThisThread = 1 // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: others may do what they like
)

// open retains the primary context of a device, which libraries such as cuBLAS share, and creates a
// stream.
func (n *native) open(d Info) (*nativeContext, error) {
	c := &nativeContext{driver: n, info: d, memory: map[Ptr]struct{}{}}
	doing := fmt.Sprintf("open GPU %d (%s)", d.Index, d.Name)
	if r := n.call(cuDeviceGet, at(&c.cells.number), uintptr(d.Index)); r != success {
		return nil, c.check(doing, r)
	}
	c.device = c.cells.number
	// Before the context is created: afterwards some drivers keep the flags that it has.
	if r := n.call(cuDevicePrimaryCtxSetFlags, uintptr(c.device), blockingSync); r != success {
		return nil, c.check(doing, r)
	}
	if r := n.call(cuDevicePrimaryCtxRetain, at(&c.cells.handle), uintptr(c.device)); r != success {
		return nil, c.check(doing, r)
	}
	c.context = c.cells.handle
	if r := c.do(cuStreamCreate, at(&c.cells.handle), nonBlockingStream); r != success {
		err := c.check(doing, r)
		n.call(cuDevicePrimaryCtxRelease, uintptr(c.device))
		return nil, err
	}
	c.stream = c.cells.handle
	if r := c.openSecond(); r != success {
		err := c.check(doing, r)
		c.do(cuStreamDestroy, c.stream)
		n.call(cuDevicePrimaryCtxRelease, uintptr(c.device))
		return nil, err
	}
	return c, nil
}

// do calls a function with the context current on the thread.
//
// # Why not one thread
//
// Contexts are current on threads, not in processes, and Go moves goroutines between threads.
// Handing each call to a goroutine that owns a thread costs two switches, measured at 19 to 145 µs
// on two busy cores, as much as an update. Locking the caller's thread for the call and making the
// context current costs 0.3 µs. The context is made current each time because another one may have
// been since.
func (c *nativeContext) do(s symbol, args ...uintptr) result {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c.current[0] = c.context
	if r := c.driver.call(cuCtxSetCurrent, c.current[:]...); r != success {
		return r
	}
	return c.driver.call(s, c.args[:copy(c.args[:], args)]...) // args may stay on the stack
}
