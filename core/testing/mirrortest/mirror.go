// Package mirrortest provides a device for tests. It computes on the CPU, but in memory of
// its own, as a GPU does. It keeps the tensors that a device.Mirror keeps and reads all
// others from the host at each run. Code that forgets to fetch what a program changed, or
// to push what it changed itself, works on old numbers here, so that its run differs from
// one on the CPU.
package mirrortest

import (
	"slices"
	"sync"

	"pgrlab/core/device"
)

// Device computes in memory of its own. It may be used by several goroutines.
type Device struct {
	device.Device // computes

	mu    sync.Mutex
	held  *device.Residents[[]float32]
	reads map[string]int
}

var _ device.Mirror = (*Device)(nil)

// New returns a device that computes with d.
func New(d device.Device) *Device {
	return &Device{Device: d, held: device.NewResidents[[]float32](memory{}), reads: map[string]int{}}
}

// memory is the memory of the device's copies.
type memory struct{}

func (memory) Alloc(elements int) ([]float32, error) { return make([]float32, elements), nil }
func (memory) Free([]float32, int) error             { return nil }
func (memory) Upload(to, from []float32) error       { copy(to, from); return nil }
func (memory) Download(to, from []float32) error     { copy(to, from); return nil }

// Fetch implements device.Mirror.
func (d *Device) Fetch(tensor []float32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held.Fetch(tensor)
}

// Push implements device.Mirror.
func (d *Device) Push(tensor []float32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held.Push(tensor)
}

// Reads returns, by name of the tensor, the number of elements that runs have read from the
// host so far.
func (d *Device) Reads() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	reads := map[string]int{}
	for name, n := range d.reads {
		reads[name] = n
	}
	return reads
}

// Compile implements device.Device.
func (d *Device) Compile(p *device.Program) (device.Executable, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := &executable{device: d, program: p, written: p.Written(), kept: map[device.Ref][]float32{}, held: map[device.Ref]*device.Resident[[]float32]{}}
	for _, r := range x.written {
		d.held.Mark(p.Buffers[r].Host)
	}
	for _, r := range p.Keep {
		if p.Buffers[r].Host == nil {
			x.kept[r] = make([]float32, p.Buffers[r].Len())
		}
	}
	return x, x.bind()
}

type executable struct {
	device  *Device
	program *device.Program
	inner   device.Executable
	version int          // version of held when the program was bound
	written []device.Ref // tensors that a run changes

	bound []device.Buffer                            // the program's buffers in the device's memory
	held  map[device.Ref]*device.Resident[[]float32] // those of them that outlive runs
	kept  map[device.Ref][]float32                   // the host's view of results
}

// bind compiles the program on the device's memory.
func (x *executable) bind() error {
	if x.inner != nil {
		if err := x.inner.Close(); err != nil {
			return err
		}
	}
	p := *x.program
	x.bound, x.version = slices.Clone(p.Buffers), x.device.held.Version
	for i := range x.bound {
		b, r := &x.bound[i], device.Ref(i)
		switch {
		case len(b.Host) == 0:
		case x.device.held.Keeps(b.Host):
			if x.held[r] == nil {
				held, err := x.device.held.Use(b.Host)
				if err != nil {
					return err
				}
				x.held[r] = held
			}
			b.Host = x.held[r].At
		default:
			b.Host = make([]float32, len(b.Host))
		}
	}
	p.Buffers = x.bound
	var err error
	x.inner, err = x.device.Device.Compile(&p)
	return err
}

// Run implements device.Executable.
func (x *executable) Run(occasion uint64) error {
	x.device.mu.Lock()
	defer x.device.mu.Unlock()
	if x.version != x.device.held.Version {
		if err := x.bind(); err != nil {
			return err
		}
	}
	for i, b := range x.program.Buffers {
		if b.Host != nil && x.held[device.Ref(i)] == nil {
			copy(x.bound[i].Host, b.Host)
			x.device.reads[b.Name] += len(b.Host)
		}
	}
	for _, r := range x.written {
		if held := x.held[r]; held != nil { // nil for empty tensors
			held.Wrote()
		}
	}
	if err := x.inner.Run(occasion); err != nil {
		return err
	}
	for r, to := range x.kept {
		copy(to, x.inner.Data(r))
	}
	return nil
}

// GradientNorm implements device.Executable.
func (x *executable) GradientNorm() float64 { return x.inner.GradientNorm() }

// Data implements device.Executable: it returns the host's memory of a tensor, the host's copy
// of a result, and nil for a result that was not to be kept.
func (x *executable) Data(r device.Ref) []float32 {
	if b := x.program.Buffers[r]; b.Host != nil {
		return b.Host
	}
	return x.kept[r]
}

// Close implements device.Executable.
func (x *executable) Close() error {
	x.device.mu.Lock()
	defer x.device.mu.Unlock()
	err := x.inner.Close()
	for r, held := range x.held {
		if e := x.device.held.Leave(held); err == nil {
			err = e
		}
		delete(x.held, r)
	}
	return err
}
