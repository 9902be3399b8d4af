package analysis

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgrlab/core/replay"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.9g, want %.9g ± %g", what, got, want, tolerance)
	}
}

// rail is s' = s + a in two coordinates with r = s₀; it refuses states with s₀ above 100.
type rail struct{ at [2]float32 }

func (r *rail) Place(obs []float32) error {
	if obs[0] > 100 {
		return errors.New("no such place")
	}
	copy(r.at[:], obs)
	return nil
}

func (r *rail) Step(action, obs []float32) (float64, bool, bool, error) {
	reward := float64(r.at[0])
	r.at[0] += action[0]
	r.at[1] += action[0]
	copy(obs, r.at[:])
	return reward, false, false, nil
}

// known holds four rows of a rail: a correct one; one with r off by 2 and s' by (0, 3); one with an
// invalid state; one with an action that is clipped at 1.
var known = []float32{
	1, 2, 0.5, 1, 1.5, 2.5, 0,
	0, 0, 1, 2, 1, 4, 0,
	101, 0, 0, 0, 0, 0, 0,
	1, 2, 7, 1, 2, 3, 0,
}

func TestDynamicsErrorOfKnownRows(t *testing.T) {
	shape := replay.Shape{Obs: 2, Act: 1}
	s, err := Simulate(&rail{}, shape, known)
	if err != nil {
		t.Fatal(err)
	}
	e := s.Error(shape, Reference{Next: []float64{1, 9}, Change: []float64{0, 3}, Reward: 4})
	// By hand, Δs'² = 9/2 and Δr² = 4 in one of three rows.
	if e.Rows != 3 || e.Failed != 1 || len(e.Each) != 3 {
		t.Errorf("%+v", e)
	}
	near(t, "state", e.State, 4.5/3, 1e-12)
	near(t, "reward", e.Reward, 4.0/3, 1e-12)
	near(t, "combined", e.Combined, (4.5+4)/3/2, 1e-12)
	near(t, "relative", e.Relative, 0.5/3, 1e-12)
	near(t, "change", e.Change, 1, 1e-12) // 9 over 3 rows and the variance 3, in the only dimension that changes
	near(t, "change of the second dimension", e.EachChange[1], 1, 1e-12)
	near(t, "reward in units of its variance", e.RewardRelative, 1.0/3, 1e-12)
	near(t, "second row", float64(e.Each[1]), (4.5+4)/2, 1e-6)
	if !math.IsNaN(e.EachChange[0]) {
		t.Errorf("a dimension that never changes has error %v", e.EachChange[0])
	}
	first := s.Where(shape, func(i int) bool { return i == 0 }).Error(shape, Reference{Next: []float64{1, 9}, Change: []float64{1, 1}})
	if first.Rows != 1 || first.Change != 0 || first.Combined != 0 || !math.IsNaN(first.RewardRelative) {
		t.Errorf("%+v", first)
	}
	if _, err := Simulate(&rail{}, shape, known[:6]); err == nil {
		t.Error("a part of a row was taken")
	}
	one, _ := Simulate(&rail{}, shape, known[:7])
	rest, _ := Simulate(&rail{}, shape, known[7:])
	if both := one.With(rest); !slices.Equal(both.Predicted, s.Predicted) || !slices.Equal(both.True, s.True) || both.Failed != 1 {
		t.Errorf("in two parts: %+v", both)
	}
}

func TestScatter(t *testing.T) {
	rows := [][]float32{{1, 5, 0}, {3, 5, 0}}
	s := Spread(2, 2, func(i int) []float32 { return rows[i] })
	near(t, "mean", s.Mean[0], 2, 0)
	near(t, "variance", s.Variance[0], 1, 0)
	if s.Mean[1] != 5 || s.Variance[1] != 0 || len(s.Mean) != 2 {
		t.Errorf("%+v", s)
	}
}

func TestNearestIsInDeviations(t *testing.T) {
	others := [][]float32{{0, 0, 7}, {10, 0, 7}, {0, 4, 7}}
	s := Scatter{Mean: []float64{0, 0, 7}, Variance: []float64{25, 4, 0}}
	got := Nearest([][]float32{{10, 2, -99}, {0, 0, 7}}, others, s, nil)
	near(t, "distance to (10, 0)", float64(got[0]), math.Sqrt(1.0/2), 1e-6) // one deviation in one of two dimensions
	near(t, "distance to itself", float64(got[1]), 0, 0)
	got = Nearest(others[:1], others, s, func(i int) int { return i })
	near(t, "distance to another", float64(got[0]), math.Sqrt(4.0/2), 1e-6) // two deviations either way
}

