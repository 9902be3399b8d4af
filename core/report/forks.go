package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"pgrlab/core/fan"
)

// Forks compares forks of one checkpoint: those with a change and those without.
type Forks struct {
	Task    string     `json:"task"`
	Of      string     `json:"of"`     // the folder's name of the run that they were forked off
	At      string     `json:"at"`     // the position of the fork
	Change  string     `json:"change"` // what some of them were dealt
	Changed []string   `json:"changed"`
	Others  []string   `json:"others"`
	Scores  []*float64 `json:"scores"` // of all, by seed: the mean of the evaluations after the fork; null: not known yet
	Said    string     `json:"said"`   // what they show
	least   float64    // the least share of the ways to deal out the change that can differ as much; 0: unknown
}

// origin tells apart the checkpoints that runs were forked off; "" for runs that are no forks.
func (r *Run) origin() string {
	if len(r.forks) == 0 {
		return ""
	}
	last := r.forks[len(r.forks)-1]
	before := &Run{Changes: r.Changes, Variant: r.Variant, forks: r.forks[:len(r.forks)-1], root: r.root}
	return strings.Join([]string{r.Task, r.Method, r.Scale, before.variant(), before.lineage(), strconv.FormatUint(r.root, 10), last.parent, last.position}, "\n")
}

// Parent says which run a fork goes on from: its folder, as it was called then, the seed of the run
// that was forked first, and whether the parent was a fork itself.
func (r *Run) Parent() (dir string, root uint64, fork bool) {
	n := len(r.forks)
	if n == 0 {
		return "", r.root, false
	}
	return r.forks[n-1].path, r.root, n > 1
}

// dealt is the change that a fork was dealt; "" if its knobs kept their values.
func (r *Run) dealt() string {
	var all []string
	for _, c := range r.Changes {
		if c.Forked && c.Position == r.Forked && c.From != c.To {
			all = append(all, c.assigned())
		}
	}
	return strings.Join(all, " ")
}

