package event

import (
	"math"
	"time"

	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// MapColumns and MapRows are the numbers of cells of a Mapped in each direction.
const (
	MapColumns = 40
	MapRows    = 20
)

// Mapped says where transitions lie. Samples of D_real and D_syn, spread evenly over the
// buffers, are counted in the cells of a plane, row by row from the smallest Y. Each cell
// also has the mean F of its real samples; NaN if none of them was scored.
type Mapped struct {
	X, Y        int // dimensions of the observation
	Low, High   [2]float64
	Step        int
	Real, Syn   [MapColumns * MapRows]int
	RealN, SynN int     // transitions counted
	Mixed       float64 // share of a mixed D_syn that its newest generation has made; 0: D_syn is whole
	F           [MapColumns * MapRows]float64
	Relevance   string // name of F; "" if there is none
	FLow, FHigh float64
	Unknown     string // why there is no map
}

// Moment is the newest transition as the agent sees it.
type Moment struct {
	Step   int
	Action []float32 // each in [-1,1]
	Reward float64   // of the transition; NaN if unknown
	Twin   *Twin     // the synthetic row like it; nil: there is none
	Q      float64   // Q(s, π(s)) of its observation, the mean over critics; NaN if unknown
	F      float64   // its relevance; NaN if unknown
	// Chances and V are set if the learner chooses one of a few actions, and belong to the
	// choice of Action. Chances holds π(a|s) of each action; nil if unknown. V is V(s), in
	// units of the rewards that are learned from; NaN if unknown.
	Chances []float32
	V       float64
	// Seen is the stack of frames for which the learner chooses its next action, the newest
	// last, each [Side,Side,3] bytes of red, green and blue; nil if it sees no frames.
	Seen [][]byte
	Side int
	// Crops holds frames of the last batch before and after their random shift; none if the
	// learner makes no shifts or has had no batch.
	Crops []Crop
	// Memory is the memory of the first copy's episode. Episode, EpisodeStep, EpisodeReturn and
	// Pose describe that episode at the same moment (see Snapshot). Memory is nil and the others
	// are unset if the run has no function with a memory.
	Memory        *Memory
	Episode       int
	EpisodeStep   int
	EpisodeReturn float64
	Pose          []float64
	// Course is the bonus or F that the first copy received with its newest env steps; nil if
	// it receives none.
	Course *Course
}

// Twin is the synthetic row whose s and a are nearest to those of a transition.
type Twin struct {
	Distance float64 // root mean square difference of the numbers of s and a, in standard deviations over D_real
	Reward   float64
	F        float64 // NaN if unknown
}

// Course is a bonus or an F along env steps.
type Course struct {
	Of     string    // CourseOfBonus or CourseOfF
	Step   int       // after the newest env step
	Every  int       // steps that an env step adds: one in each copy of the environment
	Values []float64 // one value for each env step, the newest last
	Ended  []bool    // whether an episode ended with it
}

// The values of Course.Of.
const (
	CourseOfBonus = "bonus" // the bonus added to the reward that the learner observed
	CourseOfF     = "F"     // relevance, computed as the step was made
)

// Memory is the episodic memory of episodic curiosity.
type Memory struct {
	Entries []Remembered
	P90     float64 // the percentile of their similarities from which F is computed; NaN: none yet
	Unknown string  // why nothing is known about it
}

// Remembered is an entry of a Memory.
type Remembered struct {
	X, Y       float64 // where it was met, in the environment's units; NaN if unknown
	Similarity float64 // to the present observation, by the R-network: from 0, far, to 1, a few actions away
	Newest     bool    // it was made from the present observation
}

// Crop is a frame, [Side,Side,3] bytes, that was shifted at random: a pixel of Cropped comes
// from Down pixels below and Across pixels to the right of its place, or from the edge.
type Crop struct {
	Frame, Cropped []byte
	Down, Across   int
}

// State is the state of a run.
type State int

// The states.
const (
	Starting State = iota
	Running
	PausedState
	Finished
	FailedState
	Ready // a run without an agent waits for a change, which makes the next generation
)

var stateNames = [...]string{"starting", "running", "paused", "finished", "failed", "ready"}

// String is starting, running, paused, finished, failed or ready.
func (s State) String() string { return stateNames[s] }

// Doing is what the run does, in a word or two: its phase, or the part of that.
func (s *Snapshot) Doing() string {
	if s.Warming {
		return "F learns"
	}
	return s.Phase.String()
}

// Snapshot is the state of a run a moment ago. It is immutable.
type Snapshot struct {
	Time         time.Time
	Task, Method string
	Seed         uint64
	Dir          string // run folder; "" without one
	Members      int
	Dreams       bool // there is no agent: a step is a generation

	Step, Steps int
	State       State
	Parked      bool // paused, with the device's memory released
	HandedOver  bool // another process continues the run
	Phase       knob.Phase
	Warming     bool // in phase score: the models of F learn first
	PhaseDone   int  // units of the phase, or, in phase score, of its part
	PhaseTotal  int
	PhaseETA    time.Duration // 0: unknown
	ETA         time.Duration // of the run; 0: unknown
	ETALeast    bool          // ETA leaves out work that is still to come, because none of its kind has been done yet
	StepTime    time.Duration // mean time of an env step of one copy with its updates so far; 0: unknown
	Position    knob.Position

	StepsPerSec   float64 // env steps, over the last seconds, refits and evaluations included
	UpdatesPerSec float64 // critic updates
	// CostRefit and CostGenerate are estimates of what "now" takes; 0: unknown.
	CostRefit    time.Duration
	CostGenerate time.Duration

	// Knobs are the effective values by name.
	Knobs map[string]knob.Value
	// Waiting holds the changes that are made but not yet in force.
	Waiting []KnobChanged
	// Scheduled holds the changes still to come, in order.
	Scheduled []knob.Scheduled

	// The rest is about member 0.
	Real, Synthetic int // rows of the buffers
	// Share is the share of a mixed D_syn that its newest generation has made; 0: D_syn is whole.
	// WholeIn is the time until it is whole; 0: unknown, or the rest is not made.
	Share         float64
	WholeIn       time.Duration
	Updates       uint64
	Episode       int
	EpisodeStep   int
	EpisodeReturn float64
	// Pose is the pose of the training environment's body, for the program's drawing
	// function; nil if the environment has none (see Posed).
	Pose      []float64
	NextRefit int // env steps until the next refit; 0: there is none to come
	Refits    int
	FitLoss   float64 // of the last slice of a fit
	// Losses holds the losses of the last update; nil before it.
	Losses *UpdateLosses
	// MixReal and MixSynthetic are the numbers of real and synthetic rows in the last batch.
	MixReal, MixSynthetic int

	Map    *Mapped    // the newest answer to a Map; nil: none
	Moment *Moment    // the newest answer to a Watch; nil: none
	Dreamt *Dreamt    // the newest answer to a Dreams; nil: none
	Ground *Grounding // nil: none is under way

	Err     string // why it failed or waits
	Passing bool   // such a pause ends by itself, as that of a disk which takes nothing
}

// UpdateLosses holds the losses of one update. A loss that the learner does not have is NaN.
type UpdateLosses struct {
	Critic, Actor, Alpha, QMean float64
	Noise                       float64 // of exploration
	Model                       float64 // of the relevance function that learned last; NaN before one has
	Function                    string  // its name; "" before that
	Explorer                    *ExplorerUpdate
}

// ExplorerUpdate holds the losses of an agent beside it that explores; nil: there is none, or it has
// learned nothing yet.
type ExplorerUpdate struct{ Critic, Actor, Alpha, QMean float64 }

// Bins is the number of bins of a Histogram.
const Bins = 20

// Histogram describes a distribution of relevance. Values outside its edges, which are
// finite, are not counted.
type Histogram struct {
	Rows   int       `json:"rows"`
	Min    run.Float `json:"min"`
	Q10    run.Float `json:"q10"`
	Median run.Float `json:"median"`
	Q90    run.Float `json:"q90"`
	Max    run.Float `json:"max"`
	Low    float64   `json:"low"`  // lower edge of the first bin
	High   float64   `json:"high"` // upper edge of the last bin
	Counts [Bins]int `json:"counts"`
	Log    bool      `json:"log,omitempty"` // the edges grow by a constant factor, not by a constant difference
}

// Edge is the lower edge of bin i; Edge(Bins) is the upper edge of the last bin.
func (h *Histogram) Edge(i int) float64 {
	part := float64(i) / Bins
	if h.Log {
		return h.Low * math.Pow(h.High/h.Low, part)
	}
	return h.Low + (h.High-h.Low)*part
}

// TrainingSpeed is how many critic updates are made in a second of env steps, without evaluations and
// refits; 0: unknown, or none is made now.
func (s *Snapshot) TrainingSpeed() float64 {
	if s.UpdatesPerSec <= 0 || s.StepTime <= 0 {
		return 0
	}
	return s.Knobs["utd"].Number / s.StepTime.Seconds()
}
