package fan

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgrlab/core/rng"
)

// whole is a batch whose forks have made all evaluations, each of which returned 0.
func whole(changed []bool) Batch {
	return Batch{Changed: changed, Early: make([]float64, len(changed)), Scores: make([]float64, len(changed))}
}

// With eight forks the verdict is that of a count by hand over the 70 ways to choose four of eight bits.
func TestEightForksByBruteForce(t *testing.T) {
	draws := rng.New(1, "test").At(0)
	verdicts := map[Verdict]int{}
	for n := range 300 {
		b := whole(Deal(rng.New(uint64(n), "deal"), 4))
		real := 0
		for i := range b.Scores {
			b.Scores[i] = float64(draws.IntN(40))
			if b.Changed[i] {
				real |= 1 << i
				b.Scores[i] += float64(n % 3 * 20)
			}
		}
		difference := func(mask int) float64 {
			sum := [2]float64{}
			for i, v := range b.Scores {
				sum[mask>>i&1] += v / 4
			}
			return sum[1] - sum[0]
		}
		ways, more, asMuch := 0, 0, 0
		for mask := range 1 << 8 {
			if bits.OnesCount(uint(mask)) != 4 {
				continue
			}
			ways++
			by := math.Abs(difference(mask)) - math.Abs(difference(real))
			if by > 1e-9 {
				more++
			}
			if by >= -1e-9 {
				asMuch++
			}
		}
		want := NotSeen
		if asMuch <= 2 && more == 0 { // 3 % of 70, and the first look can spend nothing
			want = map[bool]Verdict{true: Better, false: Worse}[difference(real) > 0]
		}
		r := Judge([]Batch{b})
		verdicts[r.Verdict]++
		if r.Verdict != want || r.Dealings != ways || r.AsMuch != asMuch || math.Abs(r.Difference-difference(real)) > 1e-9 || r.Look != 2 || r.Looks != 2 {
			t.Fatalf("%v %v: %+v, want %v and %d of %d", b.Changed, b.Scores, r, want, asMuch, ways)
		}
		if seen := r.Verdict == Better || r.Verdict == Worse; seen == (r.Low <= 0 && r.High >= 0) {
			t.Fatalf("verdict %v, but the interval is %v to %v", r.Verdict, r.Low, r.High)
		}
	}
	if verdicts[Better] < 20 || verdicts[NotSeen] < 20 {
		t.Errorf("%v: the cases are of one kind", verdicts)
	}
}

// Fewer than four forks of either kind never give a verdict, however they return; forks that are not
// done wait for their look.
func TestWhatFewForksSay(t *testing.T) {
	for n, want := range map[int]Verdict{1: TooFew, 2: TooFew, 3: TooFew, 4: Better, 6: Better, 8: Better} {
		b := whole(Deal(rng.New(3, "deal"), n))
		for i, c := range b.Changed {
			b.Scores[i] = float64(i)
			if c {
				b.Scores[i] += 1000
			}
		}
		if r := Judge([]Batch{b}); r.Verdict != want {
			t.Errorf("%d and %d forks: %+v, want %v", n, n, r, want)
		}
		b.Scores[0] = math.NaN()
		if r := Judge([]Batch{b}); n >= LeastForks && (r.Verdict != NotSeen || r.Look != 1 || r.Next != Whole) {
			t.Errorf("%d and %d forks, the first not done: %+v", n, n, r)
		}
		b.Early[1] = math.NaN()
		if r := Judge([]Batch{b}); n >= LeastForks && (r.Verdict != Waiting || r.Look != 0 || r.Next != Early) {
			t.Errorf("%d and %d forks, the second has hardly begun: %+v", n, n, r)
		}
	}
	if r := Judge([]Batch{whole(Deal(rng.New(3, "deal"), 4))}); r.Verdict != NotSeen {
		t.Errorf("forks that return the same: %+v", r)
	}
	if r := Judge(nil); r.Verdict != Waiting {
		t.Errorf("no forks: %+v", r)
	}
}

