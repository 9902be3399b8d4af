package lab

import (
	"fmt"
	"math"
	"slices"

	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// Bonus is relevance that is added to the reward which the agent learns from:
// r + bonus·F, with the strength of the knob bonus, for any F that learns in steps. It is
// computed when a batch is sampled, by the model as it is then, also for synthetic
// transitions.
// Stored rewards, evaluations and every relevance function stay without it.
type Bonus struct {
	Function string `toml:"function"` // "none", as is the empty one, or a relevance function that learns in steps
	Scale    string `toml:"scale"`    // of F: "returns", "std", "paper" or "code"
}

// Choices of Bonus.Function and of Replay.Priority beside the relevance functions that
// learn in steps.
const (
	FunctionNone = "none" // of both
	PriorityTD   = "td"   // of Replay.Priority
)

// The choices of Bonus.Scale. The paper gives a strength of 0.1 and no scale; what
// its text and its code call F differ by a factor of 128.
const (
	// ScaleReturns divides the paper's F by the standard deviation of its discounted
	// return along the collected transitions, as random network distillation does
	// with its bonus (Burda et al. 2019, §2.4). See bonusReturn.
	ScaleReturns = "returns"
	// ScaleStd divides it by the standard deviation of F itself, of all values so far
	// over real transitions: a bonus several times as large.
	ScaleStd = "std"
	// ScalePaper is F as its paper has it, of curiosity ½‖g(h(s),a) − h(s')‖².
	ScalePaper = "paper"
	// ScaleCode is F as relevance.Function scores it, of curiosity the mean of squares of
	// the released code, 2/H of the paper's.
	ScaleCode = "code"
)

func (b Bonus) validate() error {
	if !b.given() {
		return nil
	}
	if !slices.Contains(trainedModels, b.Function) {
		return fmt.Errorf("configuration: bonus.function is %q, want %q, or one that learns in steps: %q", b.Function, FunctionNone, trainedModels)
	}
	if !slices.Contains([]string{ScaleReturns, ScaleStd, ScalePaper, ScaleCode}, b.Scale) {
		return fmt.Errorf("configuration: bonus.scale is %q, want %q, %q, %q or %q", b.Scale, ScaleReturns, ScaleStd, ScalePaper, ScaleCode)
	}
	return nil
}

// given says whether there is a bonus.
func (b Bonus) given() bool { return b.Function != "" && b.Function != FunctionNone }

// addBonus adds the bonus to the rewards of a batch whose first rows are real.
func (x *experiment) addBonus(m *member, b *replay.Batch, real int) error {
	strength := x.Settings.Bonus
	if !x.config.Bonus.given() || strength == 0 {
		return nil
	}
	if x.config.Bonus.Scale == ScaleReturns {
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
	case ScaleCode:
		scale = 1
	case ScaleStd:
		for _, f := range m.curious[:real] {
			m.Bonus.add(scale * float64(f))
		}
		scale /= m.Bonus.std()
	case ScaleReturns:
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
