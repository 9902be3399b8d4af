package analysis

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/rng"
)

// hand is a hidden layer of 4 units and a head of 2 on 2 states.
//
//	unit          0     1     2     3        μ    log σ
//	E|post|       1     0.04  0     0.96     mean 0.5
//	score         2     0.08  0     1.92
//	E|pre|        1     0.04  2     0.96     mean 1
//	head E|z|                                 3    0.06   mean 1.53
func hand() []Layer {
	return []Layer{
		{Name: "hidden 1", Rows: 2, Units: 4,
			Pre:  []float32{2, 0.04, -1, 0.96, 0, 0.04, -3, 0.96},
			Post: []float32{2, 0.04, 0, 0.96, 0, 0.04, 0, 0.96}},
		{Name: "heads", Rows: 2, Units: 2, Output: true, Pre: []float32{-3, 0.12, 3, 0}},
	}
}

func TestDormantRatios(t *testing.T) {
	for _, c := range []struct {
		name string
		got  float64
		want float64
	}{
		{"Sokar: unit 2 alone", DormantSokar(hand(), 0.025), 1.0 / 4},
		{"Sokar: τ = 0 still has the dead unit", DormantSokar(hand(), 0), 1.0 / 4},
		{"Sokar: units 1 and 2", DormantSokar(hand(), 0.1), 2.0 / 4},
		{"DrM: none at 0.025", DormantDrM(hand(), 0.025), 0},
		{"DrM: unit 1, and log σ (0.06 < 0.04·1.53)", DormantDrM(hand(), 0.0401), 2.0 / 6},
		{"DrM: log σ alone", DormantDrM(hand(), 0.0395), 1.0 / 6},
		{"DrM: τ = 0 has none, being strict", DormantDrM(hand(), 0), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// The two definitions differ for a layer that outputs zeros, and at the bound.
func TestDefinitionsDifferAtTheirEdges(t *testing.T) {
	dead := []Layer{{Rows: 1, Units: 3, Pre: make([]float32, 3), Post: make([]float32, 3)}}
	if s, d := DormantSokar(dead, 0.025), DormantDrM(dead, 0.025); s != 1 || d != 0 {
		t.Errorf("a layer of zeros: Sokar %v, DrM %v; want 1 and 0", s, d)
	}
	// The mean is 1, and unit 0 has exactly half of it.
	bound := []Layer{{Rows: 1, Units: 2, Pre: []float32{0.5, 1.5}, Post: []float32{0.5, 1.5}}}
	if s, d := DormantSokar(bound, 0.5), DormantDrM(bound, 0.5); s != 0.5 || d != 0 {
		t.Errorf("a unit at the bound: Sokar %v, DrM %v; want 0.5 and 0", s, d)
	}
	if !math.IsNaN(DormantSokar(nil, 0.1)) || !math.IsNaN(DormantDrM(nil, 0.1)) {
		t.Error("a ratio of nothing is a number")
	}
}

func TestSummaries(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	// By hand, the quantile q of 0 … 10 is q·10.
	s := Summarise([]float32{10, 3, 7, nan, 0, 1, 2, 9, 4, 5, 6, 8})
	if want := (Summary{Count: 11, Min: 0, Q10: 1, Median: 5, Q90: 9, Max: 10, Mean: 5}); s != want {
		t.Errorf("0 to 10: %+v, want %+v", s, want)
	}
	// The quantile q of 1 and 2 is 1 + q.
	s = Summarise([]float32{2, 1})
	if want := (Summary{Count: 2, Min: 1, Q10: 1.1, Median: 1.5, Q90: 1.9, Max: 2, Mean: 1.5}); s != want {
		t.Errorf("1 and 2: %+v, want %+v", s, want)
	}
	if s := Summarise([]float32{4}); s.Min != 4 || s.Median != 4 || s.Max != 4 {
		t.Errorf("one number: %+v", s)
	}
	if s := Summarise([]float32{-inf, inf, inf}); s.Median != math.Inf(1) || s.Min != math.Inf(-1) || s.Q90 != math.Inf(1) {
		t.Errorf("infinities: %+v", s)
	}
	for _, v := range [][]float32{nil, {nan}} {
		if s := Summarise(v); s.Count != 0 || !math.IsNaN(s.Min) || !math.IsNaN(s.Median) || !math.IsNaN(s.Max) || !math.IsNaN(s.Mean) {
			t.Errorf("no numbers: %+v", s)
		}
	}
	values := []float32{3, 1, 2}
	Summarise(values)
	if !slices.Equal(values, []float32{3, 1, 2}) {
		t.Error("the values were sorted in place")
	}
}

func TestHistograms(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	real, synthetic := []float32{0, 1, 2, 2, nan}, []float32{3, 4, inf}
	edges := CommonEdges(4, real, synthetic)
	if !slices.Equal(edges, []float64{0, 1, 2, 3, 4}) {
		t.Fatalf("edges are %v, want 0 to 4", edges)
	}
	if h := Histogram(real, edges); !slices.Equal(h, []int{1, 1, 2, 0}) {
		t.Errorf("real: %v", h)
	}
	if h := Histogram(synthetic, edges); !slices.Equal(h, []int{0, 0, 0, 2}) { // 4 is the upper edge
		t.Errorf("synthetic: %v", h)
	}
	if h := Histogram([]float32{-0.001, 4.001}, edges); !slices.Equal(h, []int{0, 0, 0, 0}) {
		t.Errorf("outside: %v", h)
	}
	if e := CommonEdges(2, []float32{7, 7}); !slices.Equal(e, []float64{6.5, 7, 7.5}) {
		t.Errorf("edges of one value are %v", e)
	}
	if e := CommonEdges(2, []float32{1e7}, nil); e[0] >= 1e7 || e[2] <= 1e7 || e[1] != 1e7 {
		t.Errorf("edges of one large value are %v", e)
	}
	if e := CommonEdges(1, nil, []float32{nan}); !slices.Equal(e, []float64{0, 1}) {
		t.Errorf("edges of nothing are %v", e)
	}
}

// A few extreme values do not determine the edges of the body. For 0, 1, …, 100, and a second
// sample with equally many copies of 50, the percentiles are 1 and 99, whatever the last values
// are.
func TestEdgesOfTheBody(t *testing.T) {
	var spread, still []float32
	for i := range 101 {
		spread, still = append(spread, float32(i)), append(still, 50)
	}
	spread[100], spread[0] = 1e6, float32(math.NaN())
	spread = append(spread, -1e6) // 101 numbers again
	if e := BodyEdges(2, spread, still, nil); !slices.Equal(e, []float64{1, 50, 99}) {
		t.Errorf("edges are %v", e)
	}
}

// Skewed positive values are spread over the bins; for other values the edges stay even.
func TestBodyEdgesOfSkewedValues(t *testing.T) {
	fullest := func(values []float32) float64 {
		most, all := 0, 0
		for _, n := range Histogram(values, BodyEdges(20, values)) {
			most, all = max(most, n), all+n
		}
		return float64(most) / float64(all)
	}
	skewed, even, negative := make([]float32, 2000), make([]float32, 2000), make([]float32, 2000)
	for i := range skewed {
		u := float64(i) / 2000
		skewed[i] = float32(math.Pow(10, 4*u-6)) // 1e-6 to 1e-2
		even[i] = float32(1 + u)
		negative[i] = skewed[i] - 1e-3
	}
	if got := fullest(skewed); got > 0.1 {
		t.Errorf("the fullest bin holds %.2f of skewed values", got)
	}
	for name, values := range map[string][]float32{"even": even, "negative": negative} {
		edges := BodyEdges(20, values)
		for i := 1; i < len(edges); i++ {
			if step := edges[i] - edges[i-1]; math.Abs(step-(edges[20]-edges[0])/20) > 1e-9 {
				t.Errorf("%s values have uneven edges %v", name, edges)
				break
			}
		}
	}
}

// Every finite value falls into exactly one bin of its own edges.
func FuzzHistogramCountsAll(f *testing.F) {
	f.Add(float32(0), float32(1e-40), float32(3), uint8(20))
	f.Add(float32(-3e38), float32(3e38), float32(1), uint8(7))
	f.Fuzz(func(t *testing.T, a, b, c float32, bins uint8) {
		values := []float32{a, b, c}
		want := 0
		for _, v := range values {
			if x := float64(v); !math.IsNaN(x) && !math.IsInf(x, 0) {
				want++
			}
		}
		got := 0
		for _, n := range Histogram(values, CommonEdges(1+int(bins)%64, values)) {
			got += n
		}
		if got != want {
			t.Fatalf("%v: %d of %d values are in a bin", values, got, want)
		}
	})
}

// Two samples of one distribution do not overlap wholly: 0.849 by NumPy's histogram2d for 1,000 normal
// points each, the mean of 30 pairs.
func TestOverlapOfAlikeClouds(t *testing.T) {
	sum, pairs := 0.0, 20
	for k := range pairs {
		draws := rng.New(uint64(k), "alike").At(0)
		var clouds [2][][2]float64
		for c := range clouds {
			for range 1_000 {
				clouds[c] = append(clouds[c], [2]float64{draws.Norm(), draws.Norm()})
			}
		}
		sum += Overlap(clouds[0], clouds[1], 12)
	}
	if mean := sum / float64(pairs); math.Abs(mean-0.849) > 0.01 {
		t.Errorf("two normal clouds overlap by %.3f", mean)
	}
}
