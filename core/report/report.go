package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Reported is a result from a publication: mean and deviation over seeds.
type Reported struct {
	Task        string  `json:"task"`
	Method      string  `json:"method"`
	Mean        float64 `json:"mean"`
	Std         float64 `json:"std"`
	Steps       int     `json:"steps"`
	Seeds       int     `json:"seeds"` // 0 if it is not reported
	Source      string  `json:"source"`
	Independent bool    `json:"independent,omitempty"` // not the paper's
	Pixels      bool    `json:"pixels,omitempty"`      // of learners that see frames; else states
	Frames      int     `json:"frames,omitempty"`      // number of frames that Steps correspond to, if known
	TV          string  `json:"tv,omitempty"`          // knob tv of the runs; "": no TV, or any
	Note        string  `json:"note,omitempty"`        // a remark on the result
	Where       string  `json:"where,omitempty"`       // how its runs differ from those here, so that it is not comparable; "": they do not
}

// Options select what a report shows.
type Options struct {
	Step      int                // step at which runs are compared; 0: the last one that all have
	ScoreFrom int                // a run counts with the mean of its evaluations from this step to Step; 0: with the one at Step
	Statistic Statistic          // by which rows are compared; "": OfInterquartileMeans
	Threshold *float64           // for steps to a threshold; nil: half of the best mean, or if that is not positive half way to it
	Methods   []string           // the order of rows
	Reported  []Reported         // results of others, for any task and method
	Full      map[string]float64 // by task: the return that is full marks, if there is one
	Keep      func(c *Cell) bool // selects the cells of the report; nil: all
}

// Report holds the results of a number of runs.
type Report struct {
	Tasks     []*Task    `json:"tasks"`
	Aggregate *Aggregate `json:"aggregate,omitempty"`
	Forks     []*Forks   `json:"forks,omitempty"` // what forks of one checkpoint show
	Notes     []string   `json:"notes,omitempty"` // what was left out, and why
	// Comparisons is how many p the tables of all tasks have.
	Comparisons int `json:"comparisons"`

	cells []*Cell
}

// Task compares the runs on one task.
type Task struct {
	Task      string    `json:"task"`
	Step      int       `json:"step"`       // step of the returns
	StepExact bool      `json:"step_exact"` // all were evaluated at Step; else the last evaluation before it counts for some
	ScoreFrom int       `json:"score_from,omitempty"`
	Least     float64   `json:"least"` // the least return that is known up to Step, which counts for evaluations that a run that failed did not reach
	Statistic Statistic `json:"statistic"`
	From      int       `json:"from"`             // step at which the area under the curve begins
	Shared    int       `json:"shared,omitempty"` // up to here some of the runs are one run, of which others are forks
	Threshold float64   `json:"threshold"`
	// ThresholdOf is the row from whose mean return the threshold follows, see halfOfBest; ""
	// if the threshold was given.
	ThresholdOf string `json:"threshold_of,omitempty"`
	Rows        []*Row `json:"rows"`
	// Better[i][j] is the probability that a run of row i is better than a run of
	// row j; nil if i is j, if either row has fewer than MinPairs seeds, and if dependent.
	Better [][]*Better `json:"better,omitempty"`
	// Comparisons is how many pairs of rows have an interval in Better.
	Comparisons int `json:"better_comparisons,omitempty"`
	// Differences between the rows, for each quantity that they have.
	Differences []Differences `json:"differences,omitempty"`

	variants []string // what the long ones are, see nameRows
	scales   bool     // the rows are of several scales
	level    float64  // the p below which one that is picked from the report stands for itself
}

// Row holds the numbers of a cell. Statistics that need MinSeeds seeds are missing if
// there are fewer, and all that suppose independent seeds with ForksOf.
type Row struct {
	Label   string `json:"label"`
	Method  string `json:"method"`
	Scale   string `json:"scale"`
	Variant string `json:"variant,omitempty"`
	Touched string `json:"touched,omitempty"`  // the changes by hand
	Frames  int    `json:"frames,omitempty"`   // frames of the task in an env step, for a learner that sees frames
	N       int    `json:"n"`                  // seeds with a score
	ForksOf int    `json:"forks_of,omitempty"` // how many runs the seeds are forks of, if fewer than seeds: these are not independent then
	Missing int    `json:"missing,omitempty"`  // seeds that have not reached the step, and did not fail
	// Failed are the seeds that have no score because they failed, Filled those that failed and have one
	// because evaluations that they did not reach count with the least return, FailedLater those that failed
	// after the step.
	Failed      []Failure `json:"failed,omitempty"`
	Filled      []Failure `json:"failed_filled,omitempty"`
	FailedLater []Failure `json:"failed_later,omitempty"`
	// Unscored are the seeds that reached it, but have no evaluation that would count.
	Unscored int       `json:"unscored,omitempty"`
	Seeds    []uint64  `json:"seeds"`
	Points   []float64 `json:"points"` // the returns, by seed
	Mean     *float64  `json:"mean,omitempty"`
	Std      *float64  `json:"std,omitempty"`
	IQM      *float64  `json:"iqm,omitempty"`
	IQMIn    *Interval `json:"iqm_interval,omitempty"`
	MeanIn   *Interval `json:"mean_interval,omitempty"` // if rows are compared by means
	Area     Spread    `json:"area"`
	Dormant  Spread    `json:"dormant"` // dormant ratio of the policy, taken as the returns are; of seeds that report it
	Reaches  Reached   `json:"reaches"`
	Dirs     []string  `json:"dirs"`
	Changed  []string  `json:"changed,omitempty"` // folders whose journal is not as the run wrote it

	Generated []Measured `json:"generated,omitempty"` // measures of D_syn
	Explored  []Measured `json:"explored,omitempty"`  // measures of episodes in mazes

	Reported []Reported `json:"reported,omitempty"` // the paper's first
	cell     *Cell
	counted  []Seed // those of the cell that have a score
	diverged []Seed // those of Failed whose numbers diverged
	name     string // see nameRows
}

