//go:build !nogpu && (amd64 || arm64)

package driver

import (
	"fmt"
	"runtime"
	"slices"
	"time"
	"unsafe"
)

// maxArgs is the largest number of arguments that one of our kernels may have.
const maxArgs = 64

// nativeContext is an open device.
type nativeContext struct {
	driver  *native
	info    Info
	device  int32
	context uintptr
	stream  uintptr // that gets the work
	second  second

	Calls

	pinned  []pin
	graphs  []*nativeGraph
	modules []*nativeModule
	memory  map[Ptr]struct{}
	// held is host memory that work in the stream still uses.
	held [][]byte

	// Memory that the driver reads and writes during a call. It is on the heap, so steady calls
	// allocate nothing.
	cells   cells
	current [1]uintptr
	args    [11]uintptr // the number of arguments of cuLaunchKernel
	values  [maxArgs]uint64
	params  [maxArgs]uintptr // addresses of values
}

// pin is a piece of pinned memory.
type pin struct {
	start, bytes uintptr
}

// check turns a result into an error and records the loss of the device.
func (c *nativeContext) check(doing string, r result) error {
	switch {
	case r == success:
		return nil
	case r.lost():
		c.Lost = &LostDevice{Device: c.info.Name + " " + c.info.UUID, Doing: doing, Reason: c.driver.words(r)}
		return c.Lost
	case r == outOfMemory:
		return c.outOfMemory(0)
	}
	return c.driver.fail(doing, r)
}

func (c *nativeContext) Info() Info { return c.info }

func (c *nativeContext) Memory() (free, total uint64, err error) {
	const doing = "ask for GPU memory"
	if err := c.Enter(doing, false); err != nil {
		return 0, 0, err
	}
	defer c.Leave()
	err = c.check(doing, c.do(cuMemGetInfo, at(&c.cells.size[0]), at(&c.cells.size[1])))
	return c.cells.size[0], c.cells.size[1], err
}

func (c *nativeContext) Alloc(bytes int) (Ptr, error) {
	const doing = "allocate GPU memory"
	if err := c.Enter(doing, false); err != nil {
		return 0, err
	}
	defer c.Leave()
	if bytes < 0 {
		return 0, fmt.Errorf("%s: %d bytes", doing, bytes)
	}
	size := uintptr(max(1, bytes)) // the driver refuses 0
	r := c.do(cuMemAlloc, at(&c.cells.word), size)
	if r == outOfMemory {
		return 0, c.outOfMemory(uint64(bytes))
	}
	if r != success {
		return 0, c.check(doing, r)
	}
	p := Ptr(c.cells.word)
	c.memory[p] = struct{}{}
	return p, c.check(doing, c.do(cuMemsetD8Async, uintptr(p), 0, size, c.stream))
}

func (c *nativeContext) outOfMemory(asked uint64) error {
	e := &OutOfMemory{What: "GPU", Asked: asked}
	if c.do(cuMemGetInfo, at(&c.cells.size[0]), at(&c.cells.size[1])) == success {
		e.Free, e.Total = c.cells.size[0], c.cells.size[1]
	}
	return e
}

func (c *nativeContext) Free(p Ptr) error {
	const doing = "free GPU memory"
	if err := c.Enter(doing, false); err != nil {
		return err
	}
	defer c.Leave()
	// cuMemFree itself waits for the work where it must; the documents do not say that it always
	// does.
	if err := c.drain(); err != nil {
		return err
	}
	if err := c.check(doing, c.do(cuMemFree, uintptr(p))); err != nil {
		return err
	}
	delete(c.memory, p)
	return nil
}

func (c *nativeContext) AllocHost(bytes int) ([]byte, error) {
	const doing = "allocate pinned memory"
	if err := c.Enter(doing, false); err != nil {
		return nil, err
	}
	defer c.Leave()
	if bytes <= 0 {
		return nil, fmt.Errorf("%s: %d bytes", doing, bytes)
	}
	r := c.do(cuMemHostAlloc, at(&c.cells.host), uintptr(bytes), 0)
	if r == outOfMemory {
		return nil, &OutOfMemory{What: "pinned host", Asked: uint64(bytes)}
	}
	if err := c.check(doing, r); err != nil {
		return nil, err
	}
	data := unsafe.Slice((*byte)(c.cells.host), bytes)
	c.cells.host = nil
	clear(data)
	c.pinned = append(c.pinned, pin{hostPointer(data), uintptr(bytes)})
	return data, nil
}

func hostPointer(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }

func (c *nativeContext) FreeHost(data []byte) error {
	const doing = "free pinned memory"
	if err := c.Enter(doing, false); err != nil {
		return err
	}
	defer c.Leave()
	i := slices.Index(c.pinned, pin{hostPointer(data), uintptr(len(data))})
	if i < 0 {
		return fmt.Errorf("%s: these %d bytes were not allocated so, or are freed already", doing, len(data))
	}
	if err := c.drain(); err != nil {
		return err
	}
	c.pinned = slices.Delete(c.pinned, i, i+1)
	return c.check(doing, c.do(cuMemFreeHost, hostPointer(data)))
}

