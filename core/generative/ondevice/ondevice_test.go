package ondevice

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// fake is a device that keeps rows, computes nothing, and fails where a test says so. What is open on it
// is counted.
type fake struct {
	device.Sequencer
	stores, programs, sequences int // that are open
	store                       *fakeStore
	sequence                    *fakeSequence
	refuses                     map[string]error // by what is asked for
}

type fakeStore struct {
	on          *fake
	width, lost int
	rows        []float32
	put         [][2]int // the first row of each copy, and how many
	full        int      // the copy that fails, counted from 1
}

type fakeProgram struct {
	device.Executable
	on *fake
}

type fakeSequence struct {
	device.Sequence
	on        *fake
	programs  []device.Executable
	occasions []uint64
	err       error
}

func (f *fake) Store(rows, width int) (device.Store, error) {
	if err := f.refuses["store"]; err != nil {
		return nil, err
	}
	f.stores++
	f.store = &fakeStore{on: f, width: width, rows: make([]float32, rows*width)}
	return f.store, nil
}

func (f *fake) Compile(*device.Program) (device.Executable, error) {
	if err := f.refuses["program"]; err != nil {
		return nil, err
	}
	f.programs++
	return &fakeProgram{on: f}, nil
}

func (f *fake) Sequence(programs []device.Executable, _ ...[]float32) (device.Sequence, error) {
	if err := f.refuses["sequence"]; err != nil {
		return nil, err
	}
	f.sequences++
	f.sequence = &fakeSequence{on: f, programs: programs}
	return f.sequence, nil
}

func (s *fakeStore) Put(first int, rows []float32) error {
	if s.put = append(s.put, [2]int{first, len(rows) / s.width}); len(s.put) == s.full {
		return errors.New("the copy failed")
	}
	copy(s.rows[first*s.width:], rows)
	return s.on.refuses["copy"]
}

func (s *fakeStore) Lost() int    { return s.lost }
func (s *fakeStore) Close() error { s.on.stores--; return nil }

func (x *fakeProgram) Close() error { x.on.programs--; return nil }

func (s *fakeSequence) Run(occasions []uint64) error {
	s.occasions = slices.Clone(occasions)
	return s.err
}

func (s *fakeSequence) Data(i int, _ device.Ref) []float32 { return []float32{float32(i)} }
func (s *fakeSequence) Close() error                       { s.on.sequences--; return nil }

// park gives up the memory of the rows.
func (s *fakeStore) park() {
	s.lost++
	clear(s.rows)
}

