package device

import (
	"fmt"
	"math"

	"pgrlab/core/rng"
)

// Sequencer is a Mirror that does not need the host between two programs. It stores transitions and
// samples batches of them, runs the work between gradient steps as programs (Routine), and runs
// many programs as one.
type Sequencer interface {
	Mirror
	// Store allocates memory for rows of width numbers. Its initial contents do not matter: rows
	// are put before they are sampled.
	Store(rows, width int) (Store, error)
	// Cache is Store, but the device gives the rows up (Store.Lost) when it needs the memory for
	// something else. Put then takes memory again, and fails with an *OutOfMemory if there is none;
	// so does a program that reads the rows before they are put.
	Cache(rows, width int) (Store, error)
	// Sequence prepares programs to run one after the other; a program may occur several times. The
	// programs must belong to this device and be closed after the sequence. own lists tensors of the host, each identified
	// by its memory, whose numbers differ between the runs of the sequence (Sequence.Own).
	Sequence(programs []Executable, own ...[]float32) (Sequence, error)
}

// Store holds rows of numbers on a device for SampleBatch or StackFrames. The host has its own copy.
type Store interface {
	// Put writes consecutive rows, starting at row first.
	Put(first int, rows []float32) error
	// Lost returns how often the device has given back or lost the rows; the owner of the rows must
	// then put all of them again.
	Lost() int
	Close() error
}

// Sequence is a list of programs that run as one, in order. It belongs to one goroutine.
//
// A program that stops because something is not finite changes nothing, and neither do the programs
// after it: state that outlives runs is then as the programs before it have left it.
type Sequence interface {
	// Run runs every program once, each at its own occasion. A *Stopped says which program stopped.
	Run(occasions []uint64) error
	// Own returns the numbers that program i reads in the place of a tensor of the host's, one of those that Sequence was
	// called with; the host writes them before a Run. It is nil if the program does not read the tensor.
	Own(i int, host []float32) []float32
	// Data returns the host's view of an output of program i of the last Run. Outputs of programs
	// after one that has stopped are meaningless.
	Data(i int, r Ref) []float32
	Close() error
}

// Stopped says which program of a sequence stopped.
type Stopped struct {
	Program int
	Err     *NotFinite
}

func (e *Stopped) Error() string {
	return fmt.Sprintf("program %d of a sequence: %v", e.Program, e.Err)
}

// Unwrap returns the program's own error.
func (e *Stopped) Unwrap() error { return e.Err }

// Routine is work between gradient steps that is not arithmetic of a graph. A Program with a
// Routine has nothing else. Only a Sequencer runs routines; on other devices the host does the same
// work between runs.
type Routine interface {
	// Operands are all buffers of the routine, and Writes are those that it writes.
	Operands() []Ref
	Writes() []Ref
	// Words appends what the host may change between runs, always the same number of words.
	Words(dst []uint64) []uint64
}

// SampleBatch fills a batch with rows of two stores, as replay.Mixer does from two rings. The first
// rows come from store 0, chosen by stream 0 at the occasion, with replacement; the others come
// from store 1, chosen by stream 1.
type SampleBatch struct {
	From    [2]Store // the second one may be nil if no row is sampled from it
	Streams [2]rng.Stream
	Width   int       // of the rows of both stores
	Columns []Columns // of buffers [1,B,C]
	Mix     *Mix
}

// Columns says where a part of the sampled rows goes: To receives columns First, First+1, … of
// them.
type Columns struct {
	To    Ref
	First int
}

// Mix says how many rows a SampleBatch takes from where; it may change between runs.
type Mix struct {
	First int    // rows of the batch that come from the first store
	Held  [2]int // number of rows, from the start of each store, that may be sampled
}

// Operands are the columns' buffers.
func (d SampleBatch) Operands() []Ref {
	var refs []Ref
	for _, c := range d.Columns {
		refs = append(refs, c.To)
	}
	return refs
}

// Writes are the columns' buffers.
func (d SampleBatch) Writes() []Ref { return d.Operands() }

// Words appends the mix.
func (d SampleBatch) Words(dst []uint64) []uint64 {
	return append(dst, uint64(d.Mix.First), uint64(d.Mix.Held[0]), uint64(d.Mix.Held[1]))
}

// StackFrames makes images of frames that a store holds as bytes, each row being a frame [Height,
// Width,Channels] in whole words: stacks of them, the oldest frame first, shifted and with repeated
// edges as window.Frames.StackBytes does it.
type StackFrames struct {
	From                    Store
	Height, Width, Channels int
	Pad, Stack              int
	// Picks [1,B,(Stack+2)·len(To)] holds for each result the rows of its stack in the store, and
	// how far they are shifted down and across.
	Picks Ref
	To    []Ref // [1,B,W], bytes in the place of numbers
}

// Operands are the picks and all images.
func (f StackFrames) Operands() []Ref { return append([]Ref{f.Picks}, f.To...) }

// Writes are the images.
func (f StackFrames) Writes() []Ref { return f.To }

// Words appends nothing.
func (f StackFrames) Words(dst []uint64) []uint64 { return dst }

// Choose writes distinct numbers of [0,Of), as rng.Sequence.Choose does at the occasion: the chosen
// subset of an ensemble.
type Choose struct {
	Out    Ref // [1,1,M]
	Of     int
	Stream rng.Stream
}

// Operands is Out.
func (c Choose) Operands() []Ref { return []Ref{c.Out} }

// Writes is Out.
func (c Choose) Writes() []Ref { return []Ref{c.Out} }

// Words appends nothing.
func (c Choose) Words(dst []uint64) []uint64 { return dst }

// Temperature is a step of Adam on log α with the loss −log α·mean(log π + H̄), in float64
// (Haarnoja et al. 2018b, equation 18). State is four 64-bit words in the memory of eight numbers:
// log α, the moments m and v (float64), and the number of steps so far (unsigned).
type Temperature struct {
	LogP   Ref      // [1,B,1]
	State  Ref      // [1,1,8]
	Alpha  Ref      // [1,1,1], α after the step
	Result Ref      // [1,1,2]: the loss before the step, α after it
	Rate   *float64 // learning rate; it may change between runs
	Target float64  // H̄

	Beta1, Beta2, Eps float64
}

// Operands are all four buffers.
func (t Temperature) Operands() []Ref { return []Ref{t.LogP, t.State, t.Alpha, t.Result} }

// Writes are all but log π.
func (t Temperature) Writes() []Ref { return []Ref{t.State, t.Alpha, t.Result} }

// Words appends the rate.
func (t Temperature) Words(dst []uint64) []uint64 { return append(dst, math.Float64bits(*t.Rate)) }
