// Package inspect analyses a run: F of its transitions, how generated transitions compare
// with the real ones and with the task, how a guided generation differs from an unguided
// one, and what a knob would change. It reads a View and changes nothing that a run
// depends on.
//
// Work that takes longer than a command may wait is a sequence of Pieces. The loop that
// drives it can do other work between two pieces, in the training goroutine and on the
// command line alike.
package inspect

import (
	"errors"
	"io"
	"iter"

	"pgrlab/core/agent"
	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// View is one replica of a run at one position. The rings, the generator and the model
// of F must not change while an analysis reads them.
type View struct {
	Step     int
	Settings knob.Settings
	Task     Task

	Real    *replay.Ring
	Met     replay.Rows  // the environment's transitions from which the learner makes Real; nil: none are kept
	Syn     *replay.Ring // nil: there are no synthetic transitions
	Mixed   float64      // share of a mixed Syn that its newest generation has made; 0: Syn is whole
	Prompts Prompts      // of Syn
	Scored  Scored       // F of Real as Gen was fitted to it

	F       *relevance.Model // of Settings.Relevance
	Learned bool             // F has no model, or its model has learned something

	// Foresees is what the learner's model of the world predicts, for sequences that number draws; nil: it has none.
	Foresees func(number uint64) (*agent.OpenLoop, error)
	Copies   int // of the environment: a transition's successor is as many after it in Real

	Gen    Generator // nil: the method has none
	Fitted bool      // it has been fitted
	Chunk  int       // transitions of a network call, for generators that make several calls; 0: one call makes all

	Scratch   *replay.Batch // memory for ScoreRows transitions to score
	Stream    rng.Stream    // random numbers for analyses alone
	Simulator *Simulator
}

// Task is what the analyses need to know about the task.
type Task struct {
	Name       string
	Terminates bool // episodes can end before the time limit
}

// Generator is the part of G that the analyses use; see generative.Generator.
type Generator interface {
	// PromptScores returns the scores that the first n samples of a generation were prompted
	// with; nil: none.
	PromptScores(knobs generative.GenKnobs, occasion uint64, n int) []float32
	// Sketch begins to make a few transitions beside a fit or a generation under way.
	Sketch(knobs generative.GenKnobs, occasion uint64) (next func() (rows []float32, done, total int, err error), err error)
}

// Prompts identify the prompts of the transitions in D_syn.
type Prompts struct {
	Knobs    generative.GenKnobs
	Occasion uint64
	Known    bool // the generator still has the prompts: no later fit is complete
	// Relevance names the F whose scores the prompts are; "" in checkpoints that do not say.
	Relevance string
	// OtherSeed says that the prompts were drawn under another seed, before the run branched off
	// from one: they cannot be drawn again.
	OtherSeed bool
}

// areOf says whether the prompts can be drawn again and are scores of that F. Later scores of another F
// are no answer to them.
func (p *Prompts) areOf(relevance string) bool {
	return !p.OtherSeed && (p.Relevance == "" || p.Relevance == relevance)
}

// Simulator is a separate environment against which transitions are checked. It starts on
// first use.
type Simulator struct {
	// Start makes the environment. If it is no analysis.Simulator it cannot be set to a
	// state, and nothing is checked against it.
	Start func() (io.Closer, error)

	env io.Closer
	sim analysis.Simulator
}

// open returns the environment, or nil if it cannot be set to a state.
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

// Close closes the environment if it was started.
func (s *Simulator) Close() {
	if s.env != nil {
		s.env.Close()
		s.env = nil
	}
}

// Pieces is work in pieces. An error ends it, and so does breaking out of the loop.
type Pieces = iter.Seq[error]

// errLeft ends work whose loop was left early.
var errLeft = errors.New("the work was left")

// InPieces makes Pieces of a function that calls yield between two pieces and returns
// yield's errors.
func InPieces(work func(yield func() error) error) Pieces {
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

// atOnce is a yield for work without pauses.
func atOnce() error { return nil }

// Finish runs p to its end and returns the first error.
func Finish(p Pieces) error {
	for err := range p {
		if err != nil {
			return err
		}
	}
	return nil
}

// pieces is how many pieces of size items are needed for n.
func pieces(n, size int) int { return (n + size - 1) / size }

// ScoreRows is how many transitions are scored in one piece.
const ScoreRows = 4096

// none is the relevance function without values.
const none = relevance.None

// examiner is an examination under way. It yields between two pieces; what happens
// meanwhile does not change its results.
type examiner struct {
	View
	Examination
	yield func() error
}

// MinRows is how many real transitions an examination needs.
const MinRows = 3

// bins is the number of bins of a histogram.
const bins = event.Bins