// routine makes a program of its own on the device.
func routine(t *testing.T, f *fake, name string) *plan.Program {
	t.Helper()
	p, err := plan.CompileRoutine(name, plan.Choose{Out: op.NewTensor("out", 1), Of: 2}, f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// numbered has rows [i, −i].
func numbered(rows int) Source {
	return Source{Rows: rows, Width: 2, Batch: 4, Write: func(dst []float32, i int) { dst[0], dst[1] = float32(i), -float32(i) }}
}

// wrong is the first row that a store does not hold as numbered has it; −1 if there is none.
func (s *fakeStore) wrong() int {
	for i := range len(s.rows) / 2 {
		if s.rows[2*i] != float32(i) || s.rows[2*i+1] != -float32(i) {
			return i
		}
	}
	return -1
}

// All rows are on the device, however many copies they take.
func TestRowsAreCopiedInPieces(t *testing.T) {
	for rows, want := range map[int][][2]int{
		1: {{0, 1}}, 4096: {{0, 4096}}, 4097: {{0, 4096}, {4096, 1}}, 9000: {{0, 4096}, {4096, 4096}, {8192, 808}},
	} {
		f := &fake{}
		o, err := Take(f, numbered(rows), 3, Steps{Step: routine(t, f, "step")})
		if err != nil || o == nil {
			t.Fatal(o, err)
		}
		if !slices.Equal(f.store.put, want) || f.store.wrong() >= 0 {
			t.Errorf("%d rows are copied as %v, want %v; the first wrong one is %d", rows, f.store.put, want, f.store.wrong())
		}
		if err := o.Close(); err != nil || f.stores+f.programs+f.sequences != 1 { // the step's program
			t.Errorf("%d stores, %d programs and %d sequences are open, %v", f.stores, f.programs, f.sequences, err)
		}
	}
}

// Without room for any part of it the host samples the batches; any other error is one. Either way what
// was taken before is given back.
func TestWhatCannotBeTaken(t *testing.T) {
	broken := errors.New("broken")
	for _, what := range []string{"store", "program", "sequence", "copy"} {
		for _, cause := range []error{&device.OutOfMemory{Asked: 1}, fmt.Errorf("compile: %w", &device.OutOfMemory{Asked: 1}), broken} {
			f := &fake{refuses: map[string]error{}}
			step := routine(t, f, "step")
			f.refuses[what] = cause
			o, err := Take(f, numbered(3), 2, Steps{Step: step})
			_, small := errors.AsType[*device.OutOfMemory](cause)
			if o != nil || (err == nil) != small {
				t.Errorf("a %s that is refused with %q: %v, %v", what, cause, o, err)
			}
			if f.stores+f.programs+f.sequences != 1 {
				t.Errorf("a %s that is refused: %d stores, %d programs and %d sequences are open", what, f.stores, f.programs, f.sequences)
			}
		}
	}
}

// averages says which of three gradient steps an update of the average follows, if there are any.
var averages = map[string]func(i int) bool{
	"none": nil, "each": func(int) bool { return true }, "the last": func(i int) bool { return i == 2 }, "the first": func(i int) bool { return i == 0 },
}

// Where a sequence stops, whichever of its programs it is, the gradient steps before that one were made.
func TestStepsBeforeAStop(t *testing.T) {
	for name, due := range averages {
		f := &fake{}
		step, average := routine(t, f, "step"), routine(t, f, "average")
		o, err := Take(f, numbered(3), 3, Steps{Step: step, Average: average, Due: due})
		if err != nil {
			t.Fatal(err)
		}
		var want []int      // gradient steps before each program
		var programs string // s: a sample, g: a gradient step, a: an average
		for i := range 3 {
			programs, want = programs+"sg", append(want, i, i)
			if due != nil && due(i) {
				programs, want = programs+"a", append(want, i+1)
			}
		}
		if len(f.sequence.programs) != len(want) {
			t.Fatalf("averages after %s: %d programs, want %s", name, len(f.sequence.programs), programs)
		}
		for at, steps := range want {
			f.sequence.err = &device.Stopped{Program: at, Err: &device.NotFinite{Instr: device.Nowhere, Norm: math.NaN()}}
			made, loss, err := o.Run(func(i int) uint64 { return uint64(10 + i) })
			if stopped, is := errors.AsType[*plan.Stopped](err); !is || stopped.Program != at || made != steps || loss != 0 {
				t.Errorf("averages after %s: a stop at program %d of %s: %d steps were made, want %d; %v", name, at, programs, made, steps, err)
			}
		}
		f.sequence.err = errors.New("broken")
		if made, _, err := o.Run(func(int) uint64 { return 0 }); made != 0 || err == nil {
			t.Errorf("a sequence that fails: %d steps, %v", made, err)
		}
	}
}

// Each gradient step and the sample before it are at the step's occasion, and its loss is counted.
func TestARunOfAllSteps(t *testing.T) {
	for name, due := range averages {
		f := &fake{}
		o, err := Take(f, numbered(3), 3, Steps{Step: routine(t, f, "step"), Average: routine(t, f, "average"), Due: due})
		if err != nil {
			t.Fatal(err)
		}
		made, loss, err := o.Run(func(i int) uint64 { return uint64(10 + i) })
		sum, at := 0.0, 0
		for i := range 3 {
			if got := f.sequence.occasions[at : at+2]; got[0] != uint64(10+i) || got[1] != got[0] {
				t.Errorf("averages after %s: step %d is at occasions %v", name, i, got)
			}
			sum += float64(at + 1) // the fake's loss is the place of the program
			if at += 2; due != nil && due(i) {
				at++
			}
		}
		if made != 3 || loss != sum || err != nil {
			t.Errorf("averages after %s: %d steps with a loss of %v, want %v; %v", name, made, loss, sum, err)
		}
	}
}

// Rows that the device has lost are put again, and again if that failed.
func TestRowsThatWereLost(t *testing.T) {
	const rows = 5000 // two copies
	for full := range 3 {
		f := &fake{}
		o, err := Take(f, numbered(rows), 1, Steps{Step: routine(t, f, "step")})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Current(); err != nil || len(f.store.put) != 2 {
			t.Errorf("rows that are there are put again: %v, %v", f.store.put, err)
		}
		f.store.park()
		f.store.put, f.store.full = nil, full
		if err := o.Current(); (err == nil) != (full == 0) {
			t.Errorf("copy %d fails: %v", full, err)
		}
		f.store.full = 0
		if err := o.Current(); err != nil || f.store.wrong() >= 0 {
			t.Errorf("after copy %d failed, row %d is not on the device: %v", full, f.store.wrong(), err)
		}
		n := len(f.store.put)
		if err := o.Current(); err != nil || len(f.store.put) != n {
			t.Errorf("after copy %d failed, rows that are there are put again: %v", full, err)
		}
	}
}
