// Package mirrortest is a device for tests: it computes on the CPU, but on memory of its
// own, as a GPU does. It keeps what a device.Mirror keeps and reads everything else
// from the host at each run. Code that forgets to fetch what a program changed, or
// to push what it changed itself, works on old numbers here, so that a run comes
// out otherwise than on the CPU.
package mirrortest

import (
	"slices"
	"sync"

	"pgrlab/core/device"
)

// Device is such a device. It may be used by several goroutines.
type Device struct {
	device.Device // what computes

	mu    sync.Mutex
	held  *device.Residents[[]float32]
	reads map[string]int
}

var _ device.Mirror = (*Device)(nil)

// New returns a device that computes as d does.
func New(d device.Device) *Device {
	return &Device{Device: d, held: device.NewResidents[[]float32](memory{}), reads: map[string]int{}}
}

// memory is what the device keeps its copies in.
type memory struct{}

func (memory) Alloc(elements int) ([]float32, error) { return make([]float32, elements), nil }
func (memory) Free([]float32, int) error             { return nil }
func (memory) Upload(to, from []float32) error       { copy(to, from); return nil }
func (memory) Download(to, from []float32) error     { copy(to, from); return nil }

// Fetch is device.Mirror's.
func (d *Device) Fetch(tensor []float32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held.Fetch(tensor)
}

// Push is device.Mirror's.
func (d *Device) Push(tensor []float32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held.Push(tensor)
}

// Reads are the names of the tensors that runs have read from the host, and the
// number of elements of each that were read so far.
func (d *Device) Reads() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	reads := map[string]int{}
	for name, n := range d.reads {
		reads[name] = n
	}
	return reads
}

// Compile is device.Device's.
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
	version int          // of the book, when the program was bound
	written []device.Ref // tensors that a run changes

	bound []device.Buffer                            // the program's buffers in the device's memory
	held  map[device.Ref]*device.Resident[[]float32] // of them, what outlives runs
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

// Run is device.Executable's.
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
		if held := x.held[r]; held != nil { // not of empty ones
			held.Changed = true
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

// GradientNorm is device.Executable's.
func (x *executable) GradientNorm() float64 { return x.inner.GradientNorm() }

// Data is device.Executable's: of a tensor the host's memory, of a result the
// host's copy; nil of what no one asked to keep.
func (x *executable) Data(r device.Ref) []float32 {
	if b := x.program.Buffers[r]; b.Host != nil {
		return b.Host
	}
	return x.kept[r]
}

// Close is device.Executable's.
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
