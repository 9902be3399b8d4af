package emulator

import (
	"fmt"
	"strings"

	"pgrlab/core/device/cuda/driver"
)

// gpuContext is one open device of an emulated machine.
type gpuContext struct {
	driver.Calls

	machine *machine
	info    driver.Info
	memory  *memory
	stream  stream
	graphs  []*graph // graphs that are not closed
	beside  bool     // whether work is for the second stream
	record  *graph   // the last graph whose capture was begun
	synced  int      // calls of Synchronize
}

func (c *gpuContext) Info() driver.Info { return c.info }

func (c *gpuContext) Alloc(bytes int) (driver.Ptr, error) {
	if err := c.Enter("allocate GPU memory", false); err != nil {
		return 0, err
	}
	defer c.Leave()
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

func (c *gpuContext) Free(p driver.Ptr) error {
	if err := c.Enter("free GPU memory", false); err != nil {
		return err
	}
	defer c.Leave()
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

func (c *gpuContext) AllocHost(bytes int) ([]byte, error) {
	if err := c.Enter("allocate pinned memory", false); err != nil {
		return nil, err
	}
	defer c.Leave()
	if bytes <= 0 {
		return nil, fmt.Errorf("allocate pinned memory: %d bytes", bytes)
	}
	if err := c.injected("allocate pinned memory", "cuMemHostAlloc"); err != nil {
		return nil, err
	}
	return c.memory.pin(bytes), nil
}

func (c *gpuContext) FreeHost(data []byte) error {
	if err := c.Enter("free pinned memory", false); err != nil {
		return err
	}
	defer c.Leave()
	if err := c.drain(); err != nil { // as cuMemFreeHost does
		return err
	}
	if err := c.injected("free pinned memory", "cuMemFreeHost"); err != nil {
		return err
	}
	return c.memory.unpin(data)
}

func (c *gpuContext) Memory() (free, total uint64, err error) {
	if err := c.Enter("ask for GPU memory", false); err != nil {
		return 0, 0, err
	}
	defer c.Leave()
	if err := c.injected("ask for GPU memory", "cuMemGetInfo"); err != nil {
		return 0, 0, err
	}
	return c.machine.free(c.info.Index), c.info.Memory, nil
}

func (c *gpuContext) Synchronize() error {
	if err := c.Enter("synchronize", false); err != nil {
		return err
	}
	defer c.Leave()
	if c.synced++; c.synced == c.machine.loseAt {
		return c.lose("synchronize", "it was asked to be lost here")
	}
	return c.drain()
}

// The CUDA errors (CUresult) that become Go errors of their own.
const (
	success     = 0
	outOfMemory = 2
)

// injected returns the error of a call that Options.Fail makes fail.
func (c *gpuContext) injected(doing, call string) error {
	if c.machine.fail == nil {
		return nil
	}
	switch r := c.machine.fail(call); {
	case r == success:
		return nil
	case r == outOfMemory && call == "cuMemHostAlloc":
		return &driver.OutOfMemory{What: "pinned host"}
	case r == outOfMemory:
		return &driver.OutOfMemory{What: "GPU", Free: c.machine.free(c.info.Index), Total: c.info.Memory}
	case driver.LosesDevice(r):
		return c.lose(doing, fmt.Sprintf("%s returned %d", call, r))
	default:
		return fmt.Errorf("%s: %s returned %d", doing, call, r)
	}
}

// drain does the work in the stream.
func (c *gpuContext) drain() error {
	if err := c.injected("run the stream", "cuStreamSynchronize"); err != nil {
		return err
	}
	if err := c.stream.run(c.memory); err != nil {
		return c.lose("run the stream", err.Error())
	}
	return nil
}

// lose makes the device unusable from now on.
func (c *gpuContext) lose(doing, reason string) error {
	c.stream.work = nil
	c.Lost = &driver.LostDevice{Device: c.info.Name + " " + c.info.UUID, Doing: doing, Reason: reason}
	return c.Lost
}

// Close also works on a lost device; leaks are not an error then.
func (c *gpuContext) Close() error {
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
	c.Closed, c.graphs, c.memory = true, nil, newMemory(c.memory.device.Check)
	return err
}
