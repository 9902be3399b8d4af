package relevance

import (
	"errors"

	"pgrlab/core/experience"
	"pgrlab/core/replay"
)

// Function scores transitions.
type Function interface {
	// Name is the function's name in the registry.
	Name() string
	// Score writes F of the first rows transitions of b to dst.
	Score(dst []float32, b *replay.Batch, rows int) error
}

// Values are a learner's value estimates, which some functions need. Not every learner has them.
type Values interface {
	// Q writes Q(s, π(s)) for rows observations.
	Q(dst, obs []float32, rows int) error
	// TDError writes r + γ(1−d)·Q̄(s', π(s')) − Q(s,a) for rows transitions.
	TDError(dst []float32, b *replay.Batch, rows int) error
}

// Models are an ensemble of models of the dynamics that a generator learns. Not every generator has one.
type Models interface {
	// Members is how many models there are.
	Members() int
	// Fitted says whether they have learned anything; they cannot predict before.
	Fitted() bool
	// Predict writes what each of them predicts of s'−s for rows observations and actions: means and
	// variances, [N,rows,O] each, of changes that are standardised.
	Predict(means, variances, obs, act []float32, rows int) error
}

// Trained is a Saved that makes gradient steps.
type Trained interface {
	Saved
	// Batch is the memory that Train reads: real transitions only, drawn by the
	// caller.
	Batch() *replay.Batch
	// Train makes one step and returns its loss.
	Train() (loss float64, err error)
}

// Starter is a Trained whose step may go on beside other programs of its device.
type Starter interface {
	Trained
	// Beside says whether the device can do that.
	Beside() bool
	// Start begins the step that the next Train ends. Until then the batch must not change, and nothing
	// may use the model.
	Start() error
}

// Counted is a Saved that is rebuilt from all real transitions before each scoring.
type Counted interface {
	Saved
	// Begin forgets everything. The first rows transitions of sample show where transitions lie.
	Begin(sample *replay.Batch, rows int)
	// Observe adds rows transitions, in their order.
	Observe(b *replay.Batch, rows int) error
	// Seen is the number of transitions that the model was built from.
	Seen() uint64
}

// Measured is a Saved with functions of a whole column: it is measured on all real transitions before
// each scoring, and then scores any transitions against these.
type Measured interface {
	Saved
	// Passes is how many times all real transitions are observed, at least one.
	Passes() int
	// BeginPass begins one of the passes, EndPass ends it. Between them Observe is given all transitions,
	// in their order.
	BeginPass(pass int)
	Observe(pass int, b *replay.Batch, rows int) error
	EndPass(pass int)
	// Measured says whether the last pass has ended since the first one began.
	Measured() bool
}

// Episodic is a Saved whose F of a transition depends on what the transition's episode has met
// before. It is given every env step, in order, and returns F of its transitions then. A caller
// that keeps rows keeps F in their notes, where Score reads it, NaN for rows that were met before the
// model had learned: see Judge. Score fails with ErrUnmet on a row that was not met.
//
// The model learns in rounds between two env steps, in slices. It is created only where all copies
// of the environment step together and every env step is met.
type Episodic interface {
	Saved
	// Meet takes the next env step, before the log has it, and writes F of its transitions, one for
	// each copy.
	Meet(dst []float32, step *Met) error
	// Forget ends the episode of a copy, if it is not over yet.
	Forget(copied int)
	// Familiarity is what was measured at the last env step.
	Familiarity() Familiarity
	// Recall returns what a copy remembers of its episode, and how familiar the observation seen is
	// to it. It changes nothing and may be called between two slices of a round.
	Recall(copied int, seen experience.Look) (Recollection, error)
	// Learned reports whether the model has learned in any round; until then F is 0.
	Learned() bool
	// RoundDue reports whether a round is due before the next env step, or is under way.
	RoundDue() bool
	// RoundUnits is the number of units of a round, at least one.
	RoundUnits() int
	// LearnSlice does the unit that follows the done ones, also in a round that was under way when
	// the model was saved. The last unit ends the round. loss is that of an update, or NaN for a
	// unit that is not an update.
	LearnSlice(done int) (loss float64, err error)
	// Fill makes the memories as full as they can be, for a trial of what an env step takes.
	Fill()
}

// ErrUnmet is the error for a transition whose F is unknown because the transition was generated:
// no episode met it.
var ErrUnmet = errors.New("it is given a transition as it is met, and generated ones were not")

// Fitted is a Saved whose F is that of the generator's models.
type Fitted interface {
	Saved
	// Known says whether the generator has fitted them.
	Known() bool
}

// Scaled is a function whose paper scales F differently from Score.
type Scaled interface {
	// PaperScale is the ratio of the paper's F to that of Score.
	PaperScale() float64
}
