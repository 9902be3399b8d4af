package agent

import (
	"io"
	"math"

	"pgrlab/core/replay"
)

// Learner acts and learns. It belongs to one goroutine.
type Learner interface {
	Policy
	// Activations returns the policy's layers for at most MaxRows observations. A learner that
	// shows none of these returns none. The numbers stay valid until the next call.
	Activations(seen Looks) ([]Layer, error)
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
	Explorer   ExplorerLosses
	World      *World // of a model of the world; nil without one. The numbers are valid until the next update
}

// World are the losses of a model of the world, and what it expects.
type World struct {
	Observation    float64 // squared error of decoded observations, in their scale, summed over their numbers
	Reward         float64 // cross-entropy of the reward's bins, in nats
	Continue       float64 // cross-entropy of the episode's going on, in nats
	Dynamics       float64 // KL of a latent from what the model expected, in nats, at least the free ones
	Representation float64 // the same number, but for what it moves
	Imagined       float64 // mean of the first imagined returns, discounted
	Replayed       float64 // mean of the returns from the same latents along what was observed
}

// ExplorerLosses are those numbers of an agent beside it that explores; NaN if there is none.
type ExplorerLosses struct{ Critic, Actor, Alpha, QMean float64 }

// NoLosses returns the losses of an update that has computed none.
func NoLosses() Losses { return ActorLoss(math.NaN()) }

// ActorLoss returns the losses of an update of the policy alone.
func ActorLoss(loss float64) Losses {
	nan := math.NaN()
	return Losses{
		Critic: nan, Actor: loss, Alpha: nan, AlphaValue: nan, QMean: nan, Entropy: nan, Noise: nan,
		Explorer: ExplorerLosses{nan, nan, nan, nan},
	}
}

// UpdateResult is the result of one update.
type UpdateResult struct {
	Losses  Losses
	Stepped bool  // the policy was stepped
	Err     error // nil, or wraps a *plan.NotFinite: the rest of the update was not made

	// For a phase.

	Mix    replay.Mix // of the batch; zero: as Work.Source said when the update was completed
	Before int        // units of the phase that were made of it before the slice that completed it
}

// Looks are observations: numbers, or stacks of frames for a learner that sees frames.
type Looks struct {
	Rows    int
	Numbers []float32  // [Rows,O], as in D_real; nil if there are stacks
	Stacks  [][][]byte // [Rows], as Acting has them
}

// Made is a learner as a run has it: what acts and is saved, and the parts that only some learners
// have. A part that is nil is missing; nothing else about a learner is to be found out.
type Made struct {
	Learner
	Batches Batches // updates on batches of D_real, within the env step
	Values  Values  // of what D_real holds; relevance functions of values are refused without them
	Actions Actions // values of single actions; what-ifs are refused without them
	Encoder Encoder // of what the learner fills D_real with
	// Rolled is the policy that generators of rollouts roll out if it is another one than the learner's.
	Rolled Policy
	// Phases are its work between env steps, in the order in which they run.
	Phases []Phase
	// Prepare compiles what these uses need, instead of compiling it at the first use. On a device
	// with memory of its own it takes that memory now, or finds that there is too little.
	Prepare func(u Uses) error
	// Chances returns π(a|s) of every action and V(s), in units of the observed rewards, for the
	// first copy at the newest Act in training, of a learner that chooses one of a few actions.
	// chances is nil before the first such Act, and valid until the next one.
	Chances func() (chances []float32, value float64)
	// Crops returns shifted frames of the last batch's first rows, none before the first batch.
	// They belong to the caller.
	Crops func() []Crop
	// OpenLoop predicts what has followed some looks, in the evaluation of that number; nil: nothing can
	// be predicted yet. A learner without a model of the world has none.
	OpenLoop func(number uint64) (*OpenLoop, error)
	// Remark returns, once, what has changed in how long updates take, in one line without a stop;
	// "": nothing. Results do not depend on it.
	Remark func() string
	// Unfilled is roughly how many bytes of numbers, and of frames before compression, the learner
	// will have in a checkpoint at the end of the run, in addition to those of now.
	Unfilled func() (numbers, frames int64)
}

// OpenLoop is what a model of the world predicts for some rows of env steps: it sees the observations of the
// first Context steps, and then only the actions that were taken.
type OpenLoop struct {
	Rows, Steps, Context    int
	Real, Predicted         []float32 // [Rows,Steps,O], observations; the first ones are what the model decodes from those it sees
	Side                    int       // of frames; 0: numbers are observed
	Seen, Foreseen          []byte    // [Rows,Steps,Side,Side,Colours], the same of frames, in place of Real and Predicted
	Actions                 []float32 // [Rows,Steps,A], that led there
	Reward, PredictedReward []float32 // [Rows,Steps]
}

// Values are a learner's estimates for relevance functions and for display.
type Values interface {
	// Q writes Q(s, π(s)) for rows observations.
	Q(dst, obs []float32, rows int) error
	// TDError writes r + γ(1−d)·Q̄(s', π(s')) − Q(s,a) for rows transitions.
	TDError(dst []float32, b *replay.Batch, rows int) error
}

// Actions are a learner's estimates of what it may do.
type Actions interface {
	// Sample writes a ~ π(s) for rows observations obs [rows,O] to dst [rows,A], and log π(a|s) to
	// logp [rows]. The same occasion has the same noise, which nothing else uses.
	Sample(dst, logp, obs []float32, rows int, occasion uint64) error
	// Value writes Q(s,a) for rows observations obs [rows,O] and actions act [rows,A] to dst [rows].
	Value(dst, obs, act []float32, rows int) error
	// Alpha is the weight of log π in the values.
	Alpha() float64
}

// Batches makes updates on batches of transitions, real ones mixed with synthetic ones. The lab calls
// UpdateN, and the learner samples the batches. Batch and Update serve only where the batch is chosen or
// changed by the caller: in runs with priorities or a bonus, and in what-ifs.
//
// An update that meets a non-finite number stops there: its error wraps a
// *plan.NotFinite, and only a policy that was stepped before stays stepped. The update
// counts as made, and the next one can follow.
type Batches interface {
	// Batch returns the memory that an update of that size reads, for the caller to
	// fill.
	Batch(size int) (*replay.Batch, error)
	// Update makes one update on the contents of Batch(size); last says that it is the
	// last of the env step. stepped says whether the policy was stepped as well.
	Update(size int, rates Rates, last bool) (losses Losses, stepped bool, err error)
	// UpdateN makes n updates, each on a batch of the source, number i on that of occasion
	// from.First+i (replay.Mixer, Sample); last says that they end the env step. The returned
	// results are valid until the next call.
	UpdateN(n int, from BatchSource, rates Rates, last bool) ([]UpdateResult, error)
	// Fused says whether UpdateN makes all updates of an env step in one launch, on
	// batches that the device samples. That may end during a run, for lack of the device's memory.
	Fused() bool
	// Errors writes to dst [size] the value error of each row of the last update's batch,
	// as it was before the update's step. They can be priorities.
	Errors(dst []float32, size int) error
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
