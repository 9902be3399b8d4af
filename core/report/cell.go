package report

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Return is the quantity by which runs are judged: the mean undiscounted return of
// an evaluation's episodes.
const Return = "evaluated/return_mean"

// Seed is one seed of a cell.
type Seed struct {
	Seed   uint64
	Run    *Run
	Member int
}

// Series returns a quantity of the seed. NaN is a return that diverged; of other quantities it says
// that there was nothing to measure, so these have none.
func (s Seed) Series(name string) Series {
	all := s.Run.Members[s.Member].Series[name]
	if name == Return {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(p Point) bool { return math.IsNaN(p.Value) })
}

// Cell groups the seeds of the same task, method, scale, settings and changes by hand.
type Cell struct {
	Task, Method, Scale string
	Variant             string // settings that differ
	Touched             string // what was changed by hand; "": nothing
	Apart               string // why its builds have cells of their own; "": they have not
	Seeds               []Seed // sorted by seed
}

// Label names the cell among those of its task and scale.
func (c *Cell) Label() string {
	label := c.Method
	if c.Variant != "" {
		label += ", " + c.Variant
	}
	if c.Touched != "" {
		label += " · " + c.Seeds[0].Run.Badge()
	}
	return label
}

// variant says how the run differs from others of its task, method and scale.
func (r *Run) variant() string {
	parts := []string{}
	if r.Variant != "" {
		parts = append(parts, r.Variant)
	}
	for i, f := range r.forks {
		if slices.ContainsFunc(r.forks[:i], func(before fork) bool { return before.position == f.position }) {
			continue
		}
		text := forkedAt + f.position
		for _, c := range r.Changes {
			if c.Forked && c.Position == f.position {
				text += " " + c.assigned()
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// lineage tells forks of one seed apart if their parents differ: by the seed of the run that was
// forked first, and by the folders of forks that were forked again.
func (r *Run) lineage() string {
	if len(r.forks) == 0 {
		return ""
	}
	text := strconv.FormatUint(r.root, 10)
	for _, f := range r.forks[1:] {
		text += " " + f.parent
	}
	return text
}

// tv returns the knob tv with which the run began, from its settings or, for a run from a results
// file, from its variant; "" if it is not known, or is the task's own.
func (r *Run) tv() string {
	if value := r.Settings["knobs.tv"]; value != "" {
		return strings.Trim(value, `"'`)
	}
	for _, part := range strings.Split(r.Variant, ", ") {
		if value, found := strings.CutPrefix(part, "tv="); found {
			return value
		}
	}
	return ""
}

// settingsNames returns the function that names the variant of a run. Runs can have the
// same variant but different settings, if the defaults of their builds differ; their names
// also contain the fingerprint.
func settingsNames(runs []*Run) func(r *Run) string {
	type named struct{ task, method, scale, variant string }
	of := func(r *Run) named { return named{r.Task, r.Method, r.Scale, r.variant()} }
	prints := map[named]string{}
	ambiguous := map[named]bool{}
	for _, r := range runs {
		first, known := prints[of(r)]
		prints[of(r)] = r.Fingerprint
		ambiguous[of(r)] = ambiguous[of(r)] || known && first != r.Fingerprint
	}
	return func(r *Run) string {
		if !ambiguous[of(r)] {
			return r.variant()
		}
		return strings.TrimPrefix(r.variant()+", settings "+r.Fingerprint, ", ")
	}
}

// touched lists the changes by hand.
func (r *Run) touched() string {
	var all []string
	for _, c := range r.ByHand() {
		all = append(all, c.String())
	}
	return strings.Join(all, " ")
}

// Cells groups runs into cells. Cells are sorted by task, then by method: first the given
// methods in their order, then the others by name. Clean cells come first. Notes say what
// was left out: runs without an evaluation that did not fail, and duplicate seeds, of which the
// longest run counts. The order of the runs decides nothing.
func Cells(runs []*Run, methods []string) (cells []*Cell, notes []string) {
	seen := map[string]bool{}
	name, apart := cellNames(runs)
	byKey := map[cellKey]*Cell{}
	for _, r := range runs {
		if path := resolved(r.Dir); seen[path] {
			continue
		} else {
			seen[path] = true
		}
		if r.Twice != "" {
			notes = append(notes, r.Twice)
		}
		if text := r.Unrepeated(); text != "" {
			notes = append(notes, fmt.Sprintf("%s is not repeated exactly: %s", r.Dir, text))
		}
		k := name(r)
		c := byKey[k]
		if c == nil {
			c = &Cell{Task: k.Task, Method: k.Method, Scale: k.Scale, Variant: k.Variant, Touched: k.Touched, Apart: apart[k]}
		}
		for i, m := range r.Members {
			seed := Seed{m.Seed, r, i}
			if len(seed.Series(Return)) == 0 && r.Failed == "" {
				notes = append(notes, fmt.Sprintf("%s is left out: %s", r.Dir, r.withoutEvaluation()))
				continue
			}
			if byKey[k] == nil {
				byKey[k] = c
				cells = append(cells, c)
			}
			if said := c.put(seed); said != "" {
				notes = append(notes, said)
			}
		}
	}
	rank := func(method string) int {
		if i := slices.Index(methods, method); i >= 0 {
			return i
		}
		return len(methods)
	}
	slices.SortStableFunc(cells, func(a, b *Cell) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(rank(a.Method), rank(b.Method)), cmp.Compare(a.Method, b.Method),
			cmp.Compare(a.Scale, b.Scale), cmp.Compare(len(a.Touched), len(b.Touched)), cmp.Compare(a.Variant, b.Variant), cmp.Compare(a.Touched, b.Touched))
	})
	return cells, notes
}

// put adds a seed. If the seed is already there, one of the two stays: the same seed
// twice is not two seeds, unless they are forks of different runs.
func (c *Cell) put(s Seed) (said string) {
	i, found := slices.BinarySearchFunc(c.Seeds, s, func(a, b Seed) int {
		return cmp.Or(cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.Run.lineage(), b.Run.lineage()))
	})
	if !found {
		c.Seeds = slices.Insert(c.Seeds, i, s)
		return ""
	}
	gone, stays := s, c.Seeds[i]
	if s.before(stays) {
		gone, stays = stays, s
	}
	why := "got further, or as far"
	if stays.concluded() && !gone.concluded() {
		why = "came to its own end"
	}
	c.Seeds[i] = stays
	return fmt.Sprintf("%s is left out: %s has the same seed %d and %s%s", gone.Run.Dir, stays.Run.Dir, s.Seed, why, gone.unlike(stays))
}

// before says which of two runs of a seed counts: the longer one. Of two that are as long it is one that came to
// its own end, then one with all digits, and else the one whose name comes first.
func (s Seed) before(o Seed) bool {
	if a, b := last(s.Series(Return)), last(o.Series(Return)); a != b {
		return a > b
	}
	if a, b := s.concluded(), o.concluded(); a != b {
		return a
	}
	if s.Run.rounded != o.Run.rounded {
		return o.Run.rounded
	}
	return s.Run.Dir < o.Run.Dir
}

// concluded says whether a seed was trained to its end, or diverged.
func (s Seed) concluded() bool {
	return s.Run.Done && !s.Run.Stopped() || s.Run.Failed != "" && !s.cutOff()
}

// cutOff says whether a seed ended with its cohort, or by a fault of its machine.
func (s Seed) cutOff() bool { return s.Run.Failed != "" && !s.failure().Diverged }

// same says whether a value of one run is that of another, as exactly as both are known.
func (s Seed) same(other Seed, v, w float64) bool {
	if s.Run.rounded || other.Run.rounded {
		return significant(v) == significant(w)
	}
	return v == w || math.IsNaN(v) && math.IsNaN(w)
}

// unlike says where the returns of two runs of one seed differ; "" if they do not.
func (s Seed) unlike(other Seed) string {
	at := map[int]float64{}
	for _, p := range other.Series(Return) {
		at[p.Step] = p.Value
	}
	for _, p := range s.Series(Return) {
		if v, both := at[p.Step]; both && !s.same(other, v, p.Value) {
			return fmt.Sprintf("; but their returns differ at step %s, %s and %s: they are of other versions or devices, or one was changed", Count(p.Step), value(p.Value), value(v))
		}
	}
	return ""
}

// resolved returns the absolute path of a folder without symbolic links, so that the same
// folder is recognised.
func resolved(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		dir = path
	}
	if path, err := filepath.Abs(dir); err == nil {
		dir = path
	}
	return dir
}

