// Package emulator is a CUDA driver for tests. Its devices interpret the PTX of kernels on the
// CPU (package ptx), and it enforces the rules that a real driver leaves unchecked.
package emulator

import (
	"fmt"
	"sync"

	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/testing/ptx"
)

// Options describes the machine that is emulated. The zero value has one GPU of
// compute capability 8.0.
type Options struct {
	// Devices lists all devices of the machine in PCI order. Index is filled in, and Free if
	// it is 0. nil means one device of compute capability 8.0 with 4 GiB.
	Devices []driver.Info
	// CUDA is the result of Version; 0 means 12040.
	CUDA int
	// LoseAt is the call of Synchronize, counted from 1 for each context, at which the device
	// is lost; 0 means never.
	LoseAt int
	// Fail, if not nil, is called before each driver call that a context would make on a real
	// machine, with the call's name (cuMemAlloc). It returns the CUDA error of the call, or 0
	// for none.
	Fail func(call string) int
	// Unchecked leaves out the search for races between threads and between blocks, which
	// takes time.
	Unchecked bool
}

// New returns a driver whose devices interpret PTX on the CPU, strictly: the
// work of a stream is done at Synchronize and not before, so that code that
// relies on earlier completion fails. It is an error
//
//   - to change pinned memory between an upload, or the launch of a graph with one,
//     and Synchronize;
//   - to use device or pinned memory that was freed, also by a graph;
//   - to close a context that still has memory or graphs;
//   - to use a context from two goroutines at once, or other than in the documented
//     ways while a graph is captured.
//
// The work of the second stream, and that of a branch of a graph, is done now as early and now as late as the
// rules allow.
//
// The target of a download holds NaNs until Synchronize. Addresses are never reused,
// and no two allocations touch. After a failed kernel the device is lost, as on a
// real one.
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
	e := &machine{version: o.CUDA, loseAt: o.LoseAt, fail: o.Fail, used: make([]uint64, len(all)), devices: all}
	e.check = ptx.Check{Races: !o.Unchecked, Unwritten: true, Blocks: !o.Unchecked}
	if e.version == 0 {
		e.version = 12040
	}
	return e
}

// machine is an emulated machine. Several contexts may be open at once.
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

// free is the memory of a device that no context holds.
func (e *machine) free(i int) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.devices[i].Free - e.used[i]
}
