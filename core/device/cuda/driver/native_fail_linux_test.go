//go:build !nogpu && (amd64 || arm64)

package driver

import (
	"errors"
	"strings"
	"testing"
)

func TestNativeIsOutOfMemory(t *testing.T) {
	l, _, c := openFake(t, NativeOptions{})
	if _, err := c.Alloc(700 << 10); err != nil {
		t.Fatal(err)
	}
	_, err := c.Alloc(500 << 10)
	var out *OutOfMemory
	if !errors.As(err, &out) || *out != (OutOfMemory{What: "GPU", Asked: 500 << 10, Free: 324 << 10, Total: 1 << 20}) {
		t.Errorf("%+v", err)
	}
	if want := "GPU memory: 500 KiB asked, 324 KiB of 1 MiB free: close other programs or make the run smaller (--gpu-mem)"; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if _, err := c.AllocHost(2 << 20); !errors.As(err, &out) || out.What != "pinned host" {
		t.Errorf("%v", err)
	}
	l.fail(t, "cuGraphInstantiateWithFlags", 1, 2)
	if _, err := c.Capture(func() error { return nil }); !errors.As(err, &out) || !strings.HasPrefix(err.Error(), "GPU memory: too little for the driver, 324 KiB of 1 MiB free") {
		t.Errorf("%v", err)
	}
}

