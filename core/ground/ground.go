// Package ground says whether a return is typical of where training stands: a fall, or a slip.
//
// # The probe
//
// From the agent as it is, a number of single updates are made, each from the same state and on a
// batch of its own, mixed as the run mixes them now. The policy after each of them, a neighbour,
// plays one episode from one of the starts of the run's last evaluation, in turn. The present policy
// plays an episode from each of them. Returns after an update vary more than episodes of one policy
// do, and by how much differs from place to place (Rahn et al. 2023, arXiv 2309.14597).
//
// # The words
//
// What is usual at a start is the median of the neighbours from it, since starts differ in how much
// can be earned from them. A share of the neighbours has the interval of Clopper and Pearson (1934)
// of 95 %. A word is given if the whole interval is on its side:
//
//	FALL    more than half of the neighbours return under half the level, and more than episodes of the
//	        level itself did. The level is the median of the last four evaluations
//	ROUGH   more than a tenth of the neighbours return under half of what is usual
//	SLIP    the present policy, or the last evaluation if it is below the level, returns under half of
//	        what is usual, and more than half of the neighbours do not
//	FIRM    neither does, and less than a tenth of the neighbours do
//
// The first of them that applies is the word; else it is "cannot say". It is too while the level is
// unknown; while half of it is not above the least evaluation so far, because to return half as much is
// then no more than a bad day of the beginning; and where what is usual is not above 0, half of which
// means nothing.
package ground

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// Neighbours is how many single updates are made.
const Neighbours = 64

// MostStarts is how many starts are used at most: each has several neighbours, whose median is what is usual there.
const MostStarts = Neighbours / 4

// The words.
const (
	Fall   = "FALL"
	Rough  = "ROUGH"
	Slip   = "SLIP"
	Firm   = "FIRM"
	Unsure = "cannot say"
)

// levelOf is how many evaluations the level is the median of.
const levelOf = 4

// Evidence is what a word is found from. All slices are of undiscounted returns of episodes.
type Evidence struct {
	Present     []float64   // of the present policy, one for each start
	Neighbours  []float64   // of neighbour i from start i modulo the number of starts
	Evaluations [][]float64 // of the run so far, the last one last, each with its episodes
}

// Reading is what a probe has found.
type Reading struct {
	Word   string
	Usual  float64 // mean over the starts of the neighbours' medians
	Level  float64 // NaN: unknown
	Return float64 // of the present policy, mean over the starts
	Last   float64 // of the last evaluation, mean over these starts; NaN: there is none
	Least  float64 // of all evaluations; NaN: there is none
	More   int     // neighbours that return more than the present policy does from their start
	// Count of the neighbours Of return under half of what is usual, or, in a fall, under half the
	// level; in a slip they return at least half of what is usual. Low and High are the interval of
	// that share.
	Count, Of int
	Low, High float64
}

// Read finds the word. Every start has a neighbour.
func Read(e Evidence) Reading {
	usual := e.usual()
	r := Reading{
		Word: Unsure, Usual: stat.Mean(usual, nil), Return: stat.Mean(e.Present, nil), Of: len(e.Neighbours),
		Level: e.level(), Last: math.NaN(), Least: math.NaN(),
	}
	for _, returns := range e.Evaluations {
		r.Last = stat.Mean(returns[:min(len(returns), len(e.Present))], nil) // from the same starts
		if all := stat.Mean(returns, nil); !(all >= r.Least) {
			r.Least = all
		}
	}
	low := 0 // under half of what is usual
	for i, v := range e.Neighbours {
		start := i % len(usual)
		if v < usual[start]/2 {
			low++
		}
		if v > e.Present[start] {
			r.More++
		}
	}
	risen := r.Level/2 > r.Least // false if they are unknown
	if risen && r.Level > 0 {
		if r.share(under(e.Neighbours, r.Level/2)); r.Low > max(0.5, e.low(r.Level/2)) {
			r.Word = Fall
			return r
		}
	}
	r.share(low)
	fallen := r.Return < r.Usual/2 || r.Last < min(r.Usual/2, r.Level) // below the level: else it has risen since
	switch {
	case !risen || !(r.Usual > 0):
	case r.Low > 0.1:
		r.Word = Rough
	case fallen && 1-r.High > 0.5:
		r.share(r.Of - low)
		r.Word = Slip
	case !fallen && r.High < 0.1:
		r.Word = Firm
	}
	return r
}

// share notes that so many of the neighbours have something in common.
func (r *Reading) share(count int) {
	r.Count = count
	r.Low, r.High = Interval(count, r.Of)
}