// remade are the knobs with which a fork began by making again what depends on them, be it as a change or as a
// sham, where the knob kept its value.
func (r *Run) remade() string {
	var all []string
	for _, c := range r.Changes {
		if c.Forked && c.Position == r.Forked && c.remakes {
			all = append(all, c.Knob)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// ForkStep is the env step at which a run was forked last; 0: it was not.
func (r *Run) ForkStep() int {
	text, _, _ := strings.Cut(r.Forked, "/")
	n, _ := strconv.Atoi(text) // 0 for what no position is
	return n
}

// afterFork are the returns of a run's evaluations after the fork, the mean over its members.
func (r *Run) afterFork() (all []float64) {
	for i, p := range r.Members[0].Series[Return] {
		if p.Step <= r.ForkStep() {
			continue
		}
		sum := 0.0
		for _, m := range r.Members {
			if i < len(m.Series[Return]) {
				sum += m.Series[Return][i].Value
			} else {
				sum = math.NaN() // a line is missing: it counts as the least
			}
		}
		all = append(all, sum/float64(len(r.Members)))
	}
	return all
}

// dealing is what forks were dealt: a change, or none, and what they made again, which does something too.
type dealing struct{ change, remade string }

// forksOf compares the forks among the runs: those with each change with those without any that made the same
// again. Others differ in more than the change, and chance did not decide between them.
func forksOf(runs []*Run) (all []*Forks) {
	groups, waiting := map[string]map[dealing][]*Run{}, map[string]int{}
	var order []string
	for _, r := range runs {
		o := r.origin()
		if o == "" || len(r.ByHand()) > 0 {
			continue
		}
		if groups[o] == nil {
			groups[o] = map[dealing][]*Run{}
			order = append(order, o)
		}
		if r.dealt() == "" && r.Step <= r.ForkStep() { // its journal does not say yet what it was dealt
			waiting[o]++
			continue
		}
		d := dealing{r.dealt(), r.remade()}
		groups[o][d] = append(groups[o][d], r)
	}
	for _, o := range order {
		var changes []dealing
		without := 0
		for d, forks := range groups[o] {
			if d.change != "" {
				changes = append(changes, d)
			} else {
				without += len(forks)
			}
		}
		slices.SortFunc(changes, func(a, b dealing) int {
			return cmp.Or(cmp.Compare(a.change, b.change), cmp.Compare(a.remade, b.remade))
		})
		for _, d := range changes {
			others := groups[o][dealing{"", d.remade}]
			switch {
			case len(others) > 0:
				all = append(all, compareForks(d.change, groups[o][d], others, waiting[o]))
			case without > 0:
				all = append(all, uncompared(d, groups[o][d], without))
			}
		}
	}
	return all
}

// uncompared are forks with a change, where all without it made something else again.
func uncompared(d dealing, changed []*Run, without int) *Forks {
	f := newForks(d.change, changed)
	for _, r := range changed {
		f.Changed = append(f.Changed, r.Dir)
	}
	made := "made something again, and these nothing"
	if d.remade != "" {
		made = "made something else again than what depends on " + d.remade + ", or nothing"
	}
	f.Said = fmt.Sprintf("not compared: all %d without a change %s", without, made)
	if without == 1 {
		f.Said = "not compared: the one without a change " + made
	}
	return f
}

// newForks are forks with a change, before they are compared.
func newForks(change string, changed []*Run) *Forks {
	last := changed[0].forks[len(changed[0].forks)-1]
	return &Forks{Task: changed[0].Task, Of: last.parent, At: last.position, Change: change}
}

// runsOf are the runs of some cells, each once.
func runsOf(cells []*Cell) (all []*Run) {
	for _, c := range cells {
		for _, s := range c.Seeds {
			if !slices.Contains(all, s.Run) {
				all = append(all, s.Run)
			}
		}
	}
	return all
}

// compareForks compares forks with a change with others. While some of them wait to begin there is no
// verdict: it would be one of another number of forks.
func compareForks(change string, changed, others []*Run, waiting int) *Forks {
	f := newForks(change, changed)
	runs := slices.Concat(changed, others)
	slices.SortStableFunc(runs, func(a, b *Run) int { return cmp.Compare(a.Seed, b.Seed) }) // the order in which the change was dealt
	due, returns := 0, [][]float64{}                                                        // due: what those have made that are done
	var forks []fan.Fork
	for _, r := range runs {
		o := fan.Fork{Changed: r.dealt() != "", Returns: r.afterFork(), Failed: r.Failed != ""}
		forks, returns = append(forks, o), append(returns, o.Returns)
		if r.Done && !r.Stopped() {
			due = max(due, len(o.Returns))
		}
		if o.Changed {
			f.Changed = append(f.Changed, r.Dir)
		} else {
			f.Others = append(f.Others, r.Dir)
		}
	}
	b, done := fan.NewBatch(forks, due, fan.Least(returns...)), 0
	for _, score := range b.Scores {
		if math.IsNaN(score) {
			f.Scores = append(f.Scores, nil)
			continue
		}
		f.Scores = append(f.Scores, pointer(score))
		done++
	}
	if waiting > 0 {
		f.Said = fmt.Sprintf("not looked at yet: forks that have not begun: %d", waiting)
		return f
	}
	result := fan.Judge([]fan.Batch{b})
	f.Said, f.least = result.Words(min(len(changed), len(others)), signed), result.Least
	if done < len(runs) {
		f.Said += fmt.Sprintf("; %d of %d forks are done", done, len(runs))
	}
	return f
}

// String is a line about the forks.
func (f *Forks) String() string {
	return fmt.Sprintf("%s: %d %s of %s at %s with %s, %d without: %s", f.Task, len(f.Changed), plural(len(f.Changed), "fork"), f.Of, f.At, f.Change, len(f.Others), f.Said)
}

// severalChanges says what verdicts are worth if more than one change was looked at; "": one was.
func (r *Report) severalChanges() string {
	n := 0
	for _, f := range r.Forks {
		if len(f.Others) > 0 {
			n++
		}
	}
	if n < 2 {
		return ""
	}
	needs, short := fan.Error/float64(n), []string(nil)
	for _, f := range r.Forks {
		if size := fmt.Sprintf("%d against %d (%.2g %% at the least)", len(f.Changed), len(f.Others), 100*f.least); f.least > needs && !slices.Contains(short, size) {
			short = append(short, size)
		}
	}
	text := fmt.Sprintf("%d changes were looked at: where none of them does anything, up to %.0f %% of such reports have a verdict. One that is to stand for itself needs at most %.2g %% of the ways to deal out the change to differ as much", n, 100*fan.AnyFalse(n), 100*needs)
	if len(short) > 0 {
		text += ", which is out of reach of " + strings.Join(short, " and ")
	}
	return text
}

// forksSection writes what forks show.
func (r *Report) forksSection(b *bufio.Writer) {
	if len(r.Forks) == 0 {
		return
	}
	fmt.Fprint(b, "\n# What a change did\n\nForks of one checkpoint count with the mean of their evaluations after the fork, those that failed with the least return. They are compared with those without the change that made the same again. The verdict on one change is an exact randomization test of the means, which is false in less than 5 % of cases without an effect, however often it is read. That takes a number and a length that were chosen before: forks that were added for want of a verdict, or trained longer, are looked at as if for the first time, and after four more looks the verdict is false in 9 % of such cases. It holds from that checkpoint on.\n\n")
	for _, f := range r.Forks {
		fmt.Fprintf(b, "- %s\n", f)
	}
	if text := r.severalChanges(); text != "" {
		fmt.Fprintf(b, "\n%s.\n", text)
	}
}

// forksLines writes the same for a terminal.
func (r *Report) forksLines(w io.Writer) error {
	for _, f := range r.Forks {
		if _, err := fmt.Fprintf(w, "%s.\n", f); err != nil {
			return err
		}
	}
	if text := r.severalChanges(); text != "" {
		if _, err := fmt.Fprintf(w, "%s.\n", text); err != nil {
			return err
		}
	}
	return nil
}

// origins is how many runs the seeds are forks of, if several are of one; else 0.
func (c *Cell) origins() int {
	roots := map[uint64]bool{}
	for _, s := range c.Seeds {
		if len(s.Run.forks) > 0 {
			roots[s.Run.root+uint64(s.Member)] = true
		}
	}
	if len(roots) == len(c.Seeds) {
		return 0
	}
	return len(roots)
}

// forks says so after the number of seeds; "" if they are independent.
func (r *Row) forks() string {
	if r.ForksOf == 0 {
		return ""
	}
	return fmt.Sprintf(" forks of %d %s", r.ForksOf, plural(r.ForksOf, "run"))
}

// dependent says whether the seeds of two rows are not independent: one has several forks of one run, or both have
// forks of one checkpoint. Tables of rows leave these to forksOf.
func dependent(a, b *Row) bool {
	return a.ForksOf+b.ForksOf > 0 || slices.ContainsFunc(a.cell.Seeds, func(s Seed) bool {
		o := s.Run.origin()
		return o != "" && slices.ContainsFunc(b.cell.Seeds, func(s Seed) bool { return s.Run.origin() == o })
	})
}

// lacking says why tables of pairs of rows have no number in some places.
func (t *Task) lacking() string {
	for i, a := range t.Rows {
		if slices.ContainsFunc(t.Rows[:i], func(b *Row) bool { return dependent(a, b) }) {
			return "–: too few, or forks of one run, which are no independent seeds"
		}
	}
	return "–: too few"
}

// past returns the last evaluation up to which two seeds are one run, of which at least one was
// forked; 0 if they are not.
func past(a, b Seed) (step int) {
	if a.Run == b.Run || len(a.Run.forks)+len(b.Run.forks) == 0 || a.Run.Task != b.Run.Task || a.Run.root+uint64(a.Member) != b.Run.root+uint64(b.Member) {
		return 0
	}
	x, y := a.Run.Members[a.Member].Series[Return], b.Run.Members[b.Member].Series[Return]
	for i := 0; i < min(len(x), len(y)) && x[i].Step == y[i].Step && a.same(b, x[i].Value, y[i].Value); i++ {
		step = x[i].Step
	}
	return min(step, max(a.Run.ForkStep(), b.Run.ForkStep())) // what is alike after the fork is no past
}

// apart leaves out forks that are one run with another up to the step at which runs are compared, or
// to the last step that all have if that is 0. Notes say which.
func apart(cells []*Cell, at int) (kept []*Cell, notes []string) {
	for {
		step := at
		if step == 0 {
			step = commonStep(cells)
		}
		gone := false
		for _, c := range cells {
			for i := 0; i < len(c.Seeds) && !gone; i++ {
				if of, until := samePast(c.Seeds[i], cells, step); of != nil {
					notes = append(notes, fmt.Sprintf("%s is left out: it and %s are identical up to %s, and nothing after the fork is common: give both evaluations after it (pgrlab train --resume DIR --steps N), or compare forks with forks (pgrlab fork DIR --set … --pairs %d)",
						c.Seeds[i].Run.Dir, of.Dir, Count(until), fan.LeastForks))
					c.Seeds, gone = slices.Delete(slices.Clone(c.Seeds), i, i+1), true
				}
			}
		}
		cells = slices.DeleteFunc(slices.Clone(cells), func(c *Cell) bool { return len(c.Seeds) == 0 })
		if !gone {
			return cells, notes
		}
	}
}

// samePast returns a run that is one run with a fork up to a step or beyond it.
func samePast(s Seed, cells []*Cell, step int) (of *Run, until int) {
	if len(s.Run.forks) == 0 {
		return nil, 0
	}
	for _, c := range cells {
		for _, o := range c.Seeds {
			if until = past(s, o); until > 0 && until >= step && (len(o.Run.forks) < len(s.Run.forks) || o.Run.Dir < s.Run.Dir) {
				return o.Run, until
			}
		}
	}
	return nil, 0
}

// forkedFrom returns the last step up to which some of the seeds are one run; 0: all differ from the
// beginning.
func forkedFrom(cells []*Cell) (step int) {
	var all []Seed
	for _, c := range cells {
		all = append(all, c.Seeds...)
	}
	for _, s := range all {
		for _, o := range all {
			if len(s.Run.forks) > 0 {
				step = max(step, past(s, o))
			}
		}
	}
	return step
}
