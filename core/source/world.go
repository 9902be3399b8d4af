package source

import (
	"errors"
	"fmt"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// world is an environment with what it can do; what it cannot do is nil.
type world struct {
	task.Env
	place     func() (x, y float64)
	respawned func() bool
	televise  func(tv string) error
	frame     func(dst []byte, side int) error
	pose      func(dst []float64) []float64
	explored  func() (goals, cells int, moved, onSpot float64)
}

func newWorld(env task.Env) world {
	w := world{Env: env}
	if e, can := env.(task.Placed); can {
		w.place = e.Place
	}
	if e, can := env.(task.Respawning); can {
		w.respawned = e.Respawned
	}
	if e, can := env.(task.Televised); can {
		w.televise = e.Televise
	}
	if e, can := env.(task.Seen); can {
		w.frame = e.Frame
	}
	if e, can := env.(task.Posed); can {
		w.pose = e.Pose
	}
	if e, can := env.(task.Explored); can {
		w.explored = e.Exploration
	}
	return w
}

var errUnseen = errors.New("its environment cannot be drawn")

// draw writes what the environment looks like now.
func (w *world) draw(dst []byte, side int) error {
	if w.frame == nil {
		return errUnseen
	}
	return w.frame(dst, side)
}

// exploration is how the episode went; nil if the environment does not say.
func (w *world) exploration() *event.Explored {
	if w.explored == nil {
		return nil
	}
	goals, cells, moved, onSpot := w.explored()
	share := run.Float(onSpot)
	return &event.Explored{Goals: run.Float(goals), Cells: run.Float(cells), Moved: run.Float(moved), OnSpot: &share}
}

// Host takes what happens to environments.
type Host interface {
	// Emit takes something that is worth a line of the journal; kind is a type of package event,
	// body one of its bodies.
	Emit(kind string, body any)
	// Fault takes the reason why an environment cannot go on; a new one takes its place.
	Fault(doing string, err error)
}

// ErrEnvironment says that an environment has failed and that the host has the reason. What could not
// be done is tried again when training continues.
var ErrEnvironment = errors.New("the environment has failed")

// Simulate names, for a host, what was not done when an env step has to be made again.
const Simulate = "simulate"

// lost is an error of Step that says whether the simulation broke down: the episode is over, and
// a Reset starts the next one as if nothing had happened.
type lost interface {
	error
	EpisodeLost() bool
}

// tolerates says whether err means only that an episode was lost, in which case the host gets a note and
// training continues. It returns false for every other error.
func tolerates(h Host, err error) bool {
	if l := lost(nil); !errors.As(err, &l) || !l.EpisodeLost() {
		return false
	}
	h.Emit(event.TypeNote, event.Noted{Text: "episode lost: " + err.Error()})
	return true
}

// startAgain wraps the reason why an environment cannot be made again.
func startAgain(name string, err error) error { return fmt.Errorf("start %s again: %w", name, err) }
