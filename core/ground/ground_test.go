package ground

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// The intervals are those of R's binom.test, and for none or all of n the closed form 1 − 0.025^(1/n).
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		count, n  int
		low, high float64
	}{
		{7, 10, 0.3475471, 0.9332605}, {5, 10, 0.1870861, 0.8129139}, {10, 100, 0.0490047, 0.1762226}, {1, 1, 0.025, 1},
		{0, 64, 0, 1 - math.Pow(0.025, 1.0/64)}, {64, 64, math.Pow(0.025, 1.0/64), 1},
	} {
		if low, high := Interval(c.count, c.n); math.Abs(low-c.low) > 1e-6 || math.Abs(high-c.high) > 1e-6 {
			t.Errorf("%d of %d: %.7f to %.7f, want %.7f to %.7f", c.count, c.n, low, high, c.low, c.high)
		}
	}
}

// repeat is a list of values, each so many times.
func repeat(pairs ...float64) (all []float64) {
	for i := 0; i < len(pairs); i += 2 {
		for range int(pairs[i]) {
			all = append(all, pairs[i+1])
		}
	}
	return all
}

func at(returns ...float64) (all [][]float64) {
	for _, r := range returns {
		all = append(all, []float64{r, r})
	}
	return all
}

func TestWords(t *testing.T) {
	level := at(2, 300, 310, 320, 330)
	for _, c := range []struct {
		name       string
		present    float64
		neighbours []float64
		before     [][]float64
		last       float64
		word, says string
	}{
		{"a low evaluation among good neighbours", 83, repeat(3, 90, 61, 317), level, 83, Slip, "61 of 64 single updates return at least half of what is usual (317): this policy's 83"},
		{"it was low, and this one is not", 310, repeat(64, 317), level, 83, Slip, "the last evaluation's 83"},
		{"it was low, but no lower than before", 141, repeat(64, 133), at(2, 11, 5, 20, 23), 39, Firm, "this policy's 141 is typical"},
		{"all are low", 60, repeat(58, 70, 6, 330), level, 60, Fall, "58 of 64 single updates return under 158, half the level of 315"},
		{"all are low but level as before", 60, repeat(64, 60), at(2, 61, 59, 60, 60), 60, Firm, "none of 64"},
		{"some are low", 300, repeat(18, 20, 46, 320), level, 300, Rough, "18 of 64 single updates return under half of what is usual (320)"},
		{"few are low", 300, repeat(5, 20, 59, 320), level, 300, Unsure, "half of what is usual (320): 3 to 17 % of all would"},
		{"none is low", 300, repeat(64, 310), level, 300, Firm, "none of 64 single updates returns under half of what is usual (310)"},
		{"nothing is earned", 0, repeat(64, 0), at(0, 0, 0, 0), 0, Unsure, "not above the least"},
		{"nothing is usual", 50, repeat(64, 0), at(-9, 5, 5, 5), 50, Fall, "64 of 64"},
		{"less than nothing is the level", -20, repeat(64, -10), at(-90, -20, -20, -20), -20, Unsure, "half of it means nothing"},
		{"less than nothing is earned", -20, repeat(64, -10), level, -20, Fall, "64 of 64"},
		{"a run that stays where it began", 0.2, repeat(64, 0.2), at(1.4, 0.7, 0.6, 1.4), 0.4, Unsure, "not above the least evaluation so far"},
		{"a run that has begun", 3, repeat(64, 3), at(1, 2), 3, Unsure, "known from 4 evaluations on"},
	} {
		r := Read(Evidence{Present: repeat(1, c.present), Neighbours: c.neighbours, Evaluations: append(c.before[:len(c.before):len(c.before)], []float64{c.last})})
		text := r.Says(func(v float64) string { return fmt.Sprintf("%.0f", v) })
		if r.Word != c.word || !strings.Contains(text, c.says) || !strings.Contains(text, c.word) {
			t.Errorf("%s: %+v, %q", c.name, r, text)
		}
	}
}

// Where starts differ in what can be earned, what is usual is that of each start, and the level's
// own episodes say how many lie under half of it anyway.
func TestStartsThatDiffer(t *testing.T) {
	var neighbours []float64
	for i := range Neighbours {
		neighbours = append(neighbours, []float64{900, 0, 0, 0, 0}[i%5])
	}
	present := []float64{900, 0, 0, 0, 0}
	e := Evidence{Present: present, Neighbours: neighbours, Evaluations: [][]float64{{0}, present, present, present, present}}
	if r := Read(e); r.Word != Firm || r.Usual != 180 || r.Count != 0 || r.More != 0 {
		t.Errorf("%+v", r)
	}
	e.Evaluations[4] = append(slices.Clone(present), make([]float64, 20)...) // from more starts than are used here
	if r := Read(e); r.Word != Firm || r.Last != 180 {
		t.Errorf("beside other starts: %+v", r)
	}
	e.Evaluations[4] = present
	for i := range e.Neighbours {
		e.Neighbours[i] = 0
	}
	e.Neighbours[0] = 200 // what is usual is above 0 no more: half the level still is
	if r := Read(e); r.Word != Fall || r.Count != 63 {
		t.Errorf("%+v", r)
	}
}