// Spread holds a number for each seed, with mean and deviation.
type Spread struct {
	Points   []float64 `json:"points"`
	Diverged int       `json:"diverged,omitempty"` // further seeds, whose number is not finite
	Mean     *float64  `json:"mean,omitempty"`
	Std      *float64  `json:"std,omitempty"`
}

// add adds the number of a seed.
func (s *Spread) add(v float64) {
	if !finite(v) {
		s.Diverged++
		return
	}
	s.Points = append(s.Points, v)
}

// spreads says whether the spread of n of the row's seeds is reported.
func (r *Row) spreads(n int) bool { return n >= MinSeeds && r.ForksOf == 0 }

// summarised adds mean and deviation to a number of the row's seeds, if there are enough.
func (r *Row) summarised(s Spread) Spread {
	if r.spreads(len(s.Points)) {
		s.Mean, s.Std = pointer(Mean(s.Points)), pointer(Deviation(s.Points))
	}
	return s
}

// Reached says when seeds reached the threshold. Seeds that diverged are among them; those that were cut off
// before the step at which runs are compared are not: they might have reached it later.
type Reached struct {
	N      int    `json:"n"`     // seeds that did
	Points []*int `json:"steps"` // by seed, then those that diverged and have no score; null: it did not
	// Median is the median over all seeds, where seeds that did not reach the threshold
	// come last; nil if it falls on one of these, or if there are few seeds.
	Median *float64 `json:"median,omitempty"`
}

// ErrNoneKept says that Options.Keep keeps none of the runs.
var ErrNoneKept = errors.New("none of the runs is kept")

// New makes the report of runs.
func New(runs []*Run, o Options) (*Report, error) {
	cells, notes := Cells(runs, o.Methods)
	if o.Keep != nil {
		cells = slices.DeleteFunc(cells, func(c *Cell) bool { return !o.Keep(c) })
		if len(cells) == 0 {
			return nil, ErrNoneKept
		}
	}
	r := &Report{Notes: notes, Forks: forksOf(runsOf(cells))}
	for len(cells) > 0 {
		n := slices.IndexFunc(cells, func(c *Cell) bool { return c.Task != cells[0].Task })
		if n < 0 {
			n = len(cells)
		}
		group, said := unevaluated(cells[:n])
		cells, r.Notes = cells[n:], append(r.Notes, said...)
		if len(group) == 0 {
			continue
		}
		r.cells = append(r.cells, group...)
		if o.Step == 0 {
			group, said = together(group)
			r.Notes = append(r.Notes, said...)
		}
		group, said = apart(group, o.Step)
		r.Notes = append(r.Notes, said...)
		task, err := newTask(group, o)
		if err != nil {
			return nil, err
		}
		r.Tasks = append(r.Tasks, task)
	}
	if len(r.Tasks) == 0 {
		return nil, noneEvaluated(runs, r.Notes)
	}
	nameRows(r.Tasks)
	r.count()
	r.Aggregate = r.aggregate(o)
	return r, nil
}

func newTask(cells []*Cell, o Options) (*Task, error) {
	t := &Task{Task: cells[0].Task, Step: o.Step, ScoreFrom: o.ScoreFrom, Statistic: cmp.Or(o.Statistic, OfInterquartileMeans), StepExact: true}
	if t.Step == 0 {
		t.Step = commonStep(cells)
	}
	t.Least = leastReturn(cells, t.Step)
	if t.ScoreFrom > t.Step {
		return nil, fmt.Errorf("%s: runs are compared at step %s: count their evaluations from an earlier one than %s", t.Task, Count(t.Step), Count(t.ScoreFrom))
	}
	for _, c := range cells {
		for _, s := range c.Seeds {
			series := s.Series(Return)
			if v, ok := t.score(series); ok && finite(v) && s.reached(t.Step) {
				t.From = max(t.From, first(series))
			}
		}
	}
	if t.Shared = forkedFrom(cells); t.Shared < t.Step {
		t.From = max(t.From, t.Shared)
	}
	t.scales = slices.ContainsFunc(cells, func(c *Cell) bool { return c.Scale != cells[0].Scale })
	for _, c := range cells {
		t.Rows = append(t.Rows, newRow(c, t, t.due(c, cells), o))
	}
	if !t.anyScore() && slices.ContainsFunc(t.Rows, func(r *Row) bool { return r.Missing+r.Unscored > 0 }) {
		return nil, t.noneAtStep(cells)
	}
	if o.Threshold != nil {
		t.Threshold = *o.Threshold
	} else {
		t.Threshold, t.ThresholdOf = halfOfBest(t.Rows)
	}
	if t.anyScore() {
		for _, r := range t.Rows {
			r.reach(t)
		}
	}
	t.compare()
	t.Differences = differences(t)
	return t, nil
}

