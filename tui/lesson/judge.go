package lesson

import (
	"math"

	"pgrlab/core/event"
	"pgrlab/core/report"
	"pgrlab/presets"
	"pgrlab/tui/history"
)

// measured is a number that a lesson keeps, with its standard error if it comes from several
// measurements, infinite if it was to come from several and there is one.
type measured struct {
	value, err float64
	n          int  // measurements
	forks      *int // of forks: whether those with the change are seen to return more (1) or less (-1)
}

// measureNow measures a number of the run in its present state; NaN if there is none.
func (x *Lessons) measureNow(k presets.Keep) measured {
	none := measured{value: math.NaN()}
	g, p := x.History.Generated, x.Previewed()
	one := func(v float64) measured { return measured{value: v} }
	switch k.Of {
	case "nearest", "outside", "obeyed":
		switch {
		case g == nil || k.Of == "obeyed" && g.RankCorrelation == nil:
			return none
		case k.Of == "nearest":
			return one(float64(g.Nearest))
		case k.Of == "outside":
			return one(float64(g.OutsideStates))
		}
		return one(float64(*g.RankCorrelation))
	case "reward_error", "constant_reward", "change", "constant_change":
		if g == nil || g.Dynamics == nil {
			return none
		}
		return one(labelOf(g.Dynamics, k.Of))
	case "fork_changed", "fork_control":
		changed, control, seen := x.forks.Returns()
		if k.Of == "fork_control" {
			changed, seen = control, -seen
		}
		m := meanOf(changed) // the forks have a test of their own
		m.forks = &seen
		return m
	case "ground":
		var returns []float64
		if n := len(x.History.Grounds); n > 0 {
			for _, v := range x.History.Grounds[n-1].Neighbours {
				returns = append(returns, float64(v))
			}
		}
		return meanOf(returns).ofSeveral()
	case "off_high", "off_low":
		return typical(x.off(k.Of == "off_high")).ofSeveral()
	case "real_rows":
		return one(float64(x.Snap.MixReal))
	case "preview_median", "preview_outside":
		switch {
		case p == nil || k.Of == "preview_median" && p.Preview == nil:
			return none
		case k.Of == "preview_median":
			return one(float64(p.Preview.Median))
		}
		d, known := p.Dose(p.Value)
		if !known {
			return none
		}
		return one(d.Outside)
	}
	c := x.History.Main(curveOf[k.Of])
	if c == nil || len(c.Samples) == 0 {
		return none
	}
	var last []float64
	for _, s := range c.Samples[max(0, len(c.Samples)-max(1, k.Last)):] {
		last = append(last, s.Y)
	}
	if k.Last > 1 {
		return meanOf(last).ofSeveral()
	}
	return meanOf(last)
}

// ofSeveral is a number that was to come from several measurements.
func (m measured) ofSeveral() measured {
	if m.n < 2 {
		m.err = math.Inf(1)
	}
	return m
}

// off are the errors of the rows of D_syn beside the truth: of the half of higher F, or of the other half.
func (x *Lessons) off(high bool) (all []float64) {
	d := x.Snap.Dreamt
	if d == nil {
		return nil
	}
	rows := d.Rows[len(d.Rows)/2:]
	if high {
		rows = d.Rows[:len(d.Rows)/2]
	}
	for _, r := range rows {
		if r.Truth != nil && !math.IsNaN(r.Truth.Off) {
			all = append(all, r.Truth.Off)
		}
	}
	return all
}

// lacking says why the preview that the step waited for has no F to measure; "" if it has one.
func (x *Lessons) lacking() string {
	w, a := x.Lesson.Step().Wait, x.Answered()
	switch {
	case w == nil || w.For != "previewed" || a == nil || a.Preview != nil:
		return ""
	case len(a.Doses) == 0:
		return x.PreviewText()
	}
	return "F = " + a.Relevance + " cannot score the rows of the preview: there is no median"
}

// labelOf is an error of the labels of a D_syn.
func labelOf(d *event.Dynamics, name string) float64 {
	switch name {
	case "change":
		return float64(d.Change)
	case "constant_reward":
		return float64(d.ConstantReward)
	case "constant_change":
		return float64(d.ConstantChange)
	}
	return float64(d.RewardRelative)
}

// curveOf maps quantities to the curves that a lesson can measure.
var curveOf = map[string]history.CurveName{"return": history.CurveReturn, "dormant": history.CurveSokar, "critic": history.CurveCritic, "q_mean": history.CurveQMean,
	"bias": history.CurveQBias, "dynamics": history.CurveDynamics,
	"moved": history.CurveMoved, "bonus": history.CurveBonus,
	"dream_next": history.CurveForesightNear, "dream_far": history.CurveForesightFar, "dream_held": history.CurveForesightHeld,
	"imagined": history.CurveImagined, "replayed": history.CurveReplayed,
	"accuracy": history.CurveAccuracy, "p90": history.CurveP90, "entries": history.CurveEntries}

// meanOf is the mean of measurements and its standard error; the error of a single one is 0, and
// the mean of none is NaN.
func meanOf(samples []float64) measured {
	var sum, squares float64
	n := float64(len(samples))
	for _, y := range samples {
		sum += y
	}
	mean := sum / n
	for _, y := range samples {
		squares += (y - mean) * (y - mean)
	}
	if n < 2 {
		return measured{value: mean, n: len(samples)}
	}
	return measured{value: mean, err: math.Sqrt(squares / (n - 1) / n), n: len(samples)}
}

// verdict is the result for a claim.
type verdict int

// The verdicts.
const (
	cannotTell verdict = iota
	held
	didNotHold
)

// typical is the geometric mean of errors, which a few large ones do not carry away, with its standard
// error. An error of 0 counts as a thousandth.
func typical(errors []float64) measured {
	logs := make([]float64, len(errors))
	for i, v := range errors {
		logs[i] = math.Log(math.Max(v, 1e-3))
	}
	m := meanOf(logs)
	return measured{value: math.Exp(m.value), err: math.Exp(m.value) * m.err, n: m.n}
}

// judge compares a claim with two numbers. A difference counts if Welch's 95 % interval leaves out 0 and
// it exceeds the share of the first number that the lesson asks for; between forks, if their own test
// sees it.
func judge(r presets.Reveal, from, to measured) verdict {
	d, least := to.value-from.value, math.Inf(1)
	if !math.IsInf(from.err+to.err, 1) {
		least = math.Max(report.Margin(report.Estimate{Err: from.err, N: from.n}, report.Estimate{Err: to.err, N: to.n}), r.Margin*math.Abs(from.value))
	}
	if to.forks != nil {
		d, least = float64(*to.forks), 0
	}
	switch {
	case math.IsNaN(d) || math.Abs(d) <= least:
		return cannotTell
	case (d > 0) == (r.Claim == "rises"):
		return held
	default:
		return didNotHold
	}
}
