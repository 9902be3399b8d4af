package history

import (
	"math"

	"pgrlab/tui/chart"
)

// Sample is one measurement: its time, in env steps and in seconds since the start, and its value.
// NaN is a gap.
type Sample struct {
	Step int
	Wall float64
	Y    float64
}

// CurveName names one measured quantity of a run.
type CurveName string

// The curves kept for a run.
const (
	CurveReturn       CurveName = "return"
	CurveSokar        CurveName = "dormant Sokar"
	CurveDrM          CurveName = "dormant DrM"
	CurveCritic       CurveName = "critic"
	CurveActor        CurveName = "actor"
	CurveAlpha        CurveName = "alpha"
	CurveQMean        CurveName = "Q mean"
	CurveCuriosity    CurveName = "ICM"
	CurveRND          CurveName = "RND"
	CurveReach        CurveName = "R-network"
	CurveGenerator    CurveName = "generator"
	CurveOtherCritic  CurveName = "explorer's critic"
	CurveOtherActor   CurveName = "explorer's actor"
	CurveOtherAlpha   CurveName = "explorer's alpha"
	CurveOtherQ       CurveName = "explorer's Q mean"
	CurveHeldOut      CurveName = "held-out error"
	CurveF10          CurveName = "F p10"
	CurveF50          CurveName = "F median"
	CurveF90          CurveName = "F p90"
	CurveQBias        CurveName = "Q bias"
	CurveDynamics     CurveName = "dynamics"
	CurveChange       CurveName = "change"
	CurveRelevant     CurveName = "relevant"
	CurveReward       CurveName = "reward error"
	CurveCoverage     CurveName = "coverage"
	CurveCopies       CurveName = "copies"
	CurveRewarded     CurveName = "rewarded"
	CurveRewardedReal CurveName = "rewarded in D_real"
	CurveDrift        CurveName = "drift"
	CurveAligned      CurveName = "aligned"
	CurveLatent       CurveName = "latent size"
	CurveAccuracy     CurveName = "R-network accuracy"
	CurveP90          CurveName = "similarity p90"
	CurveEntries      CurveName = "memory entries"
	CurveGoals        CurveName = "goals"
	CurveGoalsTrained CurveName = "goals in training"
	CurveCells        CurveName = "cells"
	CurveCellsTrained CurveName = "cells in training"
	CurveMoved        CurveName = "moved"
	CurveMovedTrained CurveName = "moved in training"
	CurveSpot         CurveName = "on the spot"
	CurveSpotTrained  CurveName = "on the spot in training"
	CurveBonus        CurveName = "bonus"
	CurveEntropy      CurveName = "entropy"
	CurveNoise        CurveName = "noise"
	CurveSpeed        CurveName = "speed"

	CurveObservation CurveName = "decoded observation"
	CurveEarned      CurveName = "expected reward"
	CurveDivergence  CurveName = "KL of latents"
	CurveImagined    CurveName = "imagined return"
	CurveReplayed    CurveName = "replayed return"

	CurveForesightNear CurveName = "error of the next step"
	CurveForesightFar  CurveName = "error of the last step"
	CurveForesightHeld CurveName = "error of a held observation"
)

// curveLimit is how many samples a curve keeps. A day of polling once a second gives 86,400; the
// chart has a few hundred columns.
const curveLimit = 1 << 13

// Curve is one quantity of one member over a run.
type Curve struct{ Samples []Sample }

// Add appends a measurement. A full curve is halved: of every four samples the smallest and the
// largest stay, so that spikes survive, and the newest four stay as they are, so that Last is the
// newest measurement.
func (c *Curve) Add(s Sample) {
	c.Samples = append(c.Samples, s)
	if len(c.Samples) < curveLimit {
		return
	}
	kept, newest := c.Samples[:0], len(c.Samples)-4
	for i := 0; i+4 <= newest; i += 4 {
		kept = append(kept, extremes(c.Samples[i:i+4])...)
	}
	c.Samples = append(kept, c.Samples[newest:]...)
}

// extremes are the smallest and the largest of some samples, in order; a gap counts as neither
// unless there is nothing else.
func extremes(s []Sample) []Sample {
	lo, hi := -1, -1
	for i := range s {
		if math.IsNaN(s[i].Y) {
			continue
		}
		if lo < 0 || s[i].Y < s[lo].Y {
			lo = i
		}
		if hi < 0 || s[i].Y >= s[hi].Y { // of equal ones the last, so that both ends of a flat part stay
			hi = i
		}
	}
	switch {
	case lo < 0:
		return s[:1]
	case lo == hi:
		return s[lo : lo+1]
	default:
		return []Sample{s[min(lo, hi)], s[max(lo, hi)]}
	}
}

// At is the last measurement at or before a step; ok is false before the first.
func (c *Curve) At(step int) (Sample, bool) {
	if c == nil {
		return Sample{}, false
	}
	lo, hi := 0, len(c.Samples)
	for lo < hi {
		if mid := (lo + hi) / 2; c.Samples[mid].Step <= step {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return Sample{}, false
	}
	return c.Samples[lo-1], true
}

// Last is the newest measurement.
func (c *Curve) Last() (Sample, bool) {
	if c == nil || len(c.Samples) == 0 {
		return Sample{}, false
	}
	return c.Samples[len(c.Samples)-1], true
}

// From are the values measured at step from or later.
func (c *Curve) From(step int) []float64 {
	if c == nil {
		return nil
	}
	var out []float64
	for _, s := range c.Samples {
		if s.Step >= step && !math.IsNaN(s.Y) {
			out = append(out, s.Y)
		}
	}
	return out
}

// Points are the points of the curve over the given horizontal axis.
func (c *Curve) Points(x func(step int, wall float64) float64) []chart.Point {
	if c == nil {
		return nil
	}
	out := make([]chart.Point, len(c.Samples))
	for i, s := range c.Samples {
		out[i] = chart.Point{X: x(s.Step, s.Wall), Y: s.Y}
	}
	return out
}
