package agent

import (
	"fmt"
	"math/bits"
)

// Mode is how a policy chooses its action.
type Mode int

// The modes.
const (
	Explore Mode = iota // as in training, with whatever makes it try things
	Mean                // without noise, as most evaluations do
	Sample              // a sample of the policy without what only exploring adds
)

// String is the mode's name: explore, mean, sample.
func (m Mode) String() string { return [...]string{"explore", "mean", "sample"}[m] }

// Acting is one call of a policy for copies of the environment that step together. The
// memory is the caller's, who may use it again for the next step.
type Acting struct {
	Copies int
	Obs    []float32 // [Copies,O]
	// Stacks are what a learner that sees frames answers instead of Obs: of each copy
	// the newest frames, the oldest first (see replay.FrameRow). nil where there are none.
	Stacks  [][][]byte
	Actions []float32 // [Copies,A], written
	// State [Copies,StateSize] is what the policy remembers of each copy's episode. It
	// is replaced by what it remembers after this step. The caller zeroes a row where
	// an episode begins.
	State []float32
	// Episodes are the numbers of the copies' episodes. Only Explore needs them.
	Episodes []uint64
	Step     uint64 // the same step has the same noise
	Mode     Mode
}

// Check says whether slices have the sizes that a policy of obs observations, act
// actions and state numbers of memory needs.
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

// Policy acts.
type Policy interface {
	// StateSize is how many numbers the policy remembers within an episode; 0: none.
	StateSize() int
	// Act writes the actions, each in [-1,1], and the states.
	Act(a *Acting) error
}

// Layer is what one layer of a network gave for a batch of states.
type Layer struct {
	Name        string
	Pre         []float32 // [Rows,Units], the layer's own output
	Post        []float32 // [Rows,Units], behind the activation; nil for an output
	Rows, Units int
	Output      bool // a head of the policy
}

// MaxRows is the most observations of one Act that is not Mean, and of one call of
// Activations.
const MaxRows = 4096

// Padded is the number of rows of the program that serves rows, 1 or more: a power of two, so
// that few programs serve all. What stands in the rows beyond does not matter.
func Padded(rows int) int { return 1 << bits.Len(uint(rows-1)) }
