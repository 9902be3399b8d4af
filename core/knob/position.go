package knob

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

// Phase is the present activity of the training goroutine.
type Phase int

// The phases of an env step. Their order in time is given by Before, not by their numbers.
const (
	Collect  Phase = iota // act, step, store, the updates
	Score                 // relevance of every real transition
	Fit                   // the generator
	Generate              // synthetic transitions
	Evaluate
	Analyse // F, dynamics and projections of the present data; takes seconds
	// AfterStep is the position between two env steps.
	AfterStep

	// The phases of learners that work between env steps, after Collect. They are listed
	// last because checkpoints hold the numbers of the phases above.

	Rollout // imagined, or with the environment
	Learn   // updates that are not part of collecting
	Encode  // D_real is encoded again
	// Reach is a round of learning for an F that depends on what an episode has met. It
	// follows the learner's own phases.
	Reach
	// Model is an update of a relevance model that is too large for one slice. It follows Collect,
	// which makes the smaller ones.
	Model
	// Phases is the number of phases.
	Phases
)

var phaseNames = [Phases]string{"collect", "score", "fit", "generate", "evaluate", "analyse", "after step", "rollout", "learn", "encode", "reach", "model"}

// phaseOrder is the order of the phases in an env step.
var phaseOrder = [Phases]int{Collect: 0, Model: 1, Rollout: 2, Learn: 3, Encode: 4, Reach: 5, Score: 6, Fit: 7, Generate: 8, Evaluate: 9, Analyse: 10, AfterStep: 11}

// String is the phase's name: collect, model, rollout, learn, encode, reach, score, fit,
// generate, evaluate, analyse, after step.
func (p Phase) String() string { return phaseNames[p] }

// Before says whether p comes before q in an env step.
func (p Phase) Before(q Phase) bool { return phaseOrder[p] < phaseOrder[q] }

// LearnerPhase returns the phase of that name, which must be one that a learner may have.
func LearnerPhase(name string) (Phase, error) {
	for p := Rollout; p <= Encode; p++ {
		if phaseNames[p] == name {
			return p, nil
		}
	}
	return 0, fmt.Errorf("phase %q of a learner, want %q", name, phaseNames[Rollout:Encode+1])
}

// Position is a position between two slices, at which a command may take effect.
// Positions of a run are totally ordered.
type Position struct {
	// Step counts env steps from 1; step 0 is before the first one.
	Step int
	// Phase is AfterStep for the position after everything that belongs to Step, or
	// the phase of Step in which I units of work are done: scored transitions,
	// generator steps, network calls, evaluation steps, pieces of an analysis.
	Phase Phase
	I     int
}

// After is the position after everything that belongs to env step step.
func After(step int) Position { return Position{Step: step, Phase: AfterStep} }

// At is the position inside a phase of env step step at which i units of it are done.
func At(step int, phase Phase, i int) Position { return Position{Step: step, Phase: phase, I: i} }

// String writes p in the syntax of --at: "10000", "10000/fit:37".
func (p Position) String() string {
	if p.Phase == AfterStep {
		return strconv.Itoa(p.Step)
	}
	return fmt.Sprintf("%d/%s:%d", p.Step, p.Phase, p.I)
}

// MarshalText writes String.
func (p Position) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what String writes.
func (p *Position) UnmarshalText(text []byte) error {
	read, err := parsePosition(string(text))
	if err != nil {
		return err
	}
	*p = read
	return nil
}

// Before says whether p comes before q.
func (p Position) Before(q Position) bool {
	if p.Step != q.Step {
		return p.Step < q.Step
	}
	if p.Phase != q.Phase {
		return p.Phase.Before(q.Phase)
	}
	return p.I < q.I
}

// ParsePosition reads "10000" or "10000/fit:37", a position at which a change can be
// requested. The phase collect has none, because it is one slice.
func ParsePosition(text string) (Position, error) {
	p, err := parsePosition(text)
	if err == nil && p.Phase == Collect {
		return badPosition(text)
	}
	return p, err
}

// phasesInOrder returns the names of the phases in which a change can be requested.
func phasesInOrder() []string {
	names := make([]string, Phases)
	for p, i := range phaseOrder {
		names[i] = phaseNames[p]
	}
	return names[1 : Phases-1] // without collect and AfterStep
}

func badPosition(text string) (Position, error) {
	return Position{}, fmt.Errorf("position %q: want STEP or STEP/PHASE:I, as 20000/fit:37, of the phases %s", text, strings.Join(phasesInOrder(), ", "))
}

