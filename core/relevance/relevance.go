package relevance

import (
	"errors"
	"io"
	"slices"

	"pgrlab/core/replay"
)

// Function scores transitions.
type Function interface {
	// Name is the function's name in the registry.
	Name() string
	// Score writes F of the first rows transitions of b to dst.
	Score(dst []float32, b *replay.Batch, rows int) error
}

// Values are a learner's estimates that some functions need; not every learner has them.
type Values interface {
	// Q writes Q(s, π(s)) of rows observations.
	Q(dst, obs []float32, rows int) error
	// TDError writes r + γ(1−d)·Q̄(s', π(s')) − Q(s,a) of rows transitions.
	TDError(dst []float32, b *replay.Batch, rows int) error
}

// Model is a function that learns from real transitions. It is made when the function
// is chosen for the first time, and is part of every checkpoint from then on: Load
// reads what Save wrote for the same settings, and no byte beyond.
type Model interface {
	Function
	Save(w io.Writer) error
	Load(r io.Reader) error
	Close() error
}

// Trained is a Model that makes gradient steps.
type Trained interface {
	Model
	// Batch is the memory that Train reads: real transitions only, drawn by the
	// caller.
	Batch() *replay.Batch
	// Train makes one step and returns its loss.
	Train() (loss float64, err error)
}

// Counted is a Model that is made anew from all real transitions before each scoring.
type Counted interface {
	Model
	// Begin forgets everything; the first rows transitions of sample say where
	// transitions are.
	Begin(sample *replay.Batch, rows int)
	// Observe takes rows transitions, in their order.
	Observe(b *replay.Batch, rows int) error
	// Seen is how many transitions it was made from.
	Seen() uint64
}

// Episodic is a Model whose F of a transition depends on what its episode has met before: it
// is told of every env step, in order, and says F of its transitions then. Who keeps rows keeps
// it in their notes, from where Score has it; Score of a row that was not met fails with ErrUnmet.
//
// It learns in rounds between two env steps, in slices. It is made only where all copies of the
// environment step together and every env step is met.
type Episodic interface {
	Model
	// Meet takes the next env step and writes F of its transitions, one of each copy.
	Meet(dst []float32, step *Met) error
	// Familiarity is what the last env step told.
	Familiarity() Familiarity
	// Recall says what a copy remembers of its episode, and how familiar an observation is
	// to it. It changes nothing, and may be asked between two slices of a round.
	Recall(copied int, seen Observation) (Recollection, error)
	// Learned says whether there was a round in which it learned; F is 0 before.
	Learned() bool
	// RoundDue says whether a round is to be made before the next env step, or is under way.
	RoundDue() bool
	// RoundUnits is how many units it has, at least one.
	RoundUnits() int
	// LearnSlice does the unit behind the done ones, also of a round that was under way when
	// the model was saved; the last one ends it. loss is that of an update, or NaN where the
	// unit is none.
	LearnSlice(done int) (loss float64, err error)
}

// ErrUnmet is why F of a transition is not known: it was generated, and no episode met it.
var ErrUnmet = errors.New("it is told of a transition as it is met, and generated ones were not")

// Tells says whether f can be asked of the first rows transitions of b: one of frames needs
// these, one that is told of env steps that they were met.
func Tells(f Function, b *replay.Batch, rows int) bool {
	if _, sees := f.(Sighted); sees && (b.Unseen != nil || len(b.Frames) < rows) {
		return false
	}
	if _, told := f.(Episodic); told {
		return b.Notes != nil && !slices.ContainsFunc(b.Notes[:rows], func(n replay.Note) bool { return !n.Met })
	}
	return true
}

// Scaled is a function whose paper gives its values another scale than Score.
type Scaled interface {
	// PaperScale is the paper's F over that of Score.
	PaperScale() float64
}

// PaperScale is the paper's F over that of f's Score; 1 where f is no Scaled.
func PaperScale(f Function) float64 {
	if s, ok := f.(Scaled); ok {
		return s.PaperScale()
	}
	return 1
}
