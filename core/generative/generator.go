package generative

import "io"

// Generator is G: it is fitted to real transitions in slices, and then generates
// transitions in slices. It has one fit or one generation under way at a time, and
// belongs to one goroutine. Its random numbers are indexed by refit, occasion and item,
// so the cuts between slices change nothing.
type Generator interface {
	// StartFit begins a fit to the real transitions, which must not change until the fit
	// is complete. scores holds the raw F of each transition, or is nil for a fit without
	// conditions. refit numbers the fit within the run.
	StartFit(real Rows, scores []float32, knobs FitKnobs, refit uint64) error
	// FitSteps makes up to n gradient steps. It returns their mean loss and whether the
	// fit is complete: after the number of steps in the knobs, or earlier if more would
	// not help. From then on generations use the new fit.
	FitSteps(n int) (loss float64, done bool, err error)
	// StartGenerate begins a generation with the last complete fit; occasion numbers it
	// within the run.
	StartGenerate(knobs GenKnobs, occasion uint64) error
	// GenerateSlice makes a piece of the generation. It returns the transitions that the
	// piece finished, as rows of the replay buffer [s, a, r, s', d] that are valid until
	// the next call, and the number of pieces made and needed; the generation is complete
	// when they are equal. There may be fewer transitions than were asked for.
	GenerateSlice() (rows []float32, done, total int, err error)
	// Cancel abandons the fit or the generation under way. The last complete fit stays.
	Cancel()
	// PromptScores returns the scores that the first n samples of a generation were
	// prompted with, nil without prompts. The answer holds until the next fit is complete.
	PromptScores(knobs GenKnobs, occasion uint64, n int) []float32
	// Sketch begins a small generation beside a fit or a generation under way, to show the
	// effect of a change of knobs; next is its GenerateSlice. A sketch is stale once a fit
	// is complete or another sketch has begun.
	Sketch(knobs GenKnobs, occasion uint64) (next func() (rows []float32, done, total int, err error), err error)
	// Save writes the whole state, including a fit or a generation under way. Load reads
	// what a generator with the same settings wrote, and no byte beyond; real holds the
	// transitions of a fit under way.
	Save(w io.Writer) error
	Load(r io.Reader, real Rows) error
	Close() error
}

// roller is a Generator that rolls out a learned model of the dynamics, and says how that went.
type roller interface {
	// Model describes the model that serves generations; the zero value before the first fit is
	// complete.
	Model() ModelFit
	// Rolled counts the rollouts of the last complete generation; the zero value before the first.
	Rolled() Rollouts
}

// Rolled describes the model of the dynamics that g rolls out, and the rollouts of its last complete
// generation; is is false if it rolls out none.
func Rolled(g Generator) (m ModelFit, n Rollouts, is bool) {
	r, is := g.(roller)
	if !is {
		return m, n, false
	}
	return r.Model(), r.Rolled(), true
}

// ModelFit describes an ensemble of models by rows that its fit held out.
type ModelFit struct {
	Errors   []float64 // mean squared error of each network
	Constant float64   // the same of the mean outcome, a constant guess
	Elites   []int     // the networks that are rolled out, by rising error
}

// Rollouts counts the rollouts of a generation. Checkpoints have it as it is.
type Rollouts struct {
	Horizon int64 // most steps of a rollout
	Begun   int64 // rollouts
	Rows    int64 // transitions made
	Ended   int64 // of these, those that ended an episode by the task's rule
	Dropped int64 // transitions that were not finite and are not among them
}

// Policy acts for generators that roll out a model of the dynamics.
type Policy interface {
	// Sample writes actions [rows, A], each in [-1,1], for observations [rows, O], sampled
	// from the agent's present policy; the same occasion gives the same noise.
	Sample(dst, obs []float32, rows int, occasion uint64) error
}
