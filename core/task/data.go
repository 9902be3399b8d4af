package task

import (
	"errors"
	"io"
	"strings"
)

// OfData begins the names of tasks of which only recorded transitions are at hand.
const OfData = "data:"

// Recorded says whether that is the name of such a task.
func Recorded(name string) bool { return strings.HasPrefix(name, OfData) }

// Data is the task behind recorded transitions whose environment is not at hand: it has sizes, and its
// environments cannot be stepped.
func Data(name string, s Spec) Task {
	return Task{
		Name: name, Doc: "recorded transitions", ObsSize: s.Obs, ActSize: s.Act, EpisodeSteps: max(1, s.Limit), Terminates: s.Terminates, Names: s.Names,
		Hidden: "there is no environment of recorded transitions: name one with --task",
		New:    func(uint64) (Env, error) { return recorded{s}, nil },
		With: func(e Environment) (Task, error) {
			if !e.plain() {
				return Task{}, errors.New("neither action repeat nor noise is known of recorded transitions")
			}
			return Data(name, s), nil
		},
	}
}

// recorded stands for the environment that transitions were recorded in.
type recorded struct{ Spec }

var errRecorded = errors.New("recorded transitions have no environment to step")

func (r recorded) ObsSize() int { return r.Obs }
func (r recorded) ActSize() int { return r.Act }

func (recorded) Reset(_ uint64, obs []float32) error {
	clear(obs)
	return nil
}

func (recorded) Step(_, _ []float32) (reward float64, terminated, truncated bool, err error) {
	return 0, false, false, errRecorded
}

func (recorded) Save(io.Writer) error { return nil }
func (recorded) Load(io.Reader) error { return nil }
func (recorded) Close() error         { return nil }