// The distance over whole blocks of dimensions and a rest agrees with the plain sum.
func TestNearestInManyDimensions(t *testing.T) {
	const width = 21
	row := func(i int) []float32 {
		p := make([]float32, width)
		for k := range p {
			p[k] = float32(math.Sin(float64(i*width+k) * 1.7))
		}
		return p
	}
	var points, others [][]float32
	for i := range 40 {
		points, others = append(points, row(i)), append(others, row(100+i))
	}
	s := Spread(len(others), width, func(i int) []float32 { return others[i] })
	s.Variance[4] = 0
	for i, got := range Nearest(points, others, s, nil) {
		want := math.Inf(1)
		for _, q := range others {
			sum := 0.0
			for k, v := range s.Variance {
				if v > 0 {
					sum += math.Pow(float64(points[i][k]-q[k]), 2) / v / (width - 1)
				}
			}
			want = math.Min(want, math.Sqrt(sum))
		}
		near(t, "distance", float64(got), want, 1e-5)
	}
}

// Two dimensions with correlation 0.6 have their axes along the diagonals, with (1 ± 0.6)/2 of the
// variance, whatever their units.
func TestPCAOfACorrelation(t *testing.T) {
	var rows [][]float32
	for i := range 400 {
		a := math.Sqrt2 * math.Cos(2*math.Pi*float64(i)/400)
		b := math.Sqrt2 * math.Sin(2*math.Pi*float64(i)/400)
		rows = append(rows, []float32{float32(a), float32(1000*(0.6*a+0.8*b) + 5), 3, 99})
	}
	p, err := PCA(rows, 3, onward)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "first share", p.Explained[0], 0.8, 1e-5)
	near(t, "second share", p.Explained[1], 0.2, 1e-5)
	at := p.At([]float32{1, 1005, 3, 0}) // one deviation in both
	near(t, "first coordinate", at[0], math.Sqrt2, 1e-4)
	near(t, "second coordinate", math.Abs(at[1]), 0, 1e-4)
	if _, err := PCA(rows[:2], 3, onward); err == nil {
		t.Error("a plane through two rows")
	}
}

func TestOverlapOfClouds(t *testing.T) {
	left, right := [][2]float64{{0, 0}, {0, 1}}, [][2]float64{{9, 0}, {9, 1}}
	half := [][2]float64{{0, 0}, {0, 1}, {9, 0}, {9, 1}}
	near(t, "a cloud with itself", Overlap(half, half, 8), 1, 1e-12)
	near(t, "separate clouds", Overlap(left, right, 8), 0, 0)
	near(t, "half of a cloud", Overlap(left, half, 8), 0.5, 1e-12)
	if !math.IsNaN(Overlap(nil, left, 8)) {
		t.Error("an overlap of nothing is a number")
	}
}

// Sampled rows have the mean, the variances and the covariance of the fitted ones; columns may
// depend on each other.
func TestGaussianOfRows(t *testing.T) {
	var rows [][]float32
	for i := range 400 {
		a, b := float32(i%20), float32(i/20)
		rows = append(rows, []float32{a, a + b, 7, 2 * a})
	}
	g, err := FitGaussian(rows, 4, onward)
	if err != nil {
		t.Fatal(err)
	}
	at := g.Sample([]float32{0, 0, 0, 0})
	near(t, "mean", float64(at[1]), 19, 1e-5)
	// One deviation of a (33.33 with n−1) also moves a + b and 2a.
	one := g.Sample([]float32{1, 0, 0, 0})
	near(t, "deviation", float64(one[0]-at[0]), 5.7735, 0.01)
	near(t, "a + b", float64(one[1]-at[1]), float64(one[0]-at[0]), 1e-3)
	near(t, "2a", float64(one[3]-at[3]), 2*float64(one[0]-at[0]), 1e-3)
	near(t, "constant", float64(one[2]), 7, 1e-4)
}

// onward is a breathe function that never stops the work.
func onward() error { return nil }
