package event

import (
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// KnobChanged confirms that a change was made at Position. InForce says when it
// begins to show in training.
type KnobChanged struct {
	ID       int           `json:"id"` // numbers the changes of a run from 1
	Knob     string        `json:"knob"`
	From     knob.Value    `json:"from"`
	To       knob.Value    `json:"to"`
	Class    knob.Class    `json:"class"`
	Uses     []string      `json:"uses,omitempty"` // names that a formula for F uses
	Position knob.Position `json:"position"`
	Now      bool          `json:"now,omitempty"`
	Hint     string        `json:"hint,omitempty"` // why it has no effect yet
	Obs      KnobObs       `json:"obs"`
}

// Why says why the change has no effect yet, or no longer has one; it is "" if the
// change has an effect.
func (k KnobChanged) Why() string {
	if k.Obs.Hint != "" {
		return k.Obs.Hint
	}
	return k.Hint
}

// KnobObs is how a change came about.
type KnobObs struct {
	By     string         `json:"by,omitempty"`
	Ref    string         `json:"ref,omitempty"`     // the request that it answers
	Undoes int            `json:"undoes,omitempty"`  // the change whose inverse this is
	Plan   *knob.Position `json:"plan,omitempty"`    // the position that it was planned for; nil for a change made at once
	AskedS run.Float      `json:"asked_s,omitempty"` // when it was asked for, as wall_s
	Sum    string         `json:"sum,omitempty"`     // checksum: for a change, of position, knob, value and now; for a note, of position and text
	At     *knob.Position `json:"at,omitempty"`      // where a note was written
	Hint   string         `json:"hint,omitempty"`    // why a change has no effect before the end of the run, which may be extended
}

// InForce says that a training batch contains data made with the change for the first time; step is
// that of the batch. If only a part of D_syn was made with it by then, the batch is drawn from a D_syn with
// that share of such rows, and a line whole follows.
type InForce struct {
	ID    int        `json:"id"`
	Knob  string     `json:"knob"`
	Share float64    `json:"share,omitempty"` // of D_syn, if that is mixed
	Obs   InForceObs `json:"obs"`             // how far training had got
}

// Whole says that all of D_syn was made with a change that was in force in a part of it. There is none if
// another change of the knob came before that.
type Whole struct {
	ID   int    `json:"id"`
	Knob string `json:"knob"`
}

// InForceObs says how far training had got.
type InForceObs struct {
	Updates uint64 `json:"updates"` // critic updates made before that batch
}

// Refused is a command that was not carried out.
type Refused struct {
	Ref    string // SetKnob.ID
	Knob   string // or the request: analyse, checkpoint, resume, park, HandedOver
	Value  string
	Reason string // one line
	By     string
}

// Refusal returns why a request (analyse, checkpoint, resume, park) was refused, if e says that; else "".
func Refusal(e Event, request string) string {
	if b, is := e.Body.(Refused); is && b.Knob == request {
		return b.Reason
	}
	return ""
}

// Scheduled returns the change in a form that can be applied again.
func (k KnobChanged) Scheduled() knob.Scheduled {
	return knob.Scheduled{At: k.Position, Knob: k.Knob, Value: k.To.String(), Now: k.Now}
}

// Planned is a change that was put on the schedule. Its line is observed: when the
// change is made, it is written as a line of its own.
type Planned struct {
	At    knob.Position `json:"at"`
	Knob  string        `json:"knob"`
	Value string        `json:"value"`
	Now   bool          `json:"now,omitempty"`
	By    string        `json:"by,omitempty"`
	Made  int           `json:"made,omitempty"` // the env step in which it was planned, if a resume has written the line again
	Sum   string        `json:"sum"`
}

// Scheduled returns the planned change.
func (p Planned) Scheduled() knob.Scheduled {
	return knob.Scheduled{At: p.At, Knob: p.Knob, Value: p.Value, Now: p.Now}
}

// Cancelled is a change that was taken off the schedule before it was made. Its line is observed:
// what follows in the run is as if it had not been planned.
type Cancelled struct {
	At    knob.Position `json:"at"`
	Knob  string        `json:"knob"`
	Value string        `json:"value"`
	Now   bool          `json:"now,omitempty"`
	Of    string        `json:"of,omitempty"` // who planned it; missing: the configuration
	By    string        `json:"by,omitempty"`
	Ref   string        `json:"ref,omitempty"`  // what the screen that cancelled it called its command
	Made  int           `json:"made,omitempty"` // the env step in which it was cancelled, if a resume has written the line again
	Sum   string        `json:"sum"`
}

// OfConfiguration says whether the change was part of the configuration. Without it the run is no longer what
// the configuration says.
func (c Cancelled) OfConfiguration() bool { return c.Of == "" }

// Scheduled returns the change that was cancelled.
func (c Cancelled) Scheduled() knob.Scheduled {
	return knob.Scheduled{At: c.At, Knob: c.Knob, Value: c.Value, Now: c.Now, By: c.Of}
}
