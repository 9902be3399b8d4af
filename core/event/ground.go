package event

import (
	"time"

	"pgrlab/core/run"
)

// Ground asks whether the returns of late are typical of where training stands: 64 policies, each one
// update away from the present one, play an episode each (see package ground). Training goes on
// meanwhile, more slowly. The answer is an event of type TypeGround, or a Refused whose Knob is "ground".
// Nothing in a run depends on it.
type Ground struct{ By string }

func (Ground) command() {}

// LeaveGround ends what a Ground has begun, if it is under way; the answer is then a Refused with the
// reason LeftGround.
type LeaveGround struct{ By string }

// LeftGround is why there is no answer to a Ground that was left.
const LeftGround = "ground: left"

func (LeaveGround) command() {}

// Grounding is a Ground under way.
type Grounding struct {
	Step     int // of the policy that is asked about
	By       string
	Episodes int // that are over
	Of       int
	Left     time.Duration // 0: unknown
	// Neighbours are the returns after an update so far, in order.
	Neighbours []float64
}

// Grounded says whether the returns of late are typical of where training stands, from the undiscounted
// returns of 64 policies, each one update away from the present one (docs/steering.md).
type Grounded struct {
	Number     int         `json:"number"`          // of the question, from 1
	At         int         `json:"at"`              // the env step at which it was asked, of the present policy; training goes on until the answer
	Word       string      `json:"word"`            // FALL, ROUGH, SLIP, FIRM, or "cannot say"
	Return     run.Float   `json:"return"`          // of the present policy, mean over starts of the last evaluation, the first 16 at most
	Returns    []run.Float `json:"returns"`         // the same, one for each start
	Neighbours []run.Float `json:"neighbours"`      // after a single update each, from the starts in turn
	Usual      run.Float   `json:"usual"`           // mean over the starts of the neighbours' medians
	Level      *run.Float  `json:"level,omitempty"` // median of the last four evaluations; missing if there were fewer
	Last       *run.Float  `json:"last,omitempty"`  // of the last evaluation, mean over these starts; missing if there was none
	Least      *run.Float  `json:"least,omitempty"` // the least of all evaluations; missing if there was none
	More       int         `json:"more"`            // neighbours that return more than the present policy from their start
	Count      int         `json:"count"`           // neighbours that the word speaks of
	Low        run.Float   `json:"low"`             // of their share, an interval of 95 %
	High       run.Float   `json:"high"`
	By         string      `json:"by,omitempty"`
	Seconds    run.Float   `json:"seconds"` // what the answer took, while training went on
}
