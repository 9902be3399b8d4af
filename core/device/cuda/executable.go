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
// The steps follow from the program alone. The addresses, and the graphs that contain them, are
// bound again whenever they change.
type executable struct {
	device  *Device
	merged  *kernel.Merged
	program *device.Program // merged and arranged
	order   []int           // the instructions' places in the merged program
	steps   []step          // the instructions, then the end
	written []device.Ref
	target  kernel.Target // at the time of compilation

	layout  *layout
	held    map[device.Ref]*device.Resident[driver.Ptr]
	fetched []*device.Resident[driver.Ptr] // kept tensors that the program changes, fetched after each run
	outputs map[device.Ref][]float32       // the host's view of them; it never moves

	beside           // what it has if it has been started
	bound            // captured at the first run; a program that runs only in sequences has no graph of its own
	kept   [][]*kept // of each step
	stale  []laying  // what a run of this program alone lays out if the weight has changed

	norm  float64  // of the last run
	words []uint64 // reused memory
}

type allocation struct {
	at    driver.Ptr
	bytes int
}

// Compile turns a program into kernels and allocates the memory that it needs.
func (d *Device) Compile(p *device.Program) (device.Executable, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	merged := kernel.Merge(p, d.target())
	arranged, order := kernel.Arrange(merged.Program, d.target())
	x := &executable{device: d, merged: merged, program: arranged, order: order, written: p.Written(), held: map[device.Ref]*device.Resident[driver.Ptr]{}, outputs: map[device.Ref][]float32{}}
	err := x.compile()
	if err == nil {
		err = d.yielding(x.bind)
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
	target := x.device.target()
	x.target = target
	segments, err := kernel.Segments(x.program, target)
	if err != nil {
		return err
	}
	for _, s := range segments {
		x.steps = append(x.steps, step{s.First, s.Last, s.Recipe, s.Stacks, s.Standing})
	}
	end, err := kernel.Finish(x.program, target)
	if err != nil {
		return err
	}
	x.steps = append(x.steps, step{first: len(x.program.Instrs), last: len(x.program.Instrs), recipe: end})
	for _, r := range x.written {
		x.device.residents.Mark(x.program.Buffers[r].Host)
	}
	for _, r := range x.program.Keep {
		if b := x.program.Buffers[r]; b.Host == nil {
			x.outputs[r] = make([]float32, b.Len()) // not nil without elements
		}
	}
	return nil
}

// bind allocates the program's memory and resolves all addresses. Some may have become invalid
// meanwhile: see settle.
func (x *executable) bind() error {
	d := x.device
	if err := errors.Join(x.unbind(d), d.wake()); err != nil {
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
	if err := x.keep(); err != nil {
		return err
	}
	if err := x.takeWorkspace(); err != nil {
		return err
	}
	if err := x.take(d, x.layout.block, x.layout.up, x.layout.down); err != nil {
		return err
	}
	epoch := d.epoch
	if x.parts, x.stale, err = x.linked(x.frame(), (*kept).lasts); err != nil {
		return err
	}
	return x.settle(d, epoch)
}

// unbind gives back what the program holds, except tensors that outlive it. A run that was started ends before.
func (x *executable) unbind(d *Device) error {
	x.land()
	return errors.Join(x.bound.unbind(d), x.giveWorkspace(), x.leave())
}

// release is unbind, and also releases the residents.
func (x *executable) release() error {
	err := x.unbind(x.device)
	for r, held := range x.held {
		err = errors.Join(err, x.device.residents.Leave(held))
		delete(x.held, r)
	}
	return err
}

// Close implements device.Executable.
func (x *executable) Close() error {
	x.device.mu.Lock()
	defer x.device.mu.Unlock()
	if _, open := x.device.executables[x]; !open {
		return nil
	}
	delete(x.device.executables, x)
	return x.release()
}

// Run implements device.Executable.
func (x *executable) Run(occasion uint64) error {
	x.device.mu.Lock()
	defer x.device.mu.Unlock()
	if x.started {
		return x.end()
	}
	if err := x.prepare(occasion); err != nil {
		return err
	}
	if err := x.run(x.device); err != nil {
		return err
	}
	return x.finish(occasion)
}

// prepare does what comes before the launch of a run.
func (x *executable) prepare(occasion uint64) error {
	if err := x.ready(); err != nil {
		return fmt.Errorf("cuda: %w", err)
	}
	x.stage(occasion)
	return x.device.refresh(x.stale)
}

// ready binds and captures the program if necessary.
func (x *executable) ready() error {
	d := x.device
	if err := d.wake(); err != nil {
		return err
	}
	if x.holds(d) && x.graphs != nil {
		return nil
	}
	return d.yielding(func() error { // the graphs, too, take memory of the device
		for !x.holds(d) {
			if err := x.bind(); err != nil {
				return err
			}
		}
		if x.graphs == nil {
			return x.capture(d)
		}
		return nil
	})
}

// stage writes into pinned memory what is uploaded.
func (x *executable) stage(occasion uint64) {
	l := x.layout
	for r, at := range l.places {
		if at.kind == staged {
			x.device.copying.do(&x.device.crew, x.up[at.offset:], device.Bytes(x.program.Buffers[r].Host))
		}
	}
	binary.LittleEndian.PutUint64(x.up[l.words.occasion:], occasion)
	for items, at := range l.words.items {
		putItems(x.up[at:], items)
	}
	if x.program.Routine != nil {
		x.words = putWords(x.up[l.words.routine:], x.program.Routine, x.words)
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

// putWords writes the words of a routine that the host may change, reusing the memory of words.
func putWords(to []byte, a device.Routine, words []uint64) []uint64 {
	words = a.Words(words[:0])
	for i, w := range words {
		binary.LittleEndian.PutUint64(to[8*i:], w)
	}
	return words
}

// finish reads the results of a run.
func (x *executable) finish(occasion uint64) error {
	x.wrote()
	x.norm = math.Float64frombits(binary.LittleEndian.Uint64(x.down[kernel.StateNorm:]))
	if binary.LittleEndian.Uint32(x.down[gateAt:]) != 0 {
		return x.diagnose(occasion)
	}
	for r, to := range x.outputs {
		if len(to) == 0 {
			continue
		}
		copy(device.Bytes(to), x.down[x.layout.places[r].offset-x.layout.words.state:])
	}
	for _, held := range x.fetched {
		if err := x.device.residents.Fetch(held.Host); err != nil {
			return err
		}
	}
	if a := x.program.Adam; a != nil {
		*a.T++
	}
	return nil
}

// wrote records that the device's tensors are newer than the host's.
func (x *executable) wrote() {
	for _, r := range x.written {
		if held := x.held[r]; held != nil {
			held.Wrote()
		}
	}
}

// GradientNorm implements device.Executable.
func (x *executable) GradientNorm() float64 { return x.norm }

// Data implements device.Executable. For a tensor it returns the host's memory, for a result the
// host's copy, and nil for a result that was not to be kept.
func (x *executable) Data(r device.Ref) []float32 {
	if b := x.program.Buffers[r]; b.Host != nil {
		return b.Host
	}
	return x.outputs[r]
}