// reached says whether all evaluations of a seed up to a step were made.
func (s Seed) reached(step int) bool { return last(s.Series(Return)) >= step || s.Run.Step > step }

// last returns the step of the last point; 0 if there is none.
func last(s Series) int {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].Step
}

// first returns the step of the first point; 0 if there is none.
func first(s Series) int {
	if len(s) == 0 {
		return 0
	}
	return s[0].Step
}

// together leaves out seeds that were evaluated only once, before others were evaluated
// for the first time. It does so only if there is no step at which all seeds were evaluated,
// because then the other seeds could not be compared with them. Notes say which were left
// out. Seeds that failed stay: they count without a score.
func together(cells []*Cell) (kept []*Cell, notes []string) {
	if step, _ := evaluatedSteps(cells); step > 0 {
		return cells, nil
	}
	begin := 0
	seeds, _ := ran(cells)
	for _, s := range seeds {
		begin = max(begin, first(s.Series(Return)))
	}
	for _, c := range cells {
		c.Seeds = slices.DeleteFunc(c.Seeds, func(s Seed) bool {
			series := s.Series(Return)
			gone := s.Run.Failed == "" && len(series) == 1 && first(series) < begin
			if gone {
				notes = append(notes, fmt.Sprintf("%s is left out: it was evaluated at step %s alone, before others were", s.Run.Dir, Count(first(series))))
			}
			return gone
		})
		if len(c.Seeds) > 0 {
			kept = append(kept, c)
		}
	}
	return kept, notes
}

// commonStep returns the last step at which all seeds were evaluated or, if there is
// none, the last evaluated step of the shortest run.
func commonStep(cells []*Cell) int {
	step, shortest := evaluatedSteps(cells)
	if step == 0 {
		return shortest
	}
	return step
}

// evaluatedSteps returns the last step at which all seeds were evaluated, 0 if there is
// none, and the last evaluated step of the shortest run. Runs that failed do not count: one of
// them would decide at which step all others are compared. If all did, those with an evaluation do.
func evaluatedSteps(cells []*Cell) (step, shortest int) {
	counts := map[int]int{}
	seeds, _ := ran(cells)
	seeds = slices.DeleteFunc(slices.Clone(seeds), func(s Seed) bool { return len(s.Series(Return)) == 0 })
	for i, s := range seeds {
		series := s.Series(Return)
		if end := last(series); i == 0 || end < shortest {
			shortest = end
		}
		at := map[int]bool{}
		for _, p := range series {
			if !at[p.Step] {
				counts[p.Step]++
			}
			at[p.Step] = true
		}
	}
	for s, n := range counts {
		if n == len(seeds) && s > step {
			step = s
		}
	}
	return step, shortest
}
