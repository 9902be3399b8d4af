//go:build !nogpu && (amd64 || arm64)

package driver

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// This test makes every call that a program makes once, and checks every argument.
func TestNativeCallsTheDriver(t *testing.T) {
	l, _, c := openFake(t, NativeOptions{})
	from := len(l.lines(t))
	const n = 100
	x, err := c.Alloc(4 * n)
	must(t, err)
	y, err := c.Alloc(4 * n)
	must(t, err)
	z, err := c.Alloc(4 * n)
	must(t, err)
	pinned, err := c.AllocHost(4 * n)
	must(t, err)
	f := kernelOf(t, c, axpy, "axpy")
	expect(t, l.calls(t, from),
		"cuMemAlloc_v2 400", "cuMemsetD8Async 0x700000000000 0 400 0x5000",
		"cuMemAlloc_v2 400", "cuMemsetD8Async 0x700000000300 0 400 0x5000",
		"cuMemAlloc_v2 400", "cuMemsetD8Async 0x700000000600 0 400 0x5000",
		"cuMemHostAlloc 400 0",
		fmt.Sprintf("cuModuleLoadDataEx %d bytes options=4:3,4,5,6 sizes=8192,8192", len(axpy)),
		"cuModuleGetFunction 0x8000 axpy", "cuFuncGetAttribute 1 0x9000", "cuFuncGetAttribute 4 0x9000", "cuFuncGetAttribute 3 0x9000", "cuFuncGetAttribute 0 0x9000")

	ones := make([]byte, 4*n)
	for i := range n {
		copy(ones[4*i:], []byte{0, 0, 0x80, 0x3f}) // 1.0
	}
	from = len(l.lines(t))
	must(t, c.Upload(x, ones))
	clear(ones) // not pinned: copied at once
	must(t, c.Launch(f, [3]uint32{2, 3, 4}, [3]uint32{64, 2, 1}, 60_000, PtrArg(y), PtrArg(x), F32(2), I32(n)))
	must(t, c.Copy(z, y, 4*n))
	must(t, c.Download(pinned, z))
	must(t, c.Synchronize())
	expect(t, l.calls(t, from),
		"cuMemcpyHtoDAsync_v2 0x700000000000 pageable 400 0x5000", "cuStreamQuery 0x5000", // the driver may read it late
		"cuFuncSetAttribute 0x9000 8 60000",
		"cuLaunchKernel axpy 2,3,4 64,2,1 60000 0x5000 extra=(nil) args 0x700000000300 0x700000000000 0x40000000 100",
		"cuMemcpyDtoDAsync_v2 0x700000000600 0x700000000300 400 0x5000",
		"cuMemcpyDtoHAsync_v2 pinned 0x700000000600 400 0x5000",
		"cuStreamQuery 0x5000")
	for i := range n {
		if string(pinned[4*i:4*i+4]) != "\x00\x00\x00\x40" { // 2.0 = 0 + 2·1
			t.Fatalf("element %d is % x", i, pinned[4*i:4*i+4])
		}
	}
	from = len(l.lines(t))
	must(t, c.Launch(f, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 50_000, PtrArg(y), PtrArg(x), F32(2), I32(n)))
	must(t, c.Synchronize())
	must(t, c.Free(z))
	must(t, c.FreeHost(pinned))
	if free, total, err := c.Memory(); free != 1<<20-800 || total != 1<<20 || err != nil {
		t.Errorf("%d of %d free, %v", free, total, err)
	}
	expect(t, l.calls(t, from),
		"cuLaunchKernel axpy 1,1,1 1,1,1 50000 0x5000 extra=(nil) args 0x700000000300 0x700000000000 0x40000000 100", // allowed already
		"cuStreamQuery 0x5000", "cuStreamQuery 0x5000", "cuMemFree_v2 0x700000000600",
		"cuStreamQuery 0x5000", "cuMemFreeHost", "cuMemGetInfo_v2")
}

