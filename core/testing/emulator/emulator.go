// Package emulator is a CUDA driver for tests: its devices interpret the PTX of kernels on
// the CPU (package ptx), and it is strict about the rules that a real driver takes on trust.
package emulator

import (
	"fmt"
	"sync"

	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/testing/ptx"
)

// Options say what machine is emulated. The zero value has one GPU of
// compute capability 8.0.
type Options struct {
	// Devices are all devices of the machine in PCI order; Index and, where it is 0,
	// Free are filled in. nil: one of compute capability 8.0 with 4 GiB.
	Devices []driver.Info
	// Visible is what CUDA_VISIBLE_DEVICES says; nil: the variable is not set. The
	// one of the process does not count.
	Visible *string
	// CUDA is what Version says; 0: 12040.
	CUDA int
	// LoseAt is the Synchronize, counted from 1 for each context, at which the device
	// is lost; 0: never.
	LoseAt int
	// Fail, if there is one, is asked before each call of the driver that a context would
	// make on a real one, by its name (cuMemAlloc), and says what CUDA error it returns;
	// 0: none.
	Fail func(call string) int
	// Unchecked leaves out the search for races between threads and between blocks, which
	// takes time.
	Unchecked bool
}

// New is a driver whose devices interpret PTX on the CPU, strictly: the
// work of a stream is done at Synchronize and not before, so that code that
// relies on less fails. It is an error
//
//   - to change pinned memory between an upload, or the launch of a graph with one,
//     and Synchronize;
//   - to use device or pinned memory that was freed, also by a graph;
//   - to close a context that still has memory or graphs;
//   - to use a context from two goroutines at once, or otherwise than in the
//     documented ways while a graph is captured.
//
// What a download will fill holds NaNs until Synchronize. Addresses are never used
// again, and no two allocations touch. After a failed kernel the device is lost,
// as on a real one.
func New(o Options) driver.Driver {
	all := o.Devices
	if all == nil {
		all = []driver.Info{{
			Name: "emulated GPU", UUID: "GPU-00000000-0000-0000-0000-000000000000",
			Capability: [2]int{8, 0}, Memory: 4 << 30, Processors: 4, SharedPerBlock: 163 << 10,
		}}
	}
	all = append([]driver.Info(nil), all...)
	for i := range all {
		all[i].Index = i
		if all[i].Free == 0 {
			all[i].Free = all[i].Memory
		}
	}
	if o.Visible != nil {
		all = driver.Visible(all, *o.Visible)
	}
	e := &machine{version: o.CUDA, loseAt: o.LoseAt, fail: o.Fail, used: make([]uint64, len(all)), devices: all}
	e.check = ptx.Check{Races: !o.Unchecked, Unwritten: true, Blocks: !o.Unchecked}
	if e.version == 0 {
		e.version = 12040
	}
	return e
}

// machine is a machine. Several contexts may be open at once.
type machine struct {
	version int
	loseAt  int
	fail    func(call string) int
	check   ptx.Check
	devices []driver.Info

	mu   sync.Mutex
	used []uint64 // bytes of each device
}

func (e *machine) Version() (int, error) { return e.version, nil }

func (e *machine) Devices() ([]driver.Info, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := append([]driver.Info(nil), e.devices...)
	for i := range all {
		all[i].Free -= e.used[i]
	}
	return all, nil
}

func (e *machine) Open(i int) (driver.Context, error) {
	if i < 0 || i >= len(e.devices) {
		return nil, fmt.Errorf("open GPU %d: there are %d", i, len(e.devices))
	}
	all, err := e.Devices()
	if err != nil {
		return nil, err
	}
	c := &gpuContext{machine: e, info: all[i], memory: newMemory(e.check)}
	if err := c.injected("open the GPU", "cuDevicePrimaryCtxRetain"); err != nil {
		return nil, err
	}
	return c, nil
}

// take and give count the memory of a device.
func (e *machine) take(i int, bytes uint64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := &e.devices[i]
	if free := d.Free - e.used[i]; bytes > free {
		return &driver.OutOfMemory{What: "GPU", Asked: bytes, Free: free, Total: d.Memory}
	}
	e.used[i] += bytes
	return nil
}

func (e *machine) give(i int, bytes uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.used[i] -= bytes
}

// free is the memory of a device that no context has.
func (e *machine) free(i int) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.devices[i].Free - e.used[i]
}
