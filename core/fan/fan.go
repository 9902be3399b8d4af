package fan

import (
	"math"
	"slices"

	"pgrlab/core/rng"
)

// Fork is a fork as its evaluations show it.
type Fork struct {
	Changed bool      // it was dealt the change
	Returns []float64 // mean return of each of its evaluations after the fork, in order
	Failed  bool      // it makes no more
}

// Batch is a number of forks that were made at the same time, in the order in which they were dealt
// the change. A score is a mean over evaluations; NaN: it is not known yet.
type Batch struct {
	Changed []bool    // which of them got the change, as Deal has drawn it
	Early   []float64 // scores over the first six tenths of the evaluations
	Scores  []float64 // scores over all of them
}

// NewBatch are the scores of forks that make as many evaluations as are due. Where a fork failed
// before an evaluation, or its return is not finite, the least return of the task counts.
func NewBatch(forks []Fork, due int, least float64) (b Batch) {
	for _, f := range forks {
		b.Changed = append(b.Changed, f.Changed)
		b.Early = append(b.Early, score(f, EarlyOf(due), least))
		b.Scores = append(b.Scores, score(f, due, least))
	}
	return b
}

// Denser is how many evaluations forks make for one of the run that they are forked off: most of the
// noise of an evaluation is that of its policy, which is another one a few hundred steps on, so that more
// evaluations say more.
const Denser = 4

// EarlyOf is how many of the evaluations that are due count at the first look.
func EarlyOf(due int) int { return (6*due + 9) / 10 }

// score is the mean of the first n evaluations of a fork; NaN: it has not made them.
func score(f Fork, n int, least float64) float64 {
	if n <= 0 || len(f.Returns) < n && !f.Failed {
		return math.NaN()
	}
	known := f.Returns[:min(n, len(f.Returns))]
	sum := 0.0
	for _, r := range known {
		if math.IsNaN(r) || math.IsInf(r, 0) {
			r = least
		}
		sum += r
	}
	return (sum + float64(n-len(known))*least) / float64(n)
}

// Verdict is the answer to the question whether the change did something.
type Verdict int

// The verdicts.
const (
	Waiting Verdict = iota // the forks have not come to the first look
	TooFew                 // with so few forks no result could be a verdict
	NotSeen                // the difference is one that chance makes
	Better                 // forks with the change return more
	Worse                  // they return less
)

// Place is a place at which a fan is looked at.
type Place int

// The places.
const (
	Nowhere Place = iota // there are no more looks
	Early                // when all forks have made six tenths of their evaluations
	Whole                // when all of them have made all
)

// Result is what the forks of a fan say.
type Result struct {
	Verdict    Verdict
	Look       int        // the number of looks so far
	Decided    int        // the look that gave the verdict; 0: none did
	Looks      int        // the number of looks that the forks there are will give
	Next       Place      // where the next look is
	Spend      float64    // the share of cases without an effect in which the looks so far have a verdict, at most
	Forks      [2]int     // forks without and with the change at the last look
	Means      [2]float64 // their mean scores
	Deviations [2]float64 // their standard deviations (n − 1)
	Difference float64    // with the change less without
	Low, High  float64    // its interval, valid at every look; infinite where the forks set no limit
	Dealings   int        // the ways to deal out the change that were compared
	AsMuch     int        // those of them that differ as much as the real one, itself included
	Least      float64    // the least share of the ways that can differ as much, whatever the scores
	// Sees is the difference that four fans of five like this one would see; NaN where none could.
	Sees float64
}

// Deal draws which of 2n forks get the change: n of them.
func Deal(s rng.Stream, n int) []bool {
	changed := make([]bool, 2*n)
	for i := range n {
		changed[i] = true
	}
	shuffle(s.At(0), changed)
	return changed
}

// Least is the least return that is known of a task: 0, or the least of these evaluations if one is
// below it. The suite's and the mazes' rewards are not negative.
func Least(evaluations ...[]float64) float64 {
	least := 0.0
	for _, all := range evaluations {
		for _, r := range all {
			if r < least && !math.IsInf(r, 0) {
				least = r
			}
		}
	}
	return least
}

