package whatif

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"pgrlab/core/run"
)

// The questions of a table.
const (
	QuestionAsked    = "rows asked for"
	QuestionMade     = "how they are made"
	QuestionMadeFree = "how unprioritized rows are made"
	QuestionSum      = "prioritized against unprioritized, as made"
	QuestionReal     = "prioritized against real rows only"
	QuestionFreeReal = "unprioritized against real rows only"
)

// The verdicts of a finding.
const (
	Help         = "help"
	Hurt         = "hurt"
	NoDifference = "no difference seen"
	Mixed        = "mixed"
	Unknown      = "not known"
)

// Finding answers a question by comparing two cells of the table.
type Finding struct {
	Question string      `json:"question"`
	Cells    [2]string   `json:"cells,omitempty"` // the differences below are the first less the second
	Verdict  string      `json:"verdict"`
	Value    *Difference `json:"value_error,omitempty"`
	Scatter  *Difference `json:"scatter,omitempty"`
	Return   *Difference `json:"return,omitempty"`
	Why      string      `json:"why,omitempty"` // why the verdict is not known, or what it is by if not by the differences
}

// Difference is the difference of two cells, taken within repeats.
type Difference struct {
	Mean run.Float `json:"mean"`
	Half run.Float `json:"half_width"` // of the 90 % interval of the mean by Student's t; "Inf" for one repeat
	Of   run.Float `json:"of"`         // mean of the second cell
}

// sign is 1 or −1 if the interval lies on one side of 0, else 0.
func (d *Difference) sign() int {
	switch {
	case float64(d.Mean) > float64(d.Half):
		return 1
	case float64(d.Mean) < -float64(d.Half):
		return -1
	}
	return 0
}

// difference leaves out the repeats in which one of the two diverged.
func difference(a, b []run.Float) *Difference {
	var d, second []float64
	for i := range a {
		if by := float64(a[i] - b[i]); !math.IsNaN(by) {
			d, second = append(d, by), append(second, float64(b[i]))
		}
	}
	out := &Difference{Mean: run.Float(stat.Mean(d, nil)), Half: run.Float(math.Inf(1)), Of: run.Float(stat.Mean(second, nil))}
	if n := float64(len(d)); n > 1 {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.95)
		out.Half = run.Float(t * stat.StdDev(d, nil) / math.Sqrt(n))
	}
	return out
}

// Spread returns the mean of the repeats that did not diverge and their standard deviation, which is
// 0 for one repeat.
func Spread(v []run.Float) (mean, deviation float64) {
	var all []float64
	for _, x := range v {
		if !math.IsNaN(float64(x)) {
			all = append(all, float64(x))
		}
	}
	if len(all) < 2 {
		return stat.Mean(all, nil), 0
	}
	return stat.MeanStdDev(all, nil)
}

// conclude answers the questions of the table. They are about the rows of the run's own knobs if
// the table has them, else about the last rows of the first F.
func (t *Table) conclude() {
	chosen := t.Plan.chosen()
	free := Rows{Relevance: None, TopFraction: 1}
	real := t.cell(Rows{TopFraction: 1}, MadeByNone)
	made, oracle := t.cell(chosen, MadeByGenerator), t.cell(chosen, MadeBySimulator)
	freeMade, freeOracle := t.cell(free, MadeByGenerator), t.cell(free, MadeBySimulator)
	if !chosen.unprioritized() {
		t.Findings = append(t.Findings,
			t.find(QuestionAsked, oracle, freeOracle), t.find(QuestionMade, made, oracle),
			t.find(QuestionSum, made, freeMade), t.find(QuestionReal, made, real))
	}
	t.Findings = append(t.Findings, t.find(QuestionMadeFree, freeMade, freeOracle), t.find(QuestionFreeReal, freeMade, real))
}

// chosen returns the rows that findings are about; without a relevance function these are the
// unprioritized ones.
func (p Plan) chosen() (chosen Rows) {
	if len(p.Relevance) == 0 {
		return Rows{Relevance: None, TopFraction: 1}
	}
	for _, r := range p.rows() {
		if r.Relevance != p.Relevance[0] {
			continue
		}
		chosen = r
		if r.Guidance == p.Sampling.Guidance && (r.Guidance == 0 || r.TopFraction == p.Sampling.TopFraction) {
			break
		}
	}
	return chosen
}

// cell finds a cell of the table; nil if there is none.
func (t *Table) cell(r Rows, by string) *Arm {
	for i, a := range t.Arms {
		if a.Rows == r && a.MadeBy == by {
			return &t.Arms[i]
		}
	}
	return nil
}

func (t *Table) find(question string, a, b *Arm) Finding {
	f := Finding{Question: question, Verdict: Unknown, Why: t.NoOracle}
	if a == nil || b == nil {
		return f
	}
	f.Why, f.Cells = "", [2]string{a.String(), b.String()}
	f.Value, f.Return = difference(a.ValueError, b.ValueError), difference(a.Return, b.Return)
	f.Scatter = difference(a.Scatter, b.Scatter)
	good, bad := 0, 0
	for _, s := range []int{-f.Scatter.sign(), f.Return.sign()} {
		good, bad = max(good, s), min(bad, s)
	}
	switch all := len(a.Return); {
	case a.Diverged+b.Diverged > 0:
		f.Why = fmt.Sprintf("%d of %d repeats diverged, against %d of %d", a.Diverged, all, b.Diverged, all)
		switch {
		case all > 1 && a.Diverged == all && b.Diverged == 0:
			f.Verdict = Hurt
		case all > 1 && b.Diverged == all && a.Diverged == 0:
			f.Verdict = Help
		}
	case all < 2:
		f.Why = "it takes more repeats than one to tell a difference from chance"
	case good > 0 && bad < 0:
		f.Verdict = Mixed
	case good > 0:
		f.Verdict = Help
	case bad < 0:
		f.Verdict = Hurt
	default:
		f.Verdict = NoDifference
	}
	return f
}

// String names the cell of an arm.
func (a *Arm) String() string {
	if a.MadeBy == MadeByNone {
		return a.Rows.String()
	}
	return fmt.Sprintf("%s by the %s", a.Rows, a.MadeBy)
}
