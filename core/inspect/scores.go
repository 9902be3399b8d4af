package inspect

import (
	"slices"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// SampleRows is how many transitions a sample of scores has, for a journal line or a
// histogram.
const SampleRows = 1024

// Sample returns F of up to SampleRows transitions of a ring, or of as many as F takes at a
// time if those are fewer; intn chooses them. It is nil if F has no value for them: see
// scoresOf.
func (v *View) Sample(from *replay.Ring, intn func(int) int) ([]float32, error) {
	return v.scoresOf(v.F, from, sampleSlots(from, v.F.AtOnce(SampleRows), intn))
}

// Term is a term of the sum that a formula is, with its values for some transitions.
type Term struct {
	Text   string
	Values []float32
}

// Terms returns the terms of F for the rows transitions of the Sample before, or none if F is no sum
// of several.
func (v *View) Terms(rows int) ([]Term, error) { return termsOf(v.F, v.Scratch, rows) }

func termsOf(f *relevance.Model, b *replay.Batch, rows int) (terms []Term, err error) {
	if f.Terms == nil || len(f.Terms.Terms()) < 2 {
		return nil, nil
	}
	values, err := f.Terms.ScoreTerms(b, rows)
	if err != nil {
		return nil, err
	}
	for i, text := range f.Terms.Terms() {
		terms = append(terms, Term{text, values[i]})
	}
	return terms, nil
}

// sampleSlots returns n slots of a ring, drawn with replacement, or all slots if the ring
// holds no more than n.
func sampleSlots(from *replay.Ring, n int, intn func(int) int) []int {
	slots := make([]int, min(n, from.Len()))
	for i := range slots {
		slots[i] = i
		if from.Len() > len(slots) {
			slots[i] = intn(from.Len())
		}
	}
	return slots
}

// scoresOf returns f of the transitions in up to ScoreRows slots of a ring. It is nil if f has
// no value for them: a function of frames has none for generated transitions and for real ones
// whose frames were forgotten, and a function of episodes has none for generated transitions,
// which no episode met, and for real ones that were all met before it had learned.
func (v *View) scoresOf(f *relevance.Model, from *replay.Ring, slots []int) ([]float32, error) {
	scores, err := v.someScoresOf(f, from, slots)
	if err != nil || scores == nil {
		return nil, err
	}
	return f.Judge(scores, func(i int) replay.Note { return from.Note(slots[i]) }), nil
}

// someScoresOf is scoresOf for some of the transitions that are scored: Judge has not seen
// them.
func (v *View) someScoresOf(f *relevance.Model, from *replay.Ring, slots []int) ([]float32, error) {
	from.Gather(v.Scratch, 0, slots)
	if !f.CanScore(v.Scratch, len(slots)) {
		return nil, nil
	}
	scores := make([]float32, len(slots))
	return scores, f.Score(scores, v.Scratch, len(slots))
}

// Scored is what is kept of F of D_real at a refit: the distribution from which the prompts of D_syn
// are taken until the next one. The zero Scored is that of a fit without conditions.
type Scored struct {
	Of string // the name of F
	At int    // the env step of the refit
	F  []float32
}

// Digest returns of scores of D_real up to SampleRows that are evenly spread over their ranks, from
// the least to the largest.
func Digest(of string, at int, scores []float32) Scored {
	sorted := slices.DeleteFunc(slices.Clone(scores), func(f float32) bool { return f != f })
	if len(sorted) == 0 {
		return Scored{}
	}
	slices.Sort(sorted)
	s := Scored{Of: of, At: at, F: make([]float32, min(SampleRows, len(sorted)))}
	for i := range s.F {
		s.F[i] = sorted[i*(len(sorted)-1)/max(1, len(s.F)-1)]
	}
	return s
}

// Relevances compares F of the first transitions in v.Syn, and the scores that their prompts asked
// for, with v.Scored, whose function v.F is. It is nil if the generator was fitted without conditions.
func Relevances(v View) (*event.RefitF, error) {
	s := v.Scored
	if len(s.F) == 0 || v.Syn.Len() == 0 {
		return nil, nil
	}
	slots := make([]int, min(v.F.AtOnce(SampleRows), v.Syn.Len()))
	for i := range slots {
		slots[i] = i
	}
	achieved, err := v.scoresOf(v.F, v.Syn, slots)
	if err != nil {
		return nil, err
	}
	var asked []float32
	if v.Prompts.areOf(s.Of) {
		n := min(SampleRows, v.Syn.Len())
		asked = v.Gen.PromptScores(v.Prompts.Knobs, v.Prompts.Occasion, n)
		if begins, does := v.Gen.(starter); does && asked == nil { // the distribution does not need to know of which row each is
			asked = begins.StartScores(v.Prompts.Knobs, v.Prompts.Occasion, n)
		}
	}
	edges := analysis.BodyEdges(bins, s.F, achieved, asked)
	out := &event.RefitF{Of: s.Of, At: s.At, Real: histogram(s.F, edges)}
	if asked != nil {
		out.Asked = histogram(asked, edges)
	}
	if achieved != nil {
		out.Achieved = histogram(achieved, edges)
	}
	return out, nil
}

// starter is a generator whose rows follow in rollouts from where F is known.
type starter interface {
	StartScores(knobs generative.GenKnobs, occasion uint64, n int) []float32
}

func histogram(values []float32, edges []float64) *event.Histogram {
	s := analysis.Summarise(values)
	h := &event.Histogram{
		Rows: s.Count, Min: run.Float(s.Min), Q10: run.Float(s.Q10), Median: run.Float(s.Median), Q90: run.Float(s.Q90), Max: run.Float(s.Max),
		Low: edges[0], High: edges[len(edges)-1],
	}
	h.Log = edges[1]-edges[0] < 0.99*(h.High-h.Low)/bins // else they are even
	copy(h.Counts[:], analysis.Histogram(values, edges))
	return h
}