// look is a look at a fan.
type look struct {
	at     Place
	forks  int       // those before this one are looked at
	spend  float64   // the error that may be spent until then
	scores []float64 // of these forks
}

// Error is the share of cases without an effect in which all looks together have a verdict, at most.
const Error = 0.05

// looksOf are the looks at a number of batches: one when the forks of the first have made six tenths
// of their evaluations, one when those of each have made all.
func looksOf(batches []Batch) []look {
	looks := []look{{Early, len(batches[0].Changed), 0.01, batches[0].Early}}
	var scores []float64
	left := 0.02
	for _, b := range batches {
		scores = append(scores, b.Scores...)
		looks = append(looks, look{Whole, len(scores), Error - left, scores})
		left /= 2
	}
	return looks
}

// known says whether all that the look compares is known.
func (l look) known() bool { return !slices.ContainsFunc(l.scores[:l.forks], math.IsNaN) }

// Judge says what the forks of a fan show. Batches after the first were added later; each is compared
// within itself, so that they may begin at other checkpoints.
func Judge(batches []Batch) Result {
	r := Result{Difference: math.NaN(), Low: math.Inf(-1), High: math.Inf(1), Sees: math.NaN()}
	if len(batches) == 0 || len(batches[0].Changed) == 0 {
		return r
	}
	t := newTest(batches)
	looks := looksOf(batches)
	r.Looks, r.Dealings, r.Least = len(looks), len(t.dealings), t.extreme()/float64(len(t.dealings))
	reached := looks[:0:0]
	for _, l := range looks {
		if !l.known() {
			r.Next = l.at
			break
		}
		reached = append(reached, l)
	}
	if r.Look = len(reached); r.Look > 0 {
		r.Spend = reached[r.Look-1].spend
		t.describe(&r, reached[r.Look-1])
	}
	decided := t.rejects(reached, 0)
	switch {
	case !t.decides(looks[len(looks)-1]):
		r.Verdict = TooFew
	case r.Look == 0:
		r.Verdict = Waiting
	case decided == 0:
		r.Verdict = NotSeen
	case t.centred(reached[decided-1], t.dealings[0]) > 0:
		r.Verdict, r.Decided = Better, decided
	default:
		r.Verdict, r.Decided = Worse, decided
	}
	if r.Look > 0 && r.Verdict != TooFew {
		r.Low, r.High = t.interval(r.Difference, reached)
	}
	return r
}

// LeastForks is the number of forks of either kind from which on a verdict is possible: of the 70 ways
// to deal out a change to four of eight forks, the two most extreme are 2.9 %.
const LeastForks = 4

// test compares the real dealing with others.
type test struct {
	batch    []int    // of each fork
	dealings [][]bool // which of them get the change; the first one is the real one
	even     bool     // half of the forks of each batch get it: each dealing has an opposite
}

// mostDealings limits the dealings that are compared: if there are more, chance draws from them.
const mostDealings = 2_000

func newTest(batches []Batch) *test {
	t := &test{even: true, dealings: [][]bool{nil}}
	for i, b := range batches {
		n := 0
		for _, c := range b.Changed {
			t.batch = append(t.batch, i)
			if c {
				n++
			}
		}
		t.even = t.even && 2*n == len(b.Changed)
		t.extend(b.Changed, uint64(i))
	}
	return t
}

// extend continues the dealings by those of another batch: by all of them, or by as many drawn ones
// for each that mostDealings is reached. So the share of the dealings that an earlier look has spent
// is the same as before.
func (t *test) extend(real []bool, batch uint64) {
	ways := 1.0
	for i, n := 0, 0; i < len(real); i++ {
		if real[i] {
			n++
			ways *= float64(len(real)-n+1) / float64(n)
		}
	}
	var tails [][]bool
	if math.Round(ways)*float64(len(t.dealings)) <= mostDealings {
		tails = [][]bool{real}
		enumerate(real, make([]bool, len(real)), 0, func(made []bool) { tails = append(tails, slices.Clone(made)) })
	}
	each := (mostDealings + len(t.dealings) - 1) / len(t.dealings)
	var all [][]bool
	for i, head := range t.dealings {
		with := tails
		for k := len(with); tails == nil && k < each; k++ {
			drawn := slices.Clone(real)
			if i+k > 0 {
				shuffle(dealt.At(batch<<32+uint64(i*each+k)), drawn)
			}
			with = append(with, drawn)
		}
		for _, tail := range with {
			all = append(all, slices.Concat(head, tail))
		}
	}
	t.dealings = all
}

