// Package axes draws the figures of reports: panels of axes with lines, bands, points and bars, and one legend
// below them all.
package axes

import "strconv"

// Panel is one pair of axes.
type Panel struct {
	Title, X, Y string
	Marks       []Mark
	Names       []string // names of the places 0, 1, … on the x axis; nil: the axis has numbers
	LogX        bool
}

// Kind is how a mark looks.
type Kind int

// The kinds of marks.
const (
	Line     Kind = iota // a line
	Thin                 // a line of a single seed
	Dashed               // what the paper reports
	Curve                // a curve that others report
	Band                 // the area between Y and Upper
	Dot                  // single seeds
	Cross                // the last point of a seed that failed
	Interval             // a mean, with a bar from low to high if there is one
	Paper                // the paper's value
	Other                // a value from a publication
	Bar                  // a bar from Y to Upper
)

// Mark is something drawn between the axes.
type Mark struct {
	Kind  Kind
	X, Y  []float64
	Upper []float64 // of bands, bars and intervals
	Color int       // of the palette
	Label string    // in the legend; "": none
	Below bool      // it is drawn before those that are not
}

// Short formats a count of steps as the paper does: 100000 as 100K.
func Short(n int) string {
	switch {
	case n >= 1_000_000 && n%100_000 == 0:
		return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64) + "M"
	case n >= 1_000 && n%100 == 0:
		return strconv.FormatFloat(float64(n)/1e3, 'f', -1, 64) + "K"
	}
	return strconv.Itoa(n)
}
