package event

import (
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// KnobChanged confirms a change: it is set, at Position. When it shows in
// training is said by InForce.
type KnobChanged struct {
	ID       int           `json:"id"` // numbers the changes of a run from 1
	Knob     string        `json:"knob"`
	From     knob.Value    `json:"from"`
	To       knob.Value    `json:"to"`
	Class    knob.Class    `json:"class"`
	Position knob.Position `json:"position"`
	Now      bool          `json:"now,omitempty"`
	Hint     string        `json:"hint,omitempty"` // why it has no effect yet
	Obs      KnobObs       `json:"obs"`
}

// Why says why the change has no effect yet, or has none any more; "": it has one.
func (k KnobChanged) Why() string {
	if k.Obs.Hint != "" {
		return k.Obs.Hint
	}
	return k.Hint
}

// KnobObs is how a change came about.
type KnobObs struct {
	By     string         `json:"by,omitempty"`
	Ref    string         `json:"ref,omitempty"`     // SetKnob.ID
	Undoes int            `json:"undoes,omitempty"`  // the change whose inverse this is
	AskedS run.Float      `json:"asked_s,omitempty"` // when it was asked for, as wall_s
	Sum    string         `json:"sum,omitempty"`     // of position, knob, value and now, of a change; of position and text, of a note
	At     *knob.Position `json:"at,omitempty"`      // where a note was written
	Hint   string         `json:"hint,omitempty"`    // why a change has no effect before the run ends, which may be made longer
}

// InForce says that a training batch contains, for the first time, data made with
// the change; its step is that of the event.
type InForce struct {
	ID   int         `json:"id"`
	Knob string      `json:"knob"`
	Obs  *InForceObs `json:"obs,omitempty"` // nil: in journals from before there was one
}

// InForceObs is where training was.
type InForceObs struct {
	Updates uint64 `json:"updates"` // critic updates made before that batch
}

// Refused is a command that was not carried out.
type Refused struct {
	Ref    string // SetKnob.ID
	Knob   string // or "analyse"
	Value  string
	Reason string // one line
	By     string
}

// Scheduled is the change as one that can be made again.
func (k KnobChanged) Scheduled() knob.Scheduled {
	return knob.Scheduled{At: k.Position, Knob: k.Knob, Value: k.To.String(), Now: k.Now}
}

// Planned is a change that was put on the schedule. Its line is observed: the
// change itself is a line of its own when it is made.
type Planned struct {
	At    knob.Position `json:"at"`
	Knob  string        `json:"knob"`
	Value string        `json:"value"`
	Now   bool          `json:"now,omitempty"`
	By    string        `json:"by,omitempty"`
	Sum   string        `json:"sum"`
}

// Scheduled is the change.
func (p Planned) Scheduled() knob.Scheduled {
	return knob.Scheduled{At: p.At, Knob: p.Knob, Value: p.Value, Now: p.Now}
}