func parsePosition(text string) (Position, error) {
	stepText, rest, inside := strings.Cut(text, "/")
	step, err := ParseCount(stepText)
	if err != nil {
		return badPosition(text)
	}
	if !inside {
		return After(step), nil
	}
	name, iText, _ := strings.Cut(rest, ":")
	i, err := ParseCount(iText)
	if err != nil {
		return badPosition(text)
	}
	for p := Collect; p < Phases; p++ {
		if p != AfterStep && phaseNames[p] == name && step > 0 {
			return Position{Step: step, Phase: p, I: i}, nil
		}
	}
	return badPosition(text)
}

// Scheduled is a knob change at a position, or a note that a resume writes again. Checkpoints store
// it by the names of its fields.
type Scheduled struct {
	At    Position
	Knob  string
	Value string
	Now   bool   // redo at once what depends on the knob
	By    string // who planned it, or first made the change or wrote the note; "" if the configuration plans it
	Note  string // the note; "" for a change

	Planned bool     // a person planned it while the run went on
	Ref     string   // by which that person's screen recognises the answer
	Again   Position // if a resume put the plan back: the end of the env step in which it was made; else zero
	Undoes  int      // number of the change whose inverse this is; 0: none

	// Cancelled is the end of the env step in which s was cancelled, if a resume has that from the
	// journal after its checkpoint; else zero. A change that was cancelled is never made.
	Cancelled Position
}

// IsCancelled says whether s will not be made.
func (s Scheduled) IsCancelled() bool { return s.Cancelled != Position{} }

// Repeats says whether s is a change or a note that a person made at its position, and that a resume
// makes again.
func (s Scheduled) Repeats() bool { return !s.Planned && (s.By != "" || s.Note != "") }

// MadeAfter says whether s was made, planned or written after p, and is known at p only because a resume
// put it there.
func (s Scheduled) MadeAfter(p Position) bool {
	if s.Planned {
		return s.Again != Position{} && !s.Again.Before(p)
	}
	return s.Repeats()
}

// KnownAt returns a schedule as it was at p: without what was made, planned or written after p, and
// with what was cancelled there. It reuses the memory of all.
func KnownAt(p Position, all []Scheduled) []Scheduled {
	all = slices.DeleteFunc(all, func(s Scheduled) bool { return s.MadeAfter(p) })
	for i, s := range all {
		if !s.Cancelled.Before(p) {
			all[i].Cancelled = Position{}
		}
	}
	return all
}

// String writes s in the syntax of --at: "10000:guidance=3!".
func (s Scheduled) String() string {
	if s.Note != "" {
		return fmt.Sprintf("%s: %s", s.At, s.Note)
	}
	text := fmt.Sprintf("%s:%s=%s", s.At, s.Knob, s.Value)
	if s.Now {
		text += "!"
	}
	return text
}

// ParseScheduled reads "STEP:knob=value" or "STEP/PHASE:i:knob=value", for example
// "20000/fit:37:ratio=0.75", each with an optional "!" at the end for "now". It does not
// check knob and value; see Find.
func ParseScheduled(text string) (Scheduled, error) {
	left, value, found := strings.Cut(text, "=")
	colon := strings.LastIndexByte(left, ':')
	if !found || colon < 0 {
		return Scheduled{}, fmt.Errorf("schedule %q: want STEP:knob=value, for example 20000:guidance=3", text)
	}
	at, err := ParsePosition(strings.TrimSpace(left[:colon]))
	if err != nil {
		return Scheduled{}, fmt.Errorf("schedule %q: %w", text, err)
	}
	s := Scheduled{At: at, Knob: strings.TrimSpace(left[colon+1:])}
	s.Value, s.Now = strings.CutSuffix(strings.TrimSpace(value), "!")
	if s.Knob == "" || s.Value == "" {
		return Scheduled{}, fmt.Errorf("schedule %q: knob or value is missing: want STEP:knob=value", text)
	}
	if k, err := Find(s.Knob); err == nil { // replace a symbol by the knob's name
		s.Knob = k.Name
	}
	return s, nil
}

// SortSchedule sorts by position. Changes at the same position keep their order.
func SortSchedule(s []Scheduled) {
	slices.SortStableFunc(s, func(a, b Scheduled) int {
		switch {
		case a.At.Before(b.At):
			return -1
		case b.At.Before(a.At):
			return 1
		}
		return 0
	})
}

// Sum is a checksum of s. It protects the changes and notes that a resume repeats, because
// the journal has no other checksums.
func (s Scheduled) Sum() string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(s.String())))
}