// isPinned reports whether all of a slice is pinned memory.
func (c *nativeContext) isPinned(data []byte) bool {
	p := hostPointer(data)
	for _, a := range c.pinned {
		if p >= a.start && p+uintptr(len(data)) <= a.start+a.bytes {
			return true
		}
	}
	return false
}

// hold keeps host memory that is not pinned alive until the stream no longer needs it, and refuses
// such memory while a graph is captured.
func (c *nativeContext) hold(doing string, data []byte) error {
	if c.isPinned(data) {
		return nil
	}
	if c.Capturing {
		return c.Pageable(doing)
	}
	c.held = append(c.held, data)
	return nil
}

func (c *nativeContext) Upload(dst Ptr, src []byte) error {
	const doing = "upload"
	if err := c.Enter(doing, true); err != nil {
		return err
	}
	defer c.Leave()
	if len(src) == 0 {
		return nil
	}
	if err := c.hold(doing, src); err != nil {
		return err
	}
	err := c.check(doing, c.do(cuMemcpyHtoDAsync, uintptr(dst), hostPointer(src), uintptr(len(src)), c.stream))
	if err != nil || c.isPinned(src) {
		return err
	}
	// The driver copies pageable memory aside before it returns, except if the GPU can read that
	// memory itself (GH200): then it may do so later.
	return c.drain()
}

func (c *nativeContext) Download(dst []byte, src Ptr) error {
	const doing = "download"
	if err := c.Enter(doing, true); err != nil {
		return err
	}
	defer c.Leave()
	if len(dst) == 0 {
		return nil
	}
	if err := c.hold(doing, dst); err != nil {
		return err
	}
	return c.check(doing, c.do(cuMemcpyDtoHAsync, hostPointer(dst), uintptr(src), uintptr(len(dst)), c.stream))
}

func (c *nativeContext) Copy(dst, src Ptr, bytes int) error {
	const doing = "copy"
	if err := c.Enter(doing, true); err != nil {
		return err
	}
	defer c.Leave()
	switch {
	case bytes == 0:
		return nil
	case bytes < 0 || dst < src+Ptr(bytes) && src < dst+Ptr(bytes):
		return fmt.Errorf("%s: %d bytes from %#x to %#x overlap", doing, bytes, src, dst)
	}
	return c.check(doing, c.do(cuMemcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), c.stream))
}

func (c *nativeContext) Synchronize() error {
	if err := c.Enter("synchronize", false); err != nil {
		return err
	}
	defer c.Leave()
	return c.drain()
}

// pollFor is how long a wait polls before it sleeps. A wake-up takes an estimated 20 to 60 µs, half
// the time of an update of small networks; work that takes longer than pollFor is hardly affected.
const pollFor = 300 * time.Microsecond

// drain waits for the work in the streams.
func (c *nativeContext) drain() error {
	r := c.wait(c.stream)
	if s := &c.second; r == success && s.busy {
		r, s.busy = c.wait(s.stream), false
	}
	clear(c.held)
	c.held = c.held[:0]
	runtime.KeepAlive(c)
	return c.check("run the stream", r)
}

// wait waits for the work in a stream.
func (c *nativeContext) wait(stream uintptr) result {
	r := c.do(cuStreamQuery, stream)
	for start := time.Now(); r == unfinished && time.Since(start) < c.driver.pollFor; {
		r = c.do(cuStreamQuery, stream)
	}
	if r == unfinished {
		r = c.do(cuStreamSynchronize, stream)
	}
	return r
}

// Close releases the primary context, and everything in it is released too. A lost context is
// reset, so that the device can be opened again.
func (c *nativeContext) Close() error {
	if err := c.EnterAnyhow("close the GPU"); err != nil {
		return err
	}
	defer c.Leave()
	if c.Closed {
		return nil
	}
	var err error
	if c.Lost == nil {
		err = c.drain()
	}
	c.Closed = true
	c.giveBack()
	if c.Lost != nil {
		c.driver.call(cuDevicePrimaryCtxReset, uintptr(c.device))
	}
	r := c.driver.call(cuDevicePrimaryCtxRelease, uintptr(c.device))
	if err == nil && c.Lost == nil && r != success {
		err = c.driver.fail("close the GPU", r)
	}
	return err
}

// giveBack frees everything. Whatever cannot be freed is released with the context.
func (c *nativeContext) giveBack() {
	for _, g := range c.graphs {
		c.do(cuGraphExecDestroy, g.exec)
	}
	for _, m := range c.modules {
		c.do(cuModuleUnload, m.handle)
	}
	for _, p := range c.pinned {
		c.do(cuMemFreeHost, p.start)
	}
	for p := range c.memory { // the primary context may have other holders
		c.do(cuMemFree, uintptr(p))
	}
	c.do(cuEventDestroy, c.second.event)
	c.do(cuStreamDestroy, c.second.stream)
	c.do(cuStreamDestroy, c.stream)
	c.driver.call(cuCtxSetCurrent, 0)
	c.graphs, c.modules, c.pinned, c.memory, c.held = nil, nil, nil, nil, nil
}
