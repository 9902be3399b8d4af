package envs

import "math"

// tolerance is dm_control's reward shape (dm_control/utils/rewards.py,
// tolerance): 1 inside [lower, upper], falling outside to the value atMargin at
// the distance margin. A margin of 0 is a step.
type tolerance struct {
	lower, upper float64
	margin       float64
	atMargin     float64 // (0,1); also 0 for linear, quadratic and cosine
	sigmoid      sigmoid
}

// sigmoid is how a reward falls: s(0) = 1, s(1) = the value at the margin v.
type sigmoid int

const (
	gaussian    sigmoid = iota // exp(−½(d√(−2 ln v))²)
	hyperbolic                 // 1/cosh(d·arcosh(1/v))
	longTail                   // 1/((d√(1/v−1))²+1)
	reciprocal                 // 1/(|d|(1/v−1)+1)
	cosine                     // (1+cos(d·arccos(2v−1)))/2 while that falls
	linear                     // 1−d(1−v), not below 0
	quadratic                  // 1−d²(1−v), not below 0
	tanhSquared                // 1−tanh²(d·artanh√(1−v))
)

// gentle is dm_control's reward for small controls.
var gentle = tolerance{margin: 1, atMargin: 0, sigmoid: quadratic}

// gentleness is the mean of gentle over all controls.
func gentleness(controls []float64) float64 {
	sum := 0.0
	for _, c := range controls {
		sum += gentle.of(c)
	}
	return sum / float64(len(controls))
}

// infinity is the upper bound if more is always better.
var infinity = math.Inf(1)

// of returns the reward of x, in [0,1].
func (t tolerance) of(x float64) float64 {
	var d float64
	switch {
	case x >= t.lower && x <= t.upper:
		return 1
	case t.margin == 0:
		return 0
	case x < t.lower:
		d = (t.lower - x) / t.margin
	default:
		d = (x - t.upper) / t.margin
	}
	return t.sigmoid.at(d, t.atMargin)
}

// at evaluates the sigmoid at distance d ≥ 0, in margins.
func (s sigmoid) at(d, v float64) float64 {
	switch s {
	case gaussian:
		y := d * math.Sqrt(-2*math.Log(v))
		return math.Exp(-0.5 * y * y)
	case hyperbolic:
		return 1 / math.Cosh(d*math.Acosh(1/v))
	case longTail:
		y := d * math.Sqrt(1/v-1)
		return 1 / (y*y + 1)
	case reciprocal:
		return 1 / (d*(1/v-1) + 1)
	case cosine:
		if y := d * math.Acos(2*v-1) / math.Pi; y < 1 {
			return (1 + math.Cos(math.Pi*y)) / 2
		}
		return 0
	case linear:
		return math.Max(0, 1-d*(1-v))
	case quadratic:
		return math.Max(0, 1-d*d*(1-v))
	default: // tanhSquared
		y := math.Tanh(d * math.Atanh(math.Sqrt(1-v)))
		return 1 - y*y
	}
}
