package cuda

import (
	"errors"
	"fmt"
	"sync"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
)

// Least is the lowest compute capability that the kernels support: 70 is 7.0.
const Least = 70

// Options choose how a device works.
type Options struct {
	Precision kernel.Precision
	// Memory is the number of bytes of the GPU that the programs may take; 0: all of it. The
	// driver's own context is not counted.
	Memory uint64
	// Tile, Chain and Without are the fields of kernel.Target, for checks.
	Tile    string
	Chain   int
	Without string
	// Said, if not nil, gets lines about work that takes time: the compilation of kernels.
	Said func(line string)
}

// Device runs programs on one GPU. It may be used by several goroutines; their requests are handled
// one after the other.
type Device struct {
	open    func() (driver.Context, error)
	options Options
	info    driver.Info
	longest float64 // arithmetic of a graph: graphWork

	mu        sync.Mutex
	ctx       driver.Context // nil while parked
	functions map[string]driver.Function
	loaded    map[string]driver.Module
	modules   []kernel.Module

	residents *device.Residents[driver.Ptr]
	used      Memory
	workspace driver.Ptr
	// epoch counts the events that invalidate addresses in captured graphs: a workspace that has
	// moved, a context that was closed.
	epoch int
	lost  error // the device is lost: nothing works any more

	kept        map[keptKey]*kept
	executables map[*executable]struct{}
	sequences   map[*sequence]struct{}
	stores      map[*store]struct{}

	crew    crew
	copying copying
}

var _ device.Mirror = (*Device)(nil)

// New takes a device. open returns a context of the device; it is called once now, and again after
// Park.
func New(open func() (driver.Context, error), o Options) (*Device, error) {
	d := &Device{open: open, options: o, longest: graphWork, kept: map[keptKey]*kept{}, executables: map[*executable]struct{}{}, sequences: map[*sequence]struct{}{}, stores: map[*store]struct{}{}}
	d.residents = device.NewResidents[driver.Ptr](memory{d})
	if err := d.begin(); err != nil {
		return nil, fmt.Errorf("cuda: %w", err)
	}
	return d, nil
}

// begin opens the context.
func (d *Device) begin() error {
	ctx, err := d.open()
	if err != nil {
		return err
	}
	d.info = ctx.Info()
	if d.modules, err = kernel.Modules(d.sm()); err != nil {
		return errors.Join(err, ctx.Close())
	}
	if d.options.Precision != kernel.FP32 && d.sm() < 80 {
		return errors.Join(fmt.Errorf("%s has compute capability %d.%d: precision %v needs 8.0; use fp32",
			d.info.Name, d.info.Capability[0], d.info.Capability[1], d.options.Precision), ctx.Close())
	}
	d.ctx, d.functions, d.loaded = ctx, map[string]driver.Function{}, map[string]driver.Module{}
	return nil
}

func (d *Device) sm() int { return 10*d.info.Capability[0] + d.info.Capability[1] }

// Name names the GPU and the precision to which the factors of its large products are rounded. The
// part before the comma determines the numbers.
func (d *Device) Name() string {
	return fmt.Sprintf("cuda %s %v, cuda:%d %s", d.info.Name, d.options.Precision, d.info.Index, d.info.UUID)
}

// JoinFrom is 1: a copy would be a launch of its own, and a product reads two operands as it reads
// one.
func (d *Device) JoinFrom() int { return 1 }

// Info describes the GPU.
func (d *Device) Info() driver.Info { return d.info }

// Precision is the precision to which the factors of large products are rounded.
func (d *Device) Precision() kernel.Precision { return d.options.Precision }

// target is the target for which recipes are made.
func (d *Device) target() kernel.Target {
	return kernel.Target{SM: d.sm(), Precision: d.options.Precision, Processors: d.info.Processors, Tile: d.options.Tile, Chain: d.options.Chain, Without: d.options.Without}
}

// Tiles lists the tiles that UseTile accepts, for this GPU at this precision.
func (d *Device) Tiles() []kernel.Tile { return kernel.Tiles(d.target()) }

// UseTile makes programs that are compiled from now on use one tile for all products, a name from
// Tiles, or with "" the best one for each product again. It is for checks.
func (d *Device) UseTile(tile string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.options.Tile = tile
}

// Fetch implements device.Mirror.
func (d *Device) Fetch(tensor []float32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil { // parked: the host has everything
		return d.lost
	}
	return d.residents.Fetch(tensor)
}

// Push implements device.Mirror.
func (d *Device) Push(tensor []float32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost != nil {
		return d.lost
	}
	return d.residents.Push(tensor)
}

// Close gives everything back. Programs must not be run any more; closing them afterwards does no
// harm. Changes by programs that were not fetched are lost.
func (d *Device) Close() error {
	d.crew.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.unbind()
	d.executables, d.sequences = map[*executable]struct{}{}, map[*sequence]struct{}{}
	if d.ctx == nil {
		return err
	}
	err = errors.Join(err, d.residents.Drop(), d.freeStores(), d.freeWorkspace(), d.ctx.Close())
	if d.lost != nil { // nothing of a lost device can be given back; the driver does that
		err = nil
	}
	d.ctx, d.lost = nil, errClosed
	return err
}

// unbind gives back what programs and sequences hold, except tensors that outlive them.
func (d *Device) unbind() (err error) {
	for s := range d.sequences {
		err = errors.Join(err, s.unbind(d))
	}
	for x := range d.executables {
		err = errors.Join(err, x.unbind(d))
	}
	return err
}

var errClosed = errors.New("cuda: the device was closed")

// function finds a kernel. It compiles the kernel's file on the first request for one of its
// kernels.
func (d *Device) function(name string) (driver.Function, error) {
	if f, ok := d.functions[name]; ok {
		return f, nil
	}
	for _, m := range d.modules {
		for _, k := range m.Kernels {
			if k != name {
				continue
			}
			if d.loaded[m.Name] == nil {
				if d.options.Said != nil {
					d.options.Said("compiling kernels for " + d.info.Name + ": " + m.Name)
				}
				loaded, err := d.ctx.Load(m.Text)
				if err != nil {
					return nil, d.failed(fmt.Errorf("compile %s: %w", m.Name, err))
				}
				d.loaded[m.Name] = loaded
			}
			f, err := d.loaded[m.Name].Function(name)
			if err == nil {
				d.functions[name] = f
			}
			return f, d.failed(err)
		}
	}
	return nil, fmt.Errorf("there is no kernel %s for compute capability %d.%d", name, d.info.Capability[0], d.info.Capability[1])
}

// gone reports that the device holds nothing that could be given back.
func (d *Device) gone() bool { return d.ctx == nil || d.lost != nil }

// failed records whether the device is lost, and turns the driver's lack of memory into the one that
// callers with a choice look for.
func (d *Device) failed(err error) error {
	if err == nil {
		return nil
	}
	var lost *driver.LostDevice
	if errors.As(err, &lost) {
		d.lost = err
	}
	var full *driver.OutOfMemory
	if errors.As(err, &full) {
		return &device.OutOfMemory{Asked: full.Asked, Free: full.Free, Total: full.Total, Err: err}
	}
	return err
}
