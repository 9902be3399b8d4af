package formula

import (
	"math"
	"strconv"
	"strings"
)

// Tolerance is dm_control's reward shape (dm_control/utils/rewards.py, tolerance): 1 inside
// [Lower, Upper], falling outside to the value AtMargin at the distance Margin. A margin of 0 is a
// step.
type Tolerance struct {
	Lower, Upper float64
	Margin       float64
	AtMargin     float64 // (0,1); also 0 for linear, quadratic and cosine
	Sigmoid      Sigmoid
}

// Sigmoid is how a reward falls: s(0) = 1, s(1) = the value at the margin v.
type Sigmoid int

const (
	Gaussian    Sigmoid = iota // exp(−½(d√(−2 ln v))²)
	Hyperbolic                 // 1/cosh(d·arcosh(1/v))
	LongTail                   // 1/((d√(1/v−1))²+1)
	Reciprocal                 // 1/(|d|(1/v−1)+1)
	Cosine                     // (1+cos(d·arccos(2v−1)))/2 while that falls
	Linear                     // 1−d(1−v), not below 0
	Quadratic                  // 1−d²(1−v), not below 0
	TanhSquared                // 1−tanh²(d·artanh√(1−v))
)

// sigmoids are their names in dm_control.
var sigmoids = []string{"gaussian", "hyperbolic", "long_tail", "reciprocal", "cosine", "linear", "quadratic", "tanh_squared"}

// shapes lists the names of sigmoids.
func shapes() string { return strings.Join(sigmoids, ", ") }

// Of returns the reward of x, in [0,1].
func (t Tolerance) Of(x float64) float64 {
	var d float64
	switch {
	case x >= t.Lower && x <= t.Upper:
		return 1
	case t.Margin == 0:
		return 0
	case x < t.Lower:
		d = (t.Lower - x) / t.Margin
	default:
		d = (x - t.Upper) / t.Margin
	}
	return t.Sigmoid.at(d, t.AtMargin)
}

// at evaluates the sigmoid at distance d ≥ 0, in margins.
func (s Sigmoid) at(d, v float64) float64 {
	switch s {
	case Gaussian:
		y := d * math.Sqrt(-2*math.Log(v))
		return math.Exp(-0.5 * y * y)
	case Hyperbolic:
		return 1 / math.Cosh(d*math.Acosh(1/v))
	case LongTail:
		y := d * math.Sqrt(1/v-1)
		return 1 / (y*y + 1)
	case Reciprocal:
		return 1 / (d*(1/v-1) + 1)
	case Cosine:
		if y := d * math.Acos(2*v-1) / math.Pi; y < 1 {
			return (1 + math.Cos(math.Pi*y)) / 2
		}
		return 0
	case Linear:
		return math.Max(0, 1-d*(1-v))
	case Quadratic:
		return math.Max(0, 1-d*d*(1-v))
	default: // TanhSquared
		y := math.Tanh(d * math.Atanh(math.Sqrt(1-v)))
		return 1 - y*y
	}
}

// wrong says what dm_control would refuse, or "".
func (t Tolerance) wrong() string {
	reachesZero := t.Sigmoid == Cosine || t.Sigmoid == Linear || t.Sigmoid == Quadratic
	switch {
	case !(t.Lower <= t.Upper):
		return "tolerance has its lower bound " + brief(t.Lower) + " above its upper bound " + brief(t.Upper)
	case !(t.Margin >= 0) || math.IsInf(t.Margin, 0):
		return "tolerance has the margin " + brief(t.Margin) + ", want at least 0"
	case reachesZero && !(t.AtMargin >= 0 && t.AtMargin < 1):
		return "tolerance has the value " + brief(t.AtMargin) + " at the margin, want at least 0 and less than 1"
	case !reachesZero && !(t.AtMargin > 0 && t.AtMargin < 1):
		return "tolerance has the value " + brief(t.AtMargin) + " at the margin, want more than 0 and less than 1 for " + sigmoids[t.Sigmoid]
	}
	return ""
}

// brief is a number in a message.
func brief(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
