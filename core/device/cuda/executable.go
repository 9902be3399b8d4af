package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
)

// executable is a program on the device.
//
// What its steps are follows from the program; where everything is, and the
// graphs that hold these addresses, is bound anew whenever that changes.
type executable struct {
	device  *Device
	program *device.Program
	steps   []step // the instructions, then the end
	written []device.Ref

	layout  *layout
	held    map[device.Ref]*device.Resident[driver.Ptr]
	fetched []*device.Resident[driver.Ptr] // after each run: kept tensors that it changes
	kept    map[device.Ref][]float32       // the host's view of outputs; it never moves

	bound    bool
	epoch    int // of the device, when the program was bound
	version  int // of the book of residents, likewise
	block    driver.Ptr
	up, down []byte // pinned
	tables   tables
	launches [][]launch // of each step
	graphs   []driver.Graph

	norm  float64  // of the last run
	words []uint64 // memory
}

type allocation struct {
	at    driver.Ptr
	bytes int
}

// launch is a kernel with its arguments.
type launch struct {
	function    driver.Function
	grid, block [3]uint32
	shared      uint32
	args        []driver.Arg
}

// Compile turns a program into kernels and takes the memory that it needs.
func (d *Device) Compile(p *device.Program) (device.Executable, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := &executable{device: d, program: p, written: p.Written(), held: map[device.Ref]*device.Resident[driver.Ptr]{}, kept: map[device.Ref][]float32{}}
	err := x.compile()
	if err == nil {
		err = x.bind()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cuda: program %s: %w", p.Name, err), x.release())
	}
	d.executables[x] = struct{}{}
	return x, nil
}

func (x *executable) compile() error {
	if err := x.device.wake(); err != nil {
		return err
	}
	target := x.target()
	segments, err := kernel.Segments(x.program, target)
	if err != nil {
		return err
	}
	for _, s := range segments {
		x.steps = append(x.steps, step{s.First, s.Last, s.Recipe})
	}
	end, err := kernel.Finish(x.program, target)
	if err != nil {
		return err
	}
	x.steps = append(x.steps, step{len(x.program.Instrs), len(x.program.Instrs), end})
	for _, r := range x.written {
		x.device.residents.Mark(x.program.Buffers[r].Host)
	}
	for _, r := range x.program.Keep {
		if b := x.program.Buffers[r]; b.Host == nil {
			x.kept[r] = make([]float32, b.Len()) // not nil without elements
		}
	}
	return nil
}

func (x *executable) target() kernel.Target {
	return kernel.Target{SM: x.device.sm(), Precision: x.device.options.Precision}
}

// bind takes the program's memory and works out all addresses.
func (x *executable) bind() error {
	d := x.device
	if err := errors.Join(x.unbind(), d.wake()); err != nil {
		return err
	}
	var err error
	if x.layout, err = arrange(x.program, x.steps, d.residents.Keeps); err != nil {
		return err
	}
	x.fetched = nil
	for r, b := range x.program.Buffers {
		ref := device.Ref(r)
		if x.layout.places[r].kind != resident || x.held[ref] != nil {
			continue
		}
		if x.held[ref], err = d.residents.Use(b.Host); err != nil {
			delete(x.held, ref)
			return err
		}
	}
	for _, r := range x.program.Keep {
		if held := x.held[r]; held != nil {
			x.fetched = append(x.fetched, held)
		}
	}
	if err := d.work(x.layout.work); err != nil {
		return err
	}
	if x.block, err = d.alloc(&d.used.Programs, x.layout.block); err != nil {
		return err
	}
	if x.up, err = d.ctx.AllocHost(x.layout.up); err != nil {
		return err
	}
	if x.down, err = d.ctx.AllocHost(x.layout.down); err != nil {
		return err
	}
	if err := x.link(); err != nil {
		return err
	}
	x.bound, x.epoch, x.version = true, d.epoch, d.residents.Version
	return nil
}

// unbind gives back what bind took, except for the residents.
func (x *executable) unbind() (err error) {
	d := x.device
	x.bound = false
	if !d.gone() {
		for _, g := range x.graphs {
			err = errors.Join(err, g.Close())
		}
		for _, pinned := range [][]byte{x.up, x.down} {
			if pinned != nil {
				err = errors.Join(err, d.ctx.FreeHost(pinned))
			}
		}
	}
	err = errors.Join(err, x.tables.free(d))
	if x.block != 0 {
		err = errors.Join(err, d.free(&d.used.Programs, x.block, x.layout.block))
	}
	x.graphs, x.launches, x.block, x.up, x.down = nil, nil, 0, nil, nil
	return err
}

