package lab

import (
	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// sampleRows are the transitions of the line scores and of the histograms.
const sampleRows = 1024

// reportScores describes F over a sample of real transitions.
func (x *experiment) reportScores(m *member, number uint64) error {
	if x.Settings.Relevance == relevanceNone || !m.built(x.Settings.Relevance) {
		return nil
	}
	f, err := x.sampleScores(m, m.real, m.streams.scores.At(number).IntN)
	if err != nil {
		return err
	}
	s := analysis.Summarise(f)
	x.emit(event.TypeScores, m.index, event.Scores{
		Relevance: x.Settings.Relevance, Min: run.Float(s.Min), Max: run.Float(s.Max), Mean: run.Float(s.Mean),
		Quantiles: run.Floats([]float64{s.Q10, s.Median, s.Q90}),
	})
	return nil
}

// sampleScores is F of up to sampleRows transitions.
func (x *experiment) sampleScores(m *member, from *replay.Ring, draw func(int) int) ([]float32, error) {
	return m.scoresOf(m.f, from, sampleSlots(from, draw))
}

// sampleSlots are up to sampleRows slots of a ring, drawn with replacement unless it
// holds no more than that.
func sampleSlots(from *replay.Ring, draw func(int) int) []int {
	slots := make([]int, min(sampleRows, from.Len()))
	for i := range slots {
		slots[i] = i
		if from.Len() > len(slots) {
			slots[i] = draw(from.Len())
		}
	}
	return slots
}

// scoresOf is f of the transitions in up to scoreRows slots of a ring.
func (m *member) scoresOf(f score, from *replay.Ring, slots []int) ([]float32, error) {
	from.Gather(m.scoring, 0, slots)
	scores := make([]float32, len(slots))
	return scores, f.Score(scores, m.scoring, len(slots))
}

// compare makes the histograms of F over D_real, over the prompts of the new D_syn and
// over what came of them, over the same edges. They are for the screen; nothing in the journal depends on them.
func (x *experiment) compare(m *member) error {
	m.freal, m.fsyn, m.fasked = nil, nil, nil
	if x.Settings.Relevance == relevanceNone || m.synthetic.Len() == 0 {
		return nil
	}
	draw := m.streams.histogram.At(x.Generations).IntN
	real, err := x.sampleScores(m, m.real, draw)
	if err != nil {
		return err
	}
	synthetic, err := x.sampleScores(m, m.synthetic, draw)
	if err != nil {
		return err
	}
	asked := m.gen.Asked(x.Asked.Knobs, x.Asked.Occasion, min(sampleRows, m.synthetic.Len()))
	edges := analysis.BodyEdges(event.Bins, real, synthetic, asked)
	m.freal, m.fsyn = histogram(real, edges), histogram(synthetic, edges)
	if asked != nil {
		m.fasked = histogram(asked, edges)
	}
	return nil
}

func histogram(values []float32, edges []float64) *event.Histogram {
	s := analysis.Summarise(values)
	h := &event.Histogram{
		Rows: s.Count, Min: s.Min, Q10: s.Q10, Median: s.Median, Q90: s.Q90, Max: s.Max,
		Low: edges[0], High: edges[len(edges)-1],
	}
	h.Log = edges[1]-edges[0] < 0.99*(h.High-h.Low)/event.Bins // else they are even
	copy(h.Counts[:], analysis.Histogram(values, edges))
	return h
}
