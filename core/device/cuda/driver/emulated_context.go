package driver

import (
	"fmt"
	"strings"
)

// emulatedContext is one open device of an emulated machine.
type emulatedContext struct {
	calls

	machine *emulated
	info    Info
	memory  *memory
	stream  emulatedStream
	graphs  []*emulatedGraph // not closed
	record  *emulatedGraph   // the last that was begun to be captured
	synced  int              // calls of Synchronize
}

func (c *emulatedContext) Info() Info { return c.info }

func (c *emulatedContext) Alloc(bytes int) (Ptr, error) {
	if err := c.enter("allocate GPU memory", false); err != nil {
		return 0, err
	}
	defer c.leave()
	if bytes < 0 {
		return 0, fmt.Errorf("allocate GPU memory: %d bytes", bytes)
	}
	if err := c.injected("allocate GPU memory", "cuMemAlloc"); err != nil {
		return 0, err
	}
	if err := c.machine.take(c.info.Index, counted(bytes)); err != nil {
		return 0, err
	}
	return c.memory.alloc(bytes)
}

func (c *emulatedContext) Free(p Ptr) error {
	if err := c.enter("free GPU memory", false); err != nil {
		return err
	}
	defer c.leave()
	if err := c.drain(); err != nil { // as cuMemFree does
		return err
	}
	if err := c.injected("free GPU memory", "cuMemFree"); err != nil {
		return err
	}
	size, err := c.memory.release(p)
	if err != nil {
		return fmt.Errorf("free GPU memory: %w", err)
	}
	c.machine.give(c.info.Index, size)
	return nil
}

func (c *emulatedContext) AllocHost(bytes int) ([]byte, error) {
	if err := c.enter("allocate pinned memory", false); err != nil {
		return nil, err
	}
	defer c.leave()
	if bytes <= 0 {
		return nil, fmt.Errorf("allocate pinned memory: %d bytes", bytes)
	}
	if err := c.injected("allocate pinned memory", "cuMemHostAlloc"); err != nil {
		return nil, err
	}
	return c.memory.pin(bytes), nil
}

func (c *emulatedContext) FreeHost(data []byte) error {
	if err := c.enter("free pinned memory", false); err != nil {
		return err
	}
	defer c.leave()
	if err := c.drain(); err != nil { // as cuMemFreeHost does
		return err
	}
	if err := c.injected("free pinned memory", "cuMemFreeHost"); err != nil {
		return err
	}
	return c.memory.unpin(data)
}

func (c *emulatedContext) Memory() (free, total uint64, err error) {
	if err := c.enter("ask for GPU memory", false); err != nil {
		return 0, 0, err
	}
	defer c.leave()
	if err := c.injected("ask for GPU memory", "cuMemGetInfo"); err != nil {
		return 0, 0, err
	}
	return c.machine.free(c.info.Index), c.info.Memory, nil
}

func (c *emulatedContext) Synchronize() error {
	if err := c.enter("synchronize", false); err != nil {
		return err
	}
	defer c.leave()
	if c.synced++; c.synced == c.machine.loseAt {
		return c.lose("synchronize", "it was asked to be lost here")
	}
	return c.drain()
}

// injected is the error of a call that was told to fail.
func (c *emulatedContext) injected(doing, call string) error {
	if c.machine.fail == nil {
		return nil
	}
	switch r := result(c.machine.fail(call)); {
	case r == success:
		return nil
	case r == outOfMemory && call == "cuMemHostAlloc":
		return &OutOfMemory{What: "pinned host"}
	case r == outOfMemory:
		return &OutOfMemory{What: "GPU", Free: c.machine.free(c.info.Index), Total: c.info.Memory}
	case r.lost():
		return c.lose(doing, fmt.Sprintf("%s returned %d", call, r))
	default:
		return fmt.Errorf("%s: %s returned %d", doing, call, r)
	}
}

// drain does the work in the stream.
func (c *emulatedContext) drain() error {
	if err := c.injected("run the stream", "cuStreamSynchronize"); err != nil {
		return err
	}
	if err := c.stream.run(c.memory); err != nil {
		return c.lose("run the stream", err.Error())
	}
	return nil
}

// lose makes the device unusable from now on.
func (c *emulatedContext) lose(doing, reason string) error {
	c.stream.work = nil
	c.lost = &LostDevice{Device: c.info.Name + " " + c.info.UUID, Doing: doing, Reason: reason}
	return c.lost
}

// Close also works on a lost device, and then minds no leaks: whoever lost it has
// other worries.
func (c *emulatedContext) Close() error {
	if err := c.enterAnyhow("close the GPU"); err != nil {
		return err
	}
	defer c.leave()
	if c.closed {
		return nil
	}
	var err error
	if c.lost == nil {
		err = c.drain()
		leaks := c.memory.leaks()
		if n := len(c.graphs); n > 0 {
			leaks = strings.TrimPrefix(fmt.Sprintf("%s, %d graphs, the first by %s", leaks, n, c.graphs[0].by), ", ")
		}
		if err == nil && leaks != "" {
			err = fmt.Errorf("close the GPU: not given back: %s", leaks)
		}
	}
	for _, a := range c.memory.live {
		c.machine.give(c.info.Index, a.counted)
	}
	c.closed, c.graphs, c.memory = true, nil, newMemory(c.memory.device.Check)
	return err
}
