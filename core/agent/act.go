package agent

import (
	"fmt"
	"math/bits"
)

// Mode is how a policy chooses its action.
type Mode int

// The modes.
const (
	Explore Mode = iota // as in training, with the learner's exploration
	Mean                // without noise, as in most evaluations
	Sample              // a sample of the policy, without what only exploration adds
)

// String is the mode's name: explore, mean, sample.
func (m Mode) String() string { return [...]string{"explore", "mean", "sample"}[m] }

// Acting is one call of a policy for copies of the environment that step together. Its
// memory belongs to the caller, which may reuse it for the next step.
type Acting struct {
	Copies int
	Obs    []float32 // [Copies,O]
	// Stacks replace Obs for a learner that sees frames: each copy's newest frames, the
	// oldest first (see replay.FrameRow). nil if there are no frames.
	Stacks  [][][]byte
	Actions []float32 // [Copies,A], written by Act
	// State [Copies,StateSize] is what the policy remembers of each copy's episode. Act
	// replaces it by what the policy remembers after this step. The caller zeroes a row
	// when an episode begins.
	State []float32
	// Episodes are the numbers of the copies' episodes. Only Explore needs them.
	Episodes []uint64
	Step     uint64 // the same step draws the same noise
	Mode     Mode
}

// Check returns an error unless the slices have the sizes that a policy needs whose
// observations have obs numbers, actions act numbers, and memory state numbers.
func (a *Acting) Check(obs, act, state int) error {
	n := a.Copies
	switch {
	case n < 1:
		return fmt.Errorf("act: %d copies, want at least 1", n)
	case len(a.Obs) != n*obs || len(a.Actions) != n*act:
		return fmt.Errorf("act: %d observations and %d actions for %d copies, want %d and %d each", len(a.Obs), len(a.Actions), n, obs, act)
	case len(a.State) != n*state:
		return fmt.Errorf("act: %d numbers of state for %d copies, want %d each", len(a.State), n, state)
	case a.Mode == Explore && len(a.Episodes) != n:
		return fmt.Errorf("act: the episodes of %d copies, want %d", len(a.Episodes), n)
	}
	return nil
}

// Policy chooses actions.
type Policy interface {
	// StateSize is how many numbers the policy remembers within an episode; it may be 0.
	StateSize() int
	// Act writes the actions, each in [-1,1], and the states.
	Act(a *Acting) error
}

// Layer is the output of one layer of a network for a batch of states.
type Layer struct {
	Name        string
	Pre         []float32 // [Rows,Units], the layer's own output
	Post        []float32 // [Rows,Units], after the activation; nil for an output
	Rows, Units int
	Output      bool // a head of the policy
}

// MaxRows is the most observations that one Act in a mode other than Mean, or one call of
// Activations, may have.
const MaxRows = 4096

// Padded returns how many rows the program for the given number of rows, 1 or more, has: a
// power of two, so that few programs serve all sizes. The contents of the extra rows do not
// matter.
func Padded(rows int) int { return 1 << bits.Len(uint(rows-1)) }
