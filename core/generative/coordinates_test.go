package generative

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// correlated makes n transitions of one observation and one action, with s' and r linear in s and a
// up to a little noise.
func correlated(n int) table {
	rows, z := make(table, n), make([]float32, 4)
	for i := range rows {
		rng.New(5, "correlated").FillNormal(z, uint64(i), 0)
		s, a := z[0], 0.5*z[1]-0.3*z[0]
		rows[i] = []float32{s, a, 2*s - a + 0.05*z[2], s + 0.1*a + 0.01*z[3], 0}
	}
	return rows
}

func fitTurned(t *testing.T, kind string) (Config, normaliser, table) {
	t.Helper()
	c, rows := turned(tiny()), correlated(500)
	c.Normaliser = kind
	n, err := fitNormaliser(c, rows, newLayout(c, replay.Shape{Obs: 1, Act: 1}))
	if err != nil {
		t.Fatal(err)
	}
	return c, n, rows
}

// On the principal axes the data are uncorrelated and have the spread given by the coordinates, and
// leave inverts the transform.
func TestPrincipalAxes(t *testing.T) {
	for _, kind := range []string{NormaliserMinMax, NormaliserStandard} {
		t.Run(kind, func(t *testing.T) {
			_, n, rows := fitTurned(t, kind)
			const width = 4
			products := [width][width]float64{}
			x, back := make([]float32, width), make([]float32, width)
			for i := range rows.Len() {
				n.normalise(x, rows.Row(i))
				entered := n.coordinates.enter(x, width)
				for j := range width {
					for k := range width {
						products[j][k] += entered[j] * entered[k] / float64(rows.Len())
					}
				}
				y := make([]float32, width)
				for j, v := range entered {
					y[j] = float32(v)
				}
				n.coordinates.leave(back, y)
				for j, v := range x {
					near(t, "vector left again", float64(back[j]), float64(v), 1e-6)
				}
			}
			spread := n.coordinates.spread
			if spread[0] > spread[3]/20 {
				t.Errorf("spreads %v: the data have an axis of next to none", spread)
			}
			for j := range width {
				for k := range width {
					want := 0.0
					if j == k {
						want = spread[j] * spread[j]
					}
					near(t, fmt.Sprint("covariance of axes ", j, " and ", k), products[j][k], want, 1e-6)
				}
			}
		})
	}
}

// With a network of zeros the estimate is the best linear one, μ + Σ(Σ+σ²)⁻¹(x−μ): learning starts
// from the Gaussian.
func TestSilentNetworkIsTheGaussianEstimate(t *testing.T) {
	c, n, rows := fitTurned(t, NormaliserStandard)
	const width, count = 4, 6
	d := newDiffusion(t, c, replay.Shape{Obs: 1, Act: 1})
	for _, p := range d.served.Params() {
		clear(p.Data)
	}
	if err := d.calls.serve(n.coordinates); err != nil {
		t.Fatal(err)
	}
	estimate := estimator(t, d.calls, withPrompt, make([]float32, count))

	mean, covariance := secondMoments(rows, n, covarianceRows)
	for _, sigma := range []float64{0.01, 0.3, 5} {
		normalised := make([]float32, count*width)
		rng.New(6, "noisy").FillNormal(normalised, 0, 0)
		x := make([]float32, len(normalised))
		for i, v := range n.coordinates.enter(normalised, width) {
			x[i] = float32(v)
		}
		got := estimate(x, sigma)
		noisy := mat.NewSymDense(width, nil)
		noisy.CopySym(covariance)
		for j := range width {
			noisy.SetSym(j, j, covariance.At(j, j)+sigma*sigma)
		}
		left := make([]float32, width)
		for i := range count {
			n.coordinates.leave(left, got[i*width:(i+1)*width])
			off, solved, want := mat.NewVecDense(width, nil), mat.NewVecDense(width, nil), mat.NewVecDense(width, nil)
			for j := range width {
				off.SetVec(j, float64(normalised[i*width+j])-mean[j])
			}
			if err := solved.SolveVec(noisy, off); err != nil {
				t.Fatal(err)
			}
			want.MulVec(covariance, solved)
			for j := range width {
				near(t, fmt.Sprint("estimate at σ ", sigma), float64(left[j]), mean[j]+want.AtVec(j), 2e-4)
			}
		}
	}
}

// A constant column stays exactly constant, and no sample leaves the bounds of min-max data.
func TestPrincipalAxesOfConstants(t *testing.T) {
	c, rows := turned(tiny()), correlated(60)
	for _, row := range rows {
		row[3] = 7
	}
	d := newDiffusion(t, c, replay.Shape{Obs: 1, Act: 1})
	startFit(t, d, rows, nil, tinyFit, 1)
	finishFit(t, d, 20)
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, row := range rows {
		low, high = min(low, row[2]), max(high, row[2])
	}
	made := generateAll(t, d, tinyGenerate, 1)
	for at := 0; at < len(made); at += 5 {
		near(t, "constant column", float64(made[at+3]), 7, 1e-4)
		if r := made[at+2]; r < low-1e-4 || r > high+1e-4 {
			t.Errorf("reward %v, the data's are in [%v,%v]", r, low, high)
		}
	}
}

