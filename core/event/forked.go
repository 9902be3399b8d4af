package event

import (
	"fmt"
	"strings"

	"pgrlab/core/knob"
	"pgrlab/core/run"
)

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

// Text says in a line which forks were made.
func (f Forked) Text() string {
	var changes []string
	for _, c := range f.Changes {
		changes = append(changes, fmt.Sprintf("%s %s, %s without", c.Knob, c.To, c.From))
	}
	switch {
	case len(f.Schedule) > 0:
		return fmt.Sprintf("%d runs of %d steps, half of them with %s", len(f.Forks), f.Steps, strings.Join(f.Schedule, ", "))
	case len(changes) == 0:
		return fmt.Sprintf("%d forks of %d steps from %s, all alike", len(f.Forks), f.Steps, f.From)
	}
	return fmt.Sprintf("%d forks of %d steps from %s, half of them with %s", len(f.Forks), f.Steps, f.From, strings.Join(changes, "; "))
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

// Looked is what the forks of a line fork showed at a look at them. The looks at one question share
// their error, so that any of them may be read alone.
type Looked struct {
	Dir        string      `json:"dir"`        // the first of the forks
	Look       int         `json:"look"`       // its number, from 1
	Looks      int         `json:"looks"`      // how many these forks give
	Scores     []run.Float `json:"scores"`     // mean return of each fork over the evaluations that count at the look
	Difference run.Float   `json:"difference"` // mean score with the change less that without
	Low        run.Float   `json:"low"`        // the least difference that the look leaves
	High       run.Float   `json:"high"`       // the largest one
	AsMuch     int         `json:"as_much"`    // ways to deal out the change that differ as much
	Dealings   int         `json:"dealings"`   // ways that were compared
	Verdict    string      `json:"verdict"`    // in words
}

// ForkLook writes a line about a look at forks.
type ForkLook struct{ Looked }

func (ForkLook) command() {}
