package inspect

import (
	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// sampleRows is how many transitions a sample of scores has, for a journal line or a
// histogram.
const sampleRows = 1024

// Sample returns F of up to sampleRows transitions of a ring, or of as many as F takes at a
// time if those are fewer; intn chooses them. It is nil if F has no value for them: see
// scoresOf.
func (v *View) Sample(from *replay.Ring, intn func(int) int) ([]float32, error) {
	return v.scoresOf(v.F, from, sampleSlots(from, relevance.Slice(v.F, sampleRows), intn))
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
func (v *View) scoresOf(f relevance.Function, from *replay.Ring, slots []int) ([]float32, error) {
	scores, err := v.someScoresOf(f, from, slots)
	if err != nil || scores == nil {
		return nil, err
	}
	return relevance.Judge(f, scores, func(i int) replay.Note { return from.Note(slots[i]) }), nil
}

// someScoresOf is scoresOf for some of the transitions that are scored: relevance.Judge has not seen
// them.
func (v *View) someScoresOf(f relevance.Function, from *replay.Ring, slots []int) ([]float32, error) {
	from.Gather(v.Scratch, 0, slots)
	if !relevance.Tells(f, v.Scratch, len(slots)) {
		return nil, nil
	}
	scores := make([]float32, len(slots))
	return scores, f.Score(scores, v.Scratch, len(slots))
}

// Relevances are histograms of F over common edges; nil: there is nothing to count.
type Relevances struct{ Real, Synthetic, Asked *event.Histogram }

// Compare returns the histograms of F over D_real, of F over D_syn, and of the scores that
// the prompts of D_syn asked for. intn chooses the samples.
func Compare(v View, intn func(int) int) (out Relevances, err error) {
	if v.Settings.Relevance == none || !v.Learned || v.Syn.Len() == 0 {
		return out, nil
	}
	real, err := v.Sample(v.Real, intn)
	if err != nil || real == nil {
		return out, err
	}
	synthetic, err := v.Sample(v.Syn, intn)
	if err != nil {
		return out, err
	}
	var asked []float32
	if v.Prompts.tell(v.Settings.Relevance) {
		asked = v.Gen.PromptScores(v.Prompts.Knobs, v.Prompts.Occasion, min(sampleRows, v.Syn.Len()))
	}
	edges := analysis.BodyEdges(bins, real, synthetic, asked)
	out.Real = histogram(real, edges)
	if synthetic != nil {
		out.Synthetic = histogram(synthetic, edges)
	}
	if asked != nil {
		out.Asked = histogram(asked, edges)
	}
	return out, nil
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
