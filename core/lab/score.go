package lab

import (
	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
)

// reportScores describes F over a sample of real transitions.
func (x *experiment) reportScores(m *member, number uint64) error {
	v := x.views.of(m)
	if v.Settings.Relevance == relevance.None || !v.Learned || m.real.Len() == 0 {
		return nil
	}
	f, err := v.Sample(m.real, m.streams.scores.At(number).IntN)
	if err != nil {
		return err
	}
	s := analysis.Summarise(f)
	x.emit(event.TypeScores, m.index, event.Scores{
		Relevance: v.Settings.Relevance, Min: run.Float(s.Min), Max: run.Float(s.Max), Mean: run.Float(s.Mean),
		Quantiles: run.Floats([]float64{s.Q10, s.Median, s.Q90}),
	})
	return nil
}

// value takes the critics' value of an evaluation's first states, where critics take
// observations.
func (x *experiment) value(m *member, t *evaluation) error {
	values, has := m.agent.(relevance.Values)
	if !has || x.parts.fills {
		return nil
	}
	t.q = make([]float32, len(t.ended))
	return values.Q(t.q, t.obs, len(t.q))
}

// reportBias writes the line of an evaluation about the critics' bias.
func (x *experiment) reportBias(m *member, t *evaluation) {
	if len(t.q) == 0 {
		return
	}
	bias, q := make([]float64, len(t.q)), 0.0
	for i, v := range t.q {
		bias[i] = float64(v) - t.discounted[i]
		q += float64(v) / float64(len(t.q))
	}
	mean, std := meanStd(bias)
	x.emit(event.TypeQBias, m.index, event.QBias{Q: run.Float(q), Return: run.Float(q - mean), Bias: run.Float(mean), Std: run.Float(std)})
}
