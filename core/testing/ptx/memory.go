package ptx

import (
	"encoding/binary"
	"fmt"
	"sort"
)

// guardBytes is the gap between any two allocations, so that an index past the end of one
// never lands in the next.
const guardBytes = 4096

// alignBytes is the alignment of an allocation, the same as that of cuMemAlloc.
const alignBytes = 256

// Check says which errors a launch looks for besides those that are always reported.
type Check struct {
	// Races: two threads of a block touch the same bytes of shared memory, one
	// of them writing, with no barrier between.
	Races bool
	// Unwritten: memory is read that was not written: shared and local memory of
	// the launch, and device memory from Reserve.
	Unwritten bool
	// Blocks: two blocks of a launch touch the same bytes of device memory, one of them
	// writing another value, so that the result depends on which block is first. Kernels
	// with atomics or ordered accesses to device memory are exempt. The blocks run on one
	// worker.
	Blocks bool
}

// Memory is the memory of one device. It is not for use by several goroutines
// at once.
type Memory struct {
	Check Check // checks of launches by Kernel.Run
	Steps int64 // instructions a warp may run in Kernel.Run; 0: DefaultSteps

	next     uint64
	launches uint32
	live     []*allocation // by address
	freed    []*allocation // the latest freed ones, without their data, for errors
}

type allocation struct {
	base    uint64
	size    uint64 // of a freed one
	data    []byte
	written []bool // nil: all bytes are written
	touched []touch
}

// NewMemory returns an empty memory.
func NewMemory() *Memory { return &Memory{next: memoryBase} }

// Alloc allocates bytes of zeroed memory, aligned to 256 bytes. The address of 0 bytes
// is 0.
func (m *Memory) Alloc(bytes int) (uint64, error) {
	if bytes < 0 {
		return 0, fmt.Errorf("allocate device memory: %d bytes", bytes)
	}
	if bytes == 0 {
		return 0, nil
	}
	a := &allocation{base: m.next, data: make([]byte, bytes)}
	m.live = append(m.live, a)
	m.next += (uint64(bytes) + guardBytes + alignBytes - 1) &^ (alignBytes - 1)
	return a.base, nil
}

// Reserve is Alloc for memory that counts as unwritten until a kernel or Write has written
// it: a launch with Check.Unwritten reports reads of it.
func (m *Memory) Reserve(bytes int) (uint64, error) {
	p, err := m.Alloc(bytes)
	if err == nil && bytes > 0 {
		m.live[len(m.live)-1].written = make([]bool, bytes)
	}
	return p, err
}

// Free frees memory from Alloc. Freeing 0 does nothing.
func (m *Memory) Free(p uint64) error {
	if p == 0 {
		return nil
	}
	i := sort.Search(len(m.live), func(i int) bool { return m.live[i].base >= p })
	if i == len(m.live) || m.live[i].base != p {
		return fmt.Errorf("free device memory: %#x is not the start of a live allocation", p)
	}
	a := m.live[i]
	m.live = append(m.live[:i], m.live[i+1:]...)
	if len(m.freed) >= 1024 {
		m.freed = m.freed[512:]
	}
	m.freed = append(m.freed, &allocation{base: a.base, size: uint64(len(a.data))})
	return nil
}

// Bytes returns the memory itself: n bytes at p, all in one live allocation.
func (m *Memory) Bytes(p uint64, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	a := search(m.live, p)
	if a == nil || n < 0 || uint64(n) > uint64(len(a.data))-(p-a.base) {
		return nil, fmt.Errorf("reach device memory: %d bytes at %s", n, m.describe(p, nil))
	}
	return a.data[p-a.base:][:n:n], nil
}

// Write copies host memory to the device.
func (m *Memory) Write(p uint64, src []byte) error {
	dst, err := m.Bytes(p, len(src))
	if err != nil {
		return err
	}
	copy(dst, src)
	m.mark(p, len(src))
	return nil
}

// Read copies device memory to the host.
func (m *Memory) Read(dst []byte, p uint64) error {
	src, err := m.Bytes(p, len(dst))
	copy(dst, src)
	return err
}

// mark records that n bytes at p are written.
func (m *Memory) mark(p uint64, n int) {
	if a := search(m.live, p); n > 0 && a != nil && a.written != nil {
		for i := range a.written[p-a.base:][:n] {
			a.written[p-a.base:][i] = true
		}
	}
}

// search finds the allocation that holds the byte at p.
func search(list []*allocation, p uint64) *allocation {
	i := sort.Search(len(list), func(i int) bool { return list[i].base > p }) - 1
	if i < 0 || p-list[i].base >= uint64(len(list[i].data)) {
		return nil
	}
	return list[i]
}

// describe says in words where an address lies, for errors.
func (m *Memory) describe(p uint64, module *Module) string {
	if p < guardBytes {
		return fmt.Sprintf("%#x, a null pointer", p)
	}
	for i := len(m.freed) - 1; i >= 0; i-- {
		if a := m.freed[i]; p-a.base < a.size {
			return fmt.Sprintf("%#x, %d bytes into an allocation of %d bytes that was freed", p, p-a.base, a.size)
		}
	}
	lists := [][]*allocation{m.live}
	if module != nil {
		lists = append(lists, module.memory)
	}
	for _, list := range lists {
		for _, a := range list {
			switch n := uint64(len(a.data)); {
			case p-a.base < n:
				return fmt.Sprintf("%#x, %d bytes into an allocation of %d bytes", p, p-a.base, n)
			case p-a.base < n+guardBytes:
				return fmt.Sprintf("%#x, %d bytes after the end of an allocation of %d bytes", p, p-a.base-n, n)
			case a.base-p <= guardBytes/2:
				return fmt.Sprintf("%#x, %d bytes before an allocation of %d bytes", p, a.base-p, n)
			}
		}
	}
	return fmt.Sprintf("%#x, in no allocation", p)
}

// Pack lays out parameters for Run as PTX lays out scalars: each has size bytes and is
// aligned to its size.
type Pack []byte

// Add appends the low size bytes (1, 2, 4 or 8) of bits.
func (p Pack) Add(bits uint64, size int) Pack {
	for len(p)%size != 0 {
		p = append(p, 0)
	}
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], bits)
	return append(p, buf[:size]...)
}
