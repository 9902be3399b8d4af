package report

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"pgrlab/core/printable"
	"pgrlab/core/run"
)

// Failure is a seed whose run failed, or whose return is no finite number. It has no score, or one in which the
// least return stands for what it did not reach, see Row.
type Failure struct {
	Seed   uint64 `json:"seed"`
	Step   int    `json:"step"` // the env step at which it failed
	Reason string `json:"reason"`
	// Diverged says that the numbers of this seed were the reason. Then it is a result of the settings:
	// the same settings and seed fail again. Otherwise the reason was the machine, or another seed of
	// the same cohort.
	Diverged bool   `json:"diverged"`
	Dir      string `json:"dir"`
}

// tookAlong begins the reason of a seed that ended because another one of its cohort diverged, also in results files.
const tookAlong = "it ended with its cohort, of which seed "

// blame is the last line of a journal that says that a learning step met a number that is not finite.
type blame struct {
	step, member int // member: run.NoMember if it was not one of several
	reason       string
}

// blames reads a line "diverged". Lines without a program are of a simulation.
func (r *Run) blames(e run.Entry) error {
	var d struct{ Doing, Program, Error string }
	if err := e.Fields(&d); err != nil || d.Program == "" {
		return err
	}
	r.blamed = &blame{e.Step, e.Member, printable.Line(d.Doing + ": " + d.Error)}
	return nil
}

// folders are those of an absolute path: results files and reports are read by others.
var folders = regexp.MustCompile(`(^|[\s"'(=])(?:~|[A-Za-z]:)?(?:[/\\][^/\\:\s"']+(?: [^~/\\:\s"'][^/\\:\s"']*)*)*[/\\]`)

// failed reads a line "failed", without the folders in it. A run whose numbers diverged fails at the step of
// that line, unless it was resumed.
func (r *Run) failed(e run.Entry) error {
	var f struct{ Error string }
	if err := e.Fields(&f); err != nil {
		return err
	}
	r.Failed, r.Diverged = folders.ReplaceAllString(strings.TrimPrefix(f.Error, fmt.Sprintf("step %d: ", e.Step)), "$1"), false
	if b := r.blamed; b != nil && b.step == e.Step {
		r.Failed, r.Diverged = b.reason, true
	}
	return nil
}

// failure says how a seed's run failed.
func (s Seed) failure() Failure {
	f := Failure{Seed: s.Seed, Step: s.Run.Step, Reason: s.Run.Failed, Diverged: s.Run.Diverged, Dir: s.Run.Dir}
	if b := s.Run.blamed; f.Diverged && b != nil && b.member != run.NoMember && b.member != s.Member {
		f.Diverged, f.Reason = false, fmt.Sprintf("%s%d diverged", tookAlong, s.Run.Members[b.member].Seed)
	}
	return f
}

// Diverges says whether the run failed because the numbers of a member diverged.
func (r *Run) Diverges(member int) bool {
	return r.Failed != "" && Seed{r.Members[member].Seed, r, member}.failure().Diverged
}

// notFinite says where the return of a seed is not finite within the steps that count.
func (s Seed) notFinite(t *Task) Failure {
	f := Failure{Seed: s.Seed, Diverged: true, Dir: s.Run.Dir}
	for _, p := range s.Series(Return) {
		if p.Step <= t.Step && p.Step >= t.ScoreFrom && !finite(p.Value) {
			f.Step, f.Reason = p.Step, fmt.Sprintf("its return is %g", p.Value)
		}
	}
	return f
}

// finite says whether a measurement is a number. Beyond the range of float32, in which transitions hold
// rewards, there are none; within it no statistic of seeds overflows.
func finite(v float64) bool { return math.Abs(v) <= math.MaxFloat32 }

// finite returns the points of a series that are numbers.
func (s Series) finite() Series {
	return slices.DeleteFunc(slices.Clone(s), func(p Point) bool { return !finite(p.Value) })
}

// ran returns the seeds whose runs did not fail or, if there are none, all.
func ran(cells []*Cell) (seeds, all []Seed) {
	for _, c := range cells {
		for _, s := range c.Seeds {
			if all = append(all, s); s.Run.Failed == "" {
				seeds = append(seeds, s)
			}
		}
	}
	if len(seeds) == 0 {
		return all, all
	}
	return seeds, all
}

// unevaluated takes the seeds without any evaluation out of cells in which no seed has one: there is
// nothing to which they could be compared. Notes say why they have none.
func unevaluated(cells []*Cell) (kept []*Cell, notes []string) {
	_, all := ran(cells)
	if slices.ContainsFunc(all, func(s Seed) bool { return len(s.Series(Return)) > 0 }) {
		return cells, nil
	}
	for _, s := range all {
		f := s.failure()
		notes = append(notes, fmt.Sprintf("%s is left out: it failed at step %s, before its first evaluation: %s", f.Dir, Count(f.Step), f.Reason))
	}
	return nil, notes
}