func TestNativeCaptures(t *testing.T) {
	l, _, c := openFake(t, NativeOptions{})
	const n = 8
	f := kernelOf(t, c, axpy, "axpy")
	x, _ := c.Alloc(4 * n)
	y, _ := c.Alloc(4 * n)
	in, _ := c.AllocHost(4 * n)
	out, err := c.AllocHost(4 * n)
	must(t, err)
	from := len(l.lines(t))
	g, err := c.Capture(func() error {
		return errors.Join(c.Upload(x, in), c.Launch(f, [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, PtrArg(y), PtrArg(x), F32(1), I32(n)), c.Download(out, y))
	})
	must(t, err)
	for i := range n {
		copy(in[4*i:], []byte{0, 0, 0x80, 0x3f})
	}
	for range 2 {
		must(t, errors.Join(g.Launch(), c.Synchronize()))
	}
	must(t, g.Close())
	expect(t, l.calls(t, from),
		"cuStreamBeginCapture_v2 0x5000 1",
		"cuMemcpyHtoDAsync_v2 0x700000000000 pinned 32 0x5000",
		"cuLaunchKernel axpy 1,1,1 32,1,1 0 0x5000 extra=(nil) args 0x700000000200 0x700000000000 0x3f800000 8",
		"cuMemcpyDtoHAsync_v2 pinned 0x700000000200 32 0x5000",
		"cuStreamEndCapture 0x5000",
		"cuGraphInstantiateWithFlags 0x6000 0", "cuGraphUpload 0x7000 0x5000", "cuGraphDestroy 0x6000",
		"cuGraphLaunch 0x7000 0x5000", "cuStreamQuery 0x5000",
		"cuGraphLaunch 0x7000 0x5000", "cuStreamQuery 0x5000",
		"cuStreamQuery 0x5000", "cuGraphExecDestroy 0x7000")
	if string(out[:4]) != "\x00\x00\x00\x40" {
		t.Errorf("after two launches of y += x with x = 1, y is % x, want 2.0", out[:4])
	}
	if err := g.Launch(); err == nil {
		t.Error("a closed graph was launched")
	}
}

// Work beside other work is in the second stream and waits for what the first one had before; a graph ends with both,
// also one that becomes none.
func TestNativeWorkBeside(t *testing.T) {
	l, _, c := openFake(t, NativeOptions{})
	f := kernelOf(t, c, axpy, "empty")
	one := [3]uint32{1, 1, 1}
	launch := func() error { return c.Launch(f, one, one, 0) }
	const first, second = "cuLaunchKernel empty 1,1,1 1,1,1 0 0x5000 extra=(nil)", "cuLaunchKernel empty 1,1,1 1,1,1 0 0x5100 extra=(nil)"
	fork := []string{"cuEventRecord 0xe000 0x5000", "cuStreamWaitEvent 0x5100 0xe000 0"}
	join := []string{"cuEventRecord 0xe000 0x5100", "cuStreamWaitEvent 0x5000 0xe000 0"}
	for name, x := range map[string]struct {
		do   func() error
		want []string
	}{
		"two streams": {func() error { return errors.Join(c.Beside(launch), launch(), c.Synchronize(), c.Synchronize()) },
			slices.Concat(fork, []string{second, first, "cuStreamQuery 0x5000", "cuStreamQuery 0x5100", "cuStreamQuery 0x5000"})},
		"a graph": {func() error {
			_, err := c.Capture(func() error { return errors.Join(launch(), c.Beside(launch), launch()) })
			return err
		}, slices.Concat([]string{"cuStreamBeginCapture_v2 0x5000 1", first}, fork, []string{second, first}, join,
			[]string{"cuStreamEndCapture 0x5000", "cuGraphInstantiateWithFlags 0x6000 0", "cuGraphUpload 0x7000 0x5000", "cuGraphDestroy 0x6000"})},
		"no graph": {func() error {
			failure := errors.New("failure")
			if _, err := c.Capture(func() error { return errors.Join(c.Beside(launch), failure) }); !errors.Is(err, failure) {
				return fmt.Errorf("not the failure: %w", err)
			}
			return nil
		}, slices.Concat([]string{"cuStreamBeginCapture_v2 0x5000 1"}, fork, []string{second}, join,
			[]string{"cuStreamEndCapture 0x5000", "cuGraphDestroy 0x6000"})},
	} {
		must(t, c.Synchronize())
		from := len(l.lines(t))
		must(t, x.do())
		t.Log(name)
		calls := l.calls(t, from)
		for i := range calls {
			calls[i] = strings.NewReplacer("0x6001", "0x6000", "0x7001", "0x7000").Replace(strings.TrimSpace(calls[i]))
		}
		expect(t, calls, x.want...)
	}
	if err := c.Beside(func() error { return c.Beside(launch) }); err == nil || !strings.Contains(err.Error(), "beside such work itself") {
		t.Errorf("%v", err)
	}
}

// A capture begins, continues and ends on one thread, and every call that needs the context first
// makes it current on the thread that it uses.
func TestNativeMindsThreads(t *testing.T) {
	l, _, c := openFake(t, NativeOptions{})
	f := kernelOf(t, c, axpy, "empty")
	one := [3]uint32{1, 1, 1}
	done := make(chan error)
	for range 20 { // goroutines move between threads; the context goes with them
		go func() {
			_, err := c.Capture(func() error {
				for range 5 {
					other := make(chan struct{})
					go close(other) // so that the scheduler may move us
					<-other
					if err := c.Launch(f, one, one, 0); err != nil {
						return err
					}
				}
				return nil
			})
			done <- errors.Join(err, c.Synchronize())
		}()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	current := map[string]bool{}
	capture, captures := "", 0
	for _, line := range l.lines(t) {
		tid, call, _ := strings.Cut(line, " ")
		name, _, _ := strings.Cut(call, " ")
		switch name {
		case "cuCtxSetCurrent":
			current[tid] = strings.Contains(call, "0xc000")
			continue
		case "cuStreamBeginCapture_v2":
			capture = tid
			captures++
		case "cuStreamEndCapture":
			if tid != capture {
				t.Errorf("a capture that thread %s began was ended by %s", capture, tid)
			}
			capture = ""
		case "cuInit", "cuDriverGetVersion", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxSetFlags_v2":
			continue
		}
		if strings.HasPrefix(name, "cuDevice") || name == "" {
			continue
		}
		if !current[tid] {
			t.Errorf("thread %s calls %s without the context", tid, call)
		}
		if capture != "" && tid != capture {
			t.Errorf("thread %s calls %s in the capture of %s", tid, call, capture)
		}
	}
	if captures != 20 {
		t.Errorf("%d captures", captures)
	}
}

func TestNativeRefusesInACapture(t *testing.T) {
	l, _, c := openFake(t, NativeOptions{})
	x, err := c.Alloc(64)
	must(t, err)
	for name, wrong := range map[string]func() error{
		"memory":      func() error { _, err := c.Alloc(1); return err },
		"free":        func() error { return c.Free(x) },
		"synchronize": func() error { return c.Synchronize() },
		"load":        func() error { _, err := c.Load(axpy); return err },
		"pageable":    func() error { return c.Upload(x, make([]byte, 64)) },
		"nested":      func() error { _, err := c.Capture(func() error { return nil }); return err },
	} {
		// This also holds if record ignores the error.
		if _, err := c.Capture(func() error { wrong(); return nil }); err == nil || !strings.Contains(err.Error(), "capture a graph") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.Synchronize(); err != nil {
		t.Errorf("the context is of no use after captures that failed: %v", err)
	}
	began, ended := 0, 0
	for _, call := range l.calls(t, 0) {
		if strings.HasPrefix(call, "cuStreamBeginCapture") {
			began++
		}
		if strings.HasPrefix(call, "cuStreamEndCapture") {
			ended++
		}
		if strings.HasPrefix(call, "cuGraphInstantiate") {
			t.Error("a capture that failed became a graph")
		}
	}
	if began != 6 || ended != 6 {
		t.Errorf("%d captures began and %d ended, want 6 of each", began, ended)
	}
}

func TestNativeCompiles(t *testing.T) {
	var said []string
	var l *fakeLibrary
	var c Context
	l, _, c = openFake(t, NativeOptions{Say: func(line string) {
		if said = append(said, line); len(said) == 1 {
			l.set(t, "compiling", 0)
		}
	}})
	if _, err := c.Load(axpy); err != nil || len(said) != 0 {
		t.Errorf("quick: said %q, %v", said, err)
	}
	l.set(t, "compiling", 1)
	if _, err := c.Load(axpy); err != nil {
		t.Fatal(err)
	}
	if len(said) != 2 || said[0] != "Fake GPU 0: compiling kernels, once for each driver" || !strings.HasPrefix(said[1], "Fake GPU 0: kernels compiled in 0.") {
		t.Errorf("slow: said %q", said)
	}
	_, err := c.Load(axpy + "// nonsense\n")
	if err == nil || err.Error() != "load kernels: the driver's compiler refuses them: ptxas application ptx input, line 7; fatal   : Parsing error; ptxas fatal   : Ptx assembly aborted" {
		t.Errorf("%v", err)
	}
	if _, err := c.Load(strings.Replace(axpy, "7.0", "8.5", 1)); err == nil || !strings.Contains(err.Error(), "they need driver 555.42.02 (CUDA 12.5), and this one has CUDA 12.4") {
		t.Errorf("%v", err)
	}
	if _, err := c.Load(strings.Replace(axpy, "sm_80", "sm_90a", 1)); err == nil || !strings.Contains(err.Error(), "they are for sm_90, and Fake GPU 0 has compute capability 8.0") {
		t.Errorf("%v", err)
	}
	m, err := c.Load(axpy)
	must(t, err)
	if _, err := m.Function("missing"); err == nil || !strings.Contains(err.Error(), "find kernel missing: words for 500") {
		t.Errorf("%v", err)
	}
	if _, err := m.Function("nowhere"); err == nil || err.Error() != "find kernel nowhere: the PTX has no such .entry" {
		t.Errorf("%v", err)
	}
}

// A wait polls as long as that is likely to pay, then it sleeps.
func TestNativeWaits(t *testing.T) {
	for name, c := range map[string]struct {
		pollFor time.Duration
		busy    int // how many polls are answered with "not ready"
		want    []string
	}{
		"done already":    {0, 0, []string{"cuStreamQuery 0x5000"}},
		"done soon":       {time.Hour, 3, []string{"cuStreamQuery 0x5000", "cuStreamQuery 0x5000", "cuStreamQuery 0x5000", "cuStreamQuery 0x5000"}},
		"done much later": {0, 3, []string{"cuStreamQuery 0x5000", "cuStreamSynchronize 0x5000"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, d, c0 := openFake(t, NativeOptions{})
			d.(*native).pollFor = c.pollFor
			l.set(t, "busy", c.busy)
			from := len(l.lines(t))
			must(t, c0.Synchronize())
			expect(t, l.calls(t, from), c.want...)
			l.fail(t, "cuStreamQuery", 1, 700)
			var lost *LostDevice
			if err := c0.Synchronize(); !errors.As(err, &lost) {
				t.Errorf("a wait that fails: %v", err)
			}
		})
	}
}

// A steady run, that is, a launch and a wait, allocates nothing.
func TestNativeRunAllocatesNothing(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector makes sync.Pool forget on purpose, and purego uses one")
	}
	_, _, c := openFake(t, NativeOptions{})
	f := kernelOf(t, c, axpy, "axpy")
	p, err := c.Alloc(64)
	must(t, err)
	host, err := c.AllocHost(64)
	must(t, err)
	g, err := c.Capture(func() error { return c.Upload(p, host) })
	must(t, err)
	args := []Arg{PtrArg(p), PtrArg(p), F32(1), I32(1)}
	failed := error(nil)
	note := func(err error) {
		if err != nil {
			failed = err
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		note(g.Launch())
		note(c.Upload(p, host))
		note(c.Download(host, p))
		note(c.Launch(f, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, args...))
		note(c.Synchronize())
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if failed != nil {
		t.Error(failed)
	}
}

// Parking gives all memory back at once, and the device can be opened again.
func TestNativeParks(t *testing.T) {
	l, d, c := openFake(t, NativeOptions{})
	l.set(t, "memory", 1<<30)
	for range 100 {
		if _, err := c.Alloc(1 << 20); err != nil {
			t.Fatal(err)
		}
	}
	must(t, c.Close())
	if all := l.calls(t, 0); all[len(all)-1] != "cuDevicePrimaryCtxRelease_v2 0 live=0" {
		t.Errorf("the last call was %s", all[len(all)-1])
	}
	c, err := d.Open(0)
	must(t, err)
	if free := c.Info().Free; free != 1<<30 {
		t.Errorf("%d bytes are free again", free)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
