package relevance

import (
	"io"
	"math"
	"slices"

	"pgrlab/core/replay"
)

// Model is a relevance function as a run has it: F, and what only some functions have. A part that is
// nil is missing. Of looks at what a function is, and nothing else does.
type Model struct {
	Function
	State  Saved   // of a function that learns
	Steps  Trained // gradient steps during the run
	Parted Parted  // the same steps, if they are made in parts
	Beside Starter // the same steps, if the device goes on with one beside the learner's updates
	Counts Counted
	Whole  Measured
	Rounds Episodic
	Terms  Terms       // of a formula
	Known  func() bool // whether F is known yet, of a function that learns with the generator

	Scale float64 // the ratio of the paper's F to that of Score
	Slice int     // transitions that are observed or scored at a time; 0: any number
	// Sees says that it scores what rows were made from (replay.Batch.Frames), and fails on others with
	// the error in replay.Batch.Unseen, or with replay.ErrUnseen: generated transitions have no frames.
	Sees bool
	// LearnsFromMet says that the learner makes rows of D_real from the environment's own transitions,
	// but the batch of Steps holds the latter.
	LearnsFromMet bool
	// Begin looks at the first rows transitions of b, unless it has seen others before. It is called
	// before the first ones are scored.
	Begin func(b *replay.Batch, rows int) error
	// Prepare compiles what scoring so many rows needs.
	Prepare func(rows int) error

	skips bool // it learns nothing from respawns: see skipsRespawns
}

// Saved is a function that learns from real transitions. It is created when the function is chosen
// for the first time and is part of every checkpoint from then on: Load reads what Save wrote for
// the same settings, and no byte beyond.
type Saved interface {
	Function
	Save(w io.Writer) error
	Load(r io.Reader) error
	Close() error
}

// Of returns a function with what it has.
func Of(f Function) *Model {
	m := &Model{Function: f, Scale: 1}
	m.State, _ = f.(Saved)
	m.Steps, _ = f.(Trained)
	m.Parted, _ = f.(Parted)
	m.Counts, _ = f.(Counted)
	m.Whole, _ = f.(Measured)
	m.Rounds, _ = f.(Episodic)
	if f, is := f.(Fitted); is {
		m.Known = f.Known
	}
	if s, is := f.(Scaled); is {
		m.Scale = s.PaperScale()
	}
	if s, is := f.(Sighted); is {
		m.Sees, m.Slice = true, s.Slice()
	}
	if s, is := f.(Starter); is && !m.Sees && s.Beside() {
		m.Beside = s
	}
	if b, is := f.(beginner); is {
		m.Begin = b.Begin
	}
	if p, is := f.(interface{ Prepare(rows int) error }); is {
		m.Prepare = p.Prepare
	}
	made, is := f.(*observing)
	if m.LearnsFromMet = is; is {
		f = made.Trained
	}
	_, m.skips = f.(skipsRespawns)
	if e, is := f.(*expression); is {
		e.inherit(m)
	} else if e, is := f.(*measured); is {
		e.inherit(m)
	}
	return m
}

// AtOnce is how many of rows transitions are processed at a time.
func (m *Model) AtOnce(rows int) int {
	if m.Slice > 0 {
		return min(rows, m.Slice)
	}
	return rows
}

// Parts is how many parts a gradient step has; 1 if it is made at once.
func (m *Model) Parts() int {
	if m.Parted == nil {
		return 1
	}
	return m.Parted.Parts()
}

// CanScore reports whether m can score the first rows transitions of b. One that sees needs their
// frames; one that learns in rounds needs transitions that were met.
func (m *Model) CanScore(b *replay.Batch, rows int) bool {
	if m.Sees && (b.Unseen != nil || len(b.Frames) < rows) {
		return false
	}
	if m.Rounds != nil {
		return allMet(b, rows)
	}
	return true
}

// allMet says whether the first rows transitions of b were met.
func allMet(b *replay.Batch, rows int) bool {
	return b.Notes != nil && !slices.ContainsFunc(b.Notes[:rows], func(n replay.Note) bool { return !n.Met })
}

// Judge completes scores of m, in place; of has the note of each transition. A function that learns in
// rounds has no F for transitions that were met before it had learned, and for those that end an episode;
// a function that skips respawns has none for these. They get that of others, spread evenly over
// these, so that prompts of a high F, as those of any other, have the same share of them. (With the 0
// that a respawn has as a bonus it would be what the generator is guided away from, and in mazes
// every reward comes with a respawn.) Judge returns nil if there are no others.
func (m *Model) Judge(scores []float32, of func(i int) replay.Note) []float32 {
	if m.Rounds == nil && !m.skips {
		return scores
	}
	return impute(scores, func(i int) bool {
		return m.Rounds != nil && math.IsNaN(float64(scores[i])) || m.skips && of(i).Respawned
	})
}

func impute(scores []float32, unknown func(i int) bool) []float32 {
	var known, others []int
	for i := range scores {
		if unknown(i) {
			others = append(others, i)
		} else {
			known = append(known, i)
		}
	}
	if len(known) == 0 {
		return nil
	}
	for k, i := range others {
		scores[i] = scores[known[replay.OneOf(k, 0, len(known))]]
	}
	return scores
}
