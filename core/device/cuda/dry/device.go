package dry

import (
	"pgrlab/core/device"
	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
)

// H100 is the card whose launches are counted, an H100 SXM; those of an H200 are the same.
var H100 = driver.Info{
	Name: "H100, executing nothing", UUID: "none", Capability: [2]int{9, 0}, Processors: 132, SharedPerBlock: 227 << 10,
	Memory: 80 << 30, Free: 80 << 30,
}

// Device counts what the programs of package cuda put into the stream of a GPU. It belongs to one
// goroutine.
type Device struct {
	*cuda.Device
	context  *context
	target   kernel.Target
	programs []*Program
	current  func() int // see Classify
}

// Program is what is known of programs with the same name and the same work.
type Program struct {
	Name string
	Work
	// Counts are of all runs so far, by class. A run within a sequence has its share of the
	// sequence's launches; the sequence's waits and copies count with its first program.
	Counts map[int]Counts
	Runs   map[int]int
	Beside bool // others run meanwhile
}

// New returns a device that counts for a card.
func New(card driver.Info, o cuda.Options) (*Device, error) {
	d := &Device{context: newContext(card), current: func() int { return 0 }}
	d.target = kernel.Target{SM: 10*card.Capability[0] + card.Capability[1], Precision: o.Precision, Processors: card.Processors, Without: o.Without}
	var err error
	d.Device, err = cuda.New(func() (driver.Context, error) { return d.context, nil }, o)
	return d, err
}

// Classify makes runs from now on count in the class that of returns then, and forgets those so far.
func (d *Device) Classify(of func() int) {
	d.current = of
	for _, p := range d.programs {
		clear(p.Counts)
		clear(p.Runs)
	}
}

// Programs are those that have run since Classify, in the order of their compilation.
func (d *Device) Programs() (all []Program) {
	for _, p := range d.programs {
		if len(p.Runs) > 0 {
			all = append(all, *p)
		}
	}
	return all
}

// Compile implements device.Device.
func (d *Device) Compile(p *device.Program) (device.Executable, error) {
	x, err := d.Device.Compile(p)
	if err != nil {
		return nil, err
	}
	work, err := workOf(p, d.target)
	return &executable{Executable: x, device: d, program: d.program(p.Name, work)}, err
}

// program returns the entry for a program.
func (d *Device) program(name string, w Work) *Program {
	for _, p := range d.programs {
		if p.Name == name && p.Work == w {
			return p
		}
	}
	p := &Program{Name: name, Work: w, Counts: map[int]Counts{}, Runs: map[int]int{}}
	d.programs = append(d.programs, p)
	return p
}

// ran adds what was put into the stream since before to a program's counts.
func (d *Device) ran(p *Program, before Counts) {
	class := d.current()
	p.Runs[class]++
	p.Counts[class] = p.Counts[class].plus(d.context.all.minus(before))
}

// executable is a program whose runs are counted.
type executable struct {
	device.Executable
	device  *Device
	program *Program
	started Counts // of the run that was started
}

func (x *executable) Run(occasion uint64) error {
	before := x.device.context.all.minus(x.started)
	x.started = Counts{}
	err := x.Executable.Run(occasion)
	x.device.ran(x.program, before)
	return err
}

// Start implements device.Starter.
func (x *executable) Start(occasion uint64) error {
	before := x.device.context.all
	err := x.Executable.(device.Starter).Start(occasion)
	x.started, x.program.Beside = x.device.context.all.minus(before), true
	return err
}

// Sequence implements device.Sequencer.
func (d *Device) Sequence(programs []device.Executable, own ...[]float32) (device.Sequence, error) {
	s := &sequence{device: d}
	var inner []device.Executable
	for _, p := range programs {
		x := p.(*executable)
		inner, s.programs = append(inner, x.Executable), append(s.programs, x.program)
	}
	var err error
	s.Sequence, err = d.Device.Sequence(inner, own...)
	return s, err
}

// sequence is a sequence whose runs are counted.
type sequence struct {
	device.Sequence
	device   *Device
	programs []*Program
}

func (s *sequence) Run(occasions []uint64) error {
	d := s.device
	before := d.context.all
	err := s.Sequence.Run(occasions)
	rest := d.context.all.minus(before)
	for _, p := range s.programs[1:] {
		own := Counts{Launches: p.Launches}
		rest = rest.minus(own)
		d.ran(p, d.context.all.minus(own))
	}
	d.ran(s.programs[0], d.context.all.minus(rest))
	return err
}
