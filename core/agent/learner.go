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
	// as they are in D_real. A learner that shows no layers returns none. The numbers stay
	// valid until the next call.
	Activations(obs []float32, rows int) ([]Layer, error)
	// Save writes everything that learning depends on, even in the middle of a phase.
	// Load reads it into a learner of the same configuration, which then continues as if
	// it had not stopped. Load reads no byte beyond what Save wrote.
	Save(w io.Writer) error
	Load(r io.Reader) error
	// SavePolicy writes only what acting needs, in the format of nn.Save; LoadPolicy
	// reads it and leaves the rest of the learner unchanged.
	SavePolicy(w io.Writer) error
	LoadPolicy(r io.Reader) error
	Close() error
}

// Rates are the settings that may change while a learner learns. A learner reads only
// those that apply to it.
type Rates struct {
	LRActor  float64 // of the policy, and of log α
	LRCritic float64
	Tau      float64 // share by which target networks move towards the networks they follow
	Entropy  float64 // weight of the policy's entropy in its loss
}

// DefaultRates are those of REDQ, SynthER and PGR.
var DefaultRates = Rates{LRActor: 3e-4, LRCritic: 3e-4, Tau: 0.005}

// Losses are the numbers of one update. A number that the update did not compute is NaN.
type Losses struct {
	Critic     float64 // of the values: for an ensemble the sum of the members' mean squared errors
	Actor      float64 // of the policy, before its step
	Alpha      float64 // of the entropy's weight, before its step
	AlphaValue float64 // the entropy's weight after the update
	QMean      float64 // mean value over the batch, before the step; PPO's is over its real rows
	Entropy    float64 // of a policy that chooses, mean over the batch in nats, before the step
	Noise      float64 // standard deviation of the noise that is added to a policy's actions
}

// NoLosses returns the losses of an update that has computed none.
func NoLosses() Losses { return ActorLoss(math.NaN()) }

// ActorLoss returns the losses of an update of the policy alone.
func ActorLoss(loss float64) Losses {
	nan := math.NaN()
	return Losses{Critic: nan, Actor: loss, Alpha: nan, AlphaValue: nan, QMean: nan, Entropy: nan, Noise: nan}
}

// UpdateResult is the result of one update.
type UpdateResult struct {
	Losses  Losses
	Stepped bool  // the policy was stepped
	Err     error // nil, or wraps a *plan.NotFinite: the rest of the update was not made

	// For a phase of a learner that is Phased.

	Mix    replay.Mix // of the batch; zero: as Work.Source said when the update was completed
	Before int        // units of the phase that were made of it before the slice that completed it
}

// OffPolicy is a learner that makes updates on batches of transitions, real ones mixed
// with synthetic ones.
//
// An update that meets a non-finite number stops there: its error wraps a
// *plan.NotFinite, and only a policy that was stepped before stays stepped. The update
// counts as made, and the next one can follow.
type OffPolicy interface {
	// Batch returns the memory that an update of that size reads, for the caller to
	// fill.
	Batch(size int) (*replay.Batch, error)
	// Update makes one update on the contents of Batch(size); last says that it is the
	// last of the env step. stepped says whether the policy was stepped as well.
	Update(size int, rates Rates, last bool) (losses Losses, stepped bool, err error)
	// UpdateN makes n updates, each on a batch of the source; last says that they end
	// the env step. The returned results are valid until the next call.
	UpdateN(n int, from BatchSource, rates Rates, last bool) ([]UpdateResult, error)
	// Fused says whether UpdateN makes all updates of an env step in one launch, on
	// batches that the device samples. That may end during a run, for lack of the device's memory.
	Fused() bool
}

// BatchSource says what the batches of some updates are sampled from. The updates only
// read the rings.
type BatchSource struct {
	Mixer           replay.Mixer
	Real, Synthetic *replay.Ring // Synthetic may be nil if no row is synthetic
	Frames          Frames       // of the same env steps as Real; nil if the task is not observed by frames
	Mix             replay.Mix   // of each batch
	First           uint64       // occasion of the first batch; the others count on from it
}

// Prioritizer is a learner whose errors can be priorities.
type Prioritizer interface {
	// Errors writes to dst [size] the value error of each row of the last update's batch,
	// as it was before the update's step.
	Errors(dst []float32, size int) error
}

// Preparer is a learner that can take what a run needs before the run begins.
type Preparer interface {
	// Prepare compiles what these uses need, instead of compiling it at the first use. On
	// a device with memory of its own it takes that memory now, or finds that there is too
	// little.
	Prepare(u Uses) error
}

// Uses are what a learner is about to be used for, in rows.
type Uses struct {
	// Mixes are those of the updates' batches, in their order: without synthetic rows,
	// then with them.
	Mixes     []replay.Mix
	Source    *SourceSize // of UpdateN; nil if Update is called
	Copies    int         // that act in training
	Evaluated int         // copies that act in an evaluation; 0: none
	Probed    int         // observations of Activations; 0: none
}

// SourceSize describes the calls of UpdateN to come.
type SourceSize struct {
	Updates         int // per env step
	Mixer           replay.Mixer
	Real, Synthetic int // the most rows that the rings will hold; 0 if there is no such ring
}
