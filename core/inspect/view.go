// Package inspect looks at a run: what F says of its transitions, how generated
// transitions lie among the real ones and hold against the task, what a guided
// generation looks like beside a free one, and what a knob would change. It reads a
// View and changes nothing that a run depends on.
//
// What takes longer than a command may wait is a sequence of Pieces: the loop that drives it
// does what it likes between two of them, training goroutine and command line alike.
package inspect

import (
	"errors"
	"io"
	"iter"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// View is one replica of a run at one place. The rings, the generator and the model
// of F must not change while something looks at them.
type View struct {
	Step     int
	Settings knob.Settings
	Task     Task

	Real    *replay.Ring
	Met     *replay.Ring // the environment's transitions that the learner makes Real from; nil: none are kept
	Syn     *replay.Ring // nil: there are no synthetic transitions
	Prompts Prompts      // of Syn

	F       relevance.Function // of Settings.Relevance
	Learned bool               // F has no model, or one that has learned something

	Gen    Generator // nil: the method has none
	Fitted bool      // it has been fitted
	Chunk  int       // transitions of a network call, for generators that make several; 0: one call makes all

	Scratch   *replay.Batch // memory of ScoreRows transitions to score
	Stream    rng.Stream    // random numbers of its own
	Simulator *Simulator
}

// Task is what has to be known of the task.
type Task struct {
	Name       string
	Terminates bool // episodes can end before the time limit
}

// Generator is G as far as it is looked at; see package generative.
type Generator interface {
	// PromptScores are the scores that the first n samples of a generation were asked for;
	// nil: none.
	PromptScores(knobs generative.GenKnobs, occasion uint64, n int) []float32
	// Sketch makes a few transitions beside a fit or a generation under way.
	Sketch(knobs generative.GenKnobs, occasion uint64) (next func() (rows []float32, done, total int, err error), err error)
}

// Prompts are what the transitions of D_syn were asked for with.
type Prompts struct {
	Knobs    generative.GenKnobs
	Occasion uint64
	Known    bool // the generator still holds them: no later fit is complete
}

// Simulator is an environment of its own that transitions are held to. It is started
// when it is needed for the first time.
type Simulator struct {
	// Start makes the environment; one that is no analysis.Simulator cannot be set to a
	// state, and nothing is held to it.
	Start func() (io.Closer, error)

	env io.Closer
	sim analysis.Simulator
}

// open returns the environment, or nil where it cannot be set to a state.
func (s *Simulator) open() (analysis.Simulator, error) {
	if s.env == nil {
		env, err := s.Start()
		if err != nil {
			return nil, err
		}
		s.env = env
		s.sim, _ = env.(analysis.Simulator)
	}
	return s.sim, nil
}

// Close ends the environment, if it was started.
func (s *Simulator) Close() {
	if s.env != nil {
		s.env.Close()
		s.env = nil
	}
}

// Pieces is work in pieces: an error ends it, and so does a loop that breaks off.
type Pieces = iter.Seq[error]

// errLeft ends work whose loop was broken off.
var errLeft = errors.New("the work was left")

// inPieces makes Pieces of a function that calls yield between two of them and returns
// yield's errors.
func inPieces(work func(yield func() error) error) Pieces {
	return func(next func(error) bool) {
		err := work(func() error {
			if !next(nil) {
				return errLeft
			}
			return nil
		})
		if err != nil && !errors.Is(err, errLeft) {
			next(err)
		}
	}
}

// atOnce does work without a pause.
func atOnce() error { return nil }

// Finish does work to its end.
func Finish(p Pieces) error {
	for err := range p {
		if err != nil {
			return err
		}
	}
	return nil
}

// pieces is how many pieces of a size a count makes.
func pieces(n, size int) int { return (n + size - 1) / size }

// ScoreRows is how many transitions are scored in one piece.
const ScoreRows = 4096

// none is the relevance function that says nothing.
const none = relevance.None

// examiner is an examination under way. Between two of its pieces it yields; what
// happens meanwhile does not change what it finds.
type examiner struct {
	View
	Examination
	yield func() error
}

// MinRows is how many real transitions an examination needs.
const MinRows = 3

// bins is the number of bins of a histogram.
const bins = event.Bins
