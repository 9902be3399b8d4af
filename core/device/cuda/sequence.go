package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
)

// sequence is a list of programs that run as one graph.
//
// It has its own block, in which every run of a program has its frame:
//
//	staged tensors | words of items and acts | occasions | gate | states | outputs
//
// Tensors that several programs read from the host are staged once, or once for each run if their numbers differ between
// the runs. Programs that step the same
// optimiser share its state, and all programs share the gate. From the run that closes the gate on,
// nothing changes any more, including batches and subsets, so that the program finds its fault
// again in the same state.
type sequence struct {
	device   *Device
	runs     []*executable
	distinct []*executable
	plan     sequencePlan
	kept     []map[device.Ref][]float32 // the host's view of each run's outputs
	own      []map[*float32][]float32   // of each run, by the tensor of the host in whose place it reads them

	bound
	lasts func(*kept) bool // of weights that no program of the sequence writes
	stale []laying         // what a run lays out first if the weight has changed
	words []uint64         // reused memory
}

// Sequence implements device.Sequencer.
func (d *Device) Sequence(programs []device.Executable, own ...[]float32) (device.Sequence, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &sequence{device: d}
	seen := map[*executable]bool{}
	for _, p := range programs {
		x, ours := p.(*executable)
		if _, open := d.executables[x]; !ours || !open {
			return nil, errors.New("cuda: a sequence of a program that is not the device's")
		}
		if !seen[x] {
			seen[x] = true
			s.distinct = append(s.distinct, x)
		}
		s.runs = append(s.runs, x)
		kept := map[device.Ref][]float32{}
		for r, own := range x.outputs {
			kept[r] = make([]float32, len(own))
		}
		s.kept = append(s.kept, kept)
		s.own = append(s.own, ownOf(x, own))
	}
	d.sequences[s] = struct{}{}
	if err := s.ready(); err != nil {
		delete(d.sequences, s)
		return nil, errors.Join(fmt.Errorf("cuda: a sequence of %d programs: %w", len(s.runs), err), s.unbind(d))
	}
	return s, nil
}

// ownOf returns memory for those of the tensors that a program reads.
func ownOf(x *executable, own [][]float32) map[*float32][]float32 {
	all := map[*float32][]float32{}
	for _, b := range x.program.Buffers {
		if len(b.Host) > 0 && slices.ContainsFunc(own, func(t []float32) bool { return len(t) > 0 && &t[0] == &b.Host[0] }) {
			all[&b.Host[0]] = make([]float32, len(b.Host))
		}
	}
	return all
}

// Own implements device.Sequence.
func (s *sequence) Own(i int, host []float32) []float32 { return s.own[i][&host[0]] }

// ready binds everything that is not bound. If the workspace grows, programs that were bound before
// become invalid.
func (s *sequence) ready() error {
	if err := s.device.wake(); err != nil {
		return err
	}
	if s.inPlace() {
		return nil
	}
	return s.device.yielding(s.bindAll)
}

// inPlace says whether there is nothing to bind.
func (s *sequence) inPlace() bool {
	for _, x := range s.distinct {
		if !x.holds(s.device) {
			return false
		}
	}
	return s.holds(s.device)
}

func (s *sequence) bindAll() error {
	d := s.device
	for !s.inPlace() {
		programs := 0
		for _, x := range s.distinct {
			if x.holds(d) {
				continue
			}
			if err := x.bind(); err != nil {
				return err
			}
			programs++
			s.complete = false // what the program keeps may be elsewhere
		}
		if programs > 0 { // which may have made others invalid
			continue
		}
		if err := s.bind(); err != nil {
			return err
		}
	}
	return nil
}

// bind allocates the sequence's memory and captures the sequence, unless that has made addresses
// invalid: see settle.
func (s *sequence) bind() error {
	d := s.device
	if err := s.unbind(d); err != nil {
		return err
	}
	s.plan = planOf(s.runs, s.distinct, s.own)
	if err := s.take(d, s.plan.block, s.plan.up, s.plan.block-s.plan.gate); err != nil {
		return err
	}
	epoch := d.epoch
	s.lasts, s.stale = outlasts(s.distinct), nil
	for i, x := range s.runs {
		parts, stale, err := x.linked(s.frame(i), s.lasts)
		if err != nil {
			return err
		}
		s.parts, s.stale = append(s.parts, parts...), append(s.stale, stale...)
	}
	if err := s.settle(d, epoch); err != nil || !s.inPlace() {
		return err
	}
	return s.capture(d)
}