// release is unbind, and the residents too.
func (x *executable) release() error {
	err := x.unbind()
	for r, held := range x.held {
		err = errors.Join(err, x.device.residents.Leave(held))
		delete(x.held, r)
	}
	return err
}

// Close is device.Executable's.
func (x *executable) Close() error {
	x.device.mu.Lock()
	defer x.device.mu.Unlock()
	if _, open := x.device.executables[x]; !open {
		return nil
	}
	delete(x.device.executables, x)
	return x.release()
}

// Run is device.Executable's.
func (x *executable) Run(occasion uint64) error {
	x.device.mu.Lock()
	defer x.device.mu.Unlock()
	if err := x.ready(); err != nil {
		return fmt.Errorf("cuda: %w", err)
	}
	x.stage(occasion)
	for _, g := range x.graphs {
		if err := g.Launch(); err != nil {
			return x.device.failed(err)
		}
	}
	return x.finish(occasion)
}

// ready binds and captures the program where that is not done.
func (x *executable) ready() error {
	d := x.device
	if err := d.wake(); err != nil {
		return err
	}
	if !x.current() {
		if err := x.bind(); err != nil {
			return err
		}
	}
	if x.graphs == nil {
		return x.capture()
	}
	return nil
}

// current says whether the program's addresses are still right.
func (x *executable) current() bool {
	return x.bound && x.version == x.device.residents.Version && x.epoch == x.device.epoch
}

// stage writes what goes up into pinned memory.
func (x *executable) stage(occasion uint64) {
	l := x.layout
	for r, at := range l.places {
		if at.kind == staged {
			copy(x.up[at.offset:], bytesOf(x.program.Buffers[r].Host))
		}
	}
	binary.LittleEndian.PutUint64(x.up[l.words.occasion:], occasion)
	for items, at := range l.words.items {
		putItems(x.up[at:], items)
	}
	if x.program.Act != nil {
		x.words = putWords(x.up[l.words.act:], x.program.Act, x.words)
	}
	state := x.up[l.words.state:]
	clear(state)
	if a := x.program.Adam; a != nil {
		binary.LittleEndian.PutUint64(state[kernel.StateT:], *a.T)
	}
}

func putItems(to []byte, items *device.Items) {
	idle := uint64(0)
	if items.Idle {
		idle = 1
	}
	binary.LittleEndian.PutUint64(to, items.First)
	binary.LittleEndian.PutUint64(to[8:], idle)
}

// putWords writes what the host may change of an act; the memory of words is used.
func putWords(to []byte, a device.Act, words []uint64) []uint64 {
	words = a.Words(words[:0])
	for i, w := range words {
		binary.LittleEndian.PutUint64(to[8*i:], w)
	}
	return words
}

// finish waits for a run and takes what it made.
func (x *executable) finish(occasion uint64) error {
	d := x.device
	if err := d.ctx.Synchronize(); err != nil {
		return d.failed(err)
	}
	for _, r := range x.written {
		if held := x.held[r]; held != nil {
			held.Changed = true
		}
	}
	x.norm = math.Float64frombits(binary.LittleEndian.Uint64(x.down[kernel.StateNorm:]))
	if binary.LittleEndian.Uint32(x.down[gateAt:]) != 0 {
		return x.diagnose(occasion)
	}
	for r, to := range x.kept {
		if len(to) == 0 {
			continue
		}
		copy(bytesOf(to), x.down[x.layout.places[r].offset-x.layout.words.state:])
	}
	for _, held := range x.fetched {
		if err := d.residents.Fetch(held.Host); err != nil {
			return err
		}
	}
	if a := x.program.Adam; a != nil {
		*a.T++
	}
	return nil
}

// GradientNorm is device.Executable's.
func (x *executable) GradientNorm() float64 { return x.norm }

// Data is device.Executable's: of a tensor the host's memory, of a result the
// host's copy; nil of what nobody asked to keep.
func (x *executable) Data(r device.Ref) []float32 {
	if b := x.program.Buffers[r]; b.Host != nil {
		return b.Host
	}
	return x.kept[r]
}
