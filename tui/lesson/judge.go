package lesson

import (
	"math"

	"pgrlab/presets"
	"pgrlab/tui/history"
)

// measured is a number that a lesson keeps, with its standard error where several
// measurements went into it.
type measured struct{ value, err float64 }

// measureNow takes a number of the run as it is; NaN where there is none.
func (x *Lessons) measureNow(k presets.Keep) measured {
	none := measured{math.NaN(), 0}
	g, p := x.History.Generated, x.Previewed()
	one := func(v float64) measured { return measured{v, 0} }
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
	case "real_rows":
		return one(float64(x.Snap.MixReal))
	case "preview_median", "preview_outside":
		switch {
		case p == nil:
			return none
		case k.Of == "preview_median":
			return one(p.Preview.Median)
		}
		return one(p.Outside)
	}
	c := x.History.Curve(curveOf[k.Of], 0)
	if c == nil || len(c.Samples) == 0 {
		return none
	}
	return meanOf(c.Samples[max(0, len(c.Samples)-max(1, k.Last)):])
}

// curveOf are the curves that a lesson can measure.
var curveOf = map[string]history.CurveName{"return": history.CurveReturn, "dormant": history.CurveSokar, "critic": history.CurveCritic, "q_mean": history.CurveQMean,
	"bias": history.CurveQBias, "dynamics": history.CurveDynamics}

// meanOf is the mean of measurements and its standard error; 0 of a single one.
func meanOf(samples []history.Sample) measured {
	var sum, squares float64
	n := float64(len(samples))
	for _, s := range samples {
		sum += s.Y
	}
	mean := sum / n
	for _, s := range samples {
		squares += (s.Y - mean) * (s.Y - mean)
	}
	if n < 2 {
		return measured{mean, 0}
	}
	return measured{mean, math.Sqrt(squares / (n - 1) / n)}
}

// verdict is what came of a claim.
type verdict int

// The verdicts.
const (
	cannotTell verdict = iota
	held
	didNotHold
)

// Judge holds a claim to two numbers. A difference counts that exceeds two standard
// errors of it, and the share of the first number that the lesson asks for.
func judge(r presets.Reveal, from, to measured) verdict {
	d := to.value - from.value
	least := math.Max(2*math.Hypot(from.err, to.err), r.Margin*math.Abs(from.value))
	switch {
	case math.IsNaN(d) || math.Abs(d) <= least:
		return cannotTell
	case (d > 0) == (r.Claim == "rises"):
		return held
	default:
		return didNotHold
	}
}
