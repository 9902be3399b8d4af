package charts

import (
	"math"
	"slices"

	"pgrlab/tui/chart"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// quantity is something that a chart can show.
type quantity struct {
	ID      string // the name that the command "show" takes
	title   string
	about   string // the end of the title if there is room
	Lines   []line
	dots    bool      // single measurements matter: draw dots, however many there are
	include []float64 // values that the vertical axis must contain
	empty   string    // the dim line shown before there is data
}

// line is one curve of a quantity, with its name in the legend.
type line struct {
	curve history.CurveName
	Label string
}

// Quantities are what the charts cycle through, in this order.
var Quantities = []quantity{
	{ID: "return", title: "RETURN", Lines: []line{{history.CurveReturn, "return"}}, dots: true, include: []float64{0}, empty: "no evaluation yet"},
	{ID: "dormant", title: "DORMANT RATIO", about: "policy", Lines: []line{{history.CurveSokar, "Sokar"}, {history.CurveDrM, "DrM"}}, include: []float64{0, 0.05}, empty: "measured at each evaluation"},
	{ID: "losses", title: "LOSSES", Lines: []line{{history.CurveCritic, "critic"}, {history.CurveCuriosity, "ICM"}, {history.CurveGenerator, "generator"}}, empty: "measured at each evaluation"},
	{ID: "models", title: "LOSSES OF F", about: "of its models", Lines: []line{{history.CurveCuriosity, "ICM"}, {history.CurveRND, "RND"}, {history.CurveReach, "R-network"}}, empty: "measured at each evaluation, of an F that learns"},
	{ID: "q", title: "Q", about: "mean over the batch", Lines: []line{{history.CurveQMean, "Q mean"}, {history.CurveActor, "actor"}, {history.CurveOtherQ, "of the explorer"}}, empty: "measured at each evaluation"},
	{ID: "bias", title: "Q BIAS", Lines: []line{{history.CurveQBias, "Q - return"}}, include: []float64{0}, empty: "measured at each evaluation"},
	{ID: "alpha", title: "ALPHA", about: "entropy temperature", Lines: []line{{history.CurveAlpha, "α"}, {history.CurveOtherAlpha, "of the explorer"}}, include: []float64{0}, empty: "measured at each evaluation"},
	{ID: "explorer", title: "EXPLORER", about: "its losses", Lines: []line{{history.CurveOtherCritic, "critic"}, {history.CurveOtherActor, "actor"}}, empty: "measured at each evaluation, of method max"},
	{ID: "entropy", title: "ENTROPY", about: "of the policy", Lines: []line{{history.CurveEntropy, "entropy"}}, include: []float64{0}, empty: "measured at each evaluation, of PPO and DreamerV3"},
	{ID: "world", title: "WORLD MODEL", about: "its losses", Lines: []line{{history.CurveObservation, "observation"}, {history.CurveDivergence, "KL"}, {history.CurveEarned, "reward"}}, include: []float64{0}, empty: "measured at each evaluation, of a learner with a model of the world"},
	{ID: "imagined", title: "IMAGINED RETURN", about: "discounted", Lines: []line{{history.CurveImagined, "imagined"}, {history.CurveReplayed, "replayed"}}, include: []float64{0}, empty: "measured at each evaluation, of a learner with a model of the world"},
	{ID: "foresight", title: "OPEN-LOOP ERROR", about: "without observations", Lines: []line{{history.CurveForesightFar, "last step"}, {history.CurveForesightNear, "next step"}, {history.CurveForesightHeld, "held"}}, include: []float64{0}, empty: "measured at each evaluation, of a learner with a model of the world"},
	{ID: "noise", title: "NOISE", about: "of DrQ-v2's exploration", Lines: []line{{history.CurveNoise, "noise"}}, include: []float64{0}, empty: "measured at each evaluation, of DrQ-v2"},
	{ID: "bonus", title: "BONUS", about: "of a training step", Lines: []line{{history.CurveBonus, "bonus"}}, include: []float64{0}, empty: "measured at each evaluation, of methods with a bonus"},
	{ID: "f", title: "F QUANTILES", about: "real rows", Lines: []line{{history.CurveF50, "median"}, {history.CurveF90, "p90"}, {history.CurveF10, "p10"}}, empty: "scored at evaluations, once F has learned"},
	{ID: "model", title: "MODEL ERROR", about: "of the elites, 1 = a constant", Lines: []line{{history.CurveHeldOut, "held out"}}, include: []float64{0}, empty: "measured at each refit, of an ensemble of models"},
	{ID: "dynamics", title: "DYNAMICS ERROR", about: "of D_syn", Lines: []line{{history.CurveDynamics, "of s'"}, {history.CurveRelevant, "relevant rows"}, {history.CurveChange, "of s' - s"}}, include: []float64{0}, empty: "measured at each generation, where the task can be set to a state"},
	{ID: "labels", title: "REWARD ERROR", about: "of D_syn, 1 = a constant", Lines: []line{{history.CurveReward, "error"}}, include: []float64{0, 1}, empty: "measured at each generation, where the task can be set to a state"},
	{ID: "coverage", title: "COVERAGE", about: "of D_real by D_syn", Lines: []line{{history.CurveCoverage, "covered"}, {history.CurveCopies, "copies"}}, include: []float64{0, 1}, empty: "measured at each generation"},
	{ID: "rewarded", title: "REWARDED", about: "share of rows", Lines: []line{{history.CurveRewarded, "D_syn"}, {history.CurveRewardedReal, "D_real"}}, include: []float64{0}, empty: "counted at each generation, where rewards are rare events"},
	{ID: "drift", title: "LATENT DRIFT", about: "since the last refit", Lines: []line{{history.CurveDrift, "drift"}, {history.CurveAligned, "aligned"}, {history.CurveLatent, "mean |z|"}}, include: []float64{0, 1}, empty: "measured at each evaluation, of latents of frames"},
	{ID: "rnetwork", title: "R-NETWORK", about: "of episodic curiosity", Lines: []line{{history.CurveAccuracy, "accuracy"}, {history.CurveP90, "P90"}}, include: []float64{0.5, 1}, empty: "measured at each evaluation, of episodic curiosity"},
	{ID: "memory", title: "EPISODIC MEMORY", Lines: []line{{history.CurveEntries, "entries"}}, include: []float64{0}, empty: "measured at each evaluation, of episodic curiosity"},
	{ID: "goals", title: "GOALS", about: "an episode", Lines: []line{{history.CurveGoals, "evaluation"}, {history.CurveGoalsTrained, "training"}}, include: []float64{0}, empty: "counted at each episode's end, in mazes"},
	{ID: "cells", title: "CELLS ENTERED", about: "an episode", Lines: []line{{history.CurveCells, "evaluation"}, {history.CurveCellsTrained, "training"}}, include: []float64{0}, empty: "counted at each episode's end, in mazes"},
	{ID: "moved", title: "MOVED", about: "1 = top speed", Lines: []line{{history.CurveMoved, "evaluation"}, {history.CurveMovedTrained, "training"}}, include: []float64{0, 1}, empty: "measured at each episode's end, in mazes"},
	{ID: "spot", title: "ON THE SPOT", about: "share of actions", Lines: []line{{history.CurveSpot, "evaluation"}, {history.CurveSpotTrained, "training"}}, include: []float64{0, 1}, empty: "counted at each episode's end, in mazes"},
	{ID: "speed", title: "STEPS/S", Lines: []line{{history.CurveSpeed, "steps/s"}}, include: []float64{0}, empty: "no update yet: random steps are not counted"},
}

// chartIDs are the IDs of the charts.
var chartIDs = []pane.ID{pane.Chart1, pane.Chart2, pane.Chart3, pane.Chart4}

// IsChart says whether a pane is a chart.
func IsChart(id pane.ID) bool { return slices.Contains(chartIDs, id) }

// firstShown is the quantity that each chart shows at first.
var firstShown = map[pane.ID]string{pane.Chart1: "return", pane.Chart2: "dormant", pane.Chart3: "losses", pane.Chart4: "speed"}

// SmoothSteps are the weights of the past that the key cycles through.
var SmoothSteps = []float64{0, 0.6, 0.9}

// quantityNames are the names of the quantities.
func quantityNames() []string {
	var out []string
	for _, q := range Quantities {
		out = append(out, q.ID)
	}
	return out
}

// QuantityIndex finds a quantity by its name.
func QuantityIndex(id string) (int, bool) {
	for i, q := range Quantities {
		if q.ID == id {
			return i, true
		}
	}
	return 0, false
}

// shown is the quantity of a chart.
func (m *Charts) shown(id pane.ID) quantity { return Quantities[m.Quantity[id]] }

// dotted says whether each of n measurements of a quantity has a dot.
func (q quantity) dotted(n int) bool { return q.dots || n <= fewDots }

// fewDots is the number of measurements up to which each has a dot, even if the line passes through
// it.
const fewDots = 12

// Series are the lines of a quantity. They are those of this run (for several seeds their mean and
// its band, or a line for each seed) and, behind them, those of the compared runs, each with its
// own glyphs. The measurements of a smoothed line are dots.
func (m *Charts) Series(q quantity) []chart.Series {
	var out []chart.Series
	past := SmoothSteps[m.Smooth]
	add := func(h *history.History, c *history.Curve, look int, label string) {
		points := c.Points(m.Place(h))
		if len(points) == 0 {
			return
		}
		s := chart.Series{Points: points, Smooth: smoothed(points, past), Look: look + 1, Label: label}
		if past > 0 || q.dotted(len(points)) {
			s.Draw = chart.LineAndDots
		}
		out = append(out, s)
	}
	for i, l := range q.Lines {
		label := ""
		if i == 0 {
			label = m.RunLabel(0)
		}
		if m.apart(q) {
			for member := range m.History.Members() {
				add(&m.History, m.History.Curve(l.curve, member), member, label)
				label = ""
			}
			continue
		}
		add(&m.History, m.History.Main(l.curve), lookOfLine(i), label)
		if i == 0 && len(out) > 0 {
			out[0].Low, out[0].High = m.History.Band(l.curve, m.Place(&m.History))
		}
		if i == 0 && len(out) > 0 && m.Projected && m.History.Members() > 1 { // a dot for each seed in place of the band
			out[0].Low, out[0].High = nil, nil
			for member := range m.History.Members() {
				out = append(out, chart.Series{Points: m.History.Curve(l.curve, member).Points(m.Place(&m.History)), Draw: chart.Dots, Look: 1})
			}
		}
	}
	for i := range m.Others {
		if other := &m.Others[i]; m.places(other) {
			add(&other.History, other.History.Main(q.Lines[0].curve), m.LookOf(i), m.RunLabel(i+1))
		}
	}
	return out
}

// apart says whether each seed of a cohort has its own line; the quantity must have a single line.
func (m *Charts) apart(q quantity) bool {
	return m.seeds && len(q.Lines) == 1 && m.History.Members() > 1
}

// runLooks is the largest number of runs on a chart, and so of their looks. A look is a stroke and
// a colour, and belongs to one run in all charts. The further lines of a quantity have looks after
// these.
const runLooks = 4

// lookOfLine is the look of the i-th line of a quantity.
func lookOfLine(i int) int {
	if i == 0 {
		return 0
	}
	return runLooks + i - 1
}

// empty says whether a quantity has no measurements.
func (m *Charts) empty(q quantity) bool {
	for _, l := range q.Lines {
		if c := m.History.Main(l.curve); c != nil {
			for _, s := range c.Samples {
				if !math.IsNaN(s.Y) {
					return false
				}
			}
		}
	}
	return true
}

// reason says why the chart of a quantity is empty. NaN is a return that diverged; of other quantities
// it says that there was nothing to measure.
func (m *Charts) reason(q quantity) string {
	if q.ID == "return" && len(m.History.Evaluations) > 0 {
		return "no return is a number: it diverged"
	}
	return q.empty
}

// smoothed is the exponentially weighted mean of points with the given weight of the past per mean
// distance of two points, free of the bias towards its first value. The weight follows the
// distance, so that sparse stretches are smoothed less. No points are added where there were none;
// gaps stay gaps, and the mean starts again after them.
func smoothed(points []chart.Point, past float64) []chart.Point {
	if past <= 0 || len(points) < 2 {
		return nil
	}
	distance := (points[len(points)-1].X - points[0].X) / float64(len(points)-1)
	if !(distance > 0) {
		return nil
	}
	out := make([]chart.Point, len(points))
	sum, weight, x := 0.0, 0.0, points[0].X
	for i, p := range points {
		out[i] = p
		if math.IsNaN(p.Y) || math.IsInf(p.Y, 0) {
			sum, weight = 0, 0
			continue
		}
		keep := math.Pow(past, math.Max(0, p.X-x)/distance)
		sum, weight, x = keep*sum+(1-past)*p.Y, keep*weight+(1-past), p.X
		out[i].Y = sum / weight
	}
	return out
}