// A graph that cannot be uploaded holds memory of the device, so it is given back when that fails,
// not when the device closes.
func TestNativeGivesBackAGraphThatIsNotUploaded(t *testing.T) {
	l, _, c := openFake(t, NativeOptions{})
	from := len(l.lines(t))
	l.fail(t, "cuGraphUpload", 1, 2)
	if _, err := c.Capture(func() error { return nil }); err == nil {
		t.Fatal("the graph is ready")
	}
	count := func() (destroyed int) {
		for _, call := range l.calls(t, from) {
			if strings.HasPrefix(call, "cuGraphExecDestroy ") {
				destroyed++
			}
		}
		return destroyed
	}
	if n := count(); n != 1 {
		t.Errorf("destroyed %d times before the device closes", n)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if n := count(); n != 1 {
		t.Errorf("destroyed %d times in all", n)
	}
}

// A device that is lost reports this from then on, closes without an error, and can be opened
// again.
func TestNativeLosesTheDevice(t *testing.T) {
	l, d, c := openFake(t, NativeOptions{})
	p, err := c.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	l.fail(t, "cuStreamQuery", 1, 719)
	err = c.Synchronize()
	var lost *LostDevice
	if !errors.As(err, &lost) || lost.Doing != "run the stream" || lost.Reason != "words for 719 (CUDA_ERROR_719, 719)" {
		t.Fatalf("%+v", err)
	}
	if !strings.HasPrefix(lost.Device, "Fake GPU 0 GPU-10111213-") {
		t.Errorf("device %q", lost.Device)
	}
	from := len(l.lines(t))
	if err := c.Upload(p, make([]byte, 64)); !errors.As(err, &lost) {
		t.Errorf("afterwards: %v", err)
	}
	if len(l.lines(t)) != from {
		t.Error("the driver was called after the device was lost")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if calls := strings.Join(l.calls(t, from), "\n"); !strings.Contains(calls, "cuDevicePrimaryCtxReset_v2 0\ncuDevicePrimaryCtxRelease_v2 0") {
		t.Errorf("it was not reset:\n%s", calls)
	}
	again, err := d.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(again.Synchronize(), again.Close()); err != nil {
		t.Error(err)
	}
}

// A device that cannot be opened is lost or full if the call that failed says so, as with the
// emulated driver, and what was opened is given back.
func TestNativeDoesNotOpen(t *testing.T) {
	for _, call := range []string{"cuDevicePrimaryCtxSetFlags_v2", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuStreamCreate", "cuEventCreate"} {
		for _, code := range []int{2, 700, 719, 999} {
			l, d, c := openFake(t, NativeOptions{})
			must(t, c.Close())
			from := len(l.lines(t))
			l.fail(t, call, 1, code)
			_, err := d.Open(0)
			var lost *LostDevice
			var full *OutOfMemory
			if err == nil || code == 2 != errors.As(err, &full) || code != 2 != errors.As(err, &lost) {
				t.Errorf("%s returns %d: %v", call, code, err)
			}
			calls := strings.Join(l.calls(t, from), "\n")
			if took := !strings.HasPrefix(call, "cuDevicePrimaryCtx"); took != strings.Contains(calls, "cuDevicePrimaryCtxRelease") {
				t.Errorf("%s returns %d:\n%s", call, code, calls)
			}
		}
	}
}

// Every call can fail, while the device opens and while it works; nothing hangs, leaks a context or
// continues as if nothing had happened.
func TestNativeEveryCallCanFail(t *testing.T) {
	l, _, c := openFake(t, NativeOptions{})
	c.Close()
	work := func() (err error) {
		d, err := Native(NativeOptions{Library: l.path})
		if err != nil {
			return err
		}
		if _, err := d.Devices(); err != nil {
			return err
		}
		c, err := d.Open(0)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.Close()) }()
		p, err := c.Alloc(64)
		if err != nil {
			return err
		}
		host, err := c.AllocHost(64)
		if err != nil {
			return err
		}
		m, err := c.Load(axpy)
		if err != nil {
			return err
		}
		f, err := m.Function("empty")
		if err != nil {
			return err
		}
		one := [3]uint32{1, 1, 1}
		g, err := c.Capture(func() error {
			return errors.Join(c.Upload(p, host), c.Launch(f, one, one, 60_000), c.Download(host, p), c.Copy(p+32, p, 32))
		})
		if err != nil {
			return err
		}
		if _, _, err := c.Memory(); err != nil {
			return err
		}
		return errors.Join(c.Beside(g.Launch), g.Launch(), c.Synchronize(), g.Close(), c.FreeHost(host), c.Free(p))
	}
	begin := func() {
		l.reset(t)
		l.set(t, "busy", 1<<30) // every wait polls, then sleeps
	}
	begin()
	if err := work(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, call := range l.calls(t, 0) {
		name, _, _ := strings.Cut(call, " ")
		seen[name] = true
	}
	for s, names := range exported {
		name := names[0]
		switch symbol(s) {
		case cuDevicePrimaryCtxReset, cuGetErrorName, cuGetErrorString, cuEventDestroy, cuStreamDestroy, cuModuleUnload:
			continue // this happens only after a failure, or while everything is given back, when nothing can be done
		}
		if !seen[name] && name != "cuCtxSetCurrent" {
			t.Errorf("%s was not called", name)
		}
		nth := 1
		switch symbol(s) {
		case cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxRetain, cuEventCreate:
			nth = 2 // at first Devices asks for free memory: a device that cannot be opened has none
		case cuStreamCreate:
			nth = 3 // two streams each time
		case cuCtxSetCurrent:
			nth = 4 // after the streams and the event
		}
		begin()
		l.fail(t, name, nth, 1) // CUDA_ERROR_INVALID_VALUE
		err := work()
		if name == "cuGraphDestroy" {
			continue // the graph was instantiated: all is well
		}
		if err == nil {
			t.Errorf("%s failed without an error", name)
			continue
		}
		if strings.Contains(err.Error(), "%!") || !strings.Contains(err.Error(), "words for 1 (CUDA_ERROR_1, 1)") {
			t.Errorf("%s failed: %v", name, err)
		}
		retained := 0
		for _, call := range l.calls(t, 0) {
			if strings.HasPrefix(call, "cuDevicePrimaryCtxRetain") && name != "cuDevicePrimaryCtxRetain" {
				retained++
			}
			if strings.HasPrefix(call, "cuDevicePrimaryCtxRelease") {
				retained--
			}
		}
		if retained > 0 {
			t.Errorf("%s failed, and a context was kept", name)
		}
	}
}
