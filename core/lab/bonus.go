package lab

import (
	"math"

	"pgrlab/core/config"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// addBonus adds the bonus to the rewards of a batch whose first rows are real.
func (x *experiment) addBonus(m *member, b *replay.Batch, real int) error {
	strength := x.Settings.Bonus
	if !x.config.Bonus.Given() || strength == 0 {
		return nil
	}
	if x.config.Bonus.Scale == config.ScaleReturns {
		if err := x.followBonus(m); err != nil {
			return err
		}
	}
	m.curious = resized(m.curious, b.Size)
	f := m.models[x.config.Bonus.Function]
	if err := f.Score(m.curious, b, b.Size); err != nil {
		return err
	}
	scale := relevance.PaperScale(f)
	switch x.config.Bonus.Scale {
	case config.ScaleCode:
		scale = 1
	case config.ScaleStd:
		for _, f := range m.curious[:real] {
			m.Bonus.add(scale * float64(f))
		}
		scale /= m.Bonus.std()
	case config.ScaleReturns:
		scale /= m.BonusReturn.Of.std()
	}
	if math.IsInf(scale, 0) || math.IsNaN(scale) {
		return nil // all are alike: nothing is more interesting than the rest
	}
	mean := 0.0
	for i, f := range m.curious {
		bonus := strength * scale * float64(f)
		b.Reward[i] += float32(bonus)
		mean += bonus / float64(b.Size)
	}
	m.Losses.Bonus.add(mean)
	return nil
}

// moments are the mean and the variance of a growing set of numbers (Welford 1962).
type moments struct {
	N            uint64
	Mean, Spread float64 // Spread is the sum of squared distances from the mean
}

func (m *moments) add(v float64) {
	m.N++
	d := v - m.Mean
	m.Mean += d / float64(m.N)
	m.Spread += d * (v - m.Mean)
}

// std is the standard deviation, that of a population.
func (m *moments) std() float64 { return math.Sqrt(m.Spread / float64(m.N)) }
