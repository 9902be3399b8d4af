package formula

import (
	"maps"
	"math"
	"slices"
)

// Function is what the help says about a function.
type Function struct {
	Name   string
	Usage  string // clip(x, lo, hi)
	Doc    string
	Column bool // it is of a whole column
}

// Functions lists all functions by name.
func Functions() []Function {
	var all []Function
	for _, n := range slices.Sorted(maps.Keys(functions)) {
		f := functions[n]
		all = append(all, Function{n, n + f.usage, f.doc, f.form == ofColumn || f.form == ofMix})
	}
	return all
}

// constants are names with a number.
var constants = map[string]float64{"inf": math.Inf(1), "pi": math.Pi}

// function is how a function is called and compiled.
type function struct {
	usage       string // its arguments
	doc         string
	form        form
	op          op
	least, most int // arguments
}

// form is what a function takes and gives.
type form int

const (
	ofEach      form = iota // a number; of a vector, each of its elements
	ofVector                // a vector, which becomes a number
	ofTwo                   // two vectors, which become a number
	ofMany                  // several numbers, or a vector
	ofClip                  // a number and its bounds
	ofTolerance             // a number and a shape
	ofColumn                // the values of all rows
	ofMix                   // weights and the values of all rows
)

var functions = map[string]function{
	"abs":     {"(x)", "|x|", ofEach, opAbs, 1, 1},
	"sign":    {"(x)", "-1, 0 or 1", ofEach, opSign, 1, 1},
	"sqrt":    {"(x)", "square root", ofEach, opSqrt, 1, 1},
	"exp":     {"(x)", "eˣ", ofEach, opExp, 1, 1},
	"log":     {"(x)", "natural logarithm", ofEach, opLog, 1, 1},
	"log1p":   {"(x)", "log(1 + x), exact near 0", ofEach, opLog1p, 1, 1},
	"tanh":    {"(x)", "hyperbolic tangent", ofEach, opTanh, 1, 1},
	"sigmoid": {"(x)", "1/(1 + exp(-x))", ofEach, opSigmoid, 1, 1},
	"floor":   {"(x)", "the largest whole number that is at most x", ofEach, opFloor, 1, 1},
	"sin":     {"(x)", "sine of radians", ofEach, opSin, 1, 1},
	"cos":     {"(x)", "cosine of radians", ofEach, opCos, 1, 1},

	"min":  {"(x, y, …)", "the smallest; of one vector, its smallest element", ofMany, opMin, 1, 16},
	"max":  {"(x, y, …)", "the largest; of one vector, its largest element", ofMany, opMax, 1, 16},
	"clip": {"(x, lo, hi)", "x, at least lo and at most hi", ofClip, opMin, 3, 3},
	"tolerance": {`(x, lo, hi, margin=0, value=0.1, "gaussian")`, "1 from lo to hi, falling to value at the distance margin; shapes: " + shapes(),
		ofTolerance, opTolerance, 3, 6},

	"norm": {"(v)", "length of a vector", ofVector, opNorm, 1, 1},
	"sum":  {"(v)", "sum of a vector's elements", ofVector, opSum, 1, 1},
	"mean": {"(v)", "mean of a vector's elements", ofVector, opMean, 1, 1},
	"dot":  {"(v, w)", "dot product of two vectors", ofTwo, opDot, 2, 2},

	"rank":         {"(x)", "share of the column that is smaller, from 0 to 1; equal values share a rank", ofColumn, opNone, 1, 1},
	"zscore":       {"(x)", "(x - mean)/deviation of the column; 0 where all are equal", ofColumn, opNone, 1, 1},
	"scale":        {"(x)", "x from the smallest of the column, 0, to the largest, 1", ofColumn, opNone, 1, 1},
	"mean_all":     {"(x)", "mean of the column", ofColumn, opNone, 1, 1},
	"std_all":      {"(x)", "standard deviation of the column", ofColumn, opNone, 1, 1},
	"median_all":   {"(x)", "median of the column", ofColumn, opNone, 1, 1},
	"quantile_all": {"(x, p)", "the value that a share p of the column is at most", ofColumn, opNone, 2, 2},
	"mix":          {"(0.7, x, 0.3, y, …)", "sum of weight · rank over the sum of weights", ofMix, opNone, 2, 16},
}
