package generative

import "io"

// Generator is G: it is fitted to real transitions in slices, and then generates
// transitions in slices. It has one of both under way at a time, and belongs to one
// goroutine. Its random numbers are indexed by refit, occasion and item, so that a cut
// between two slices changes nothing.
type Generator interface {
	// StartFit begins a fit to the real transitions, which must not change until it is
	// complete; scores are F of each of them, raw; nil for a fit without conditions.
	// refit numbers the fit within the run.
	StartFit(real Rows, scores []float32, knobs FitKnobs, refit uint64) error
	// FitSteps makes up to n gradient steps. It returns their mean loss and whether the
	// fit is complete: after the steps of the knobs at the latest, or earlier where more
	// would not help. From then on generations are of what was fitted.
	FitSteps(n int) (loss float64, done bool, err error)
	// StartGenerate begins a generation by the last complete fit; occasion numbers it
	// within the run.
	StartGenerate(knobs GenKnobs, occasion uint64) error
	// GenerateSlice makes a piece of it. It returns the transitions that the piece
	// finished, as rows of the replay buffer [s, a, r, s', d] that are valid until the
	// next call, and the number of pieces made and needed; the generation is complete
	// when they are equal. There may be fewer transitions than were asked for.
	GenerateSlice() (rows []float32, done, total int, err error)
	// Cancel abandons what is under way. What the last complete fit made stays.
	Cancel()
	// PromptScores are the scores that the first n samples of a generation were asked for, nil
	// where nothing was. It is right until the next fit is complete.
	PromptScores(knobs GenKnobs, occasion uint64, n int) []float32
	// Sketch begins a small generation beside what is under way, to look at what a
	// change of knobs would make; next is its GenerateSlice. It is stale once a fit has
	// been completed or another sketch has begun.
	Sketch(knobs GenKnobs, occasion uint64) (next func() (rows []float32, done, total int, err error), err error)
	// Save writes everything, a fit or a generation under way too; Load reads what a
	// generator of the same settings wrote, and no byte beyond. real are the
	// transitions of then.
	Save(w io.Writer) error
	Load(r io.Reader, real Rows) error
	Close() error
}

// Policy acts for generators that roll out a model of the dynamics.
type Policy interface {
	// Sample writes actions [rows, A], each in [-1,1], for observations [rows, O] as the
	// agent samples them now; the same occasion has the same noise.
	Sample(dst, obs []float32, rows int, occasion uint64) error
}
