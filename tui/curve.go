package tui

import (
	"math"

	"pgrlab/tui/chart"
)

// sample is one measurement: when it was made, in env steps and in seconds since
// the start, and its value. NaN is a gap.
type sample struct {
	step int
	wall float64
	y    float64
}

// curveName names one measured quantity of a run.
type curveName string

// The curves that are kept of a run.
const (
	curveReturn    curveName = "return"
	curveSokar     curveName = "dormant Sokar"
	curveDrM       curveName = "dormant DrM"
	curveCritic    curveName = "critic"
	curveActor     curveName = "actor"
	curveAlpha     curveName = "alpha"
	curveQMean     curveName = "Q mean"
	curveCuriosity curveName = "ICM"
	curveGenerator curveName = "generator"
	curveF10       curveName = "F p10"
	curveF50       curveName = "F median"
	curveF90       curveName = "F p90"
	curveQBias     curveName = "Q bias"
	curveDynamics  curveName = "dynamics"
	curveChange    curveName = "change"
	curveRelevant  curveName = "relevant"
	curveReward    curveName = "reward error"
	curveCoverage  curveName = "coverage"
	curveCopies    curveName = "copies"
	curveSpeed     curveName = "speed"
)

// curveLimit is how many samples of a curve are kept. A day of looking once a second
// is 86,400; the chart has a few hundred columns.
const curveLimit = 1 << 13

// curve is one quantity of one member over a run.
type curve struct{ samples []sample }

// add appends a measurement. A curve that is full is halved: of each four samples
// the smallest and the largest stay, so that spikes do.
func (c *curve) add(s sample) {
	c.samples = append(c.samples, s)
	if len(c.samples) < curveLimit {
		return
	}
	kept := c.samples[:0]
	for i := 0; i+4 <= len(c.samples); i += 4 {
		kept = append(kept, extremes(c.samples[i:i+4])...)
	}
	c.samples = kept
}

// extremes are the smallest and the largest of four samples in their order; a gap
// counts as neither unless there is nothing else.
func extremes(s []sample) []sample {
	lo, hi := 0, 0
	for i := range s {
		if !(s[i].y >= s[lo].y) {
			lo = i
		}
		if !(s[i].y <= s[hi].y) {
			hi = i
		}
	}
	if lo == hi {
		hi = len(s) - 1
		lo = 0
	}
	return []sample{s[min(lo, hi)], s[max(lo, hi)]}
}

// at is the last measurement at or before a step; ok is false before the first.
func (c *curve) at(step int) (sample, bool) {
	if c == nil {
		return sample{}, false
	}
	lo, hi := 0, len(c.samples)
	for lo < hi {
		if mid := (lo + hi) / 2; c.samples[mid].step <= step {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return sample{}, false
	}
	return c.samples[lo-1], true
}

// last is the newest measurement.
func (c *curve) last() (sample, bool) {
	if c == nil || len(c.samples) == 0 {
		return sample{}, false
	}
	return c.samples[len(c.samples)-1], true
}

// from are the values measured at step from and behind it.
func (c *curve) from(step int) []float64 {
	if c == nil {
		return nil
	}
	var out []float64
	for _, s := range c.samples {
		if s.step >= step && !math.IsNaN(s.y) {
			out = append(out, s.y)
		}
	}
	return out
}

// points are the curve over a horizontal axis.
func (c *curve) points(x func(step int, wall float64) float64) []chart.Point {
	if c == nil {
		return nil
	}
	out := make([]chart.Point, len(c.samples))
	for i, s := range c.samples {
		out[i] = chart.Point{X: x(s.step, s.wall), Y: s.y}
	}
	return out
}