// noneAtStep says why no run has a score at the task's step.
func (t *Task) noneAtStep(cells []*Cell) error {
	begin := math.MaxInt
	for _, c := range cells {
		for _, s := range c.Seeds {
			if series := s.Series(Return); len(series) > 0 && s.reached(t.Step) {
				begin = min(begin, first(series))
			}
		}
	}
	switch {
	case begin == math.MaxInt:
		return fmt.Errorf("%s: no run has got to step %s: choose an earlier one", t.Task, Count(t.Step))
	case begin > t.Step:
		return fmt.Errorf("%s: no run was evaluated by step %s, the first one at %s: choose a later one", t.Task, Count(t.Step), Count(begin))
	}
	return fmt.Errorf("%s: no run was evaluated from step %s to %s: count their evaluations from an earlier one", t.Task, Count(t.ScoreFrom), Count(t.Step))
}

// label names a cell among those of the task.
func (t *Task) label(c *Cell) string {
	if !t.scales {
		return c.Label()
	}
	return c.Label() + " · " + c.Scale
}

// newRow computes the numbers of a cell at the task's step. due is how many evaluations count of a seed.
func newRow(c *Cell, t *Task, due int, o Options) *Row {
	r := &Row{Label: t.label(c), Method: c.Method, Scale: c.Scale, Variant: c.Variant, Touched: c.Touched, Frames: c.Seeds[0].Run.Frames, ForksOf: c.origins(), cell: c}
	for _, s := range c.Seeds {
		r.take(s, t, due)
	}
	r.summarise(t.Statistic)
	r.Generated, r.Explored = r.measured(generatedMeasures, t.Step), r.measured(exploredMeasures, t.Step)
	for _, report := range o.Reported {
		if report.of(c) {
			r.Reported = append(r.Reported, report)
		}
	}
	return r
}

// of says whether the result is one of runs like those of a cell.
func (r Reported) of(c *Cell) bool {
	run := c.Seeds[0].Run
	return r.Task == c.Task && r.Method == c.Method && r.Pixels == (run.Frames > 0) && (r.TV == "" || r.TV == run.tv())
}

// reach finds the steps of the seeds to the threshold.
func (r *Row) reach(t *Task) {
	var all []float64
	for _, s := range slices.Concat(r.counted, r.diverged) {
		if s.cutOff() && !s.reached(t.Step) {
			continue
		}
		step, ok := s.Series(Return).finite().Reaches(t.Threshold, t.Step)
		if !ok {
			r.Reaches.Points = append(r.Reaches.Points, nil)
			all = append(all, math.Inf(1))
			continue
		}
		r.Reaches.N++
		r.Reaches.Points = append(r.Reaches.Points, &step)
		all = append(all, float64(step))
	}
	if r.spreads(len(all)) {
		slices.Sort(all)
		if median := (all[(len(all)-1)/2] + all[len(all)/2]) / 2; !math.IsInf(median, 1) {
			r.Reaches.Median = &median
		}
	}
}

// halfOfBest returns half of the best mean return, to two digits, and the label of its row, which
// is one without changes by hand if there is one. Half of a negative mean would be better than the
// best: then it is half way there from the row's first evaluations, rounded down.
func halfOfBest(rows []*Row) (half float64, of string) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool { return r.N == 0 })
	if len(rows) == 0 {
		return 0, ""
	}
	if clean := slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool { return r.Touched != "" }); len(clean) > 0 {
		rows = clean
	}
	best := slices.MaxFunc(rows, func(a, b *Row) int { return cmp.Compare(Mean(a.Points), Mean(b.Points)) })
	half, rounded := Mean(best.Points)/2, math.Round
	if half <= 0 {
		half, rounded = half+min(best.firstReturn(Mean(best.Points))/2, half), math.Floor
	}
	if half == 0 || math.IsInf(half, 0) {
		return 0, best.Label
	}
	digit := math.Pow(10, math.Floor(math.Log10(math.Abs(half)))-1)
	return rounded(half/digit) * digit, best.Label
}

// firstReturn is the mean return of the first evaluations of the seeds that count; otherwise if none has a
// finite one, as where all of them failed before.
func (r *Row) firstReturn(otherwise float64) float64 {
	var all []float64
	for _, s := range r.counted {
		if series := s.Series(Return).finite(); len(series) > 0 { // a seed that failed may have none
			all = append(all, series[0].Value)
		}
	}
	if len(all) == 0 {
		return otherwise
	}
	return Mean(all)
}

func pointer(v float64) *float64 { return &v }
