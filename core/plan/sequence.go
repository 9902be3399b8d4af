package plan

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/op"
)

// Sequence is a list of programs of one device that run as one, in order. It must be closed before
// its programs.
type Sequence struct {
	programs []*Program
	inner    device.Sequence
}

// NewSequence prepares programs to run one after the other; a program may occur several times. own lists tensors that the
// host writes and whose numbers differ between the runs of the sequence; see Own.
func NewSequence(dev device.Sequencer, programs []*Program, own ...*op.Tensor) (*Sequence, error) {
	var inner []device.Executable
	for _, p := range programs {
		inner = append(inner, p.exec)
	}
	var differing [][]float32
	for _, t := range own {
		differing = append(differing, t.Data)
	}
	s, err := dev.Sequence(inner, differing...)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &Sequence{programs: programs, inner: s}, nil
}

// Stopped says which program of a sequence met a number that is not finite. Neither that program
// nor the ones after it have changed anything.
type Stopped struct {
	Program int
	Err     *NotFinite
}

func (e *Stopped) Error() string { return e.Err.Error() }

// Unwrap returns the program's error.
func (e *Stopped) Unwrap() error { return e.Err }

// Run runs every program once, each at its own occasion. It returns a *Stopped where a single
// Program would return a *NotFinite.
func (s *Sequence) Run(occasions []uint64) error {
	err := s.inner.Run(occasions)
	if err == nil {
		return nil
	}
	if at, ok := err.(*device.Stopped); ok {
		return &Stopped{Program: at.Program, Err: s.programs[at.Program].notFinite(at.Err)}
	}
	return fmt.Errorf("run %s and %d more: %w", s.programs[0].Name, len(s.programs)-1, err)
}

// Own returns what the i-th program reads in the place of a tensor, one of those that NewSequence was called with: the host
// writes it before each Run. It is nil if the program does not read the tensor.
func (s *Sequence) Own(i int, t *op.Tensor) []float32 { return s.inner.Own(i, t.Data) }

// Data is Program.Data of the i-th program of the last run.
func (s *Sequence) Data(i int, n *op.Node) []float32 {
	return s.inner.Data(i, s.programs[i].refs[n])
}

// Loss is Program.Loss of the i-th program of the last run.
func (s *Sequence) Loss(i int) float64 {
	return float64(s.inner.Data(i, s.programs[i].loss)[0])
}

// Result is Program.Result of the i-th program of the last run.
func (s *Sequence) Result(i int) []float32 { return s.inner.Data(i, s.programs[i].result) }

// Close frees what the sequence holds.
func (s *Sequence) Close() error { return s.inner.Close() }
