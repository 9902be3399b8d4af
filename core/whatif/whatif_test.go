package whatif

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/analysis"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

func onward(Progress) error { return nil }

func table(t *testing.T, s Subject, p Plan) *Table {
	t.Helper()
	found, err := Run(s, p, onward)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// pointTable is the table of subject and pointPlan, which is the same whenever it is made. It is made
// once, for the tests that only read it.
func pointTable(t *testing.T) *Table {
	t.Helper()
	if madeTable == nil {
		madeTable = table(t, subject(t), pointPlan())
	}
	return madeTable
}

var madeTable *Table

func finding(t *testing.T, found *Table, question string) Finding {
	t.Helper()
	for _, f := range found.Findings {
		if f.Question == question {
			return f
		}
	}
	t.Fatalf("no answer to %q in %+v", question, found.Findings)
	return Finding{}
}

// True rows equal the rows that the simulator makes. Shuffled rewards are worse than no synthetic
// rows, and the simulator corrects them.
func TestTrueRowsAndShuffledRewards(t *testing.T) {
	found := pointTable(t)
	free, asked := Rows{Relevance: None, TopFraction: 1}, Rows{"reward", 2, 0.25}
	made, oracle := found.cell(free, MadeByGenerator), found.cell(free, MadeBySimulator)
	if !slices.Equal(made.ValueError, oracle.ValueError) || !slices.Equal(made.TDError, oracle.TDError) || !slices.Equal(made.Return, oracle.Return) {
		t.Errorf("true rows: by the generator %+v, by the simulator %+v", made, oracle)
	}
	if made.Change[0] != 0 || made.Reward[0] != 0 || made.D != 500 || made.Left != 0 {
		t.Errorf("true rows have errors: %+v", made)
	}
	shuffled, right := found.cell(asked, MadeByGenerator), found.cell(asked, MadeBySimulator)
	if !slices.Equal(right.ValueError, oracle.ValueError) || !slices.Equal(right.Return, oracle.Return) {
		t.Errorf("shuffled rewards put right: %+v, want %+v", right, oracle)
	}
	real := found.cell(Rows{TopFraction: 1}, MadeByNone)
	for i, v := range shuffled.ValueError {
		if v < 1.2*oracle.ValueError[i] || v < 1.2*real.ValueError[i] {
			t.Errorf("repeat %d: value error %v of shuffled rewards, %v of true ones, %v of real rows only", i, v, oracle.ValueError[i], real.ValueError[i])
		}
	}
	if !(shuffled.Reward[0] > 0.5) || shuffled.Change[0] != 0 || math.Abs(float64(shuffled.ConstantReward[0])-1) > 0.2 {
		t.Errorf("errors of shuffled rewards: %+v", shuffled)
	}
	if f := finding(t, found, QuestionMade); f.Verdict != Hurt && f.Verdict != Mixed || f.Value.Mean <= f.Value.Half {
		t.Errorf("%+v", f)
	}
	if f := finding(t, found, QuestionAsked); f.Verdict != NoDifference || f.Value.Mean != 0 || f.Return.Half != 0 {
		t.Errorf("%+v", f)
	}
	if f := finding(t, found, QuestionMadeFree); f.Verdict != NoDifference {
		t.Errorf("%+v", f)
	}
}

// The arm of real rows only equals further training.
func TestRealOnlyIsTrainingOn(t *testing.T) {
	s, p, found := subject(t), pointPlan(), pointTable(t)
	x := &study{Subject: s, plan: p, breathe: onward, table: &Table{}}
	held, err := x.hold()
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Repeats {
		r := x.stream(i)
		l, err := s.Learner(r.Sub("learner").At(0).Uint64())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := trainOn(l, s.Real, s.Rates, replay.NewMixer(r.Sub("batches")), p.Updates); err != nil {
			t.Fatal(err)
		}
		mean, err := x.play(l, i)
		if err != nil {
			t.Fatal(err)
		}
		real := found.cell(Rows{TopFraction: 1}, MadeByNone)
		if real.Return[i] != run.Float(mean) {
			t.Errorf("repeat %d: return %v, training on gives %v", i, real.Return[i], mean)
		}
		frozen, err := s.Learner(r.Sub("learner").At(0).Uint64())
		if err != nil {
			t.Fatal(err)
		}
		defer frozen.Close()
		critics := s.Rates
		critics.LRActor = 0
		alpha := frozen.Alpha()
		if err := trainOn(frozen, s.Real, critics, replay.NewMixer(r.Sub("batches")), p.Updates); err != nil {
			t.Fatal(err)
		}
		td, value, bias, err := held.measure(frozen, s.Gamma)
		if err != nil {
			t.Fatal(err)
		}
		if real.TDError[i] != run.Float(td) || real.ValueError[i] != run.Float(value) || real.Bias[i] != run.Float(bias) {
			t.Errorf("repeat %d: %v, %v, %v, want %v, %v, %v", i, real.TDError[i], real.ValueError[i], real.Bias[i], td, value, bias)
		}
		if frozen.Alpha() != alpha {
			t.Errorf("α moved from %v to %v with the policy at rest", alpha, frozen.Alpha())
		}
	}
}

func TestTheSameSeedGivesTheSameTable(t *testing.T) {
	s, p := subject(t), pointPlan()
	p.Updates, p.Repeats = 50, 2
	text := func(p Plan) string {
		b, err := json.Marshal(table(t, s, p).Arms)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := text(p)
	if again := text(p); again != first {
		t.Errorf("first\n%s\nthen\n%s", first, again)
	}
	p.Seed++
	if other := text(p); other == first {
		t.Error("another seed gives the same table")
	}
}

// Progress adds up to the total, and an error from breathe ends the work.
func TestProgressAndItsEnd(t *testing.T) {
	s, p := subject(t), pointPlan()
	p.Updates, p.Repeats = 50, 2
	last, pieces := Progress{}, 0
	if _, err := Run(s, p, func(at Progress) error {
		if at.Done < last.Done || at.Done > at.Total {
			t.Errorf("%+v after %+v", at, last)
		}
		last, pieces = at, pieces+1
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if last.Done < last.Total*95/100 {
		t.Errorf("at the end: %+v", last)
	}
	for stop := range pieces {
		n := 0
		found, err := Run(s, p, func(Progress) error {
			if n++; n > stop {
				return errStop
			}
			return nil
		})
		if found != nil || !errors.Is(err, errStop) {
			t.Fatalf("ended after piece %d of %d: %+v, %v", stop, pieces, found, err)
		}
		if stop > 20 {
			break // the later pieces are alike
		}
	}
}

// A checkpoint from before the first step has nothing to learn from and is refused.
func TestWithoutRealRows(t *testing.T) {
	s := subject(t)
	s.Real = replay.NewRing(s.Real.Shape(), 10)
	if found, err := Run(s, pointPlan(), onward); err == nil || found != nil || !strings.Contains(err.Error(), "no real transitions yet") {
		t.Errorf("%+v, %v", found, err)
	}
}

// If a task cannot be set to a state, the table has one column, and questions that need the other
// column are not answered.
func TestWithoutASimulator(t *testing.T) {
	for name, simulator := range map[string]func() (analysis.Simulator, func() error, error){
		"none":  func() (analysis.Simulator, func() error, error) { return nil, nil, errors.New("half of it is hidden") },
		"blind": func() (analysis.Simulator, func() error, error) { return &blind{}, func() error { return nil }, nil },
	} {
		s, p := subject(t), pointPlan()
		p.Updates, p.Repeats = 20, 2
		s.Simulator = simulator
		found := table(t, s, p)
		if len(found.Arms) != 3 || !strings.Contains(found.NoOracle, "half of it is hidden") {
			t.Errorf("%s: %d arms, %q", name, len(found.Arms), found.NoOracle)
		}
		for _, q := range []string{QuestionAsked, QuestionMade, QuestionMadeFree} {
			if f := finding(t, found, q); f.Verdict != Unknown || f.Why != found.NoOracle {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if f := finding(t, found, QuestionReal); f.Verdict == Unknown {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

type blind struct{ placed }

func (blind) Place([]float32) error { return errors.New("half of it is hidden") }

// Returns are computed by hand for two episodes of three steps with γ ½ and α 2; the first ends by
// itself.
func TestReturnsByHand(t *testing.T) {
	x := &study{Subject: Subject{Gamma: 0.5, EpisodeSteps: 10}, plan: Plan{Episodes: 2}}
	at := func(v float32) []float32 { return []float32{v, v + 10} }
	var steps []step
	for i := range 10 {
		steps = append(steps, step{
			obs: at(float32(i)), act: at(-float32(i)), logp: []float32{1, 0}, next: at(float32(i + 1)),
			reward: []float64{1, float64(i)}, over: []bool{i > 2, false}, end: []bool{i == 2, false},
		})
	}
	h := x.follow(steps, 2)
	if h.rows != 13 || h.ends != 1 || h.undiscounted[0] != 3 || h.undiscounted[1] != 45 {
		t.Fatalf("%+v", h)
	}
	// The return is 1 at the end, 1 + ½(−2·1 + 1) = ½ one step earlier, and 1 + ½(−2 + ½) = ¼
	// before that.
	if got := h.returns[:3]; !slices.Equal(got, []float64{0.25, 0.5, 1}) {
		t.Errorf("the episode that ends returns %v", got)
	}
	// ½⁷ < 0.01, so that in ten steps 0 to 3 have a complete future.
	if want := []int{0, 1, 2, 3, 4, 5, 6}; !slices.Equal(h.judged, want) {
		t.Errorf("judged are %v, want %v", h.judged, want)
	}
	g := 0.0
	for i := 9; i >= 0; i-- {
		g = float64(i) + 0.5*g
	}
	if math.Abs(h.returns[3]-g) > 1e-12 {
		t.Errorf("the other returns %v, want %v", h.returns[3], g)
	}
	if h.cut[2] || !h.done[2] || !h.cut[12] || h.done[12] || h.nextAct[0] != -1 || h.nextAct[3] != 9 {
		t.Errorf("%+v", h)
	}
}

// In episodes shorter than the horizon no step has a complete future.
func TestEpisodesShorterThanTheHorizon(t *testing.T) {
	s := subject(t)
	s.Gamma = 0.99
	if found, err := Run(s, pointPlan(), onward); err == nil || found != nil || !strings.Contains(err.Error(), "none of 240 transitions has a whole future: with gamma 0.99 it takes 459 steps, and an episode has 60") {
		t.Errorf("%+v, %v", found, err)
	}
}

// With Q = 0 the TD error is the size of r − γα·log π', and the value error is that of G.
func TestMeasuresByHand(t *testing.T) {
	h := &heldOut{
		rows: 3, obs: make([]float32, 3), act: make([]float32, 3), next: make([]float32, 3), nextAct: make([]float32, 3),
		reward: []float32{1, 2, 100}, done: []bool{false, true, false}, cut: []bool{false, false, true},
		entropy: []float64{4, 0, 0}, judged: []int{0, 1}, returns: []float64{3, -1},
	}
	td, value, bias, err := h.measure(nothing{}, 0.5)
	if err != nil || td != math.Sqrt((9+4)/2.0) || value != math.Sqrt((9+1)/2.0) || bias != -1 {
		t.Errorf("%v, %v, %v, %v", td, value, bias, err)
	}
}

type nothing struct{ Learner }

func (nothing) Value(dst, _, _ []float32, rows int) error { clear(dst[:rows]); return nil }

// For three differences with mean 2 and deviation 1, t is 2.92 at two degrees of freedom.
func TestDifferencesOfRepeats(t *testing.T) {
	d := difference([]run.Float{2, 3, 4}, []run.Float{1, 1, 1})
	if math.Abs(float64(d.Half)-2.91999/math.Sqrt(3)) > 1e-4 || d.Mean != 2 || d.Of != 1 || d.sign() != 1 {
		t.Errorf("%+v", d)
	}
	if d := difference([]run.Float{2}, []run.Float{1}); d.sign() != 0 || !math.IsInf(float64(d.Half), 1) {
		t.Errorf("of one repeat: %+v", d)
	}
	nan := run.Float(math.NaN())
	if d := difference([]run.Float{nan, 1, 1}, []run.Float{5, 5, 4}); d.sign() != -1 || d.Mean != -3.5 {
		t.Errorf("of which one is no number: %+v", d)
	}
	if d := difference([]run.Float{nan, nan}, []run.Float{5, 5}); d.sign() != 0 || !math.IsInf(float64(d.Half), 1) {
		t.Errorf("of what is no number: %+v", d)
	}
}

// That all values are too high or too low, the bias, is no verdict.
func TestVerdicts(t *testing.T) {
	arm := func(scatter, ret run.Float) *Arm {
		return &Arm{ValueError: []run.Float{7 * scatter, 7*scatter + 0.01}, Scatter: []run.Float{scatter, scatter + 0.01}, Return: []run.Float{ret, ret + 0.01}}
	}
	base := arm(1, 100)
	biased := arm(1, 100)
	biased.ValueError = []run.Float{20, 20.01}
	if f := (&Table{}).find("", biased, base); f.Verdict != NoDifference || f.Value.sign() != 1 {
		t.Errorf("of a bias: %+v", f)
	}
	for _, c := range []struct {
		scatter, ret run.Float
		want         string
	}{{0.5, 100, Help}, {1, 120, Help}, {2, 100, Hurt}, {1, 10, Hurt}, {0.5, 10, Mixed}, {1, 100, NoDifference}} {
		if f := (&Table{}).find("", arm(c.scatter, c.ret), base); f.Verdict != c.want {
			t.Errorf("scatter %v, return %v: %s, want %s", c.scatter, c.ret, f.Verdict, c.want)
		}
	}
	one := &Arm{ValueError: []run.Float{1}, Scatter: []run.Float{1}, Return: []run.Float{1}}
	if f := (&Table{}).find("", one, one); f.Verdict != Unknown || f.Why == "" {
		t.Errorf("of one repeat: %+v", f)
	}
}

func TestRowsOfAPlan(t *testing.T) {
	p := pointPlan()
	p.Relevance, p.Guidance, p.TopFraction = []string{"td", "reward"}, []float64{0, 1}, []float64{0.25, 1}
	var names []string
	for _, r := range p.rows() {
		names = append(names, r.String())
	}
	want := []string{"real only", "unprioritized", "td ω 0", "td ω 1 k 0.25", "td ω 1 k 1", "reward ω 0", "reward ω 1 k 0.25", "reward ω 1 k 1"}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if c := p.chosen(); c != (Rows{"td", 1, 1}) {
		t.Errorf("findings are about %v", c)
	}
	p.Sampling.Guidance = 1
	if c := p.chosen(); c != (Rows{"td", 1, 0.25}) {
		t.Errorf("findings are about %v, want the run's own", c)
	}
	unguided := p
	if unguided.Sampling.Guidance = 0; unguided.chosen() != (Rows{"td", 0, 1}) {
		t.Errorf("without guidance findings are about %v, want the run's own", unguided.chosen())
	}
	plain := p
	plain.Relevance, plain.Sampling.Guidance, plain.Sampling.TopFraction = nil, 0, 1
	if c := plain.chosen(); !c.unprioritized() {
		t.Errorf("without a relevance function findings are about %v", c)
	}
	p.Guidance = []float64{-1}
	if p.Validate() == nil {
		t.Error("ω = −1 is taken")
	}
}

// Rows are as relevant as the real ones by F as it is when they are made: F of the same rows falls
// while counts grow.
func TestRelevantRowsByCountsThatGrow(t *testing.T) {
	s, p := subject(t), pointPlan()
	p.Updates, p.Repeats = 2, 1
	f, generator := float32(1), s.Generator
	s.Generator = func(relevance string, breathe func(float64) error) (Generator, func(), error) {
		f /= 10
		return generator(relevance, breathe)
	}
	s.Score = func(dst []float32, rows *replay.Ring) error {
		for i := range dst {
			dst[i] = f * rows.Row(i)[0]
		}
		return nil
	}
	for _, a := range table(t, s, p).Arms {
		if a.MadeBy == MadeByGenerator && math.Abs(float64(a.Relevant[0])-0.25) > 0.1 {
			t.Errorf("%s: %v of the rows are in the upper quarter of the real ones, which they are like", a.Rows, a.Relevant[0])
		}
	}
}

// Rows with which all updates diverge are a result: they hurt, and the other arms keep their numbers.
func TestRowsThatMakeUpdatesDiverge(t *testing.T) {
	s := subject(t)
	well := s.Generator
	s.Generator = func(relevance string, breathe func(float64) error) (Generator, func(), error) {
		g, release, err := well(relevance, breathe)
		if relevance == "reward" {
			g.(*teller).spoil = func(rewards []float32) {
				for i := range rewards {
					rewards[i] = math.MaxFloat32
				}
			}
		}
		return g, release, err
	}
	var last Progress
	found, err := Run(s, pointPlan(), func(p Progress) error { last = p; return nil })
	if err != nil {
		t.Fatal(err)
	}
	asked := Rows{"reward", 2, 0.25}
	made, oracle := found.cell(asked, MadeByGenerator), found.cell(asked, MadeBySimulator)
	if made.Diverged != 3 || !math.IsNaN(float64(made.Return[2])) || !math.IsNaN(float64(made.Scatter[0])) {
		t.Errorf("spoiled rows: %+v", made)
	}
	if !slices.Equal(oracle.Return, pointTable(t).cell(asked, MadeBySimulator).Return) || oracle.Diverged != 0 {
		t.Errorf("the same by the simulator: %+v", oracle)
	}
	if f := finding(t, found, QuestionMade); f.Verdict != Hurt || f.Why != "3 of 3 repeats diverged, against 0 of 3" {
		t.Errorf("how they are made: %+v", f)
	}
	if f := finding(t, found, QuestionMadeFree); f.Verdict != NoDifference {
		t.Errorf("how unprioritized ones are made: %+v", f)
	}
	if last.Done > last.Total || last.Total-last.Done > last.Total/100 {
		t.Errorf("progress ended at %+v", last)
	}
}

// A repeat that diverged is left out of what the others have, and a table with some is undecided.
func TestSomeRepeatsDiverge(t *testing.T) {
	nan := run.Float(math.NaN())
	a := &Arm{Scatter: []run.Float{1, nan, 1.1}, ValueError: []run.Float{1, nan, 1.1}, Return: []run.Float{5, nan, 7}, Diverged: 1}
	b := &Arm{Scatter: []run.Float{3, 3, 3}, ValueError: []run.Float{3, 3, 3}, Return: []run.Float{1, 1, 1}}
	if f := (&Table{}).find("", a, b); f.Verdict != Unknown || f.Why != "1 of 3 repeats diverged, against 0 of 3" || f.Return.Mean != 5 {
		t.Errorf("%+v", f)
	}
	if mean, deviation := Spread(a.Return); mean != 6 || math.Abs(deviation-math.Sqrt2) > 1e-12 {
		t.Errorf("spread %v, %v", mean, deviation)
	}
}
