package emulator

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/testing/ptx"
)

const alignment = 256 // alignment of device memory, bytes

// allocation is a piece of memory and the place in the program that asked for it.
type allocation struct {
	bytes   int
	counted uint64 // bytes that it takes of the device's memory
	by      string
}

// memory is a context's memory: of its device, and pinned memory of the host.
type memory struct {
	device *ptx.Memory
	live   map[driver.Ptr]allocation
	order  []driver.Ptr // keys of live, in order of allocation
	pinned map[driver.Ptr]allocation
	pins   []driver.Ptr
}

func newMemory(check ptx.Check) *memory {
	device := ptx.NewMemory()
	device.Check = check
	return &memory{device: device, live: map[driver.Ptr]allocation{}, pinned: map[driver.Ptr]allocation{}}
}

// counted is the memory that an allocation takes of a device.
func counted(bytes int) uint64 {
	return max(1, (uint64(bytes)+alignment-1)/alignment) * alignment
}

// alloc makes zeroed device memory. An allocation of 0 bytes has an address, too.
func (m *memory) alloc(bytes int) (driver.Ptr, error) {
	at, err := m.device.Alloc(max(1, bytes))
	if err != nil {
		return 0, err
	}
	m.live[driver.Ptr(at)] = allocation{bytes: bytes, counted: counted(bytes), by: caller()}
	m.order = append(m.order, driver.Ptr(at))
	return driver.Ptr(at), nil
}

// release frees device memory and returns how much it was.
func (m *memory) release(p driver.Ptr) (uint64, error) {
	if err := m.device.Free(uint64(p)); err != nil {
		return 0, err
	}
	a := m.live[p]
	delete(m.live, p)
	m.order = slices.DeleteFunc(m.order, func(o driver.Ptr) bool { return o == p })
	return a.counted, nil
}

// check returns an error for an access that is not within one allocation.
func (m *memory) check(p driver.Ptr, bytes int) error {
	_, err := m.device.Bytes(uint64(p), bytes)
	return err
}

// pin makes pinned host memory. It is ordinary memory here; only the list distinguishes it.
func (m *memory) pin(bytes int) []byte {
	data := make([]byte, bytes)
	p := hostAddress(data)
	m.pinned[p] = allocation{bytes: bytes, by: caller()}
	m.pins = append(m.pins, p)
	return data
}

func (m *memory) unpin(data []byte) error {
	p := hostAddress(data)
	if a, known := m.pinned[p]; !known || a.bytes != len(data) {
		return fmt.Errorf("free pinned memory: these %d bytes were not allocated so, or are freed already", len(data))
	}
	delete(m.pinned, p)
	m.pins = slices.DeleteFunc(m.pins, func(o driver.Ptr) bool { return o == p })
	return nil
}

// isPinned says whether all of a slice is pinned memory.
func (m *memory) isPinned(data []byte) bool {
	p := hostAddress(data)
	return slices.ContainsFunc(m.pins, func(start driver.Ptr) bool {
		return p >= start && p+driver.Ptr(len(data)) <= start+driver.Ptr(m.pinned[start].bytes)
	})
}

func hostAddress(data []byte) driver.Ptr {
	return driver.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(data))))
}

// leaks says what was not freed and where the first of it was allocated; "" if all was freed.
func (m *memory) leaks() string {
	var text []string
	list := func(what string, order []driver.Ptr, all map[driver.Ptr]allocation) {
		if len(order) == 0 {
			return
		}
		bytes := uint64(0)
		for _, a := range all {
			bytes += uint64(a.bytes)
		}
		text = append(text, fmt.Sprintf("%d of %s (%s), the first by %s", len(order), what, driver.Bytes(bytes), all[order[0]].by))
	}
	list("device memory", m.order, m.live)
	list("pinned memory", m.pins, m.pinned)
	return strings.Join(text, ", ")
}

// caller is the place outside this package, or within its tests, from which it was called.
func caller() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "core/testing/emulator.") || strings.HasSuffix(f.File, "_test.go") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "unknown code"
		}
	}
}