// noneEvaluated is the error of runs of which none has an evaluation, with the reason of the first.
func noneEvaluated(runs []*Run, notes []string) error {
	reason := ""
	if len(notes) > 0 {
		reason = ": " + strings.Replace(notes[0], " is left out: ", ": ", 1)
	}
	if len(runs) == 1 && reason != "" {
		return errors.New(reason[2:])
	}
	return fmt.Errorf("none of the %d runs has an evaluation%s", len(runs), reason)
}

// withoutEvaluation says why a run that did not fail has no evaluation.
func (r *Run) withoutEvaluation() string {
	switch {
	case r.Stopped():
		return fmt.Sprintf("it was stopped at step %s of %s, before its first evaluation", Count(r.Step), Count(r.Steps))
	case r.Done:
		return fmt.Sprintf("it ended at step %s without an evaluation", Count(r.Step))
	case r.Standing != "":
		return fmt.Sprintf("it has no evaluation yet: at step %s%s", Count(r.Step), printable.Line(r.Standing))
	}
	return "it has no evaluation yet"
}

// of is how many seeds a row has with a score, and if some failed, of how many: "2 of 4".
func (r *Row) of() string {
	return r.outOf(r.N)
}

// outOf is that of another number of seeds.
func (r *Row) outOf(n int) string {
	if len(r.Failed) == 0 {
		return fmt.Sprint(n, r.forks())
	}
	return fmt.Sprintf("%d of %d%s", n, r.N+len(r.Failed), r.forks())
}

// failures says of which seeds a row has no score, which count with the least return where they made no
// evaluation, and which failed later: a sentence for each reason.
func (t *Task) failures(r *Row) (all []string) {
	n := r.N + len(r.Failed)
	for _, group := range byReason(r.Failed) {
		all = append(all, fmt.Sprintf("%s: %d of %d seeds %s", r.name, len(group), n, said(group)))
	}
	for _, group := range byReason(r.Filled) {
		all = append(all, fmt.Sprintf("%s: %d of %d seeds %s; each evaluation from step %s to %s without a finite return counts with %s", r.name, len(group), n, said(group), Count(t.ScoreFrom), Count(t.Step), value(t.Least)))
	}
	for _, group := range byReason(r.FailedLater) {
		all = append(all, fmt.Sprintf("%s: after step %s, %d of the %s %s", r.name, Count(t.Step), len(group), plural(r.N, "seed"), said(group)))
	}
	return all
}

// numeral is a number in a reason: runs fail for the same reason at different ones.
var numeral = regexp.MustCompile(`[-+]?(\d+(\.\d+)?(e[-+]?\d+)?|\bNaN\b|Inf\b)`)

// byReason groups failures whose reasons differ only in numbers.
func byReason(all []Failure) (groups [][]Failure) {
	kind := func(f Failure) string { return fmt.Sprint(f.Diverged, numeral.ReplaceAllString(f.Reason, "…")) }
	for _, f := range all {
		i := slices.IndexFunc(groups, func(g []Failure) bool { return kind(g[0]) == kind(f) })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}

// verb says what became of the seed.
func (f Failure) verb() string {
	if f.Diverged {
		return "diverged"
	}
	return "failed"
}

// said is "diverged: REASON, steps 841 and 1,489".
func said(group []Failure) string {
	group, reason := slices.Clone(group), group[0].Reason
	slices.SortFunc(group, func(a, b Failure) int { return cmp.Compare(a.Step, b.Step) })
	var steps []string
	for _, f := range group {
		if steps = append(steps, Count(f.Step)); f.Reason != reason {
			reason = numeral.ReplaceAllString(f.Reason, "…")
		}
	}
	text := strings.Join(steps, ", ")
	if last := len(steps) - 1; last > 0 {
		text = strings.Join(steps[:last], ", ") + " and " + steps[last]
	}
	return fmt.Sprintf("%s: %s, %s %s", group[0].verb(), reason, plural(len(group), "step"), text)
}

// failedSeeds writes which seeds failed, a line for each reason, and what that means for the numbers.
func (t *Task) failedSeeds(b *bufio.Writer) {
	var all []string
	none, filled := false, false
	for _, r := range t.Rows {
		none, filled = none || len(r.Failed) > 0, filled || len(r.Filled) > 0
		all = append(all, t.failures(r)...)
	}
	for _, text := range all {
		fmt.Fprintf(b, "\n%s.\n", text)
	}
	if filled {
		fmt.Fprintf(b, "\nThe area under the curve leaves out seeds that failed before step %s, though their returns count.\n", Count(t.Step))
	}
	if none {
		fmt.Fprint(b, "\nA seed that failed has no return at that step: means, intervals and differences are of the other seeds. Those that diverged count in probabilities of improvement, as worse than all that did not, and in steps to a return.\n")
	}
}

// CutOff says that a seed ended by a fault of its machine, or because another one of its cohort diverged: made
// again it may end otherwise.
func (r *Run) CutOff() bool { return r.Failed != "" && !r.Diverged }