// If there are more rows than the covariance uses, it uses about equally many from every copy of an
// environment, whose transitions take turns.
func TestCovarianceLeavesOutNoCopy(t *testing.T) {
	const copies, each = 16, 4096
	for every := 1; every <= 20; every++ {
		var of [copies]int
		for i := 0; i < each*every; i += every {
			row := oneOf(i, every, each*every)
			if row < i || row >= i+every {
				t.Fatalf("row %d stands for those from %d to %d", row, i, i+every-1)
			}
			of[row%copies]++
		}
		for copied, n := range of {
			if n < each/copies*3/4 || n > each/copies*5/4 {
				t.Errorf("one of %d: %d rows of copy %d, want about %d", every, n, copied, each/copies)
			}
		}
	}
	for every := 2; every <= 20; every++ { // of the last rows only one is there
		if row := oneOf(2*every, every, 2*every+1); row != 2*every {
			t.Errorf("of %d rows the last one is stood for by row %d", 2*every+1, row)
		}
	}
}

// The covariance is taken over as many transitions as the setting says. A feature that is 0 in all
// transitions but one has no spread if that one is left out, and its own spread if it is included.
func TestTheCovarianceIsOfAsManyRowsAsAreSet(t *testing.T) {
	c, rows := turned(tiny()), correlated(500)
	for _, row := range rows {
		row[3] = 0
	}
	for i := range 10 { // a row that is not the one taken from the last ten
		if i != oneOf(490, 10, 500)-490 {
			rows[490+i][3] = 1
			break
		}
	}
	spreads := func(most int) []float64 {
		c.CovarianceRows = most
		n, err := fitNormaliser(c, rows, newLayout(c, replay.Shape{Obs: 1, Act: 1}))
		if err != nil {
			t.Fatal(err)
		}
		return n.coordinates.spread
	}
	if got := spreads(50); slices.Min(got) != minSpread {
		t.Errorf("without the transition spreads are %g", got)
	}
	want := 2 * math.Sqrt(1/500.0*(1-1/500.0)) // one row of 500 is 2 away
	for _, most := range []int{0, 500} {
		if got := spreads(most); !slices.ContainsFunc(got, func(v float64) bool { return math.Abs(v-want) < 0.01*want }) || slices.Min(got) == minSpread {
			t.Errorf("over %d transitions spreads are %g, want one of %g", most, got, want)
		}
	}
	c.CovarianceRows = -1
	if err := c.Validate(); err == nil {
		t.Error("−1 transitions are let pass")
	}
}

// pairs makes n transitions in which s and s', and a and r, are correlated.
func pairs(n int, states, others float64) table {
	rows, z := make(table, n), make([]float32, 4)
	for i := range rows {
		rng.New(8, "pairs").FillNormal(z, uint64(i), 0)
		with := func(x, noise float32, correlation float64) float32 {
			return float32(correlation)*x + float32(math.Sqrt(1-correlation*correlation))*noise
		}
		rows[i] = []float32{z[0], z[1], with(z[1], z[2], others), with(z[0], z[3], states), 0}
	}
	return rows
}

// A refit from the weights of the previous one begins with its estimates, although the order of the
// principal axes has changed.
func TestAWarmStartFollowsTheAxes(t *testing.T) {
	c := turned(tiny())
	c.Normaliser, c.Init = NormaliserStandard, InitPrevious
	d := newDiffusion(t, c, replay.Shape{Obs: 1, Act: 1})
	const width, count, sigma = 4, 30, 0.5
	rows := pairs(400, 0.85, 0.75)
	startFit(t, d, pairs(400, 0.75, 0.85), nil, tinyFit, 1)
	finishFit(t, d, 20)
	for i, p := range d.served.Params() {
		rng.New(4, "weights").FillNormal(p.Data, uint64(i), 0)
		for j := range p.Data {
			p.Data[j] *= 0.3
		}
	}
	startFit(t, d, rows, nil, tinyFit, 2)
	// estimates are those of the served weights in the coordinates of n, as raw rows.
	estimates := func(n normaliser) (all []float32) {
		if err := d.calls.serve(n.coordinates); err != nil {
			t.Fatal(err)
		}
		normalised, x := make([]float32, count*width), make([]float32, count*width)
		for i := range count {
			n.normalise(normalised[i*width:(i+1)*width], rows[i])
		}
		for i, v := range n.coordinates.enter(normalised, width) {
			x[i] = float32(v)
		}
		got, vector, raw := estimator(t, d.calls, withoutPrompt, make([]float32, count))(x, sigma), make([]float32, width), make([]float32, width)
		for i := range count {
			n.coordinates.leave(vector, got[i*width:(i+1)*width])
			n.restore(raw, vector)
			all = append(all, raw...)
		}
		return all
	}
	want, got := estimates(d.serving.normaliser), estimates(d.fit.normaliser)
	for i, v := range got {
		if !(math.Abs(float64(v-want[i])) <= 0.3) {
			t.Fatalf("coordinate %d of row %d is estimated as %g, before the refit as %g", i%width, i/width, v, want[i])
		}
	}
	spread := d.fit.normaliser.coordinates.spread
	if slices.IsSorted(spread) {
		t.Errorf("spreads %v are in the order of a fresh start: nothing was to be followed", spread)
	}
}
