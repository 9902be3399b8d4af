package checkpoint

import (
	"bytes"
	"encoding/gob"
	"io"
	"slices"

	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/replica"
	"pgrlab/core/version"
)

// Loop is the section of the loop: the state of a run that is in no part with Save and Load.
// The names of its fields are stored in checkpoints.
type Loop struct {
	Loop     Counters
	Schedule []knob.Scheduled
	Position knob.Position
	Total    int        // units of the phase
	Todo     knob.Class // what the env step still has to do
	Bound    int        // stage of the work under way, as an index into boundStages
	Scored   bool       // the fit of the present env step has scores
	Fitted   bool       // a fit has been done in the present env step
	Ended    bool       // it is past the position from which a longer run goes on
	Meter    cost.State
	Members  []replica.Saved
}

// Counters are the counters of the loop.
type Counters struct {
	Step        int
	Copies      int // of the environment, whose steps Step counts together
	Settings    knob.Settings
	Refits      uint64
	Generations uint64
	Generating  generative.GenKnobs
	Calls       int // made in the last generation begun
	OfCalls     int // units of its phase
	Next        int // env step with its next chunk, if some are in force; else 0
	Fitted      bool
	FittedTo    uint64
	Asked       inspect.Prompts
	Analysing   knob.Settings
	Redo        knob.Class
	Changes     []event.KnobChanged
	Waiting     []redo.Waiting
	FittedWith  string
	OtherSeed   uint64
	Seed        uint64 // of the run
}

// boundStages lists the stages that the work of an env step may have reached, by their numbers
// in checkpoints.
var boundStages = []redo.Stage{redo.Score, redo.Scoring, redo.Fitting, redo.Generating}

// Bound returns the number of a stage of the work under way, for the field of that name.
func Bound(s redo.Stage) int { return slices.Index(boundStages, s) }

// Stage returns the stage whose number is in the field Bound.
func (l *Loop) Stage() redo.Stage { return boundStages[l.Bound] }

// SectionLoop is the name of the loop's section.
const SectionLoop = "loop"

// ReadLoop reads the section of the loop. The caller has to validate the result.
func ReadLoop(r io.Reader) (*Loop, error) {
	text, err := io.ReadAll(r) // gob reads ahead
	if err != nil {
		return nil, err
	}
	l := &Loop{}
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(l); err != nil {
		return nil, version.ErrOther
	}
	return l, nil
}