// A verdict stays when forks are added, and batches are compared within themselves: a batch from a
// better checkpoint is no sign of the change.
func TestBatchesAreAdded(t *testing.T) {
	batch := func(seed uint64, n int, level, effect float64) Batch {
		b := whole(Deal(rng.New(seed, "deal"), n))
		noise := rng.New(seed, "noise").At(0)
		for i, c := range b.Changed {
			b.Scores[i] = level + float64(noise.IntN(100))
			if c {
				b.Scores[i] += effect
			}
		}
		return b
	}
	first := Judge([]Batch{batch(1, 4, 0, 200)})
	both := Judge([]Batch{batch(1, 4, 0, 200), batch(2, 4, 500, -40)})
	if first.Verdict != Better || both.Verdict != Better || both.Look != 3 || both.Decided != 2 {
		t.Errorf("%+v, then %+v", first, both)
	}
	levels := Judge([]Batch{batch(3, 4, 0, 0), batch(4, 4, 1e6, 0)})
	if levels.Verdict != NotSeen || math.Abs(levels.Difference) > 100 || levels.Sees > 300 {
		t.Errorf("two checkpoints: %+v", levels)
	}
	small := Judge([]Batch{batch(5, 4, 0, 40)})
	more := Judge([]Batch{batch(5, 4, 0, 40), batch(6, 8, 300, 40)})
	if small.Verdict != NotSeen || more.Verdict != Better || more.Sees >= small.Sees {
		t.Errorf("%+v, with more forks %+v", small, more)
	}
}

// A large difference at six tenths of the evaluations is seen there, and stays seen; what a look has
// spent, later ones cannot.
func TestTheFirstLook(t *testing.T) {
	b := whole(Deal(rng.New(3, "deal"), 6))
	for i, c := range b.Changed {
		b.Early[i], b.Scores[i] = float64(i), math.NaN()
		if c {
			b.Early[i] = 100 + float64(i)
		}
	}
	if r := Judge([]Batch{b}); r.Verdict != Better || r.Look != 1 || r.Decided != 1 || r.Next != Whole || !(r.Low > 0) {
		t.Errorf("%+v", r)
	}
	for i := range b.Scores {
		b.Scores[i] = float64(i % 2)
	}
	if r := Judge([]Batch{b}); r.Verdict != Better || r.Look != 2 || r.Decided != 1 || math.Abs(r.Difference) > 1 {
		t.Errorf("at the end: %+v", r)
	}
}

// A fork that failed has the least return where it was not evaluated any more.
func TestAFailedForkCounts(t *testing.T) {
	for _, c := range []struct {
		returns     []float64
		failed      bool
		least       float64
		early, want float64
	}{
		{[]float64{10, 20, 30, 40}, false, 0, 20, 25}, {[]float64{10, 20, 30}, false, 0, 20, math.NaN()}, {[]float64{10, 20}, true, 0, 10, 7.5}, {nil, true, -50, -50, -50},
		{[]float64{10, math.NaN(), 1, 11}, false, -2, 3, 5}, {[]float64{10, math.Inf(1)}, true, 0, 10. / 3, 2.5}, {nil, false, 0, math.NaN(), math.NaN()},
	} {
		b := NewBatch([]Fork{{true, c.returns, c.failed}}, 4, c.least)
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if !same(b.Early[0], c.early) || !same(b.Scores[0], c.want) || !b.Changed[0] {
			t.Errorf("%+v: %+v", c, b)
		}
	}
	if b := NewBatch([]Fork{{}}, 0, 0); !math.IsNaN(b.Scores[0]) || !math.IsNaN(b.Early[0]) {
		t.Errorf("no evaluation is due: %+v", b)
	}
	if got := Least([]float64{3, 2}, []float64{-4, math.Inf(-1), math.NaN()}); got != -4 || Least([]float64{3}) != 0 {
		t.Errorf("least return %v", got)
	}
}

// Of fans without any effect, dealt over curves as they were recorded of untouched runs, at most 5 %
// give a verdict, also if forks are added until one does.
func TestPlacebo(t *testing.T) {
	fans := 100
	if os.Getenv("PGRLAB_SOAK") != "" {
		fans = 1_000
	}
	seen, all := 0, 0
	for _, of := range [][3]string{
		{"study", "cheetah-run", "pgr-curiosity"}, {"study", "cheetah-run", "synther"},
		{"study-bounded", "cheetah-run", "pgr-curiosity"}, {"study-bounded", "reacher-hard", "pgr-curiosity"},
	} {
		curves := recorded(t, of[0], of[1], of[2])
		for _, n := range []int{4, 6, 8} {
			if len(curves) < 2*n {
				continue
			}
			batches := 1 + n%3%2 // forks are added to those of four
			wrong := 0
			for f := range fans {
				if placebo(curves, rng.New(uint64(f), fmt.Sprint(of, n)), n, batches) {
					wrong++
				}
			}
			t.Logf("%v, %d and %d forks, %d batches: %d of %d fans", of, n, n, batches, wrong, fans)
			if fans == 1_000 && wrong > fans/20 {
				t.Errorf("%v, %d and %d forks, %d batches: %d of %d fans without an effect see one", of, n, n, batches, wrong, fans)
			}
			seen, all = seen+wrong, all+fans
		}
	}
	t.Logf("%d of %d: %.1f %%", seen, all, 100*float64(seen)/float64(all))
	if seen > all/20 {
		t.Errorf("%d of %d fans without an effect see one", seen, all)
	}
}

