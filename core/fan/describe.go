package fan

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// describe fills in what the forks say at a look, without a verdict.
func (t *test) describe(r *Result, l look) {
	real, forks := t.dealings[0], l.forks
	weight := 0.0
	for from := 0; from < forks; {
		to, n := from, [2]float64{}
		for ; to < forks && t.batch[to] == t.batch[from]; to++ {
			n[arm(real[to])]++
		}
		weight += n[0] * n[1] / (n[0] + n[1])
		from = to
	}
	r.Difference = t.centred(l, real) / weight // the mean of the batches' differences; NaN: all are of one kind
	for kind := range 2 {
		var all []float64
		for i, v := range l.scores[:forks] {
			if arm(real[i]) == kind {
				all = append(all, v)
			}
		}
		r.Forks[kind] = len(all)
		r.Means[kind], r.Deviations[kind] = stat.MeanStdDev(all, nil)
	}
	size := math.Abs(t.centred(l, real))
	r.AsMuch = 0
	for _, d := range t.dealings {
		if v := math.Abs(t.centred(l, d)); v >= size-same(math.Max(size, v)) {
			r.AsMuch++
		}
	}
	r.Sees = t.sees(l)
}

// arm is the index of the forks with the change, or of those without.
func arm(changed bool) int {
	if changed {
		return 1
	}
	return 0
}

// sees is Sees of as many forks, whose returns spread as these do within each kind and batch.
func (t *test) sees(l look) float64 {
	forks := l.forks
	type cell struct{ batch, kind int }
	sums, squares, n := map[cell]float64{}, 0.0, map[cell]float64{}
	for i, v := range l.scores[:forks] {
		c := cell{t.batch[i], arm(t.dealings[0][i])}
		sums[c] += v
		n[c]++
	}
	for i, v := range l.scores[:forks] {
		c := cell{t.batch[i], arm(t.dealings[0][i])}
		squares += (v - sums[c]/n[c]) * (v - sums[c]/n[c])
	}
	free := float64(forks - len(n))
	if free < 1 {
		return math.NaN()
	}
	return Sees(forks, math.Sqrt(squares/free))
}

// Sees is the difference that four of five fans would see, half of whose forks have the change, if
// scores of forks alike have that standard deviation; NaN: so few forks see nothing. The factor is
// from simulations with normal noise: 2.9, 2.05, 1.7 and 1.36 deviations for 8, 12, 16 and 24 forks.
func Sees(forks int, deviation float64) float64 {
	if forks < 2*LeastForks {
		return math.NaN()
	}
	return 6 / math.Sqrt(float64(forks-4)) * deviation
}

// interval is the differences that are not rejected: the test is made of the scores without the
// difference. Low or high is infinite if no difference is too large. Both are NaN if the estimate
// itself is rejected, by an earlier look.
func (t *test) interval(estimate float64, looks []look) (low, high float64) {
	accepted := func(effect float64) bool { return t.rejects(looks, effect) == 0 }
	if math.IsNaN(estimate) || !accepted(estimate) {
		return math.NaN(), math.NaN()
	}
	last := looks[len(looks)-1]
	least, most := last.scores[0], last.scores[0]
	for _, v := range last.scores[:last.forks] {
		least, most = math.Min(least, v), math.Max(most, v)
	}
	edge := func(sign float64) float64 {
		step := most - least
		if step == 0 {
			return estimate
		}
		in, out := 0.0, step
		for tried := 0; accepted(estimate + sign*out); tried++ {
			if tried == 6 {
				return math.Inf(int(sign))
			}
			in, out = out, 2*out
		}
		for out-in > step/2_000 {
			if mid := (in + out) / 2; accepted(estimate + sign*mid) {
				in = mid
			} else {
				out = mid
			}
		}
		return estimate + sign*out
	}
	return edge(-1), edge(1)
}
