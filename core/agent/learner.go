package agent

import (
	"io"
	"math"

	"pgrlab/core/replay"
)

// Learner acts and learns. It belongs to one goroutine.
type Learner interface {
	Policy
	// Activations returns the policy's layers for rows states [rows,O], at most MaxRows,
	// as they are in D_real; none where it does not show any. The numbers stay valid
	// until the next call.
	Activations(obs []float32, rows int) ([]Layer, error)
	// Save writes everything that learning depends on, in the middle of a phase too;
	// Load reads it into a learner of the same configuration, which then goes on as if
	// it had not stopped. Load reads no byte beyond.
	Save(w io.Writer) error
	Load(r io.Reader) error
	// SavePolicy writes what acting needs alone, in the format of nn.Save; LoadPolicy
	// reads it, and the rest of the learner stays as it is.
	SavePolicy(w io.Writer) error
	LoadPolicy(r io.Reader) error
	Close() error
}

// Rates are the settings that may change while a learner learns. A learner reads those
// that it has.
type Rates struct {
	LRActor  float64 // of the policy, and of log α
	LRCritic float64
	Tau      float64 // share by which targets move towards what they follow
	Entropy  float64 // weight of the policy's entropy in its loss
}

// DefaultRates are those of REDQ, SynthER and PGR.
var DefaultRates = Rates{LRActor: 3e-4, LRCritic: 3e-4, Tau: 0.005}

// Losses are the numbers of one update. What it did not compute is NaN.
type Losses struct {
	Critic     float64 // of the values: for an ensemble the sum of the members' mean squared errors
	Actor      float64 // of the policy, before its step
	Alpha      float64 // of the entropy's weight, before its step
	AlphaValue float64 // the entropy's weight after the update
	QMean      float64 // mean value over the batch, before the step
}

// ActorLoss are the losses of an update of a policy alone.
func ActorLoss(loss float64) Losses {
	nan := math.NaN()
	return Losses{Critic: nan, Actor: loss, Alpha: nan, AlphaValue: nan, QMean: nan}
}

// UpdateResult is what one update made.
type UpdateResult struct {
	Losses  Losses
	Stepped bool  // the policy was
	Err     error // wraps a *plan.NotFinite: the update is without effect; or nil
}

// OffPolicy is a learner that makes updates on batches of transitions, real ones mixed
// with synthetic ones.
//
// An update that meets a number which is not finite is without effect: its error wraps
// a *plan.NotFinite, the update counts as made, and the next one can follow.
type OffPolicy interface {
	// Batch is the memory that an update of that size reads: for batches that the
	// caller fills.
	Batch(size int) (*replay.Batch, error)
	// Update makes one update on what Batch(size) holds; last says that it is the env
	// step's last. stepped says whether the policy was stepped as well.
	Update(size int, rates Rates, last bool) (losses Losses, stepped bool, err error)
	// UpdateN makes n updates, each on a batch of the source; last says that they end
	// the env step. What it returns is valid until the next call.
	UpdateN(n int, from BatchSource, rates Rates, last bool) ([]UpdateResult, error)
	// Fused says whether all updates of an env step are one launch of UpdateN, on
	// batches that the device samples.
	Fused() bool
}

// BatchSource says what the batches of some updates are sampled from. Rings are only
// read.
type BatchSource struct {
	Mixer           replay.Mixer
	Real, Synthetic *replay.Ring // Synthetic may be nil if no row is synthetic
	Frames          Frames       // of the same env steps as Real; nil where the task is not observed by frames
	Mix             replay.Mix   // of each batch
	First           uint64       // occasion of the first batch; the others follow
}

// Prioritizer is a learner whose errors can be priorities.
type Prioritizer interface {
	// Errors writes how wrong the values of each row of the last update's batch were,
	// before its step, to dst [size].
	Errors(dst []float32, size int) error
}

// Preparer is a learner that can take what a run needs before it begins.
type Preparer interface {
	// Prepare compiles what these uses need, which otherwise happens at the first of
	// each: on a device with memory of its own the memory is taken now, or found to be
	// too little.
	Prepare(u Uses) error
}

// Uses are what a learner is about to be used for, in rows.
type Uses struct {
	// Mixes are of updates' batches, as they follow each other: without synthetic rows, and
	// with them.
	Mixes     []replay.Mix
	Source    *SourceSize // of UpdateN; nil: Update is called
	Copies    int         // that act in training
	Evaluated int         // copies that act in an evaluation; 0: none
	Probed    int         // observations of Activations; 0: none
}

// SourceSize is what UpdateN will be asked for.
type SourceSize struct {
	Updates         int // of an env step
	Mixer           replay.Mixer
	Real, Synthetic int // the most rows that the rings will hold; 0: there is no such ring
}