// Close implements device.Sequence.
func (s *sequence) Close() error {
	s.device.mu.Lock()
	defer s.device.mu.Unlock()
	if _, open := s.device.sequences[s]; !open {
		return nil
	}
	delete(s.device.sequences, s)
	return s.unbind(s.device)
}

// frame returns the frame of run i.
func (s *sequence) frame(i int) frame {
	x, p := s.runs[i], &s.plan
	in := func(offset int) driver.Ptr { return s.block + driver.Ptr(offset) }
	return frame{
		host: func(r device.Ref) driver.Ptr {
			if x.layout.places[r].kind == staged {
				host := &x.program.Buffers[r].Host[0]
				if t, own := p.own[i][host]; own {
					return in(t.offset)
				}
				return in(p.staged[host].offset)
			}
			return in(p.outputs[i][r])
		},
		items:    func(of *device.Items) driver.Ptr { return in(p.items[of]) },
		occasion: in(p.occasions + 8*i), routine: in(p.acts[x]), state: in(p.states[stateOf(x)]), gateTo: in(p.gate),
		turn: uint32(i + 1), tables: &s.tables,
	}
}

// Run implements device.Sequence.
func (s *sequence) Run(occasions []uint64) error {
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(occasions) != len(s.runs) {
		return fmt.Errorf("cuda: %d occasions for a sequence of %d programs", len(occasions), len(s.runs))
	}
	if err := s.ready(); err != nil {
		return fmt.Errorf("cuda: %w", err)
	}
	s.stage(occasions)
	if err := d.refresh(s.stale); err != nil {
		return err
	}
	if err := s.run(d); err != nil {
		return err
	}
	return s.finish(occasions)
}

// stage writes into pinned memory what is uploaded.
func (s *sequence) stage(occasions []uint64) {
	p := &s.plan
	for _, t := range p.staged {
		copy(s.up[t.offset:], device.Bytes(t.host))
	}
	for _, own := range p.own {
		for _, t := range own {
			copy(s.up[t.offset:], device.Bytes(t.host))
		}
	}
	for i, occasion := range occasions {
		binary.LittleEndian.PutUint64(s.up[p.occasions+8*i:], occasion)
	}
	for items, at := range p.items {
		putItems(s.up[at:], items)
	}
	clear(s.up[p.gate:])
	for _, x := range s.distinct {
		if a := x.program.Routine; a != nil {
			s.words = putWords(s.up[p.acts[x]:], a, s.words)
		}
		if a := x.program.Adam; a != nil {
			binary.LittleEndian.PutUint64(s.up[p.states[stateOf(x)]+kernel.StateT:], *a.T)
		}
	}
}

// finish reads the results of a run.
func (s *sequence) finish(occasions []uint64) error {
	p := &s.plan
	runs := len(s.runs)
	turn := int(binary.LittleEndian.Uint32(s.down))
	if turn > 0 {
		runs = turn - 1
	}
	for _, x := range s.distinct {
		x.wrote()
		x.forget(s.lasts)
		state := s.down[p.states[stateOf(x)]-p.gate:]
		x.norm = math.Float64frombits(binary.LittleEndian.Uint64(state[kernel.StateNorm:]))
		if a := x.program.Adam; a != nil {
			*a.T = binary.LittleEndian.Uint64(state[kernel.StateT:])
		}
		for _, held := range x.fetched {
			if err := s.device.residents.Fetch(held.Host); err != nil {
				return err
			}
		}
	}
	for i := range runs {
		for r, to := range s.kept[i] {
			if len(to) == 0 { // it has no place in what is downloaded
				continue
			}
			copy(device.Bytes(to), s.down[p.outputs[i][r]-p.gate:])
		}
	}
	if turn == 0 {
		return nil
	}
	for _, b := range s.runs[runs].program.Buffers { // it is run again by itself
		if len(b.Host) > 0 {
			copy(b.Host, s.own[runs][&b.Host[0]])
		}
	}
	err := s.runs[runs].diagnose(occasions[runs])
	var where *device.NotFinite
	if errors.As(err, &where) {
		return &device.Stopped{Program: runs, Err: where}
	}
	return err
}

// Data implements device.Sequence.
func (s *sequence) Data(i int, r device.Ref) []float32 {
	if b := s.runs[i].program.Buffers[r]; b.Host != nil {
		return b.Host
	}
	return s.kept[i][r]
}
