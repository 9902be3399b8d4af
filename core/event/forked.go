package event

import "pgrlab/core/knob"

// ForkedAt begins the note in a run that goes on from a checkpoint of another run. Lines before it
// are that run's.
const ForkedAt = "forked at "

// Forked says that forks of this run were made, to find out what a change does. Half of them were
// dealt the change.
type Forked struct {
	Changes  []ForkedChange `json:"changes,omitempty"`  // the change; missing, with no schedule: nothing was changed
	Schedule []string       `json:"schedule,omitempty"` // of runs from step 0: all changes of this run, which half of them make
	From     knob.Position  `json:"from"`               // where the forks begin
	Steps    int            `json:"steps"`              // env steps that each of them makes
	Every    int            `json:"every"`              // env steps between two of their evaluations
	Forks    []ForkMade     `json:"forks"`              // in the order in which they are trained
}

// ForkedChange is a change that forks were dealt. If Now is set, what depends on the knob is made again
// in the forks without the change, too, with the knob as it was: that alone may have an effect.
type ForkedChange struct {
	Knob string `json:"knob"`
	From string `json:"from"`
	To   string `json:"to"`
	Now  bool   `json:"now,omitempty"` // what depends on the knob is made again at the fork
}

// ForkMade is one fork.
type ForkMade struct {
	Dir     string `json:"dir"`     // its folder, which is beside that of this run
	Changed bool   `json:"changed"` // whether it was dealt the change
	Seed    uint64 `json:"seed"`    // of its random numbers from the fork on
}

// Fork writes a line that says which forks were made.
type Fork struct{ Forked }

func (Fork) command() {}