// placebo says whether a fan without an effect, each fork of which is another of the curves, ever gives a verdict.
func placebo(curves [][]float64, chance rng.Stream, n, batches int) bool {
	of := chance.Sub("curves").At(0)
	var all []Batch
	for k := range batches {
		var forks []Fork
		left := slices.Clone(curves)
		for _, changed := range Deal(chance.Sub(fmt.Sprint(k)), n) {
			i := of.IntN(len(left))
			forks = append(forks, Fork{Changed: changed, Returns: left[i][10:15]}) // steps 11,000 to 15,000
			left = slices.Delete(left, i, i+1)
		}
		all = append(all, NewBatch(forks, 5, 0))
		if v := verdictOf(all); v == Better || v == Worse {
			return true
		}
	}
	return false
}

// verdictOf is the verdict of Judge without what takes it long.
func verdictOf(batches []Batch) Verdict {
	t := newTest(batches)
	looks := looksOf(batches)
	at := t.rejects(looks, 0)
	switch {
	case at == 0:
		return NotSeen
	case t.centred(looks[at-1], t.dealings[0]) > 0:
		return Better
	}
	return Worse
}

// recorded are the learning curves of untouched runs over 20,000 steps, evaluated every 1,000.
func recorded(t *testing.T, file, task, method string) (curves [][]float64) {
	t.Helper()
	results, err := os.Open("../../docs/evidence/" + file + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	rows, err := csv.NewReader(results).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	of := map[string][]float64{}
	for _, r := range rows[1:] {
		if r[column("task")] != task || r[column("method")] != method || r[column("evaluated/return_mean")] == "" {
			continue
		}
		v, err := strconv.ParseFloat(r[column("evaluated/return_mean")], 64)
		if err != nil {
			t.Fatal(err)
		}
		key := r[column("variant")] + r[column("seed")]
		of[key] = append(of[key], v)
	}
	for _, c := range of {
		if len(c) >= 20 {
			curves = append(curves, c)
		}
	}
	slices.SortFunc(curves, slices.Compare)
	if len(curves) < 8 {
		t.Fatalf("%s, %s: %d curves", task, method, len(curves))
	}
	return curves
}

// Under normal noise, the difference that a fan says it sees is seen about four times in five.
func TestWhatAFanSees(t *testing.T) {
	fans := 100
	if os.Getenv("PGRLAB_SOAK") != "" {
		fans = 1_000
	}
	for _, n := range []int{4, 6, 8, 12} {
		seen := 0
		for f := range fans {
			noise := make([]float32, 4*n)
			rng.New(uint64(f), "noise").FillNormal(noise, 0, 0)
			b := whole(Deal(rng.New(uint64(f), "deal"), n))
			effect := 6 / math.Sqrt(float64(2*n-4))
			for i, c := range b.Changed {
				b.Scores[i], b.Early[i] = float64(noise[i]), 0.9*float64(noise[i])+0.44*float64(noise[2*n+i])
				if c {
					b.Scores[i] += effect
					b.Early[i] += effect
				}
			}
			if verdictOf([]Batch{b}) == Better {
				seen++
			}
		}
		t.Logf("%d and %d forks: %d of %d", n, n, seen, fans)
		if share := float64(seen) / float64(fans); share < 0.7 || share > 0.92 {
			t.Errorf("%d and %d forks see it in %v of all cases", n, n, share)
		}
	}
}

// What a failed fork lacks counts at once, however long it should have been.
func TestAFailedForkIsScoredAtOnce(t *testing.T) {
	if got := score(Fork{Returns: []float64{4}, Failed: true}, 1<<55, -2); got > -1.99 {
		t.Errorf("%v", got)
	}
}
