package task

import (
	"fmt"
	"slices"
	"strings"
)

// Task makes the environments of one problem.
type Task struct {
	Name    string
	Doc     string // one line
	ObsSize int
	ActSize int
	// Discrete says that an action is a choice among ActSize ones: a row with 1 at the
	// chosen one and 0 elsewhere. An environment takes the largest for the chosen one.
	Discrete     bool
	Choices      []string // names of the actions, in order; nil: unknown
	EpisodeSteps int      // time limit
	Terminates   bool     // whether episodes can end before the time limit
	// Ends says whether a transition ends an episode by itself; nil: no transition does, or it
	// is unknown.
	Ends func(obs, act, next []float32) bool
	// Names are short names of the numbers of an observation, in order; nil: unknown.
	Names  []string
	Hidden string // what an observation does not show of the state; "": nothing
	// Turning are the coordinates of an observation that are angles without limits, in
	// radians.
	Turning []int
	// Directions are pairs of coordinates of an observation that are the cosine and the sine
	// of one angle, in either order.
	Directions [][2]int
	Seen       bool     // its environments are Seen, and SeenVec
	Camera     string   // what they are seen through, in a word or two; "" if they are not seen
	TVs        []string // what Environment.TV can be, the default first; nil: there is no TV
	Own        Own      // what a task of files was made from; nil: it is none
	New        func(seed uint64) (Env, error)
	NewVec     func(n int, seed uint64) (VecEnv, error)
	With       func(Environment) (Task, error) // plays the task otherwise; nil: it cannot be
	Program    func() any                      // what is known of the program that simulates it, for the journal; nil: this one does
}

// Own is what a task of files was made from.
type Own interface {
	// Archive is all of it as one file, of which the task can be made again.
	Archive() ([]byte, error)
	// Notes are lines about it that are worth knowing.
	Notes() []string
}

// Environment is how a run plays its task, fixed for the run. The zero value is
// the task as its makers define it.
type Environment struct {
	Observation  string  `toml:"observation,omitempty"` // state or pixels; "": what the learner takes
	ActionRepeat int     `toml:"action_repeat"`         // control steps of an env step, rewards summed; 0 means 1
	Copies       int     `toml:"copies"`                // of the environment that an agent trains in: an env step is one of each; 0 means 1
	CellBonus    float64 `toml:"cell_bonus,omitempty"`  // on training rewards, for every place of a maze that is entered for the first time in an episode
	Outside      Outside `toml:"outside,omitempty"`     // the program that simulates the task, if another one does
	TV           string  `toml:"-"`                     // what covers a part of what is seen at first: one of Task.TVs; "": the first of them. During a run a knob changes it
}

// The choices of Environment.Observation.
const (
	ObservationState  = "state"  // numbers
	ObservationPixels = "pixels" // what a camera shows: see Seen
)

// Observations are what a learner can be given of the task.
func (t Task) Observations() []string {
	if t.Seen {
		return []string{ObservationState, ObservationPixels}
	}
	return []string{ObservationState}
}

// InLockstep is how many copies of the environment a member trains in.
func (e Environment) InLockstep() int { return max(1, e.Copies) }

func (e Environment) plain() bool {
	return e.ActionRepeat <= 1 && e.TV == "" && e.CellBonus == 0
}

// Played returns the task as a run with e plays it.
func (t Task) Played(e Environment) (Task, error) {
	if e.TV != "" && !slices.Contains(t.TVs, e.TV) {
		if t.TVs == nil {
			return t, fmt.Errorf("tv is %q, but there is none in task %s: leave it out", e.TV, t.Name)
		}
		return t, fmt.Errorf("tv is %q, want one of %s", e.TV, strings.Join(t.TVs, ", "))
	}
	if t.With == nil {
		if e.plain() {
			return t, nil
		}
		return t, fmt.Errorf("%s: action repeat is not known here", t.Name)
	}
	return t.With(e)
}

// Random turns numbers drawn uniformly from [0,1), in rows of ActSize, into random actions: each
// number of an action is uniform in [-1,1), or each choice is equally likely.
func (t Task) Random(rows []float32) {
	if !t.Discrete {
		for i, u := range rows {
			rows[i] = 2*u - 1
		}
		return
	}
	for ; len(rows) >= t.ActSize; rows = rows[t.ActSize:] {
		row, chosen := rows[:t.ActSize], 0
		for i, u := range row {
			if u > row[chosen] {
				chosen = i
			}
		}
		clear(row)
		row[chosen] = 1
	}
}
