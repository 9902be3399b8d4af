package cpu

import (
	"cmp"
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

// Options choose how a device works; the zero value uses what the machine offers.
type Options struct {
	// Threads is the number of workers, at most MaxThreads; 0 takes the number that Allowed
	// returns.
	Threads int
	// Family is the name of the kernels' family; "" selects the best one that the CPU supports.
	Family string
	// LeastShare is the work, in floating-point operations, that each worker beyond the second must
	// find in an instruction before a program is cut for it; 0: about 5 µs.
	LeastShare int
}

// Device runs programs on this machine's cores. It may be used by several
// goroutines; programs that run at the same time share the workers.
type Device struct {
	kernels *kernel.Family
	crew
	leastShare int
	divisions  divisions
}

var _ interface {
	device.Device
	device.Sharer
	device.Divider
} = (*Device)(nil)

// New starts a device's workers.
func New(o Options) (*Device, error) {
	if o.Threads < 0 || o.Threads > MaxThreads {
		return nil, fmt.Errorf("cpu: %d threads; want 1 to %d, or 0 for all that are allowed", o.Threads, MaxThreads)
	}
	if o.Threads == 0 {
		o.Threads = Allowed()
	}
	k, err := kernel.Select(o.Family)
	if err != nil {
		return nil, fmt.Errorf("cpu: %w", err)
	}
	return &Device{kernels: k, crew: crew{pool: newPool(o.Threads, 0)}, leastShare: cmp.Or(o.LeastShare, leastShare)}, nil
}

// Name names the kernels and the number of threads.
func (d *Device) Name() string {
	return fmt.Sprintf("cpu %s, %d threads", d.kernels.Name(), d.Threads())
}

// Family returns the name of the kernels' family.
func (d *Device) Family() string { return d.kernels.Name() }

// JoinFrom was measured at 256 rows, AVX2: whole updates take the same time up to 128 columns of
// each operand, and are 6 % quicker at 256.
func (d *Device) JoinFrom() int { return 32 }

// Kernels returns the kernels in use.
func (d *Device) Kernels() *kernel.Family { return d.kernels }

// Threads returns the number of workers.
func (d *Device) Threads() int { return d.pool.workers }

// Close ends the workers. Programs still run afterwards, but on one core.
func (d *Device) Close() error {
	d.pool.close()
	return d.divisions.close()
}

// Share implements device.Sharer.
func (d *Device) Share(work func(part, parts int)) func() {
	t := &task{crew: d.crew, job: &job{segments: [][]stage{{{name: "shared", run: func(s share) { work(s.place(), Lanes*s.parts) }}}}}, parts: d.mostParts()}
	return t.run
}

// smallest is the work, in floating-point operations, below which a program runs on its caller's
// core alone: waking a helper costs about as much as that work.
const smallest = 200_000

// Compile compiles a program into stages.
func (d *Device) Compile(p *device.Program) (device.Executable, error) {
	flops := 0
	for _, in := range p.Instrs {
		flops += p.FLOPs(in)
	}
	c := newCompiler(p, d.kernels, d.partsOf(p, flops))
	if err := c.compile(); err != nil {
		return nil, fmt.Errorf("cpu: program %s: %w", p.Name, err)
	}
	x := &executable{
		program: p, data: c.data, task: task{crew: d.crew, parts: c.parts, job: &job{segments: memberMajor(c.schedule.segments)}}, stages: c.schedule.segments,
		before: c.before, after: c.after, occasion: c.occasion, guard: &c.guard, copies: c.copies,
	}
	if c.gate > 0 {
		x.job.gate, x.job.open = c.gate, c.guard.open
	}
	x.into, x.owner = c.into, c.owner
	for _, b := range p.Buffers {
		x.bound = append(x.bound, b.Host != nil)
	}
	x.small = flops < min(smallest, d.leastShare)
	return x, nil
}

// leastShare is about 5 µs of one core; barriers among many workers take about 1 µs.
const leastShare = 1_000_000

// partsOf returns the number of parts that lanes are cut into for a program with that much work.
func (d *Device) partsOf(p *device.Program, flops int) int {
	return max(1, min(d.mostParts(), flops/(max(1, len(p.Instrs))*Lanes*d.leastShare)))
}

type executable struct {
	task
	program  *device.Program
	data     [][]float32
	stages   [][]stage // the job's segments with every instruction separate
	copies   map[device.Ref][Lanes][]float32
	before   []func() // work of the caller before the lanes start
	after    []func() // work of the caller after the run has changed state
	guard    *guard
	occasion *uint64

	// Fields for Outline.
	into  []int        // the instruction that does the work of each instruction
	owner []device.Ref // the buffer whose memory each buffer uses
	bound []bool       // whether a buffer's memory is not the program's own
}

func (x *executable) Run(occasion uint64) error {
	*x.occasion = occasion
	for _, f := range x.before {
		f()
	}
	x.guard.closed = false
	x.run()
	if x.guard.closed {
		return x.diagnose()
	}
	for _, f := range x.after {
		f()
	}
	return nil
}

func (x *executable) GradientNorm() float64 { return x.guard.norm }

func (x *executable) Data(r device.Ref) []float32 { return x.data[r] }

func (x *executable) Close() error { return nil }
