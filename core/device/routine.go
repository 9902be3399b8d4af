package device

import (
	"fmt"
	"math"

	"pgrlab/core/rng"
)

// Sequencer is a Mirror that does not need the host between two programs: it keeps
// transitions and samples batches of them, does in programs what is between gradient
// steps (Routine), and runs many programs as one.
type Sequencer interface {
	Mirror
	// Store takes memory for rows of so many numbers. What it holds at
	// first does not matter: rows are put before they are sampled.
	Store(rows, width int) (Store, error)
	// Sequence prepares runs, one after the other; a program may stand in it several
	// times. The programs are this device's, and are closed after the sequence.
	Sequence(programs []Executable) (Sequence, error)
}

// Store is rows of numbers that a device keeps for SampleBatch. The host has them elsewhere.
type Store interface {
	// Put writes rows, one behind the other, from row first on.
	Put(first int, rows []float32) error
	// Lost counts how often the device has given the rows back or lost them: who owns
	// them then puts all again.
	Lost() int
	Close() error
}

// Sequence is programs that run as one, in order. It belongs to one goroutine.
//
// The program that stops because something is not finite changes nothing, nor does any
// after it: what outlives runs is then what the programs before it have left.
type Sequence interface {
	// Run runs everything once, each program at an occasion of its own. A *Stopped says
	// which one stopped.
	Run(occasions []uint64) error
	// Data is the host's view of an output of program i of the last Run. What programs
	// after one that has stopped computed is nothing.
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

// Unwrap is the program's own error.
func (e *Stopped) Unwrap() error { return e.Err }

// Routine is what stands between gradient steps and is no arithmetic of a graph. A Program
// that has one has nothing else. Devices that are no Sequencer have none: there the
// host does the same between runs.
type Routine interface {
	// Operands are all its buffers, and Writes those of them that it writes.
	Operands() []Ref
	Writes() []Ref
	// Words appends what the host may change between runs, always as much of it.
	Words(dst []uint64) []uint64
}

// SampleBatch fills a batch with rows of two stores, as replay.Mixer does from two rings: the
// first rows are those that stream 0 names at the occasion, with replacement, of store
// 0, the others those that stream 1 names of store 1.
type SampleBatch struct {
	From    [2]Store // the second one may be nil, if no row is sampled from it
	Streams [2]rng.Stream
	Width   int       // of rows of both stores
	Columns []Columns // of buffers [1,B,C]
	Mix     *Mix
}

// Columns is where a part of sampled rows goes: To has columns First, First+1, … of them.
type Columns struct {
	To    Ref
	First int
}

// Mix is what a SampleBatch samples; it may change between runs.
type Mix struct {
	First int    // rows of the batch that come from the first store
	Held  [2]int // rows of each store that are sampled from, the first ones
}

// Operands are the columns.
func (d SampleBatch) Operands() []Ref {
	var refs []Ref
	for _, c := range d.Columns {
		refs = append(refs, c.To)
	}
	return refs
}

// Writes are the columns.
func (d SampleBatch) Writes() []Ref { return d.Operands() }

// Words are the mix.
func (d SampleBatch) Words(dst []uint64) []uint64 {
	return append(dst, uint64(d.Mix.First), uint64(d.Mix.Held[0]), uint64(d.Mix.Held[1]))
}

// Choose writes different numbers of [0,Of), as rng.Sequence.Choose does at the
// occasion: the subset of an ensemble.
type Choose struct {
	Out    Ref // [1,1,M]
	Of     int
	Stream rng.Stream
}

// Operands are Out.
func (c Choose) Operands() []Ref { return []Ref{c.Out} }

// Writes is Out.
func (c Choose) Writes() []Ref { return []Ref{c.Out} }

// Words are none.
func (c Choose) Words(dst []uint64) []uint64 { return dst }

// Temperature is a step of Adam on log α with the loss −log α·mean(log π + H̄), in
// float64 (Haarnoja et al. 2018b, equation 18). State are four words of 64 bits in the
// memory of eight numbers: log α, the moments m and v (float64) and the steps so far
// (unsigned).
type Temperature struct {
	LogP   Ref      // [1,B,1]
	State  Ref      // [1,1,8]
	Alpha  Ref      // [1,1,1], α after the step
	Result Ref      // [1,1,2]: the loss before the step, α after it
	Rate   *float64 // learning rate; it may change between runs
	Target float64  // H̄

	Beta1, Beta2, Eps float64
}

// Operands are all of them.
func (t Temperature) Operands() []Ref { return []Ref{t.LogP, t.State, t.Alpha, t.Result} }

// Writes are all but log π.
func (t Temperature) Writes() []Ref { return []Ref{t.State, t.Alpha, t.Result} }

// Words are the rate.
func (t Temperature) Words(dst []uint64) []uint64 { return append(dst, math.Float64bits(*t.Rate)) }