// dealt is the random stream of the dealings that are compared.
var dealt = rng.New(0, "fan: dealings")

// enumerate gives to each all dealings but the real one that give the change to as many forks.
func enumerate(real, made []bool, at int, each func([]bool)) {
	if at == len(real) {
		if !slices.Equal(made, real) {
			each(made)
		}
		return
	}
	left := 0 // changes that are left to deal
	for i, c := range real {
		if c {
			left++
		}
		if i < at && made[i] {
			left--
		}
	}
	if made[at] = true; left > 0 {
		enumerate(real, made, at+1, each)
	}
	if made[at] = false; left < len(real)-at {
		enumerate(real, made, at+1, each)
	}
}

// shuffle puts the elements into a random order.
func shuffle(draws *rng.Sequence, all []bool) {
	for i := len(all) - 1; i > 0; i-- {
		j := draws.IntN(i + 1)
		all[i], all[j] = all[j], all[i]
	}
}

// centred is the sum of the scores of the forks with the change, each less the mean of its batch: for
// a batch of n forks with the change and m without it is nm/(n+m) times the difference of their means.
func (t *test) centred(l look, changed []bool) float64 {
	total := 0.0
	for from := 0; from < l.forks; {
		to, sum, with, n := from, 0.0, 0.0, 0
		for ; to < l.forks && t.batch[to] == t.batch[from]; to++ {
			sum += l.scores[to]
			if changed[to] {
				with += l.scores[to]
				n++
			}
		}
		total += with - float64(n)*sum/float64(to-from)
		from = to
	}
	return total
}

// extreme is how many dealings at least differ as much as the real one, itself included.
func (t *test) extreme() float64 {
	if t.even {
		return 2 // the other dealing differs as much, to the other side
	}
	return 1
}

// decides says whether any scores could give a verdict at a look.
func (t *test) decides(l look) bool { return l.allows(len(t.dealings)) >= t.extreme() }

// allows is how many of n dealings a look may spend, with those of the looks before.
func (l look) allows(n int) float64 { return math.Floor(l.spend*float64(n) + 1e-9) }

// rejects says at which of the looks, counted from 1, the real dealing is among those that differ
// most, if the scores of the forks with the change are less by an effect; 0: at none. Dealings that
// differ as much as each other are taken together or not at all.
func (t *test) rejects(looks []look, effect float64) int {
	type ranked struct {
		by float64
		at int
	}
	spent := make([]bool, len(t.dealings))
	used := 0
	for at, l := range looks {
		l.scores = t.without(l, effect)
		var all []ranked
		for i, d := range t.dealings {
			if !spent[i] {
				all = append(all, ranked{math.Abs(t.centred(l, d)), i})
			}
		}
		slices.SortFunc(all, func(a, b ranked) int {
			switch {
			case a.by > b.by:
				return -1
			case a.by < b.by:
				return 1
			}
			return 0
		})
		for from := 0; from < len(all); {
			to := from
			for to < len(all) && all[to].by >= all[from].by-same(all[0].by) {
				to++
			}
			if float64(used+to-from) > l.allows(len(t.dealings)) || all[from].by <= same(all[0].by) {
				break
			}
			for _, a := range all[from:to] {
				spent[a.at] = true
			}
			used, from = used+to-from, to
		}
		if spent[0] {
			return at + 1
		}
	}
	return 0
}

// without are the scores of a look, less an effect for the forks with the change.
func (t *test) without(l look, effect float64) []float64 {
	if effect == 0 {
		return l.scores
	}
	scores := slices.Clone(l.scores[:l.forks])
	for i := range scores {
		if t.dealings[0][i] {
			scores[i] -= effect
		}
	}
	return scores
}

// same is the difference below which two sums are the same, but for rounding.
func same(largest float64) float64 { return 1e-9 * largest }
