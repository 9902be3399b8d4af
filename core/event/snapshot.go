package event

import (
	"math"
	"time"

	"pgrlab/core/knob"
)

// MapColumns and MapRows are the cells of a Mapped.
const (
	MapColumns = 40
	MapRows    = 20
)

// Mapped says where transitions lie: counts of samples, spread evenly over the
// buffers, of D_real and of D_syn in the cells of a plane, row by row from the
// smallest Y, and the mean F of real ones; NaN where none was scored.
type Mapped struct {
	X, Y        int // dimensions of the observation
	Low, High   [2]float64
	Step        int
	Real, Syn   [MapColumns * MapRows]int
	RealN, SynN int // transitions counted
	F           [MapColumns * MapRows]float64
	Relevance   string // the F; "": none
	FLow, FHigh float64
	Unknown     string // why there is no map
}

// Moment is the newest transition as the agent sees it.
type Moment struct {
	Step   int
	Action []float32 // each in [-1,1]
	Q      float64   // Q(s, π(s)) of its observation, the mean over critics; NaN: unknown
	F      float64   // its relevance; NaN: unknown
	// Chances are π(a|s) of each action, and V is V(s), in units of the rewards that are
	// learned from, where the learner chooses one of a few: of the choice of Action. nil, and
	// NaN: unknown.
	Chances []float32
	V       float64
	// Seen is the stack of frames that the learner answers next, the newest last, each
	// [Side,Side,3] bytes of red, green and blue; nil where it sees none.
	Seen [][]byte
	Side int
	// Crops are frames of the last batch beside what its random shift made of them; none
	// where the learner makes no shifts, or has had no batch.
	Crops []Crop
	// Memory is what the first copy's episode remembers, and Episode, EpisodeStep, EpisodeReturn
	// and Pose are that episode's as of then (see Snapshot); nil, and without them, where the
	// run has no function that remembers.
	Memory        *Memory
	Episode       int
	EpisodeStep   int
	EpisodeReturn float64
	Pose          []float64
	// Course is what the first copy was told with its newest env steps; nil where it is told
	// nothing.
	Course *Course
}

// Course is a bonus or an F along env steps.
type Course struct {
	Of    string    // CourseOfBonus or CourseOfF
	Step  int       // the newest env step
	Told  []float64 // of each env step, the newest last
	Ended []bool    // whether an episode ended with it
}

// The choices of Course.Of.
const (
	CourseOfBonus = "bonus" // what was added to the reward that the learner observed
	CourseOfF     = "F"     // relevance, told as the step was made
)

// Memory is the memory of an episode, of episodic curiosity.
type Memory struct {
	Entries []Remembered
	P90     float64 // the percentile of their similarities that F is made of; NaN: none yet
	Unknown string  // why nothing can be said of it
}

// Remembered is an entry of a Memory.
type Remembered struct {
	X, Y       float64 // where it was met, in units of the environment's; NaN: unknown
	Similarity float64 // to what is seen now, by the R-network: from 0, far, to 1, a few actions away
	Newest     bool    // it was made of what is seen now
}

// Crop is a frame, [Side,Side,3] bytes, that was shifted at random: what stands in a place
// of Cropped comes from so many pixels below it and to the right, or from the edge.
type Crop struct {
	Frame, Cropped []byte
	Down, Across   int
}

// State is whether a run goes on.
type State int

// The states.
const (
	Starting State = iota
	Running
	PausedState
	Finished
	FailedState
)

var stateNames = [...]string{"starting", "running", "paused", "finished", "failed"}

// String is starting, running, paused, finished or failed.
func (s State) String() string { return stateNames[s] }

// Snapshot is a run as it was a moment ago. It never changes.
type Snapshot struct {
	Time         time.Time
	Task, Method string
	Seed         uint64
	Dir          string // run folder; "" without one
	Members      int

	Step, Steps int
	State       State
	Parked      bool // paused, and the device's memory is given back
	HandedOver  bool // another process goes on with the run
	Phase       knob.Phase
	PhaseDone   int // units of the phase, as in Position.I
	PhaseTotal  int
	PhaseETA    time.Duration // 0: unknown
	ETA         time.Duration // of the run; 0: unknown
	StepTime    time.Duration // an env step with its updates, at its mean so far; 0: unknown
	Position    knob.Position

	StepsPerSec   float64 // env steps, over the last seconds, refits and evaluations included
	UpdatesPerSec float64 // critic updates
	// CostRefit and CostGenerate are estimates of "now"; 0: unknown.
	CostRefit    time.Duration
	CostGenerate time.Duration

	// Knobs are the effective values by name.
	Knobs map[string]knob.Value
	// Waiting are changes that are set and not yet in force.
	Waiting []KnobChanged
	// Scheduled are changes still to come, in order.
	Scheduled []knob.Scheduled

	// The rest is about member 0.
	Real, Synthetic int // rows of the buffers
	Updates         uint64
	Episode         int
	EpisodeStep     int
	EpisodeReturn   float64
	// Pose is that of the training environment's body, for the program's drawing
	// function; nil where the environment has none (see Posed).
	Pose      []float64
	NextRefit int // env steps to go; 0: none comes any more
	Refits    int
	FitLoss   float64 // of the last slice of a fit
	// FReal and FSyn describe relevance of real and synthetic transitions after
	// the last generation, FAsked that which its prompts asked for, over the same
	// edges; nil before it, and FAsked where nothing was asked for.
	FReal, FSyn, FAsked *Histogram
	// Losses are those of the last update; nil before it.
	Losses *UpdateLosses
	// MixReal and MixSynthetic are the rows of the last batch.
	MixReal, MixSynthetic int

	Map    *Mapped // the newest answer to a Map; nil: none
	Moment *Moment // the newest answer to a Watch; nil: none
	Dreamt *Dreamt // the newest answer to a Dreams; nil: none

	Err string // why it failed or waits
}

// ETALeast says whether ETA is without refits that are to come, because none has been made.
func (s *Snapshot) ETALeast() bool { return s.NextRefit > 0 && s.CostRefit == 0 }

// UpdateLosses are the numbers of one update. What the learner does not have is NaN.
type UpdateLosses struct {
	Critic, Actor, Alpha, QMean float64
	Curiosity                   float64 // of the relevance function that learned last; NaN without one
}

// Bins is the number of bins of a Histogram.
const Bins = 20

// Histogram describes a distribution of relevance; what lies outside its edges is
// not counted.
type Histogram struct {
	Rows   int       `json:"rows"`
	Min    float64   `json:"min"`
	Q10    float64   `json:"q10"`
	Median float64   `json:"median"`
	Q90    float64   `json:"q90"`
	Max    float64   `json:"max"`
	Low    float64   `json:"low"`  // lower edge of the first bin
	High   float64   `json:"high"` // upper edge of the last
	Counts [Bins]int `json:"counts"`
	Log    bool      `json:"log,omitempty"` // the edges rise by a factor, not by a difference
}

// Edge is the lower edge of bin i; that of Bins is the upper edge of the last.
func (h *Histogram) Edge(i int) float64 {
	part := float64(i) / Bins
	if h.Log {
		return h.Low * math.Pow(h.High/h.Low, part)
	}
	return h.Low + (h.High-h.Low)*part
}
