package tui

import (
	"math"
	"slices"

	"pgrlab/tui/chart"
)

// quantity is what a chart cell can show.
type quantity struct {
	id      string // as the command "show" takes it
	title   string
	about   string // the title's end where there is room
	lines   []line
	dots    bool      // single measurements matter: dots, however many there are
	include []float64 // values that the vertical axis contains
	empty   string    // the dim line where there is nothing yet
}

// line is one curve of a quantity and what the legend calls it.
type line struct {
	curve curveName
	label string
}

// quantities are what the cells cycle through, in this order.
var quantities = []quantity{
	{id: "return", title: "RETURN", lines: []line{{curveReturn, "return"}}, dots: true, include: []float64{0}, empty: "no evaluation yet"},
	{id: "dormant", title: "DORMANT RATIO", about: "policy", lines: []line{{curveSokar, "Sokar"}, {curveDrM, "DrM"}}, include: []float64{0, 0.05}, empty: "measured at each evaluation"},
	{id: "losses", title: "LOSSES", lines: []line{{curveCritic, "critic"}, {curveCuriosity, "ICM"}, {curveGenerator, "generator"}}, empty: "measured at each evaluation"},
	{id: "q", title: "Q", about: "mean over the batch", lines: []line{{curveQMean, "Q mean"}, {curveActor, "actor"}}, empty: "measured at each evaluation"},
	{id: "bias", title: "Q BIAS", lines: []line{{curveQBias, "Q - return"}}, include: []float64{0}, empty: "measured at each evaluation"},
	{id: "alpha", title: "ALPHA", about: "entropy temperature", lines: []line{{curveAlpha, "α"}}, include: []float64{0}, empty: "measured at each evaluation"},
	{id: "f", title: "F QUANTILES", about: "real rows", lines: []line{{curveF50, "median"}, {curveF90, "p90"}, {curveF10, "p10"}}, empty: "scored with the first refit"},
	{id: "dynamics", title: "DYNAMICS ERROR", about: "of D_syn", lines: []line{{curveDynamics, "of s'"}, {curveRelevant, "relevant rows"}, {curveChange, "of s' - s"}}, include: []float64{0}, empty: "measured at each generation, where the task can be set to a state"},
	{id: "labels", title: "REWARD ERROR", about: "of D_syn, 1 = a constant", lines: []line{{curveReward, "error"}}, include: []float64{0, 1}, empty: "measured at each generation, where the task can be set to a state"},
	{id: "coverage", title: "COVERAGE", about: "of D_real by D_syn", lines: []line{{curveCoverage, "covered"}, {curveCopies, "copies"}}, include: []float64{0, 1}, empty: "measured at each generation"},
	{id: "speed", title: "STEPS/S", lines: []line{{curveSpeed, "steps/s"}}, include: []float64{0}, empty: "no update yet: random steps are not counted"},
}

// chartIDs are the charts.
var chartIDs = []paneID{paneChart1, paneChart2, paneChart3, paneChart4}

// isChart says whether a pane is a chart.
func isChart(id paneID) bool { return slices.Contains(chartIDs, id) }

// firstShown is what each chart shows at first.
var firstShown = map[paneID]string{paneChart1: "return", paneChart2: "dormant", paneChart3: "losses", paneChart4: "speed"}

// smoothSteps are the weights of the past that the key goes through.
var smoothSteps = []float64{0, 0.6, 0.9}

// quantityNames are the quantities by name.
func quantityNames() []string {
	var out []string
	for _, q := range quantities {
		out = append(out, q.id)
	}
	return out
}

// quantityIndex finds a quantity by its name.
func quantityIndex(id string) (int, bool) {
	for i, q := range quantities {
		if q.id == id {
			return i, true
		}
	}
	return 0, false
}

// shown is the quantity of a chart.
func (m *charts) shown(id paneID) quantity { return quantities[m.quantity[id]] }

// fewDots is up to how many measurements each has a dot, also where the line goes
// through them.
const fewDots = 12

// series are the lines of a quantity: those of this run's members, and behind them
// those of the runs it is compared with, each with glyphs of its own. What is smoothed
// has its measurements as dots.
func (m *charts) series(q quantity) []chart.Series {
	var out []chart.Series
	past := smoothSteps[m.smooth]
	add := func(h *history, member int, l line, look int, label string) {
		points := h.curve(l.curve, member).points(m.place(h))
		if len(points) == 0 {
			return
		}
		s := chart.Series{Points: points, Smooth: smoothed(points, past), Look: look + 1, Label: label}
		if q.dots || past > 0 || len(points) <= fewDots {
			s.Draw = chart.LineAndDots
		}
		out = append(out, s)
	}
	for i, l := range q.lines {
		members := 1
		if len(q.lines) == 1 {
			members = m.history.members()
		}
		for member := range members {
			label := ""
			if i == 0 && member == 0 {
				label = m.runLabel(0)
			}
			add(&m.history, member, l, lookOfLine(i)+member, label)
		}
	}
	for i, other := range m.others {
		add(&other.history, 0, q.lines[0], m.lookOf(i), m.runLabel(i+1))
	}
	return out
}

// runLooks are as many looks as there are runs on a chart at most: a look is a stroke
// and a colour, and each belongs to one run in all charts. The further lines of a
// quantity have looks behind these.
const runLooks = 4

// lookOfLine is the look of the i-th line of a quantity.
func lookOfLine(i int) int {
	if i == 0 {
		return 0
	}
	return runLooks + i - 1
}

// empty says whether nothing was measured of a quantity.
func (m *charts) empty(q quantity) bool {
	for _, l := range q.lines {
		if c := m.history.curve(l.curve, 0); c != nil {
			for _, s := range c.samples {
				if !math.IsNaN(s.y) {
					return false
				}
			}
		}
	}
	return true
}

// smoothed is the exponentially weighted mean of points with the given weight of
// the past per mean distance of two points, free of the bias towards its first
// value. The weight follows the distance, so that sparse stretches are smoothed
// less. No points come in where none were; gaps stay gaps, and the mean begins anew
// behind them.
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