// usual is the median of the neighbours from each start.
func (e *Evidence) usual() []float64 {
	of := make([][]float64, min(len(e.Present), len(e.Neighbours)))
	for i, v := range e.Neighbours {
		of[i%len(of)] = append(of[i%len(of)], v)
	}
	all := make([]float64, len(of))
	for i, v := range of {
		all[i] = median(v)
	}
	return all
}

// lately are the evaluations that make the level; nil: there are too few.
func (e *Evidence) lately() [][]float64 {
	n := len(e.Evaluations)
	if n < levelOf {
		return nil
	}
	return e.Evaluations[n-levelOf:]
}

// level is where the run stands; NaN: unknown.
func (e *Evidence) level() float64 {
	var means []float64
	for _, returns := range e.lately() {
		means = append(means, stat.Mean(returns, nil))
	}
	return median(means)
}

// low is the share of the level's own episodes that return less than that.
func (e *Evidence) low(than float64) float64 {
	all := slices.Concat(e.lately()...)
	return float64(under(all, than)) / float64(len(all))
}

// under counts the values that are less than that.
func under(values []float64, than float64) (n int) {
	for _, v := range values {
		if v < than {
			n++
		}
	}
	return n
}

// median is NaN if there are no values.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	switch n := len(v); {
	case n == 0:
		return math.NaN()
	case n%2 == 0:
		return (v[n/2-1] + v[n/2]) / 2
	default:
		return v[n/2]
	}
}

// Interval is the exact interval of 95 % of a share, of which count of n were seen (Clopper and
// Pearson 1934).
func Interval(count, n int) (low, high float64) {
	const tail = 0.025
	k, rest := float64(count), float64(n-count)
	low, high = 0, 1
	if count > 0 {
		low = distuv.Beta{Alpha: k, Beta: rest + 1}.Quantile(tail)
	}
	if count < n {
		high = distuv.Beta{Alpha: k + 1, Beta: rest}.Quantile(1 - tail)
	}
	return low, high
}

// Bound is the return that the counted neighbours are over or under.
func (r *Reading) Bound() float64 {
	if r.Word == Fall {
		return r.Level / 2
	}
	return r.Usual / 2
}

// Says is the reading in one sentence; number writes a return.
func (r *Reading) Says(number func(float64) string) string {
	of := func(text string) string {
		if r.Count == 0 {
			return fmt.Sprintf("none of %d single updates returns %s", r.Of, text)
		}
		return fmt.Sprintf("%d of %d single updates return %s", r.Count, r.Of, text)
	}
	half := "half of what is usual (" + number(r.Usual) + ")"
	switch r.Word {
	case Fall:
		return fmt.Sprintf("a FALL: %s, half the level of %s", of("under "+number(r.Level/2)), number(r.Level))
	case Rough:
		return fmt.Sprintf("ROUGH: %s: expect evaluations to jump", of("under "+half))
	case Slip:
		what := "this policy's " + number(r.Return)
		if r.Return >= r.Usual/2 {
			what = "the last evaluation's " + number(r.Last)
		}
		return fmt.Sprintf("a SLIP: %s: %s is an exception", of("at least "+half), what)
	case Firm:
		return fmt.Sprintf("FIRM: %s: this policy's %s is typical", of("under "+half), number(r.Return))
	}
	switch {
	case math.IsNaN(r.Level):
		return fmt.Sprintf("cannot say: the level is known from %d evaluations on", levelOf)
	case !(r.Level/2 > r.Least):
		return fmt.Sprintf("cannot say: half the level of %s is not above the least evaluation so far, %s", number(r.Level), number(r.Least))
	case !(r.Usual > 0):
		return fmt.Sprintf("cannot say: the usual return here is %s, and half of it means nothing", number(r.Usual))
	}
	return fmt.Sprintf("cannot say: %s: %.0f to %.0f %% of all would, and ROUGH begins at 10 %%", of("under "+half), 100*r.Low, 100*r.High)
}

// Of is the reading that a line of a journal has.
func Of(g *event.Grounded) Reading {
	known := func(v *run.Float) float64 {
		if v == nil {
			return math.NaN()
		}
		return float64(*v)
	}
	return Reading{
		Word: g.Word, Usual: float64(g.Usual), Level: known(g.Level), Return: float64(g.Return), Last: known(g.Last), Least: known(g.Least),
		More: g.More, Count: g.Count, Of: len(g.Neighbours), Low: float64(g.Low), High: float64(g.High),
	}
}
